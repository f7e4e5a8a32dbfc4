"""Checkpoints of commands: users are told of them when a run ends early; they are deleted once the result is safe."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cotherm import ranks
from cotherm.cli.notices import tell
from cotherm.methods.checkpoint import UNFINISHED, remove


@contextmanager
def told_of_checkpoint(place: str | None) -> Iterator[None]:
    """While active, an interrupt or a signal that ends the command says where the same command resumes."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        if place is not None and ranks.is_first():
            kept = Path(place).is_file()
            tell(f"ended early: the same command goes on from {place}" if kept else "ended before the first step")
        raise


def drop_checkpoint(place: str | None, status: str, world: ranks.Ranks) -> None:
    """Delete the checkpoint once the result is written, unless the run ran out of time."""
    if place is None:
        return
    if status not in UNFINISHED:
        remove(Path(place), world)
    elif world.rank == 0:
        tell(f"{status}: the same command, with --force, goes on from {place}")
