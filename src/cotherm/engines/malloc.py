"""Keep freed memory in the process for reuse during a computation, where the C library allows it (glibc).

Blocks of more than 32 MB are mapped on allocation and unmapped when they are freed: each is new to the
process, page by page, every time. Where one follows another that takes as long as to compute what goes into them.
Only the main thread's blocks can be kept: others come from places of their own and are mapped as ever.

Afterwards the allocator does what it did before. Its settings can be set but not asked for, so this rests on how glibc
comes to them: its two thresholds rise with the blocks that are freed, to 32 and 64 MB at most, and stay there.
They are brought there first, by freeing such a block. If then another is not mapped and one that is larger is, they
are where they will be set again afterwards; otherwise the program has settings of its own, and nothing is touched. What
remains: the thresholds are at their ends, which they might not have reached by themselves, and for good;
and a program that has set the threshold of trimming only, and only after both had come to their ends, has it set back
to 64 MB.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from cotherm.engines.fork_safety import AtFork, act_at_fork

# Where less is asked for in all, hardly a block is so large.
_WORTH_KEEPING = 150e6

# Options of mallopt, and the values that glibc comes to by itself once the largest block that moves them has been given
# back: it is in whole pages, and below 32 MiB.
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _MMAP_MAX = -1, -3, -4
_LARGEST = 32 * 2**20 - mmap.PAGESIZE
_USUAL = {_TRIM_THRESHOLD: 2 * _LARGEST, _MMAP_THRESHOLD: _LARGEST, _MMAP_MAX: 65_536}
# No block is mapped, and the heap never shrinks.
_KEEPING = {_MMAP_MAX: 0, _TRIM_THRESHOLD: -1}

# That block and the next larger, which both have a header, as they are asked for; and how many of the larger ones a
# heap may have free.
_LAST_KEPT, _NEXT = _LARGEST - 32, _LARGEST + 32
_FREE = 32
# Of the word before a block: it has been mapped.
_IS_MAPPED = 2

# The library while memory is kept, by the main thread.
_in_use: list[Any] = []


@contextmanager
def kept_memory(size: float) -> Iterator[None]:
    """Within, memory is kept for reuse, if about ``size`` bytes are worth it; afterwards it returns to the system.

    An allocator that is set up, in the environment or by the program, is left alone.
    """
    main = threading.current_thread() is threading.main_thread()
    library = _glibc() if size >= _WORTH_KEEPING and main and not _in_use else None
    if library is None:
        yield
        return
    _in_use.append(library)
    try:
        _set(library, _KEEPING)
        yield
    finally:
        _release()


def return_free_memory() -> None:
    """Give what is free back to the system now, while memory is kept: blocks to come may not fit the ones that went."""
    for library in _in_use:
        library.malloc_trim(0)


def _release() -> None:
    while _in_use:
        library = _in_use.pop()
        _set(library, _USUAL)
        library.malloc_trim(0)


def _in_child() -> None:
    """A child of another thread has no main thread that would release the memory."""
    if not _forked_by_main:
        _release()


_forked_by_main = True


def _before_fork(_: bool) -> None:
    global _forked_by_main  # noqa: PLW0603
    _forked_by_main = threading.current_thread() is threading.main_thread()


act_at_fork(AtFork(_before_fork, lambda: None, _in_child))


def _set(library: Any, options: dict[int, int]) -> None:
    for option, value in options.items():
        library.mallopt(option, value)


def _glibc() -> Any:
    """The C library, or None where it is another or is set up already."""
    if not sys.platform.startswith("linux") or "glibc.malloc" in os.environ.get("GLIBC_TUNABLES", ""):
        return None
    if any(name.startswith("MALLOC_") for name in os.environ):
        return None
    library = _functions()
    return library if hasattr(library, "gnu_get_libc_version") and _is_usual(library) else None


def _functions() -> Any:
    library = ctypes.CDLL(None)
    library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    library.free.restype, library.free.argtypes = None, [ctypes.c_void_p]
    return library


def _is_usual(library: Any) -> bool:
    """Whether the thresholds are at their ends, now that a block of that size has been freed."""
    _mapped(library, _LAST_KEPT)
    return not _mapped(library, _LAST_KEPT) and _mapped(library, _NEXT, _FREE)


def _mapped(library: Any, size: int, most: int = 1) -> bool:
    """Whether one of several blocks is mapped; all are freed, and their pages are never touched."""
    blocks: list[int] = []
    try:
        for _ in range(most):
            block = library.malloc(size)
            if not block:
                break
            blocks.append(block)
            if ctypes.c_size_t.from_address(block - ctypes.sizeof(ctypes.c_size_t)).value & _IS_MAPPED:
                return True
        return False
    finally:
        for block in blocks:
            library.free(block)
