"""All pairs of points by matrix products, a block of queries at a time.

s_ij = |q_i|² + |r_j|² − 2 q_i·r_j is quick but rounded. With a bound of its rounding it tells which pairs may be near
enough; only those are measured by their differences.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats, Ints
from cotherm.graphs.search.points import EPSILON, Points, centered, slices, squares
from cotherm.graphs.validation import Rows
from cotherm.progress import track


class Products:
    """Rounded squared distances s_ij of queries q_i and points r_j, and a bound of their rounding.

    |computed s_ij − s_ij| ≤ query_error_i + error_j.
    """

    def __init__(self, points: Points, queries: Points) -> None:
        self.rows = self.queries = centered(points.rows, points.rows)
        if queries.rows is not points.rows:
            self.queries = centered(queries.rows, points.rows)
        self.norms = squares(self.rows)
        self.query_norms = self.norms if self.queries is self.rows else squares(self.queries)
        # A generous form of the classical bound for sums of d products.
        self.rounding = 2 * (int(self.rows.shape[1]) + 8) * EPSILON
        self.error, self.query_error = self.rounding * self.norms, self.rounding * self.query_norms
        self._transposed: Any = self.rows.T if isinstance(self.rows, np.ndarray) else self.rows.T.tocsr()

    def upper(self, queries: Ints) -> Floats:
        """s of some queries and all points, rounded up."""
        product: Rows = self.queries[queries] @ self._transposed
        s: Floats = product if isinstance(product, np.ndarray) else product.toarray()
        s *= -2
        s += self.norms + self.error
        s += (self.query_norms + self.query_error)[queries, np.newaxis]
        return s

    def maybe_below(self, upper: Floats, queries: Ints, bound: Floats) -> tuple[Ints, Ints]:
        """The pairs (a, j) for which the true s of queries[a] and point j may be at most bound[a]."""
        upper -= 2 * self.error  # in place: a block of rows is large
        below = upper <= (bound + 2 * self.query_error[queries])[:, np.newaxis]
        a, j = np.divmod(np.flatnonzero(below), upper.shape[1])  # much quicker than nonzero in two dimensions
        return a, j


def nearest_to(
    points: Points, queries: Points, k: int, own: Ints | None, *, only: Ints | None = None
) -> tuple[Ints, Floats]:
    """The k nearest points of every query, or of ``only`` some; ``own[a]`` is the point that query a itself is."""
    table = Products(points, queries)
    asked = np.arange(queries.count) if only is None else only
    indices, distances = np.empty((len(asked), k), dtype=np.int64), np.empty((len(asked), k))
    for part in _blocks(len(asked), points.count):
        q = asked[part]
        s = table.upper(q)
        if own is not None:
            s[np.arange(len(s)), own[q]] = np.inf
        # k points have a true s within the bound; all points that may also have one are measured accurately.
        a, b = table.maybe_below(s, q, _kth_bound(s, k))
        d = queries.distances_to(points, q[a], b)
        order = np.lexsort((d, a))  # stable: equal distances stay ordered by b
        first = np.searchsorted(a, np.arange(len(s)))
        chosen = order[first[:, np.newaxis] + np.arange(k)]
        indices[part], distances[part] = b[chosen], d[chosen]
    return indices, distances


def pairs_within(points: Points, reach: float) -> Iterator[Ints]:
    """Block by block, every pair (i, j), i < j, of points that may be within a Euclidean distance of each other."""
    table = Products(points, points)
    for part in _blocks(points.count, points.count):
        rows = np.arange(part.start, part.stop)
        a, j = table.maybe_below(table.upper(rows), rows, np.full(len(rows), reach * reach))
        pairs = np.column_stack([rows[a], j])
        yield pairs[pairs[:, 0] < pairs[:, 1]]


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
