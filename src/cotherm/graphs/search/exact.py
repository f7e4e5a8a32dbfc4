"""Exact neighbor search: a k-d tree in few dimensions, all pairs in blocks of rows in many."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError
from cotherm.graphs.search.points import EPSILON, MOST_PAIRS, Points, Rows, centered, slices, squares
from cotherm.progress import track

# Trees look at most of the points anyway in more dimensions than this.
FEW_DIMENSIONS = 15


def few_dimensions(points: Points) -> bool:
    """Whether a k-d tree pays."""
    return int(points.rows.shape[1]) <= FEW_DIMENSIONS


def nearest(points: Points, k: int) -> tuple[Ints, Floats]:
    """The k nearest other rows of every row and their distances, nearest first."""
    if few_dimensions(points):
        # One more than needed: a point finds itself, unless more than k copies of it come before it.
        found = _tree(points).query(_dense(points), k=k + 1, workers=-1)[1]
        return best(points, np.asarray(found, dtype=np.int64), k)
    return nearest_of(points, np.arange(points.count), k)


def best(points: Points, found: Ints, k: int) -> tuple[Ints, Floats]:
    """The k nearest among the rows found for every row, itself and −1 (nothing found) aside.

    Equal distances are ordered by index; where fewer than k are left, the distance is infinite.
    """
    found = np.sort(found, axis=1)
    row = np.arange(points.count)[:, np.newaxis]
    d = points.distances(np.broadcast_to(row, found.shape).ravel(), np.maximum(found, 0).ravel())
    d = np.where((found == row) | (found < 0), np.inf, d.reshape(found.shape))
    order = np.argsort(d, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(found, order, axis=1), np.take_along_axis(d, order, axis=1)


def nearest_of(points: Points, rows: Ints, k: int) -> tuple[Ints, Floats]:
    """The k nearest other rows of some rows, by comparing with all; equal distances are ordered by index."""
    products = _Products(points)
    indices, distances = np.empty((len(rows), k), dtype=np.int64), np.empty((len(rows), k))
    for part in _blocks(len(rows), points.count):
        s = products.upper(rows[part])
        s[np.arange(len(s)), rows[part]] = np.inf
        # k rows have a true s within the bound; all that may have one too are measured properly.
        a, b = products.maybe_below(s, rows[part], _kth_bound(s, k))
        d = points.distances(rows[part][a], b)
        order = np.lexsort((d, a))  # stable: equal distances stay ordered by b
        first = np.searchsorted(a, np.arange(len(s)))
        chosen = order[first[:, np.newaxis] + np.arange(k)]
        indices[part], distances[part] = b[chosen], d[chosen]
    return indices, distances


def within(points: Points, radius: float) -> tuple[Ints, Ints, Floats]:
    """Every pair of rows i < j at distance d ≤ radius, and d."""
    if points.count < 2:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)
    candidates = _tree_pairs(points, radius) if few_dimensions(points) else _block_pairs(points, radius)
    i, j = candidates[:, 0], candidates[:, 1]
    d = points.distances(i, j)
    near = d <= radius
    return i[near], j[near], d[near]


def _tree(points: Points) -> cKDTree:
    return cKDTree(_dense(points))


def _dense(points: Points) -> Floats:
    # Few columns: no larger than the neighbors asked for.
    rows = points.rows
    return rows if isinstance(rows, np.ndarray) else np.asarray(rows.toarray(), dtype=np.float64)


def _tree_pairs(points: Points, radius: float) -> Ints:
    tree = _tree(points)
    reach = points.reach(radius)
    ordered = int(tree.count_neighbors(tree, reach))
    _require_few((ordered - points.count) // 2, radius)
    return np.asarray(tree.query_pairs(reach, output_type="ndarray"), dtype=np.int64)


def _block_pairs(points: Points, radius: float) -> Ints:
    products = _Products(points)
    reach = points.reach(radius)
    found = [np.empty((0, 2), dtype=np.int64)]
    total = 0
    for part in _blocks(points.count, points.count):
        rows = np.arange(part.start, part.stop)
        a, j = products.maybe_below(products.upper(rows), rows, np.full(len(rows), reach * reach))
        pairs = np.column_stack([rows[a], j])
        found.append(pairs[pairs[:, 0] < pairs[:, 1]])
        total += len(found[-1])
        _require_few(total, radius)
    return np.concatenate(found)


def _require_few(pairs: int, radius: float) -> None:
    if pairs > MOST_PAIRS:
        raise CothermError(
            "radius",
            f"{radius:g}, within which there are at least {pairs:,} pairs of points",
            f"at most {MOST_PAIRS:,} edges",
            "Choose a smaller radius, or knn_graph, whose size does not depend on the density.",
        )


class _Products:
    """s_ij = |r_i|² + |r_j|² − 2 r_i·r_j, squared distances from products of rows, quick but rounded."""

    def __init__(self, points: Points) -> None:
        self.rows = centered(points.rows)
        self.transposed: Any = self.rows.T if isinstance(self.rows, np.ndarray) else self.rows.T.tocsr()
        self.norms = squares(self.rows)
        # |computed s_ij − s_ij| ≤ error_i + error_j: the classical bound for sums of d products, generously.
        self.error = 2 * (int(self.rows.shape[1]) + 8) * EPSILON * self.norms

    def upper(self, rows: Ints) -> Floats:
        """s for some rows against all, rounded up."""
        product: Rows = self.rows[rows] @ self.transposed
        s: Floats = product if isinstance(product, np.ndarray) else product.toarray()
        s *= -2
        s += self.norms + self.error
        s += (self.norms + self.error)[rows, np.newaxis]
        return s

    def maybe_below(self, upper: Floats, rows: Ints, bound: Floats) -> tuple[Ints, Ints]:
        """The pairs (a, j) for which the true s between rows[a] and j may be at most bound[a]."""
        upper -= 2 * self.error  # in place: a block of rows is large
        # Much quicker than nonzero in two dimensions.
        a, j = np.divmod(np.flatnonzero(upper <= (bound + 2 * self.error[rows])[:, np.newaxis]), upper.shape[1])
        return a, j


def _kth_bound(s: Floats, k: int) -> Floats:
    """An upper bound of the k-th smallest number of every row, mostly the number itself.

    The columns are dealt into groups: the k-th smallest of the groups' minima has k numbers below or equal.
    Minima are much quicker to find than the k-th smallest of a long row.
    """
    n = s.shape[1]
    groups = min(n, 32 * k)
    each = n // groups
    minima: NDArray[Any] = s[:, : groups * each].reshape(len(s), each, groups).min(axis=1)
    return np.asarray(np.partition(minima, k - 1, axis=1)[:, k - 1], dtype=np.float64)


def _blocks(length: int, width: int) -> Iterator[slice]:
    parts = list(slices(length, width))
    return track(parts, total=len(parts), label="neighbors")
