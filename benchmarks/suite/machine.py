"""The machine: what it is, how much it holds and how fast its memory is."""

from __future__ import annotations

import os
import platform
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from typing import Any

import numpy as np

from cotherm.arrays import Floats

# Larger than caches, small enough for any machine this runs on: 256 MiB a side.
_ELEMENTS = 2**25
_REPEATS = 5
_PACKAGES = (
    "numpy",
    "scipy",
    "numba",
    "scikit-learn",
    "torch",
    "POT",
    "pyriemann",
    "qndiag",
    "pyfmaps",
    "PyGSP",
    "pynndescent",
    "snfpy",
)


def bandwidth(elements: int = _ELEMENTS) -> float:
    """Bytes a second that all processors together copy from memory to memory, read and written, best of five."""
    source, target = np.ones(elements), np.zeros(elements)
    workers = processors()
    cuts = [elements * k // workers for k in range(workers + 1)]
    pieces = [(source[a:b], target[a:b]) for a, b in pairwise(cuts)]
    best = np.inf
    with ThreadPoolExecutor(workers) as pool:
        for _ in range(_REPEATS):
            start = time.perf_counter()
            list(pool.map(_copy, pieces))
            best = min(best, time.perf_counter() - start)
    return float((source.nbytes + target.nbytes) / best)


def _copy(piece: tuple[Floats, Floats]) -> None:
    source, target = piece
    np.copyto(target, source)


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def memory() -> float:
    """Bytes in all."""
    return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def described() -> dict[str, Any]:
    """For the report."""
    return {
        "system": platform.platform(),
        "python": platform.python_version(),
        "processors": processors(),
        "memory": memory(),
        "bandwidth": bandwidth(),
    }


def versions() -> dict[str, str | None]:
    """Of everything that takes part; None where it is not installed."""
    found: dict[str, str | None] = {}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = None
    return found
