"""The sparsity pattern of a graph's Laplacian: laid out once, filled with weights many times.

Rows are in the vertices' own order, and products are fast if neighbors have close numbers: see
:mod:`cotherm.methods.coupling.solve`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.engines.cpu.jit import compiled
from cotherm.engines.cpu.laplacian import LOOKAHEAD, ReorderedLaplacian, row_sum, spectral_bound
from cotherm.engines.cpu.thread_pool import ThreadPool
from cotherm.lazy import lazy


@dataclass(frozen=True)
class Pattern:
    """For every row its columns, and whose edge's weight belongs there."""

    i: NDArray[Any]
    j: NDArray[Any]
    offsets: NDArray[np.uint64]
    columns: NDArray[np.uint32]  # padded, see LOOKAHEAD
    edges: NDArray[np.uint32]

    @classmethod
    def of(cls, n: int, i: NDArray[Any], j: NDArray[Any]) -> Pattern:
        """For the edges (i, j); i < j."""
        m = len(i)
        offsets = np.zeros(n + 1, dtype=np.uint64)
        offsets[1:] = np.cumsum(np.bincount(i, minlength=n) + np.bincount(j, minlength=n))
        columns = np.zeros(2 * m + LOOKAHEAD, dtype=np.uint32)
        edges = np.empty(2 * m, dtype=np.uint32)
        place_edges(i, j, offsets[:-1].copy(), columns, edges)
        return cls(i, j, offsets, columns, edges)

    @property
    def n(self) -> int:
        return len(self.offsets) - 1

    @lazy
    def order(self) -> NDArray[np.int32]:
        return np.arange(self.n, dtype=np.int32)

    def laplacian(self, w: Floats, *, bounded: bool = True) -> ReorderedLaplacian:
        """D − W with the weights w of the edges, and a bound on its spectrum where one is wanted."""
        weights, degrees = np.empty(len(self.edges)), np.empty(self.n)
        matrix = ReorderedLaplacian(self.order, self.offsets, self.columns, weights, degrees, np.inf, in_order=True)
        with ThreadPool(work=2.0 * len(weights)) as pool:
            cuts = matrix.cuts(pool.pieces)
            pool.run(fill_rows, cuts, self.offsets, self.edges, w, weights, degrees)
            bound = spectral_bound(pool, cuts, matrix) if bounded else np.inf
        return ReorderedLaplacian(self.order, self.offsets, self.columns, weights, degrees, bound, in_order=True)


@compiled
def place_edges(i: Any, j: Any, position: Any, columns: Any, edges: Any) -> None:
    one = np.uint64(1)
    for e in range(len(i)):
        a, b = i[e], j[e]
        p, position[a] = position[a], position[a] + one
        columns[p], edges[p] = b, e
        p, position[b] = position[b], position[b] + one
        columns[p], edges[p] = a, e


@compiled
def fill_rows(lo: int, hi: int, offsets: Any, edges: Any, w: Any, weights: Any, degrees: Any) -> None:
    for r in range(lo, hi):
        for p in range(offsets[r], offsets[r + 1]):
            weights[p] = w[edges[p]]
        degrees[r] = row_sum(weights, offsets[r], offsets[r + 1])
