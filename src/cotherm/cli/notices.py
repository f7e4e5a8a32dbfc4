"""What people are told on the way: how files were read, before the work begins, and what is not a finished result."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from cotherm.errors import visible
from cotherm.methods.coupling.result import Coupling

# How a coupling ended that was stopped from outside.
_STOPPED = ("interrupted", "time limit")


def announce(lines: Iterable[str], *, as_json: bool) -> None:
    """Print how something was read as soon as it is known, since the work may be long; reports for machines have it."""
    if as_json:
        return
    for line in lines:
        print(visible(line))
    with suppress(OSError):  # it is told at the end, when the result is safe
        sys.stdout.flush()


def tell_unfinished(place: Path, result: Coupling) -> None:
    """One line on standard error if a coupling was stopped."""
    if result.status in _STOPPED:
        tell(f"note: {place}: status {result.status}. {result.advice}")


def tell(message: str) -> None:
    """One line on standard error, which nobody need read."""
    with suppress(OSError, ValueError):
        print(f"cotherm: {visible(message)}", file=sys.stderr, flush=True)
