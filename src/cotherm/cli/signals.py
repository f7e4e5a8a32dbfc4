"""SIGTERM and SIGHUP end a command as an interrupt does: whatever it was doing cleans up after itself."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

# Those that ask a program to end; a system without hang-ups has one of them less.
_ASKED = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextmanager
def ended_in_order() -> Iterator[None]:
    """While this lasts, the signals raise SystemExit(128 + number) in the main thread; then all is as it was.

    Signals that are ignored, as under nohup, or that the caller handles himself stay so. Once one has come, further
    ones wait for nothing: they are ignored, so that cleaning up is not itself cut short. For programs, never for a
    library: in any thread but the main one this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    taken = [number for number in _ASKED if signal.getsignal(number) == signal.SIG_DFL]
    for number in taken:
        signal.signal(number, _end)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


def _end(number: int, _frame: FrameType | None) -> NoReturn:
    for other in _ASKED:
        if signal.getsignal(other) is _end:
            signal.signal(other, signal.SIG_IGN)
    raise SystemExit(128 + number)
