"""Edges -> a Laplacian whose rows are in an order that keeps neighbors together in memory.

Vertices are taken in breadth-first order, as in Cuthill-McKee but without sorting neighbors by degree, which was not
seen to help: the sparse product is several times faster than in the order in which the points came.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.engines.cpu.jit import compiled, prefetch
from cotherm.engines.cpu.thread_pool import ThreadPool
from cotherm.engines.interface import Engine
from cotherm.lazy import lazy

# Columns are read this far ahead of their use (see chebyshev.py), so they are padded by as much.
LOOKAHEAD = 16

# Sums over more neighbors than this are added up in parts of as many: see chebyshev.py.
PART = 64

# How far ahead of their use places in memory are asked for, in edges or vertices.
_AHEAD = 8

# Rounds of the power iteration that tightens the spectral bound; each costs one product with a vector.
_BOUND_ROUNDS = 5
# Any x > 0 gives a bound: vertices without heat take part with next to nothing.
_FLOOR = 1e-100
# Degrees that cannot be divided by: twice the largest is bound enough.
_SMALLEST = 1e-290


@dataclass(frozen=True)
class ReorderedLaplacian:
    """L = D − W with row r belonging to vertex ``order[r]``; W by rows: columns and weights between offsets."""

    order: NDArray[np.int32]
    offsets: NDArray[np.uint64]
    columns: NDArray[np.uint32]
    weights: Floats
    degrees: Floats
    bound: float  # never below the largest eigenvalue of L
    in_order: bool = False  # order is 0, 1, 2, …

    @property
    def engine(self) -> Engine:
        from cotherm.engines.cpu.engine import CPU

        return CPU

    @property
    def n(self) -> int:
        return len(self.order)

    @property
    def rows(self) -> tuple[Any, Any, Any, Any]:
        """What kernels take."""
        return self.offsets, self.columns, self.weights, self.degrees

    def work(self, columns: int) -> float:
        """Multiply-adds of one product with a block of ``columns`` columns."""
        return float((len(self.weights) + 4 * self.n) * columns)

    def cuts(self, parts: int) -> list[int]:
        """Row numbers that split the rows into parts with about equally many entries."""
        targets = (np.arange(parts + 1) * (int(self.offsets[-1]) / parts)).astype(np.uint64)
        rows = np.searchsorted(self.offsets, targets)
        rows[0], rows[-1] = 0, self.n
        return [int(r) for r in rows]


def reordered_laplacian(n: int, i: NDArray[np.int32], j: NDArray[np.int32], w: Floats) -> ReorderedLaplacian:
    """Order the vertices, lay out W by rows in that order, and bound the spectrum."""
    work = 2.0 * len(w)
    with ThreadPool(work) as pool:
        order, offsets, columns, weights = _breadth_first_rows(pool, n, i, j, w)
    rank, degrees = np.empty(n, dtype=np.uint32), np.empty(n)
    rank[order] = np.arange(n, dtype=np.uint32)
    matrix = ReorderedLaplacian(order, offsets, columns, weights, degrees, bound=np.inf)
    with Slices(matrix, work) as slices:
        slices.run(_relabel_and_sum, rank, offsets, columns, weights, degrees)
        bound = spectral_bound(slices, matrix, np.empty(n))
    return ReorderedLaplacian(order, offsets, columns, weights, degrees, bound)


def _breadth_first_rows(pool: ThreadPool, n: int, i: Any, j: Any, w: Floats) -> tuple[Any, ...]:
    """Rows of W in breadth-first order, still with the caller's vertex numbers as columns."""
    halves = [n * k // pool.size for k in range(pool.size + 1)]
    counts = np.zeros(n, dtype=np.int32)  # small, for they are counted up in no order
    pool.run(_count_ends, halves, i, j, counts)
    offsets = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(counts, out=offsets[1:])
    # Arrays are made by NumPy, not inside the kernels: NumPy asks for huge pages, which random access needs.
    # A neighbor's number and the weight side by side, both as float64: one place in memory instead of two.
    entries = np.empty((2 * len(w), 2))
    pool.run(_fill_rows, halves, i, j, w, offsets[:-1].copy(), entries)

    order = np.empty(n, dtype=np.int32)
    new_offsets = np.zeros(n + 1, dtype=np.uint64)
    columns = np.zeros(2 * len(w) + LOOKAHEAD, dtype=np.uint32)
    weights = np.empty(2 * len(w))
    seen = np.zeros(n // 64 + 1, dtype=np.uint64)
    _breadth_first(offsets, entries, order, seen, new_offsets, columns, weights)
    return order, new_offsets, columns, weights


@compiled
def _count_ends(lo: int, hi: int, i: Any, j: Any, counts: Any) -> None:
    for e in range(len(i)):
        if lo <= i[e] < hi:
            counts[i[e]] += 1
        if lo <= j[e] < hi:
            counts[j[e]] += 1


@compiled
def _fill_rows(lo: int, hi: int, i: Any, j: Any, w: Any, position: Any, entries: Any) -> None:
    m = len(i)
    for e in range(m):
        # The larger ends come in no order: their places are asked for ahead of time, where they are ours.
        far, near = j[min(e + 2 * _AHEAD, m - 1)], j[min(e + _AHEAD, m - 1)]
        if lo <= far < hi:
            prefetch(position, np.uint64(far))
        if lo <= near < hi:
            prefetch(entries, np.uint64(position[near]))
        a, b = i[e], j[e]
        if lo <= a < hi:
            p = position[a]
            entries[p, 0], entries[p, 1], position[a] = b, w[e], p + 1
        if lo <= b < hi:
            p = position[b]
            entries[p, 0], entries[p, 1], position[b] = a, w[e], p + 1


@compiled
def _breadth_first(
    offsets: Any,
    entries: Any,
    order: Any,
    seen: Any,
    new_offsets: Any,
    columns: Any,
    weights: Any,
) -> None:
    # A row is copied out when its vertex is visited, while it is in the cache: a second pass over rows in random
    # places would cost as much again. ``seen`` is a set of bits, small enough to stay in the cache.
    n = len(order)
    one, mask = np.uint64(1), np.uint64(63)
    head, tail, p = 0, 0, 0
    for root in range(n):
        if (seen[root >> 6] >> (np.uint64(root) & mask)) & one:
            continue
        seen[root >> 6] |= one << (np.uint64(root) & mask)
        order[tail] = root
        tail += 1
        while head < tail:
            if head + 2 * _AHEAD < tail:
                prefetch(offsets, np.uint64(order[head + 2 * _AHEAD]))
                soon = np.uint64(offsets[order[head + _AHEAD]])
                for line in range(3):  # three cache lines hold the row of a vertex with twelve neighbors
                    prefetch(entries, soon + np.uint64(4 * line))
            v = order[head]
            for e in range(offsets[v], offsets[v + 1]):
                u = np.uint64(entries[e, 0])
                columns[p], weights[p] = u, entries[e, 1]
                p += 1
                word, bit = u >> np.uint64(6), one << (u & mask)
                if not (seen[word] & bit):
                    seen[word] |= bit
                    order[tail] = u
                    tail += 1
            head += 1
            new_offsets[head] = p


@compiled
def _relabel_and_sum(lo: int, hi: int, rank: Any, offsets: Any, columns: Any, weights: Any, degrees: Any) -> None:
    for r in range(lo, hi):
        for p in range(offsets[r], offsets[r + 1]):
            columns[p] = rank[columns[p]]
        degrees[r] = row_sum(weights, offsets[r], offsets[r + 1])


@compiled
def row_sum(weights: Any, first: Any, end: Any) -> float:
    """weights[first] + … + weights[end − 1]: in parts, which are added so that nothing is lost (Knuth's TwoSum).

    The ends are unsigned.
    """
    total, lost = 0.0, 0.0
    while first < end:
        stop = min(first + np.uint64(PART), end)
        part = 0.0
        for p in range(first, stop):
            part += weights[p]
        old = total
        total = old + part
        taken = total - old
        lost += (old - (total - taken)) + (part - taken)
        first = stop
    return total + lost


class Slices:
    """All rows of a matrix in slices, for threads."""

    def __init__(self, matrix: ReorderedLaplacian, work: float) -> None:
        self._pool = ThreadPool(work)
        self._cuts = matrix.cuts(self._pool.pieces)

    @property
    def places(self) -> NDArray[np.intp]:
        """Where slices begin, and the end."""
        return np.array(self._cuts)

    def run(self, kernel: Any, *arguments: Any, fetched: Floats | None = None) -> list[Any]:  # noqa: ARG002
        """Call the kernel for all slices; ``fetched`` are the rows of others that it needs, where there are others."""
        if self._pool.pieces == 1:  # small problems come here very often
            return [kernel(*self._cuts, *arguments)]
        return self._pool.run(kernel, self._cuts, *arguments)

    def fetch(self, rows: Floats) -> None:
        """Fill the rows of others, which follow the own ones."""

    def total(self, sums: Floats) -> Floats:
        """What slices have summed up, along the first axis."""
        return np.asarray(sums.sum(axis=0))

    def largest(self, numbers: list[float]) -> float:
        return max(numbers)

    def __enter__(self) -> Slices:
        return self

    def __exit__(self, *exception: Any) -> None:
        self._pool.__exit__(*exception)


def spectral_bound(slices: Slices, matrix: ReorderedLaplacian, x: Floats) -> float:
    """λ_max(L) ≤ ρ(D + W) ≤ max_i ((D + W)x)_i / x_i for every x > 0 (Collatz-Wielandt).

    x = d gives a bound never worse than the largest d_i + d_j over the edges; each round of the power
    iteration, x ← (D + W)x, tightens it. There is room in x for the rows of others.
    """
    n = len(matrix.degrees)
    top = slices.largest([float(matrix.degrees.max(initial=0.0))])
    if not np.isfinite(top) or top < _SMALLEST:
        return 2.0 * top
    # In units of the largest degree nothing overflows, and what underflows is nothing beside it.
    x[:n], y = np.maximum(matrix.degrees / top, _FLOOR), np.empty(n)
    bound = np.inf
    for _ in range(_BOUND_ROUNDS):
        bound = min(bound, slices.largest(slices.run(_signless_product, *matrix.rows, 1.0 / top, x, y, fetched=x)))
        np.maximum(y / bound, _FLOOR, out=x[:n])
    return float(bound * top * (1.0 + 1e-12))  # the quotients are rounded


@compiled
def _signless_product(
    lo: int, hi: int, offsets: Any, columns: Any, weights: Any, degrees: Any, unit: float, x: Any, y: Any
) -> float:
    """y = unit·(D + W)x on rows lo..hi; returns the largest quotient y/x there."""
    largest = 0.0
    for r in range(lo, hi):
        total = unit * degrees[r] * x[r]
        for p in range(offsets[r], offsets[r + 1]):
            total += unit * weights[p] * x[columns[p]]
        y[r] = total
        largest = max(largest, total / x[r])
    return largest


@dataclass(frozen=True)
class Pattern:
    """The sparsity pattern of a Laplacian: for every row its columns, and whose edge's weight belongs there.

    Rows are in the vertices' own order, and products are fast if neighbors have close numbers.
    """

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
        with Slices(matrix, 2.0 * len(weights)) as slices:
            slices.run(fill_rows, self.offsets, self.edges, w, weights, degrees)
            bound = spectral_bound(slices, matrix, np.empty(self.n)) if bounded else np.inf
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
