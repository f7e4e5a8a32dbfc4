"""Sweeps of Jacobi rotations over several symmetric matrices: plain for small ones, in blocks for large ones.

In a large matrix plain rotations wait for memory. There blocks of indices meet in a tournament, each pair of them is
swept as a small problem of its own, and what it has turned is applied to the rest by matrix products.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numba
import numpy as np
from numpy.typing import NDArray

from cotherm import limits
from cotherm.arrays import Floats
from cotherm.engines import processor

# Indices of a block: two blocks of two matrices fit into a processor's own cache.
_BLOCK = 64


def sweep(A: Floats, U: Floats) -> tuple[Floats, Floats]:
    """One sweep: (UᵀA_kU, U) with a better U, for A_k = UᵀM_kU given."""
    if A.shape[1] > limits.JACOBI_UNBLOCKED:
        return _block_sweep(A, U)
    A, rows = A.copy(), np.ascontiguousarray(U.T)
    processor().jacobi_sweep(A, rows)
    return A, np.ascontiguousarray(rows.T)


def _block_sweep(A: Floats, U: Floats) -> tuple[Floats, Floats]:
    n = A.shape[1]
    blocks = np.array_split(np.arange(n), 2 * -(-n // (2 * _BLOCK)))
    A, U = A.copy(), U.copy()
    with ThreadPoolExecutor(numba.config.NUMBA_NUM_THREADS) as pool:
        for games in _round_robin(len(blocks)):
            members = [np.concatenate([blocks[a], blocks[b]]) for a, b in games]
            turns = list(pool.map(_turned, (A[:, x[:, np.newaxis], x] for x in members)))
            A, U = _applied(A, U, members, turns)
    return A, U


def _turned(small: Floats) -> Floats:
    """What one sweep over the matrices of a pair of blocks turns them by."""
    rows = np.eye(small.shape[1])
    processor().jacobi_sweep(np.ascontiguousarray(small), rows)
    return rows.T


def _applied(A: Floats, U: Floats, members: list[NDArray[np.intp]], turns: list[Floats]) -> tuple[Floats, Floats]:
    """RᵀA_kR and UR with R block diagonal."""
    order = np.concatenate(members)
    places = np.argsort(order)
    ends = np.cumsum([0, *map(len, members)]).tolist()
    slices = [slice(lo, hi) for lo, hi in pairwise(ends)]

    def by_columns(M: Floats) -> Floats:
        M = M[:, order]
        for at, R in zip(slices, turns, strict=True):
            M[:, at] = M[:, at] @ R
        return M[:, places]

    return np.array([by_columns(by_columns(a).T) for a in A]), by_columns(U)


def _round_robin(count: int) -> list[list[tuple[int, int]]]:
    """Rounds of disjoint pairs of an even number of indices; over all rounds every pair occurs once."""
    seat = list(range(count))
    rounds = []
    for _ in range(count - 1):
        rounds.append([(seat[i], seat[-1 - i]) for i in range(count // 2)])
        seat = [seat[0], seat[-1], *seat[1:-1]]
    return rounds
