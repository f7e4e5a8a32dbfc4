"""The fused step of the heat recurrence in the other languages for kernels: Numba's CUDA, and Triton with PyTorch.

Each is the plain kernel that its users would write: with Numba a thread for every row and column, with Triton a program
for some rows and all columns. They do what a step of ours does, but for the sums of long rows in parts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

# Rows of a Triton program, threads of a Numba block.
_ROWS, _THREADS = 32, 128

# Calls of a step: its number, the gain, T_{k−1}, T_{k−2} and where T_k goes.
Step = Callable[[int, float, Any, Any, Any], None]


def by_numba(L: Any, F: Any, c: Any) -> Callable[[], Any] | None:
    """The recurrence, or None without Numba's CUDA."""
    if not hasattr(np, "row_stack"):
        setattr(np, "row_stack", np.vstack)  # noqa: B010  # NumPy 2.5 has dropped it, Numba's CUDA asks for it
    try:
        from numba import cuda
    except ImportError:
        return None
    if not cuda.is_available():
        return None
    import cupy

    kernel, table, out = _numba_kernel(), cupy.asarray(_due(c)), cupy.empty_like(F)
    n, q = F.shape
    on = cuda.as_cuda_array
    matrix = (on(L.pattern.offsets), on(L.pattern.columns), on(L.weights))
    rooms, dues, sums = [cupy.empty_like(F), cupy.empty_like(F)], [on(row) for row in table], on(out)
    launch = kernel[-(-n * q // _THREADS), _THREADS]

    def step(k: int, gain: float, current: Any, previous: Any, room: Any) -> None:
        launch(*matrix, 2.0 * gain / L.bound, gain, current, previous, room, dues[k], k % 3 == 2, k == 2, sums)

    blocks = (on(F), on(cupy.zeros_like(F)), on(rooms[0]), on(rooms[1]))
    return lambda: _recurrence(step, len(c), *blocks, out)


@cache
def _numba_kernel() -> Any:
    from numba import cuda

    @cuda.jit
    def chebyshev_step(offsets, columns, weights, scale, gain, current, previous, room, due, is_due, is_first, sums):  # type: ignore[no-untyped-def]
        t = cuda.grid(1)
        q = current.shape[1]
        r, a = t // q, t % q
        if r >= current.shape[0]:
            return
        own, before, total = current[r, a], previous[r, a], 0.0
        for p in range(offsets[r], offsets[r + 1]):
            total += weights[p] * (own - current[columns[p], a])
        latest = scale * total - gain * own - before
        room[r, a] = latest
        if is_due:
            added = due[0] * before + due[1] * own + due[2] * latest
            sums[r, a] = added if is_first else sums[r, a] + added

    return chebyshev_step


def by_triton(L: Any, F: Any, c: Any) -> Callable[[], Any] | None:
    """The recurrence, or None without Triton."""
    try:
        import torch
        import triton  # noqa: F401
    except ImportError:
        return None
    if not torch.cuda.is_available():
        return None
    import cupy

    def on(x: Any) -> Any:
        return torch.as_tensor(x, device="cuda")

    kernel, table, out = _triton_kernel(), on(cupy.asarray(_due(c))), cupy.empty_like(F)
    n, q = F.shape
    matrix, sums = (on(L.pattern.offsets), on(L.pattern.columns), on(L.weights)), on(out)
    # In an array, for Triton would take numbers in single precision.
    scaled = on(cupy.asarray([[2.0 * gain / L.bound, gain] for gain in (1.0, 2.0)]))
    grid = (-(-n // _ROWS),)

    def step(k: int, gain: float, current: Any, previous: Any, room: Any) -> None:
        factors, is_due, is_first = scaled[int(gain) - 1], int(k % 3 == 2), int(k == 2)
        kernel[grid](*matrix, factors, current, previous, room, table[k], is_due, is_first, sums, n, q, _ROWS)

    blocks = (on(F), on(cupy.zeros_like(F)), on(cupy.empty_like(F)), on(cupy.empty_like(F)))
    return lambda: _recurrence(step, len(c), *blocks, out)


@cache
def _triton_kernel() -> Any:
    from benchmarks.gpu.triton_step import chebyshev_step

    return chebyshev_step


def _recurrence(step: Step, count: int, F: Any, zeros: Any, one: Any, other: Any, out: Any) -> Any:
    current, previous, rooms = F, zeros, (one, other)
    for k in range(1, count):
        room = rooms[(k - 1) % 2]
        step(k, 1.0 if k == 1 else 2.0, current, previous, room)
        current, previous = room, current
    return out


def _due(c: Any) -> Any:
    """For every third step the coefficients of the last three terms; their number is a multiple of three."""
    assert len(c) % 3 == 0
    table = np.zeros((len(c), 3))
    table[2::3] = c.reshape(-1, 3)
    return table
