"""The unsigned incidence matrix over ranks, and systems with 2I + C_F C_Fᵀ by conjugate gradients."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.engines.cpu.incidence import SHIFT, by_panels, conjugate_gradients, sum_ends, sum_rows
from cotherm.engines.cpu.jit import compiled
from cotherm.engines.petsc.array import DistributedArray
from cotherm.engines.petsc.pattern import Laplacian, Pattern, RankSlices


def sums_at_vertices(pattern: Pattern, d: Floats) -> Floats:
    """C d."""
    out = np.empty(pattern.n)
    sum_rows(0, pattern.n, pattern.offsets, pattern.edges, pattern.mirrors.extended(d), out)
    return out


def sums_at_edges(pattern: Pattern, y: Floats) -> Floats:
    """Cᵀy."""
    i, j = pattern.i.values, pattern.j.values
    out = np.empty(len(i))
    sum_ends(0, len(i), i, j, pattern.halo.extended(y), out)
    return out


def add_at_vertices(rows: Floats, i: DistributedArray, j: NDArray[Any], out: DistributedArray) -> None:
    """out += C·rows; what is added to vertices of other ranks is sent when ``out`` is next used."""
    assert i.halo is not None
    mine, others = out.to_add(i.halo)
    _add_rows(rows, i.values, j, mine, others)


def solved(matrix: Laplacian, Y: Floats, tolerance: float, start: Floats | None) -> Floats:
    """(2I + D_F + W_F)⁻¹Y, each column to a relative residual; the weights of the matrix are 1 in F and 0 elsewhere."""
    return by_panels(partial(_panel, matrix), Y, tolerance, start)


def _panel(matrix: Laplacian, Y: Floats, tolerance: float, start: Floats | None) -> Floats:
    pattern, (n, width) = matrix.pattern, Y.shape
    x = np.zeros((n + pattern.halo.count, width))
    x[:n] = Y / (matrix.rows.degrees[:, np.newaxis] + SHIFT) if start is None else start
    with RankSlices(pattern, matrix.work(width)) as slices:
        conjugate_gradients(slices, matrix.rows, Y, x, tolerance)
    return x[:n]


@compiled
def _add_rows(rows: Any, i: Any, j: Any, mine: Any, others: Any) -> None:
    own = len(mine)
    for e in range(len(i)):
        for v in (i[e], j[e]):
            if v < own:
                for c in range(rows.shape[1]):
                    mine[v, c] += rows[e, c]
            else:
                for c in range(rows.shape[1]):
                    others[v - own, c] += rows[e, c]
