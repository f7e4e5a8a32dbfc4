"""At most as many equations as unknowns: a least-squares term ‖r + Jᵀs‖² with more residuals than unknowns, made small.

With Jᵀ = QR it is ‖Qᵀr + Rs‖² and a constant. R is m × m for m unknowns, however many residuals there are, and comes
from blocks of columns of J one after the other: all of J is never in memory at once. Q is not kept. The model depends
on Qᵀr only through Rᵀ(Qᵀr) = Jr, so x with Rᵀx = Jr serves for it. A weight at rounding level on every unknown makes R
regular.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dtpqrt

from cotherm.arrays import Floats
from cotherm.engines.interface import Array
from cotherm.solve.tall_matrix import InMemory, TallMatrix, rows_per_block

# Columns in a panel of LAPACK's update.
_PANEL = 64
# What is added to R, relative to the size of J: R would else be singular where an unknown changes nothing.
_ROUNDING = 1e-15

# From residuals to those of the equations that stand for them.
Compress = Callable[[Floats], Floats]


def compressed(J: TallMatrix) -> tuple[TallMatrix, Compress]:
    """A row for each unknown, at most as many columns as unknowns, and what becomes of residuals."""
    m, k = J.engine.ranks.sum(J.shape[0]), J.shape[1]
    if k <= m or not m:
        return J, lambda r: r
    E = _triangle(J, m).T

    def compress(r: Floats) -> Floats:
        force = _all_rows(J, J.matvec(r))
        return np.asarray(solve_triangular(E.T, force, trans=1, check_finite=False))

    return InMemory(J.engine.asarray(E[J.engine.ranks.place(J.shape[0])]), J.engine), compress


def _triangle(J: TallMatrix, m: int) -> Floats:
    """R of Jᵀ = QR, updated by one block of columns of J at a time; J has m rows in all."""
    k = J.shape[1]
    R = np.zeros((m, m), order="F")
    np.fill_diagonal(R, _ROUNDING * (float(np.sqrt(J.row_squares.max())) or 1.0))
    # Not fewer columns than rows, so that one pass over them is worth its work.
    width = max(m, rows_per_block(m, J.engine))
    for first in range(0, k, width):
        # A block with a row for each unknown is, in the order of its numbers, LAPACK's with a column for each.
        block = _all_rows(J, J.column_range(first, min(first + width, k))).T
        R = dtpqrt(0, min(_PANEL, m), R, block, overwrite_a=1, overwrite_b=1)[0]
    return R


def _all_rows(J: TallMatrix, x: Array) -> Floats:
    """Those of all ranks, on the host."""
    return J.engine.ranks.rows(J.engine.to_numpy(x))
