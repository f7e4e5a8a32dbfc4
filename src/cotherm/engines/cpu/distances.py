"""Euclidean distances between rows, accurate also where they are small."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.engines.cpu.jit import compiled
from cotherm.engines.cpu.thread_pool import ThreadPool

# Where a squared distance is a smaller fraction of the squared norms, the Gram formula has lost too many digits.
_CANCELLATION = 1e-6
_LANES = 8


def pairwise_distances(Y: Floats) -> Floats:
    """All pairs ‖Y_p − Y_q‖, through the Gram matrix, and again from the differences where that cancels.

    Y is used up: where it is n × n, a copy would take as much memory as the result.
    """
    Y -= Y.mean(axis=0)  # what all rows share would only cancel
    gram = Y @ Y.T
    norms = gram.diagonal().copy()
    with ThreadPool(work=gram.size) as pool:
        cuts = [len(Y) * k // pool.size for k in range(pool.size + 1)]
        pool.run(_distances_from_gram, cuts, Y, norms, gram)
    return gram


@compiled
def _distances_from_gram(lo: int, hi: int, Y: Any, norms: Any, gram: Any) -> None:
    # Every operation is the same for (p, q) and (q, p), so the distances are symmetric to the last bit.
    for p in range(lo, hi):
        for q in range(len(Y)):
            both = norms[p] + norms[q]
            square = both - 2.0 * gram[p, q]
            if square < _CANCELLATION * both:
                square = _squared_difference(Y, p, q)
            gram[p, q] = np.sqrt(square)


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
