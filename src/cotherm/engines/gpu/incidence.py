"""C, the unsigned incidence matrix, on the GPU: its products, and systems with 2I + CCᵀ by conjugate gradients."""

from __future__ import annotations

import numpy as np

from cotherm.engines.gpu.device import Device
from cotherm.engines.gpu.layout import THREADS, GpuPattern, blocks
from cotherm.engines.interface import PANEL, Array, SystemSolver

# Threads of a block, blocks for each of the GPU's processors, and iterations.
_THREADS, _BLOCKS, _ROUNDS = 256, 4, 500


def sums_at_vertices(pattern: GpuPattern, d: Array) -> Array:
    """C d."""
    out = pattern.device.xp.empty(pattern.n)
    arguments = (pattern.n, pattern.offsets, pattern.edges, pattern.device.xp.ascontiguousarray(d), out)
    pattern.device.launch("rows.cu", "sum_rows", blocks(pattern.n), (THREADS,), arguments)
    return out


def sums_at_edges(pattern: GpuPattern, y: Array) -> Array:
    """Cᵀy."""
    out = pattern.device.xp.empty(pattern.m)
    arguments = (pattern.m, pattern.i, pattern.j, pattern.device.xp.ascontiguousarray(y), out)
    pattern.device.launch("rows.cu", "sum_ends", blocks(pattern.m), (THREADS,), arguments)
    return out


def add_at_vertices(device: Device, rows: Array, i: Array, j: Array, out: Array) -> None:
    """Add C E to ``out``: without atomic additions, whose order, and so their rounding, changes from run to run."""
    count, columns = 2 * len(i), out.shape[1]
    if not count or not columns:
        return
    keys = device.sort(np.concatenate([i, j]).astype(np.int64) * count + device.xp.arange(count))
    lanes = min(32, columns)
    at_once = THREADS // lanes
    arguments = (count, columns, keys, device.xp.ascontiguousarray(rows.astype(np.float64, copy=False)), out)
    device.launch("rows.cu", "add_rows", blocks(count, at_once), (lanes, at_once), arguments)


def signless_solver(pattern: GpuPattern, free: Array) -> SystemSolver:
    """Y ↦ (2I + C_F C_Fᵀ)⁻¹Y; see :class:`cotherm.engines.interface.SystemSolver`."""
    present = free[pattern.edges].astype(np.uint8)
    degrees = sums_at_vertices(pattern, free.astype(np.float64))

    def solve(Y: Array, tolerance: float, start: Array | None) -> Array:
        xp, columns = pattern.device.xp, Y.shape[1]
        if columns <= PANEL:
            return _panel(pattern, present, degrees, Y, tolerance, start)
        X = xp.empty(Y.shape)
        for first in range(0, columns, PANEL):
            at = slice(first, min(first + PANEL, columns))
            X[:, at] = _panel(pattern, present, degrees, Y[:, at], tolerance, None if start is None else start[:, at])
        return X

    return solve


def _panel(
    pattern: GpuPattern, present: Array, degrees: Array, Y: Array, tolerance: float, start: Array | None
) -> Array:
    device, n, width = pattern.device, pattern.n, Y.shape[1]
    if not n or not width:
        return device.xp.empty(Y.shape)
    b = device.xp.ascontiguousarray(Y)
    x = device.xp.empty(b.shape) if start is None else start.copy(order="C")
    residual, p, Ap = (device.xp.empty(b.shape) for _ in range(3))
    rows = _THREADS // width
    (count,) = blocks(n, rows)
    count = min(count, _BLOCKS * device.processors)
    arrived, parts = device.counter(), device.xp.empty(6 * count * width)
    arguments = (
        *(n, width, pattern.offsets, pattern.columns, present, degrees, b, x, residual, p, Ap),
        *(int(start is not None), float(tolerance), _ROUNDS, arrived, parts),
    )
    device.launch(
        "conjugate_gradients.cu",
        "conjugate_gradients",
        (count,),
        (width, rows),
        arguments,
        shared=8 * width * rows,
        together=True,
    )
    return x
