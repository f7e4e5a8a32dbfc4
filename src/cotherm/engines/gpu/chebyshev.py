"""Σ_k c_k T_k(X) F on the GPU: a launch for every step of the recurrence, or one for all where they are short."""

from __future__ import annotations

import numpy as np

from cotherm.arrays import Floats
from cotherm.engines.gpu.layout import GpuLaplacian, blocks
from cotherm.engines.interface import Array

# Columns of a panel, and threads of a block: where every step is a launch, and where all are one.
_WIDEST, _THREADS, _TOGETHER = 16, 64, 256
# Blocks for each of the GPU's processors that wait for each other.
_WAITING = 3


def sums(L: GpuLaplacian, F: Array, coefficients: Floats, bound: float, *, by_vertex: bool, together: int) -> Array:
    """(times, n, q), or (n, times, q); with up to ``together`` numbers in F all steps are one launch."""
    device, (n, q), times = L.pattern.device, F.shape, coefficients.shape[1]
    out = device.xp.empty((n, times, q) if by_vertex else (times, n, q))
    strides = [np.int64(s) for s in ((times * q, q) if by_vertex else (q, n * q))]
    last = len(coefficients) - 1
    if not n or not q or not times:
        return out
    if last == 0:
        c = device.asarray(coefficients[0])
        out[:] = c[:, np.newaxis] * F[:, np.newaxis] if by_vertex else c[:, np.newaxis, np.newaxis] * F
        return out
    width = q + q % 2  # a thread has two columns
    current, previous = device.xp.zeros((n, width)), device.xp.zeros((n, width))
    current[:, :q] = F
    panels = -(-width // _WIDEST)
    lanes = -(-width // (2 * panels))
    due, is_due = _terms_due(coefficients)
    table = device.asarray(due)
    scale = 2.0 / bound if bound > 0.0 else 0.0
    matrix = (L.pattern.offsets, L.pattern.columns, L.weights)
    if n * q <= together:
        rows = _TOGETHER // lanes
        (tiles,) = blocks(n, rows)
        arguments = (n, width, panels, *matrix, scale, last, current, previous, times, q, table, out, *strides)
        grid = (min(tiles * panels, _WAITING * device.processors),)
        device.launch(
            "chebyshev.cu", "chebyshev_sweep", grid, (lanes, rows), (*arguments, device.counter()), together=True
        )
        return out
    rows, is_first = _THREADS // lanes, True
    for k in range(1, last + 1):
        # T_1 = X T_0, then T_k = 2X T_{k−1} − T_{k−2}; previous is zero at first, so one formula serves both.
        gain = 1.0 if k == 1 else 2.0
        arguments = (
            *(n, width, *matrix, gain * scale, gain, current, previous, times, q),
            *(table[k], int(is_due[k]), int(is_first), out, *strides),
        )
        device.launch("chebyshev.cu", "chebyshev_step", (*blocks(n, rows), panels), (lanes, rows), arguments)
        is_first = is_first and not is_due[k]
        current, previous = previous, current
    return out


def _terms_due(coefficients: Floats) -> tuple[Floats, list[bool]]:
    """For every step the coefficients of T_{k−2}, T_{k−1} and T_k that it adds to the sums, and whether there are any.

    A step has all three at hand, so the sums, the largest blocks where times are many, are visited every third step.
    """
    last = len(coefficients) - 1
    due = np.zeros((last + 1, 3, coefficients.shape[1]))
    is_due = [k % 3 == 2 or k == last for k in range(last + 1)]
    for k in range(1, last + 1):
        if is_due[k]:
            first = k - 2 if k % 3 == 2 else k - k % 3  # what came before was added by an earlier step
            due[k, 2 - (k - first) :] = coefficients[first : k + 1]
    return due, is_due
