"""A time limit that long computations look at, wherever they are called from.

Searches look at the clock after every step, and end with what they have. What comes before the first step, such as heat
from many sources or eigenvectors, has nothing to end with: it raises :class:`TimeUp`, and the caller decides.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


class TimeUp(Exception):  # noqa: N818 (an end, not an error)
    """The time is over."""


@contextmanager
def until(deadline: float | None) -> Iterator[None]:
    """Raise :class:`TimeUp` in this context after this reading of ``time.perf_counter``; None means no limit."""
    token = _deadline.set(deadline)
    try:
        yield
    finally:
        _deadline.reset(token)


def is_set() -> bool:
    """Whether there is a limit."""
    return _deadline.get() is not None


def check() -> None:
    """Raise :class:`TimeUp` if the time is over."""
    deadline = _deadline.get()
    if deadline is not None and time.perf_counter() > deadline:
        raise TimeUp
