"""Memory that is given back, kept for what comes next, where the C library can do so (glibc).

Blocks of more than 32 MB are mapped when they are asked for and unmapped when they are given back: each is new to the
process, page by page, every time. Where one follows another that takes as long as to compute what goes into them.
Blocks that other threads than the main one ask for come from places of their own and are mapped as ever.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

# Where less is asked for in all, hardly a block is so large.
_WORTH_KEEPING = 150e6

# Options of mallopt, and the values that glibc comes to by itself once blocks of 32 MB have been given back.
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _MMAP_MAX = -1, -3, -4
_USUAL = {_TRIM_THRESHOLD: 64 * 2**20, _MMAP_THRESHOLD: 32 * 2**20, _MMAP_MAX: 65_536}
# No block is mapped, and the heap never shrinks.
_KEEPING = {_MMAP_MAX: 0, _TRIM_THRESHOLD: -1}

_lock = Lock()
_users = 0


@contextmanager
def kept_memory(size: float) -> Iterator[None]:
    """Within, memory is kept for reuse, if about ``size`` bytes are worth it; afterwards it is given back.

    An allocator that is set up in the environment is left alone; what a program has set up by itself is not known.
    """
    library = _glibc() if size >= _WORTH_KEEPING else None
    if library is None:
        yield
        return
    _count(library, 1)
    try:
        yield
    finally:
        _count(library, -1)


def _count(library: Any, change: int) -> None:
    """Couplings may run side by side: the first sets up, the last clears up."""
    global _users
    with _lock:
        before, _users = _users, _users + change
        if not before:
            _set(library, _KEEPING)
        elif not _users:
            _set(library, _USUAL)
            library.malloc_trim(0)


def _set(library: Any, options: dict[int, int]) -> None:
    for option, value in options.items():
        library.mallopt(option, value)


def _glibc() -> Any:
    """The C library, or None where it is another or is set up already."""
    if not sys.platform.startswith("linux") or "glibc.malloc" in os.environ.get("GLIBC_TUNABLES", ""):
        return None
    if any(name.startswith("MALLOC_") for name in os.environ):
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "gnu_get_libc_version") else None
