"""Products with tall matrices and sums over their rows and columns, in one pass by all threads.

Matrices are float64 or float32, sums float64.
Dense algebra libraries are made for larger matrices: with a row of some ten or hundred numbers their threads wait for
each other more than they compute.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.engines.cpu.jit import compiled
from cotherm.engines.cpu.thread_pool import ThreadPool
from cotherm.engines.interface import ColumnSums

# Up to this many numbers NumPy is as fast.
_SMALL = 100_000
# Rows that are added up one after the other.
_ROWS = 4_096


def matvec(E: NDArray[Any], x: Floats) -> Floats:
    """E x."""
    if E.size <= _SMALL:
        return np.asarray(E @ x)
    out = np.empty(len(E))
    with ThreadPool(work=float(E.size)) as pool:
        pool.run(_dot, _cuts(len(E), pool.pieces), E, x, out)
    return out


def rmatvec(E: NDArray[Any], y: Floats) -> Floats:
    """Eᵀy."""
    if E.size <= _SMALL:
        return np.asarray(y @ E)
    with ThreadPool(work=float(E.size)) as pool:
        cuts = _cuts(len(E), pool.pieces)
        sums = np.zeros((pool.pieces, E.shape[1]))
        pool.run(_transposed_dot, cuts, np.array(cuts), E, y, sums)
    return np.asarray(sums.sum(axis=0))


def row_squares(E: NDArray[Any]) -> Floats:
    """The sum of squares of every row."""
    out = np.empty(len(E))
    with ThreadPool(work=float(E.size)) as pool:
        pool.run(_squares, _cuts(len(E), pool.pieces), E, out)
    return out


def column_sums(F: Floats, units: Floats | None = None) -> ColumnSums:
    """Sums in units of each column's own where they are given; in one order, whatever the number of threads."""
    if units is not None and not np.all(units == 1.0):
        F = F / units
    n, q = F.shape
    count = max(1, n // _ROWS)
    found = np.zeros((count, 3, q))
    with ThreadPool(work=float(F.size)) as pool:
        pool.run(_column_sums, [count * k // pool.pieces for k in range(pool.pieces + 1)], F, found)
    return ColumnSums(found[:, 0].max(axis=0), found[:, 1].sum(axis=0), found[:, 2].sum(axis=0))


def _cuts(rows: int, pieces: int) -> list[int]:
    return [rows * k // pieces for k in range(pieces + 1)]


@compiled
def _dot(lo: int, hi: int, E: Any, x: Any, out: Any) -> None:
    # Four rows at a time: one sum alone would wait for itself at every term.
    last = lo + (hi - lo) // 4 * 4
    for e in range(lo, last, 4):
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        for k in range(E.shape[1]):
            a += E[e, k] * x[k]
            b += E[e + 1, k] * x[k]
            c += E[e + 2, k] * x[k]
            d += E[e + 3, k] * x[k]
        out[e], out[e + 1], out[e + 2], out[e + 3] = a, b, c, d
    for e in range(last, hi):
        a = 0.0
        for k in range(E.shape[1]):
            a += E[e, k] * x[k]
        out[e] = a


@compiled
def _transposed_dot(lo: int, hi: int, places: Any, E: Any, y: Any, sums: Any) -> None:
    if lo == hi:
        return
    total = np.zeros(E.shape[1])
    for e in range(lo, hi):
        factor = y[e]
        for k in range(E.shape[1]):
            total[k] += factor * E[e, k]
    sums[np.searchsorted(places, hi) - 1] = total


@compiled
def _squares(lo: int, hi: int, E: Any, out: Any) -> None:
    for e in range(lo, hi):
        total = 0.0
        for k in range(E.shape[1]):
            total += np.float64(E[e, k]) ** 2
        out[e] = total


@compiled
def _column_sums(lo: int, hi: int, F: Any, found: Any) -> None:
    n, q = F.shape
    count = len(found)
    for piece in range(lo, hi):
        for r in range(n * piece // count, n * (piece + 1) // count):
            for c in range(q):
                x = F[r, c]
                found[piece, 0, c] = max(found[piece, 0, c], abs(x))
                found[piece, 1, c] += x
                found[piece, 2, c] += x * x
