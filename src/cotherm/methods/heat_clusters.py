"""Clusters of a graph by where heat goes, or by its smoothest modes.

k-means on rows of the heat kernel, square roots of the entries, compares where heat from two vertices is after some
moves: the Hellinger distance of two distributions. It sees small clusters that are well apart, where modes see large
ones first. Only heat at some of the vertices may count, the landmarks: vertices that have no neighbors in common are
compared by these.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cotherm import limits
from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.heat.flow import flow
from cotherm.heat.spectrum import lowest_normalized
from cotherm.heat.times import diffusion_time
from cotherm.methods.result import k_means, unit_row_clusters

METHODS = ("auto", "heat", "spectral")
# Heat that has made so many moves along edges; how far it should go depends on the size of clusters.
_MOVES = (2.0, 4.0, 8.0)
_ROUGHLY = 1e-9
# Rows of the kernel are compared in so many dimensions, in which they vary most.
_DIMENSIONS = 100


def graph_clusters(graph: Graph, k: int, method: str, seed: int, landmarks: Ints | None = None) -> Ints:
    """k clusters of a graph, for checked arguments, "auto" by heat where the graph is not too large.

    Rows of heat are compared at the landmarks, by default at all vertices, and of several times the one is taken whose
    clusters have the smallest normalized cut.
    """
    if not np.any(graph.w > 0.0):
        raise CothermError("graph", "a graph without weight", "edges with weight: there is nothing to go by")
    small = graph.n <= limits.HEAT_CLUSTERS
    if method == "heat" and not small:
        raise CothermError(
            "method", f"'heat' for {graph.n} vertices", f"at most {limits.HEAT_CLUSTERS}", "Ask for 'spectral'."
        )
    if method == "spectral" or not small:
        return unit_row_clusters(lowest_normalized(graph, k).vectors, k, seed)
    at = np.arange(graph.n) if landmarks is None else landmarks
    found = [k_means(_reduced(rows, seed), k, seed) for rows in _heat_rows(graph, at)]
    return min(found, key=lambda labels: normalized_cut(graph, labels))


def normalized_cut(graph: Graph, labels: Ints) -> float:
    """The sum over clusters of the part of their weight that leaves them (Shi & Malik 2000)."""
    count = int(labels.max()) + 1
    total = np.bincount(labels, graph.degrees, count)
    inside = labels[graph.i] == labels[graph.j]
    kept = 2.0 * np.bincount(labels[graph.i[inside]], graph.w[inside], count)
    return float(np.sum(1.0 - np.divide(kept, total, out=np.ones(count), where=total > 0.0)))


def _heat_rows(graph: Graph, landmarks: Ints) -> Iterator[Floats]:
    """For some times, the square roots of the shares of heat from every vertex that are at each of the landmarks."""
    times = np.array([diffusion_time(moves, graph) for moves in _MOVES])
    points = np.zeros((graph.n, len(landmarks)))
    points[landmarks, np.arange(len(landmarks))] = 1.0
    for heat in flow(graph, points, times, "auto", _ROUGHLY):  # the kernel is symmetric
        heat = np.maximum(heat, 0.0)  # noqa: PLW2901
        total = heat.sum(axis=1, keepdims=True)
        yield np.sqrt(np.divide(heat, total, out=np.zeros_like(heat), where=total > 0.0))


def _reduced(X: Floats, seed: int) -> Floats:
    """Rows in the few dimensions in which they vary most, where they have many: k-means is much quicker there."""
    from sklearn.decomposition import PCA

    if X.shape[1] <= 2 * _DIMENSIONS:
        return X
    reduction = PCA(_DIMENSIONS, svd_solver="randomized", random_state=seed)
    return np.asarray(reduction.fit_transform(X))
