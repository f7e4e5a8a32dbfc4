"""Sums over every column of a block, in one pass by all threads."""

from __future__ import annotations

from typing import Any

import numpy as np

from cotherm.arrays import Floats
from cotherm.engines.cpu.jit import compiled
from cotherm.engines.cpu.thread_pool import ThreadPool
from cotherm.engines.interface import ColumnSums

# Rows that are added up one after the other.
_ROWS = 4_096


def column_sums(F: Floats, units: Floats | None = None) -> ColumnSums:
    """Sums in units of each column's own where they are given; in one order, whatever the number of threads."""
    if units is not None and not np.all(units == 1.0):
        F = F / units
    n, q = F.shape
    count = max(1, n // _ROWS)
    found = np.zeros((count, 3, q))
    with ThreadPool(work=float(F.size)) as pool:
        pool.run(_sums, [count * k // pool.pieces for k in range(pool.pieces + 1)], F, found)
    return ColumnSums(found[:, 0].max(axis=0), found[:, 1].sum(axis=0), found[:, 2].sum(axis=0))


@compiled
def _sums(lo: int, hi: int, F: Any, found: Any) -> None:
    n, q = F.shape
    count = len(found)
    for piece in range(lo, hi):
        for r in range(n * piece // count, n * (piece + 1) // count):
            for c in range(q):
                x = F[r, c]
                found[piece, 0, c] = max(found[piece, 0, c], abs(x))
                found[piece, 1, c] += x
                found[piece, 2, c] += x * x
