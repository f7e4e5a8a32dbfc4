"""Progress for anything over two seconds: a bar in a terminal, silence elsewhere.

A bar never costs the computation: standard error may be closed, or missing as in a daemon, or break on the way.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import Any, TypeVar

Item = TypeVar("Item")
# Seconds between two looks at a call that says nothing of itself.
_TICK = 0.5


def track(items: Iterable[Item], *, total: int | None, label: str) -> Iterator[Item]:
    """Yield the items, showing a bar after two seconds if a person is watching; ``total`` may be unknown."""
    if not _watched():
        yield from items
        return
    from tqdm import tqdm

    yield from tqdm(items, total=total, desc=label, delay=2.0, leave=False, file=_Screen())


@contextmanager
def waiting(label: str) -> Iterator[None]:
    """Show the seconds that one long call takes, after two and if a person is watching.

    A thread counts them, so that they are shown as far as the call lets other threads run.
    """
    if not _watched():
        yield
        return
    from tqdm import tqdm

    ended = Event()
    with tqdm(desc=label, delay=2.0, leave=False, file=_Screen(), bar_format="{desc}: {elapsed}") as bar:

        def count() -> None:
            while not ended.wait(_TICK):
                bar.update()

        ticker = Thread(target=count, daemon=True)
        ticker.start()
        try:
            yield
        finally:
            ended.set()
            ticker.join()


class Meter:
    """A bar for work in stages with figures that change, after two seconds and if a person is watching."""

    def __init__(self, *, total: int) -> None:
        self._bar: Any = None
        if _watched():
            from tqdm import tqdm

            self._bar = tqdm(total=total, delay=2.0, leave=False, unit="stage", file=_Screen())
            self._started = False

    def extend(self, stages: int) -> None:
        """More stages than were expected, or fewer."""
        if self._bar is not None:
            self._bar.total += stages

    def advance(self, label: str) -> None:
        """A new stage begins; the one before it is done."""
        if self._bar is not None:
            self._bar.set_description(label, refresh=False)
            if self._started:
                self._bar.update()
            self._started = True

    def show(self, **figures: float) -> None:
        """The latest figures."""
        if self._bar is not None:
            self._bar.set_postfix({name: f"{value:.4g}" for name, value in figures.items()}, refresh=False)
            self._bar.update(0)

    def __enter__(self) -> Meter:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()


def _watched() -> bool:
    """Whether standard error is a terminal; what cannot say so is none."""
    try:
        return bool(sys.stderr.isatty())
    except Exception:  # any: it is None, closed, lacks the method, or is someone's object whose method fails
        return False


class _Screen:
    """Standard error as a bar needs it, whose failures are nobody's business."""

    def __init__(self) -> None:
        self._stream = sys.stderr
        self.encoding = getattr(self._stream, "encoding", None) or "ascii"

    def write(self, text: str) -> int:
        with suppress(Exception):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(Exception):
            self._stream.flush()

    def fileno(self) -> int:
        """For the width of the terminal; tqdm does without where there is none."""
        return self._stream.fileno()
