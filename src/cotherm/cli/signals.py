"""SIGTERM and SIGHUP end a command as an interrupt does: whatever it was doing cleans up after itself."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

# Those that ask a program to end; a system without hang-ups has one of them less.
_ASKED = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
# Seconds after which a signal that was lost is sent again: by then the code that lost it has returned.
_AGAIN = 0.05


class _Ended(SystemExit):
    """The end of the program, asked for by a signal."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.number = number


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
    hook = sys.unraisablehook
    retries: list[threading.Timer] = []

    def lost(unraisable: sys.UnraisableHookArgs) -> Any:
        """Where C calls back into Python, as compilers do, exceptions are dropped: such a signal is sent again."""
        error = unraisable.exc_value
        if not isinstance(error, _Ended):
            return hook(unraisable)
        signal.signal(error.number, _end)
        retries.append(threading.Timer(_AGAIN, os.kill, (os.getpid(), error.number)))
        retries[-1].start()

    for number in taken:
        signal.signal(number, _end)
    sys.unraisablehook = lost
    try:
        yield
    finally:
        for retry in retries:
            retry.cancel()
        sys.unraisablehook = hook
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


def _end(number: int, _frame: FrameType | None) -> NoReturn:
    for other in _ASKED:
        if signal.getsignal(other) is _end:
            signal.signal(other, signal.SIG_IGN)
    raise _Ended(number)
