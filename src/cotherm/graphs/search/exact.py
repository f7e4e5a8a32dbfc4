"""Exact neighbor search: a k-d tree in few dimensions, all pairs in many.

Every search measures its candidates by the differences of their entries (``Points.distances_to``) and orders them by
distance, then by index. In many dimensions all points that tie with the k-th are candidates, so the order decides
which are taken; a tree takes some of them.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from cotherm import limits
from cotherm.arrays import Floats, Ints
from cotherm.engines import Engine
from cotherm.errors import CothermError
from cotherm.graphs.search import brute_force, products
from cotherm.graphs.search.points import Points, best
from cotherm.progress import track

# Queries of a tree in one call; progress is shown between calls.
_AT_ONCE = 100_000


def few_dimensions(points: Points) -> bool:
    """Whether a k-d tree pays."""
    return int(points.rows.shape[1]) <= limits.TREE_DIMENSIONS


def nearest(points: Points, k: int, engine: Engine | None) -> tuple[Ints, Floats]:
    """The k nearest other rows of every row and their distances, nearest first."""
    own = np.arange(points.count)
    if engine is not None and runs_on(engine, points, k):
        with engine.guarded():
            return brute_force.nearest_to(points, points, k, own, engine)
    return nearest_to(points, points, k, own=own)


def runs_on(engine: Engine | None, points: Points, k: int) -> bool:
    """Whether the engine compares all pairs; otherwise the processor searches, and finds the same."""
    return engine is not None and not few_dimensions(points) and brute_force.pays(points, points, k, engine)


def nearest_to(points: Points, queries: Points, k: int, *, own: Ints | None = None) -> tuple[Ints, Floats]:
    """The k rows of ``points`` nearest to every row of ``queries`` and their distances, nearest first.

    ``own[a]`` is the row of ``points`` that query a itself is, which is left out.
    """
    if few_dimensions(points):
        # One more than needed: a point finds itself, unless more than k copies come before it.
        sought = np.arange(1, min(k + 1, points.count) + 1)
        tree, rows = cKDTree(_dense(points)), _dense(queries)
        found = np.empty((len(rows), len(sought)), dtype=np.int64)
        starts = range(0, len(rows), _AT_ONCE)
        for start in track(starts, total=len(starts), label="neighbors"):
            part = slice(start, start + _AT_ONCE)
            found[part] = tree.query(rows[part], k=sought, workers=-1)[1]
        return best(points, queries, found, k, own)
    return _by_all_pairs(points, queries, k, own)


def nearest_rows(X: Floats, Y: Floats, k: int) -> tuple[Ints, Floats]:
    """For every row of X the k nearest rows of Y and their Euclidean distances, nearest first."""
    points, queries = (Points(len(rows), "euclidean", rows, np.arange(len(rows))) for rows in (Y, X))
    return nearest_to(points, queries, k)


def nearest_of(points: Points, rows: Ints, k: int) -> tuple[Ints, Floats]:
    """The k nearest other rows of some rows, by comparing with all."""
    return _by_all_pairs(points, points.take(rows), k, rows)


def _by_all_pairs(points: Points, queries: Points, k: int, own: Ints | None) -> tuple[Ints, Floats]:
    search = brute_force if brute_force.pays(points, queries, k) else products
    return search.nearest_to(points, queries, k, own)


def within(points: Points, radius: float) -> tuple[Ints, Ints, Floats]:
    """Every pair of rows i < j at distance d ≤ radius, and d."""
    if points.count < 2:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)
    candidates = _tree_pairs(points, radius) if few_dimensions(points) else _block_pairs(points, radius)
    i, j = candidates[:, 0], candidates[:, 1]
    d = points.distances_to(points, i, j)
    near = d <= radius
    return i[near], j[near], d[near]


def _dense(points: Points) -> Floats:
    # It has few columns and is about as large as the result.
    rows = points.rows
    return rows if isinstance(rows, np.ndarray) else np.asarray(rows.toarray(), dtype=np.float64)


def _tree_pairs(points: Points, radius: float) -> Ints:
    tree, reach = cKDTree(_dense(points)), points.reach(radius)
    _require_few((int(tree.count_neighbors(tree, reach)) - points.count) // 2, radius)
    return np.asarray(tree.query_pairs(reach, output_type="ndarray"), dtype=np.int64)


def _block_pairs(points: Points, radius: float) -> Ints:
    found = [np.empty((0, 2), dtype=np.int64)]
    for pairs in products.pairs_within(points, points.reach(radius)):
        found.append(pairs)
        _require_few(sum(map(len, found)), radius)
    return np.concatenate(found)


def _require_few(pairs: int, radius: float) -> None:
    if pairs > limits.NEIGHBOR_PAIRS:
        given = f"{radius:g}, within which there are at least {pairs:,} pairs of points"
        advice = "Choose a smaller radius, or knn_graph, whose size does not depend on the density."
        raise CothermError("radius", given, f"at most {limits.NEIGHBOR_PAIRS:,} edges", advice)
