"""The unsigned incidence matrix over ranks, and systems with 2I + C_F C_Fᵀ by conjugate gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.engines.cpu.incidence import (
    ROUNDS,
    SHIFT,
    begin_kernel,
    move_kernel,
    panel_width,
    product_kernel,
    sum_ends,
    sum_rows,
    turn_kernel,
    widened,
)
from cotherm.engines.cpu.jit import compiled
from cotherm.engines.petsc.array import DistributedArray
from cotherm.engines.petsc.pattern import Laplacian, Pattern, Slices


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
    X = np.empty_like(Y)
    width = panel_width(Y.shape[1])
    for first in range(0, Y.shape[1], width):
        at = slice(first, first + width)
        begin = None if start is None else start[:, at]
        X[:, at] = _panel(matrix, widened(Y[:, at], width), tolerance, begin)[:, : Y.shape[1] - first]
    return X


def _panel(matrix: Laplacian, Y: Floats, tolerance: float, start: Floats | None) -> Floats:
    pattern, (n, width) = matrix.pattern, Y.shape
    rows = (matrix.rows.offsets, matrix.rows.columns, matrix.rows.weights, matrix.rows.degrees)
    degrees, others = matrix.rows.degrees, pattern.halo.count
    x, p = np.zeros((n + others, width)), np.empty((n + others, width))
    residual, Ap = np.empty((n, width)), np.empty((n, width))
    if start is None:
        np.divide(Y, degrees[:, np.newaxis] + SHIFT, out=x[:n])
    else:
        x[:n, : start.shape[1]] = start
    begin, product, move, turn = (kernel(width) for kernel in (begin_kernel, product_kernel, move_kernel, turn_kernel))
    with Slices(pattern, matrix.work(width)) as slices:
        sums, places = np.zeros((slices.count, 3, width)), slices.places

        def total() -> Floats:
            return pattern.communicator.sum(sums.sum(axis=0))

        slices.run(begin, x, places, sums, *rows, Y, x, residual, p)
        gain, left, size = total()
        target = tolerance**2 * size
        for _ in range(ROUNDS):
            if np.all(left <= target):
                break
            slices.run(product, p, places, sums, *rows, p, Ap)
            curvature = total()[0]
            step = np.divide(gain, curvature, out=np.zeros_like(gain), where=curvature > 0.0)
            previous = gain
            slices.run_alone(move, places, sums, degrees, np.array([step, -step]), p, Ap, x, residual)
            gain, left = total()[:2]
            ratio = np.divide(gain, previous, out=np.zeros_like(gain), where=previous > 0.0)
            slices.run_alone(turn, degrees, ratio[np.newaxis], residual, p)
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
