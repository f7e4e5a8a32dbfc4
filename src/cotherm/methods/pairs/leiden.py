"""Leiden's method (Traag, Waltman & van Eck 2019) for a given number of clusters, by igraph.

Leiden's method takes a resolution: the higher it is, the more clusters there are. A search finds the resolution that
gives the number. If none does, the nearest larger number is taken, and clusters are merged, each time the two whose
merging costs least modularity.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from cotherm.arrays import Ints
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.optional import require

# Rounds of the method, as in scanpy; and halvings of the range of resolutions.
_ROUNDS, _HALVINGS = 2, 20
_LEAST, _MOST = 1e-3, 1e3


def leiden(graph: Graph, k: int, seed: int) -> Ints:
    """k clusters of a graph."""
    with _method(graph, seed) as clusters:
        low, high = _LEAST, _MOST
        found = clusters(high)
        if found.max() + 1 < k:
            raise CothermError("k", f"{k} clusters", f"at most {int(found.max()) + 1} by Leiden's method")
        for _ in range(_HALVINGS):
            if found.max() + 1 == k:
                break
            middle = float(np.sqrt(low * high))
            tried = clusters(middle)
            if tried.max() + 1 >= k:
                found, high = tried, middle
            else:
                low = middle
    return _merged(graph, found, k)


@contextmanager
def _method(graph: Graph, seed: int) -> Iterator[Callable[[float], Ints]]:
    """Partition by resolution; meanwhile igraph draws from our random generator."""
    igraph = require("igraph", "igraph")
    at = np.flatnonzero(graph.w > 0.0)
    G = igraph.Graph(n=graph.n, edges=np.column_stack([graph.i[at], graph.j[at]]))
    weights = graph.w[at].tolist()

    def clusters(resolution: float) -> Ints:
        igraph.set_random_number_generator(random.Random(seed))
        found = G.community_leiden("modularity", weights=weights, resolution=resolution, n_iterations=_ROUNDS)
        return np.asarray(found.membership, dtype=np.int64)

    try:
        yield clusters
    finally:
        igraph.set_random_number_generator(random)


def _merged(graph: Graph, labels: Ints, k: int) -> Ints:
    """Clusters merged until there are k."""
    count = int(labels.max()) + 1
    between = np.zeros((count, count))
    np.add.at(between, (labels[graph.i], labels[graph.j]), graph.w)
    between = between + between.T
    while count > k:
        degree = between.sum(axis=1)
        loss = np.outer(degree, degree) / degree.sum() - between
        np.fill_diagonal(loss, np.inf)
        one, other = sorted(divmod(int(np.argmin(loss)), count))
        between[one] += between[other]
        between[:, one] += between[:, other]
        between = np.delete(np.delete(between, other, axis=0), other, axis=1)
        labels = np.where(labels == other, one, labels)
        labels = labels - (labels > other)
        count -= 1
    return labels
