"""What a block of columns amounts to, in one pass by all threads."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cotherm.arrays import Floats
from cotherm.engines.cpu.jit import compiled
from cotherm.engines.cpu.thread_pool import ThreadPool

# Rows whose amounts are added up one after the other.
_ROWS = 4_096
# Sizes whose squares neither vanish nor overflow.
_SQUARABLE = (1e-140, 1e140)


class Amounts(NamedTuple):
    """Of every column the largest size of a number, the sum, and the sum of squares."""

    largest: Floats
    sums: Floats
    squares: Floats


def column_amounts(F: Floats, units: Floats | None = None) -> Amounts:
    """In one order whatever the threads; in units of each column's own where they are given."""
    if units is not None and not np.all(units == 1.0):
        F = F / units
    n, q = F.shape
    count = max(1, n // _ROWS)
    found = np.zeros((count, 3, q))
    with ThreadPool(work=float(F.size)) as team:
        team.run(_amounts, [count * k // team.pieces for k in range(team.pieces + 1)], F, found)
    return Amounts(found[:, 0].max(axis=0), found[:, 1].sum(axis=0), found[:, 2].sum(axis=0))


def column_units(F: Floats) -> Floats:
    """For each column a power of two in whose units its squares neither vanish nor overflow: mostly 1."""
    sizes = column_amounts(F).largest
    ordinary = (sizes == 0.0) | ((sizes > _SQUARABLE[0]) & (sizes < _SQUARABLE[1]))
    return np.where(ordinary, 1.0, 2.0 ** np.clip(np.frexp(sizes)[1], -1_000, 1_000))


@compiled
def _amounts(lo: int, hi: int, F: Any, found: Any) -> None:
    n, q = F.shape
    count = len(found)
    for piece in range(lo, hi):
        for r in range(n * piece // count, n * (piece + 1) // count):
            for c in range(q):
                x = F[r, c]
                found[piece, 0, c] = max(found[piece, 0, c], abs(x))
                found[piece, 1, c] += x
                found[piece, 2, c] += x * x
