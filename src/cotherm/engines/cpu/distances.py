"""Squared distances between some rows, from their differences."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.engines.cpu.jit import compiled_in_any_order
from cotherm.engines.cpu.thread_pool import ThreadPool


def add_squared_differences(Y: Floats, firsts: NDArray[np.int64], seconds: NDArray[np.int64], squares: Floats) -> None:
    """squares[a, k] += ‖Y[firsts[a]] − Y[seconds[a, k]]‖²."""
    with ThreadPool(work=float(seconds.size * Y.shape[1])) as pool:
        cuts = [seconds.size * k // pool.size for k in range(pool.size + 1)]
        pool.run(_add_pairs, cuts, Y, firsts, seconds, squares)


@compiled_in_any_order
def _add_pairs(lo: int, hi: int, Y: Any, firsts: Any, seconds: Any, squares: Any) -> None:
    for pair in range(lo, hi):
        a, k = divmod(pair, seconds.shape[1])
        # Rows first: of indices of which it knows less the compiler makes slower loops.
        first, second = Y[firsts[a]], Y[seconds[a, k]]
        total = 0.0
        for c in range(len(first)):
            total += (first[c] - second[c]) ** 2
        squares[a, k] += total
