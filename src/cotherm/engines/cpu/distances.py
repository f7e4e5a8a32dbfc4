"""Squared distances between some rows, from their differences."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.engines.cpu.jit import compiled
from cotherm.engines.cpu.thread_pool import ThreadPool

_LANES = 8


def add_squared_differences(Y: Floats, firsts: NDArray[np.int64], seconds: NDArray[np.int64], squares: Floats) -> None:
    """squares[a, k] += ‖Y[firsts[a]] − Y[seconds[a, k]]‖²."""
    with ThreadPool(work=float(seconds.size * Y.shape[1])) as pool:
        # Few sources have many partners each: the threads share the partners then, else the sources.
        if len(firsts) < 2 * pool.size:
            cuts = [seconds.shape[1] * k // pool.size for k in range(pool.size + 1)]
            pool.run(_add_columns, cuts, Y, firsts, seconds, squares)
        else:
            cuts = [len(firsts) * k // pool.size for k in range(pool.size + 1)]
            pool.run(_add_rows, cuts, Y, firsts, seconds, squares)


@compiled
def _add_rows(lo: int, hi: int, Y: Any, firsts: Any, seconds: Any, squares: Any) -> None:
    for a in range(lo, hi):
        for k in range(seconds.shape[1]):
            squares[a, k] += _squared_difference(Y, firsts[a], seconds[a, k])


@compiled
def _add_columns(lo: int, hi: int, Y: Any, firsts: Any, seconds: Any, squares: Any) -> None:
    for a in range(len(firsts)):
        for k in range(lo, hi):
            squares[a, k] += _squared_difference(Y, firsts[a], seconds[a, k])


@compiled
def _squared_difference(Y: Any, p: int, q: int) -> float:
    # Eight partial sums: the order of additions is fixed, and the processor can do them side by side.
    width = Y.shape[1]
    vectorized = width - width % _LANES
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    for c in range(0, vectorized, _LANES):
        s0 += (Y[p, c] - Y[q, c]) ** 2
        s1 += (Y[p, c + 1] - Y[q, c + 1]) ** 2
        s2 += (Y[p, c + 2] - Y[q, c + 2]) ** 2
        s3 += (Y[p, c + 3] - Y[q, c + 3]) ** 2
        s4 += (Y[p, c + 4] - Y[q, c + 4]) ** 2
        s5 += (Y[p, c + 5] - Y[q, c + 5]) ** 2
        s6 += (Y[p, c + 6] - Y[q, c + 6]) ** 2
        s7 += (Y[p, c + 7] - Y[q, c + 7]) ** 2
    for c in range(vectorized, width):
        s0 += (Y[p, c] - Y[q, c]) ** 2
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
