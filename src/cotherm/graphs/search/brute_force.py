"""All pairs of many dense points by scikit-learn, which keeps its blocks in the cache and a heap for every query.

Its squared distances come from products of rows and are rounded. So some more neighbors than asked for are found and
measured by their differences. Where rounding leaves it uncertain that the k nearest are among them, as it does for
copies, the query is compared with all points again (``products``).
"""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from cotherm import limits
from cotherm.arrays import Floats, Ints
from cotherm.engines.threads import limited_blas
from cotherm.graphs.search import candidates, products
from cotherm.graphs.search.points import Points
from cotherm.progress import track

# Neighbors found beyond those asked for.
_SPARE = 4
# Queries in one call; progress is shown between calls.
_AT_ONCE = 8_192

_forked = False


def _in_child() -> None:
    global _forked  # noqa: PLW0603
    _forked = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


def pays(points: Points, queries: Points, k: int) -> bool:
    """Whether scikit-learn is quicker: points are dense, there are many, and few of them are asked for.

    Never in the child of a fork: it would hang in OpenMP, by which scikit-learn computes, if its parent had used it.
    """
    many = points.count * queries.count >= limits.SKLEARN_PAIRS and 8 * k <= points.count
    return many and isinstance(points.rows, np.ndarray) and not _forked


def nearest_to(points: Points, queries: Points, k: int, own: Ints | None) -> tuple[Ints, Floats]:
    """The k nearest points of every query; ``own[a]`` is the point that query a itself is, which is left out."""
    from sklearn.neighbors import NearestNeighbors

    table = products.Products(points, queries)
    # Rows that are contiguous in memory; for others scikit-learn has only a slower way.
    rows, asked = np.ascontiguousarray(table.rows), np.ascontiguousarray(table.queries)
    search = NearestNeighbors(n_neighbors=k + 1 + _SPARE, algorithm="brute").fit(rows)
    indices, distances = np.empty((len(asked), k), dtype=np.int64), np.empty((len(asked), k))
    certain = np.empty(len(asked), dtype=np.bool_)
    starts = range(0, len(asked), _AT_ONCE)
    for start in track(starts, total=len(starts), label="neighbors"):
        q = np.arange(start, min(start + _AT_ONCE, len(asked)))
        with limited_blas(1):  # the threads are those of OpenMP
            found = np.asarray(search.kneighbors(asked[q], return_distance=False), dtype=np.int64)
        found.sort(axis=1)
        d = candidates.measured(points, queries, q, found, own)
        indices[q], distances[q] = candidates.in_order(found, d, k)
        certain[q] = _certain(points, table, q, found, d, distances[q, -1])
    again = np.flatnonzero(~certain)
    if len(again):
        indices[again], distances[again] = products.nearest_to(points, queries, k, own, only=again)
    return indices, distances


def _certain(
    points: Points, table: products.Products, q: Ints, found: Ints, d: Floats, farthest: Floats
) -> NDArray[np.bool_]:
    """For which queries no point that was not found is as near as the farthest of the k nearest, or ties with it.

    Let s be true and s′ rounded squares, |s′_j − s_j| ≤ e + e_j with the bounds of ``Products``, and s_k the square of
    that farthest distance. No point that was not found has a smaller s′ than those found: all have s′_j ≥ T, where
    T = max (s_c − e − e_c) over those found. If one had s_j ≤ s_k, then |r_j| ≤ |q| + √s_k, so that e_j is at most
    E = rounding · (|q| + √s_k)², and T ≤ s′_j ≤ s_k + e + E. Where T is larger there is none.
    """
    e, slack = table.query_error[q], 1.0 + table.rounding  # the measured distances are rounded too
    measured = np.where(np.isfinite(d), points.squares_of(d) / slack - table.error[found], -np.inf)
    T = measured.max(axis=1) - e
    s_k = points.squares_of(farthest) * slack
    E = table.rounding * (np.sqrt(table.query_norms[q]) + np.sqrt(s_k)) ** 2
    return np.asarray(s_k + e + E < T)
