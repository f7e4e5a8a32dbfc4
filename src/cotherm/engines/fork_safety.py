"""Make it safe to fork a process while its other threads compute.

The child has the thread that forked only. A lock that another thread held at that moment stays locked in it for ever:

- Our own locks and that of Numba's compiler are taken before the fork and released on both sides of it.
- OpenBLAS has locks that no one else can take: one for the whole of a product that it computes with several threads,
  and one for an instant in every call. So a fork waits until the other threads that are inside cotherm have come out of
  their calls of compiled code: it keeps the interpreter's lock, which they need to go on, until they sleep.
- A call that lasts longer than two seconds is not waited for. The child then has one BLAS thread, for good, and does
  without the first of those locks; made in an instant when the second is held, it will hang in its first product.

Measured without it, ten children forked beside a thread that works: one hangs beside couplings of the Ring, and all
beside Numba's compiler; beside a product with several BLAS threads the parent hangs too. With the locks alone, all ten
still hang beside such a product.

Programs that are started, not forked (``subprocess``, the methods "spawn" and "forkserver" of ``multiprocessing``),
know none of this.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any, NamedTuple

# Seconds to wait for imports in progress, and for calls of compiled code.
_IMPORTS, _CALLS = 10.0, 2.0
# The interpreter's lock is not asked for by other threads within this time, which is longer than all the waiting.
_KEPT = 2.0 * _CALLS
_STEP = 0.001


class AtFork(NamedTuple):
    """Callbacks around a fork; ``before`` is called with whether other threads have come to rest."""

    before: Callable[[bool], None]
    in_parent: Callable[[], None]
    in_child: Callable[[], None]


_locks: list[Any] = []
_actions: list[AtFork] = []
_interval: list[float] = []


def hold_at_fork(lock: Any) -> None:
    """Prevent forks while another thread holds the lock, which must be reentrant."""
    _locks.append(lock)


def act_at_fork(action: AtFork) -> None:
    _actions.append(action)


def _before() -> None:
    for lock in _locks:
        lock.acquire()
    at_rest = _come_to_rest()
    for action in _actions:
        action.before(at_rest)


def _in_parent() -> None:
    try:
        for action in _actions:
            action.in_parent()
    finally:
        _after()


def _in_child() -> None:
    try:
        for action in _actions:
            action.in_child()
    finally:
        _after()


def _after() -> None:
    while _interval:
        sys.setswitchinterval(_interval.pop())
    for lock in reversed(_locks):
        lock.release()


def _come_to_rest() -> bool:
    """Wait for other threads that compute; return whether all have left compiled code."""
    if not _inside():
        return True
    _wait_for_imports()
    _interval.append(sys.getswitchinterval())
    sys.setswitchinterval(_KEPT)
    # Threads that asked for the interpreter's lock with the old interval get it; from here on we keep it.
    time.sleep(2.0 * _interval[-1])
    return _wait_for_sleep([t.native_id for t in threading.enumerate() if t.ident in _inside()])


def _wait_for_imports() -> None:
    """Wait for imports in other threads: the child could not import a module that is half imported."""
    end = time.monotonic() + _IMPORTS
    while any(map(_imports, _inside().values())) and time.monotonic() < end:
        time.sleep(_STEP)


def _wait_for_sleep(threads: Iterable[int | None]) -> bool:
    """Wait without releasing the interpreter's lock, as Python's own functions for files and sleep would do."""
    library = ctypes.PyDLL(None)
    if not sys.platform.startswith("linux"):  # only /proc tells which threads sleep; elsewhere, wait for short calls
        library.usleep(50_000)
        return False
    places = [f"/proc/self/task/{thread}/stat".encode() for thread in threads]
    end = time.monotonic() + _CALLS
    while not all(_sleeps(library, place) for place in places):
        if time.monotonic() > end:
            return False
        library.usleep(int(_STEP * 1e6))
    return True


def _sleeps(library: Any, place: bytes) -> bool:
    """Whether a thread sleeps or is gone; its state is the letter after the program's name in brackets."""
    file = library.open(place, os.O_RDONLY)
    if file < 0:
        return True
    text = ctypes.create_string_buffer(512)
    library.read(file, text, 511)
    library.close(file)
    return text.value.rpartition(b")")[2].split()[:1] == [b"S"]


def _inside() -> dict[int, FrameType]:
    """The other threads inside this package, and where they are."""
    package, me = __name__.partition(".")[0], threading.get_ident()
    frames = {thread: frame for thread, frame in sys._current_frames().items() if thread != me}
    return {thread: frame for thread, frame in frames.items() if any(_of(f, package) for f in _stack(frame))}


def _of(frame: FrameType, package: str) -> bool:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] == package


def _imports(frame: FrameType) -> bool:
    return any(_of(f, "importlib") for f in _stack(frame))


def _stack(frame: FrameType | None) -> Iterable[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
