"""All pairs of many dense points by scikit-learn, which keeps its blocks in the cache and a heap for every query.

Its squared distances come from products of rows and are rounded. So some more neighbors than asked for are found and
measured by their differences. Where rounding leaves it uncertain that the k nearest are among them, as it does for
copies, the query is compared with all points again (``products``).

An engine with a search of its own, that for a GPU, takes the place of scikit-learn: the rest is the same.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from cotherm import limits
from cotherm.arrays import Floats, Ints
from cotherm.engines import Engine
from cotherm.engines.threads import limited_blas
from cotherm.graphs.search import products
from cotherm.graphs.search.points import Points, in_order, measured
from cotherm.progress import track

# Neighbors found beyond those asked for.
_SPARE = 4
# Queries in one call; progress is shown between calls.
_AT_ONCE = 8_192

# For some queries the points that may be nearest, ascending, and their distances.
Look = Callable[[Ints], tuple[Ints, Floats]]

_process = os.getpid()


def pays(points: Points, queries: Points, k: int, engine: Engine | None = None) -> bool:
    """Whether scikit-learn, or the engine, is quicker: the points are dense and many, and few neighbors are asked for.

    Never in the child of a fork: it would hang in OpenMP, by which scikit-learn computes, if its parent had used it.
    """
    if not isinstance(points.rows, np.ndarray) or 8 * k > points.count:
        return False
    if engine is not None:
        return engine.compares(points.count, _sought(k))
    return points.count * queries.count >= limits.SKLEARN_PAIRS and os.getpid() == _process


def _sought(k: int) -> int:
    """Candidates of a query: the query itself is one of them."""
    return k + 1 + _SPARE


def nearest_to(
    points: Points, queries: Points, k: int, own: Ints | None, engine: Engine | None = None
) -> tuple[Ints, Floats]:
    """The k nearest points of every query; ``own[a]`` is the point that query a itself is, which is left out.

    An engine finds the neighbors of the points themselves: there, ``queries`` are ``points``.
    """
    table = products.Products(points, queries)
    look = _by_sklearn(points, queries, table, k, own) if engine is None else _by(engine, points, table, k)
    indices, distances = np.empty((queries.count, k), dtype=np.int64), np.empty((queries.count, k))
    certain = np.empty(queries.count, dtype=np.bool_)
    starts = range(0, queries.count, _AT_ONCE)
    for start in track(starts, total=len(starts), label="neighbors"):
        q = np.arange(start, min(start + _AT_ONCE, queries.count))
        found, d = look(q)
        indices[q], distances[q] = in_order(found, d, k)
        certain[q] = _certain(points, table, q, found, d, distances[q, -1])
    again = np.flatnonzero(~certain)
    if len(again):
        indices[again], distances[again] = products.nearest_to(points, queries, k, own, only=again)
    return indices, distances


def _by_sklearn(points: Points, queries: Points, table: products.Products, k: int, own: Ints | None) -> Look:
    from sklearn.neighbors import NearestNeighbors

    # Contiguous rows; for others scikit-learn has only a slower way.
    rows, asked = np.ascontiguousarray(table.rows), np.ascontiguousarray(table.queries)
    search = NearestNeighbors(n_neighbors=_sought(k), algorithm="brute").fit(rows)

    def look(q: Ints) -> tuple[Ints, Floats]:
        with limited_blas(1):  # threads of OpenMP
            found = np.asarray(search.kneighbors(asked[q], return_distance=False), dtype=np.int64)
        found.sort(axis=1)
        return found, measured(points, queries, q, found, own)

    return look


def _by(engine: Engine, points: Points, table: products.Products, k: int) -> Look:
    search = engine.candidate_search(np.asarray(points.rows), np.asarray(table.rows), _sought(k))
    own = np.arange(points.count)

    def look(q: Ints) -> tuple[Ints, Floats]:
        found, s = search(slice(int(q[0]), int(q[-1]) + 1))
        d = points.from_squares(s)
        d[found == q[:, np.newaxis]] = np.inf
        # The engine sums in another order, and rounding decides between equal distances: there rounding must be the
        # same, so that the same neighbors are found.
        close = np.flatnonzero(_ties(points, d, k, table.rounding))
        d[close] = measured(points, points, q[close], found[close], own)
        return found, d

    return look


def _ties(points: Points, d: Floats, k: int, rounding: float) -> NDArray[np.bool_]:
    """The queries for which rounding may change the order of the k nearest and the next one."""
    s = points.squares_of(np.partition(d, k, axis=1)[:, : k + 1])
    s.sort(axis=1)
    return np.asarray((np.diff(s, axis=1) <= 2 * rounding * s[:, 1:]).any(axis=1))


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
    known = np.where(np.isfinite(d), points.squares_of(d) / slack - table.error[found], -np.inf)
    T = known.max(axis=1) - e
    s_k = points.squares_of(farthest) * slack
    E = table.rounding * (np.sqrt(table.query_norms[q]) + np.sqrt(s_k)) ** 2
    return np.asarray(s_k + e + E < T)
