"""Σ_k c_k T_k(X) F on the GPU: a launch for every step of the recurrence, or one for all where they are short."""

from __future__ import annotations

from typing import Any

import numpy as np

from cotherm.arrays import Floats
from cotherm.engines.cpu.chebyshev import terms_due
from cotherm.engines.gpu.device import Device
from cotherm.engines.gpu.layout import GpuLaplacian, blocks
from cotherm.engines.interface import Array

# Columns of a panel, and threads of a block: where every step is a launch, and where all are one.
_WIDEST, _THREADS, _TOGETHER = 16, 64, 256
# Columns for which there is a kernel of its own, and neighbors up to which it is right: PART in common.cuh.
_USUAL, _PART = 8, 64
# Blocks for each of the GPU's processors that wait for each other.
_WAITING = 3


def sums(L: GpuLaplacian, F: Array, coefficients: Floats, bound: float, *, together: int) -> Array:
    """(n, times, q); with up to ``together`` numbers in F all steps are one launch."""
    device, (n, q), times = L.pattern.device, F.shape, coefficients.shape[1]
    out = device.xp.empty((n, times, q))
    last = len(coefficients) - 1
    if not n or not q or not times:
        return out
    if last == 0:
        out[:] = device.asarray(coefficients[0])[:, np.newaxis] * F[:, np.newaxis]
        return out
    width = q + q % 2  # a thread has two columns
    current, previous = _padded(device, F, width), None
    rooms = [device.xp.empty((n, width)) for _ in range(2)]
    panels = -(-width // _WIDEST)
    lanes = -(-width // (2 * panels))
    is_due = [k % 3 == 2 or k == last for k in range(last + 1)]
    table = device.asarray(np.array([terms_due(coefficients, k) for k in range(last + 1)]))
    scale = 2.0 / bound if bound > 0.0 else 0.0
    matrix = (L.pattern.offsets, L.pattern.columns, L.weights)
    if n * q <= together:
        rows = _TOGETHER // lanes
        (tiles,) = blocks(n, rows)
        arguments = (n, width, panels, *matrix, scale, last, current, *rooms, times, q, table, out)
        grid = (min(tiles * panels, _WAITING * device.processors),)
        device.launch(
            "chebyshev.cu", "chebyshev_sweep", grid, (lanes, rows), (*arguments, device.counter()), together=True
        )
        return out
    rows, is_first = _THREADS // lanes, True
    # A kernel of its own for the case that is measured, and most common on large graphs.
    is_usual = q == _USUAL and times == 1 and L.pattern.longest <= _PART
    for k in range(1, last + 1):
        # T_1 = X T_0, then T_k = 2X T_{k−1} − T_{k−2}, which takes the place of T_{k−2}, unless that is F.
        gain, room = 1.0 if k == 1 else 2.0, rooms[(k - 1) % 2]
        step: tuple[Any, ...] = (*matrix, gain * scale, gain, current, previous, room)
        done: tuple[Any, ...] = (table[k], int(is_due[k]), int(is_first), out)
        if is_usual:
            device.launch("chebyshev.cu", "chebyshev_step_of_8", blocks(n, rows), (lanes, rows), (n, *step, *done))
        else:
            arguments = (n, width, *step, times, q, *done)
            device.launch("chebyshev.cu", "chebyshev_step", (*blocks(n, rows), panels), (lanes, rows), arguments)
        is_first = is_first and not is_due[k]
        current, previous = room, current
    return out


def _padded(device: Device, F: Array, width: int) -> Array:
    """F, contiguous, with columns of zeros up to the width."""
    n, q = F.shape
    if q == width:
        return device.xp.ascontiguousarray(F.astype(np.float64, copy=False))
    wide = device.xp.zeros((n, width))
    wide[:, :q] = F
    return wide
