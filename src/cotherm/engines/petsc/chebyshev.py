"""The fused Chebyshev recurrence of :mod:`cotherm.engines.cpu.chebyshev` over ranks.

Every step needs the rows of the halo. They are fetched while the rows that need none of them are computed. The sums at
the vertices of the halo, which derivatives by edges need, are made here from the rows that come anyway.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cotherm.arrays import Floats
from cotherm.engines.cpu.chebyshev import WIDEST, step_kernel, terms_due
from cotherm.engines.cpu.jit import compiled
from cotherm.engines.cpu.simd import panels
from cotherm.engines.petsc.pattern import Laplacian, Slices


def chebyshev_sums(matrix: Laplacian, F: Floats, coefficients: Floats, bound: float) -> Floats:
    """Σ_k coefficients[k, t] T_k(X) F for the rows here, (n, times, q), and for those of the halo too."""
    rows = matrix.pattern.n + matrix.pattern.halo.count
    times, q = coefficients.shape[1], F.shape[1]
    parts = panels(q, WIDEST)
    if len(parts) == 1:
        return _panel(matrix, F, coefficients, bound)
    out = np.empty((rows, times, q))
    for first, last in parts:
        out[:, :, first:last] = _panel(matrix, F[:, first:last], coefficients, bound)
    return out


def _panel(matrix: Laplacian, F: Floats, coefficients: Floats, bound: float) -> Floats:
    pattern, rows = matrix.pattern, matrix.rows
    n, others = pattern.n, pattern.halo.count
    width, times = F.shape[1], coefficients.shape[1]
    current, previous = np.empty((n + others, width)), np.zeros((n + others, width))
    sums = np.zeros((n + others, times, width))
    current[:n] = F
    last = len(coefficients) - 1
    if last == 0:  # degree 0: nothing but a multiple of F
        np.multiply(coefficients[0][:, np.newaxis], current[:n, np.newaxis], out=sums[:n])
    step = step_kernel(width)
    with Slices(pattern, matrix.work(width)) as slices:
        for k in range(1, last + 1):
            # T_1 = X T_0, then T_k = 2X T_{k−1} − T_{k−2}; previous is zero at first, so one formula serves both.
            gain = 1.0 if k == 1 else 2.0
            slices.run(
                step,
                current,
                rows.offsets,
                rows.columns,
                rows.weights,
                gain * 2.0 / bound,
                gain,
                current,
                previous,
                terms_due(coefficients, k),
                sums.reshape(-1, width),
            )
            _add_term(coefficients[k - 1], current[n:], sums[n:])
            current, previous = previous, current
    pattern.halo.fetch(current)
    _add_term(coefficients[last], current[n:], sums[n:])
    return sums


@compiled
def _add_term(coefficients: Any, rows: Any, sums: Any) -> None:
    """sums[r, t] += coefficients[t]·rows[r]."""
    for r in range(len(rows)):
        for t in range(len(coefficients)):
            c = coefficients[t]
            if c != 0.0:
                for k in range(rows.shape[1]):
                    sums[r, t, k] += c * rows[r, k]
