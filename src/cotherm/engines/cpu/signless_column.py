"""Conjugate gradients for one column and 2I + D + W in one compiled call: what small systems need most is few calls."""

from __future__ import annotations

from typing import Any

import numpy as np

from cotherm.arrays import Floats
from cotherm.engines.cpu.jit import compiled_in_any_order
from cotherm.engines.cpu.laplacian import ReorderedLaplacian


def signless_column(matrix: ReorderedLaplacian, y: Floats, shift: float, tolerance: float, rounds: int) -> Floats:
    """(shift·I + D + W)⁻¹y to a relative residual, with the diagonal as the preconditioner."""
    x = y / (matrix.degrees + shift)
    rows = (matrix.offsets, matrix.columns, matrix.weights, matrix.degrees)
    _iterate(*rows, y, x, shift, tolerance, rounds)
    return x


@compiled_in_any_order
def _iterate(
    offsets: Any, columns: Any, weights: Any, degrees: Any, y: Any, x: Any, shift: float, tolerance: float, rounds: int
) -> None:
    """From x, which becomes the solution."""
    n = len(y)
    residual, p, moved = np.empty(n), np.empty(n), np.empty(n)
    gain = left = size = 0.0
    for r in range(n):
        total = y[r] - (degrees[r] + shift) * x[r]
        for k in range(offsets[r], offsets[r + 1]):
            total -= weights[k] * x[columns[k]]
        residual[r], p[r] = total, total / (degrees[r] + shift)
        gain += total * p[r]
        left += total * total
        size += y[r] * y[r]
    target = tolerance**2 * size
    for _ in range(rounds):
        if left <= target:
            break
        curvature = 0.0
        for r in range(n):
            total = (degrees[r] + shift) * p[r]
            for k in range(offsets[r], offsets[r + 1]):
                total += weights[k] * p[columns[k]]
            moved[r] = total
            curvature += total * p[r]
        if curvature <= 0.0:
            break
        step, previous = gain / curvature, gain
        gain = left = 0.0
        for r in range(n):
            x[r] += step * p[r]
            residual[r] -= step * moved[r]
            square = residual[r] * residual[r]
            left += square
            gain += square / (degrees[r] + shift)
        ratio = gain / previous
        for r in range(n):
            p[r] = residual[r] / (degrees[r] + shift) + ratio * p[r]
