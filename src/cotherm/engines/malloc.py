"""Keep freed memory in the process for reuse during a large coupling, where the C library allows it (glibc).

Otherwise blocks of more than 32 MB are new to the process, page by page, at every allocation: a coupling of 400,000
vertices takes 33 s of processor time in place of 26. Other threads than the main one have heaps that cannot be kept.

glibc can be told its settings but not asked for them. Afterwards they are where its own adaptation ends once the
program has freed a block of 32 MB: its two thresholds at 32 and 64 MB, for good.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# If less than this is needed in all, hardly any block is so large.
_WORTH_KEEPING = 150e6

# Options of mallopt. While memory is kept, blocks are not mapped and the heap does not shrink.
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _MMAP_MAX = -1, -3, -4
_KEEPING = {_MMAP_MAX: 0, _TRIM_THRESHOLD: -1}
_USUAL = {_TRIM_THRESHOLD: 2**26, _MMAP_THRESHOLD: 2**25, _MMAP_MAX: 65_536}

# The library while memory is kept, by the main thread.
_in_use: list[Any] = []


@contextmanager
def kept_memory(size: float) -> Iterator[None]:
    """Keep memory for reuse here, if about ``size`` bytes are worth it and no one has set up the allocator."""
    main = threading.current_thread() is threading.main_thread()
    library = _glibc() if size >= _WORTH_KEEPING and main and not _in_use else None
    if library is None:
        yield
        return
    _in_use.append(library)
    try:
        for setting in _KEEPING.items():
            library.mallopt(*setting)
        yield
    finally:
        _in_use.clear()
        for setting in _USUAL.items():
            library.mallopt(*setting)
        library.malloc_trim(0)


def return_free_memory() -> None:
    """Return free memory to the system now, while memory is kept: later blocks may not fit the freed ones."""
    for library in _in_use:
        library.malloc_trim(0)


def _glibc() -> Any:
    """The C library; None if it is not glibc, or is set up already."""
    if not sys.platform.startswith("linux") or "glibc.malloc" in os.environ.get("GLIBC_TUNABLES", ""):
        return None
    if any(name.startswith("MALLOC_") for name in os.environ):
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "gnu_get_libc_version") else None
