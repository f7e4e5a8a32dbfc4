"""Candidates for neighbors, from any search, measured accurately and sorted."""

from __future__ import annotations

import numpy as np

from cotherm.arrays import Floats, Ints
from cotherm.graphs.search.points import Points


def best(points: Points, queries: Points, found: Ints, k: int, own: Ints | None) -> tuple[Ints, Floats]:
    """The k nearest among the points found for every query, ``own`` and −1 (nothing found) aside.

    Equal distances are ordered by index; where fewer than k are left, the distance is infinite.
    """
    found = np.sort(found, axis=1)
    return in_order(found, measured(points, queries, np.arange(queries.count), found, own), k)


def measured(points: Points, queries: Points, asked: Ints, found: Ints, own: Ints | None) -> Floats:
    """Distances of queries ``asked[a]`` and points ``found[a, c]``; infinite where it is ``own`` or −1."""
    q = np.broadcast_to(asked[:, np.newaxis], found.shape)
    d = queries.distances_to(points, q.ravel(), np.maximum(found, 0).ravel()).reshape(found.shape)
    d[found < 0] = np.inf
    if own is not None:
        d[found == own[asked, np.newaxis]] = np.inf
    return d


def in_order(found: Ints, d: Floats, k: int) -> tuple[Ints, Floats]:
    """The k nearest of every row, nearest first; ``found`` ascends, so that equal distances are ordered by index."""
    order = np.argsort(d, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(found, order, axis=1), np.take_along_axis(d, order, axis=1)
