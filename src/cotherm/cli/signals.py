"""SIGTERM and SIGHUP end a command as an interrupt does: whatever it was doing cleans up after itself.

After an interrupt the best result so far may still be delivered, which takes a moment; the user is told so.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

# The signals that ask a program to end; some systems have no SIGHUP.
_ASKED = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
# Seconds for cleaning up, in which further signals are ignored; code still running afterwards has lost the first.
_PATIENCE = 5.0
# Seconds after which a signal that is known to be lost is sent again: by then the code that lost it has returned.
_AGAIN = 0.05
_HEARD = b"\ncotherm: interrupted: ending with the best so far, if there is any. Ctrl-C again stops at once.\n"


class _Ended(SystemExit):
    """A signal asked the program to end."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.number = number


class _Ending:
    """Raises at a signal, and again at a later signal when the first must have been lost."""

    def __init__(self) -> None:
        self._quiet_until = -float("inf")
        self._timers: list[threading.Timer] = []

    def ask(self, number: int, _frame: FrameType | None) -> None:
        if time.monotonic() < self._quiet_until:
            return
        self._quiet_until = time.monotonic() + _PATIENCE
        self._send_later(number, _PATIENCE + _AGAIN)
        raise _Ended(number)

    def lost(self, number: int) -> None:
        self._quiet_until = -float("inf")
        self._send_later(number, _AGAIN)

    def _send_later(self, number: int, seconds: float) -> None:
        timer = threading.Timer(seconds, os.kill, (os.getpid(), number))
        timer.daemon = True
        timer.start()
        self._timers.append(timer)

    def stop(self) -> None:
        for timer in self._timers:
            timer.cancel()


@contextmanager
def ended_in_order() -> Iterator[None]:
    """While this lasts, the signals raise SystemExit(128 + number) in the main thread; then all is as it was.

    Signals that are ignored, as under nohup, or that the caller handles himself stay so. Once one has come, further
    ones are ignored for some seconds, so that cleaning up is not itself cut short. Exceptions are dropped where C calls
    back into Python or Python compiles: a program that goes on is asked again. For programs, never for a library: in
    any thread but the main one this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    taken = [number for number in _ASKED if signal.getsignal(number) == signal.SIG_DFL]
    ending, hook = _Ending(), sys.unraisablehook

    def dropped(unraisable: sys.UnraisableHookArgs) -> Any:
        error = unraisable.exc_value
        return ending.lost(error.number) if isinstance(error, _Ended) else hook(unraisable)

    for number in taken:
        signal.signal(number, ending.ask)
    sys.unraisablehook = dropped
    try:
        yield
    finally:
        ending.stop()
        sys.unraisablehook = hook
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def told_of_interrupts() -> Iterator[None]:
    """While this lasts, the first interrupt says that it was heard, and that a second one stops at once.

    Both raise KeyboardInterrupt, as ever. An interrupt that is ignored, as in the background of a shell, stays so.
    """
    own = threading.current_thread() is threading.main_thread()
    if not own or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def first(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with suppress(Exception):  # not by print: it may be what was interrupted
            os.write(sys.stderr.fileno(), _HEARD)
        signal.default_int_handler(number, frame)

    signal.signal(signal.SIGINT, first)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
