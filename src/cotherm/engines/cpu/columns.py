"""What a block of columns amounts to, in one pass by all threads."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cotherm.arrays import Floats
from cotherm.engines.cpu.compile import compiled
from cotherm.engines.cpu.team import Team

# Rows whose amounts are added up one after the other.
_ROWS = 4_096


class Amounts(NamedTuple):
    """Of every column the largest size of a number, the sum, and the sum of squares."""

    largest: Floats
    sums: Floats
    squares: Floats


def column_amounts(F: Floats) -> Amounts:
    """In one order whatever the threads."""
    n, q = F.shape
    count = max(1, n // _ROWS)
    found = np.zeros((count, 3, q))
    with Team(work=float(F.size)) as team:
        team.run(_amounts, [count * k // team.pieces for k in range(team.pieces + 1)], F, found)
    return Amounts(found[:, 0].max(axis=0), found[:, 1].sum(axis=0), found[:, 2].sum(axis=0))


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
