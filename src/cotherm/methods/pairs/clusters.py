"""Clusters of a graph: readings of where heat goes and of the smoothest modes, Leiden's method, and how many there are.

k-means on rows of the heat kernel, square roots of the entries, compares where heat from two vertices is after some
moves: the Hellinger distance of two distributions. It sees small clusters that are well apart, where modes see large
ones first. Only heat at some of the vertices may count, the landmarks: vertices that have no neighbors in common are
compared by these. Of several readings the one with the smallest normalized cut is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from cotherm import limits
from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.heat.flow import flow
from cotherm.heat.spectrum import lowest_normalized
from cotherm.heat.times import diffusion_time
from cotherm.methods.pairs.leiden import leiden
from cotherm.methods.pairs.rules import CLUSTER_MOVES, MOST_CLUSTERS
from cotherm.methods.result import k_means, unit_row_clusters

AUTO, HEAT, SPECTRAL, LEIDEN = "auto", "heat", "spectral", "leiden"
METHODS = (AUTO, HEAT, SPECTRAL, LEIDEN)
_ROUGHLY = 1e-9
# Rows of the kernel are compared in this many dimensions, those in which they vary most.
_DIMENSIONS = 100


class Clustering(NamedTuple):
    """Clusters of the vertices of a graph, and how they were found.

    Attributes
    ----------
    labels : ndarray of int of shape (n,)
        Cluster of each vertex, from 0 on.
    method : str
        The reading that was taken, in words.
    normalized_cut : float
        The sum over clusters of the part of their weight that leaves them.

    See Also
    --------
    CommonGraph.clustering : Computes it.
    """

    labels: Ints
    method: str
    normalized_cut: float


def clustering(
    graph: Graph, k: int, method: str, seed: int, *, landmarks: Ints | None = None, denser: Graph | None = None
) -> Clustering:
    """k clusters of a graph, for checked arguments.

    ``denser`` is a graph of the same vertices with more edges, whose clusters are tried as well: which of the two
    separates vertices better differs from case to case. All are judged by the cut of the first.
    """
    if not np.any(graph.w > 0.0):
        raise CothermError("graph", "a graph without weight", "edges with weight: there is nothing to go by")
    if method == HEAT and graph.n > limits.HEAT_CLUSTERS:
        raise CothermError(
            "method", f"'heat' for {graph.n} vertices", f"at most {limits.HEAT_CLUSTERS}", "Ask for 'spectral'."
        )
    if method == LEIDEN:
        return _judged(graph, leiden(graph, k, seed), "Leiden")
    found, refusal = [], None
    for words, read in _readings(graph, denser, k, method, seed, landmarks):
        try:
            found.append(_judged(graph, read(), words))
        except CothermError as error:  # too few rows of this reading are different
            refusal = refusal or error
    if refusal and not found:
        raise refusal
    return min(found, key=lambda one: one.normalized_cut)


def number_of_clusters(graph: Graph) -> int:
    """How many clusters: where the gap between two eigenvalues of the normalized Laplacian is largest.

    A graph of k clusters that are well apart has k small eigenvalues (von Luxburg 2007).
    """
    most = min(MOST_CLUSTERS, max(2, graph.n // 5), graph.n - 1)
    if most < 2:
        return 1
    gaps = np.diff(lowest_normalized(graph, most + 1).values)
    return 2 + int(np.argmax(gaps[1:]))


def normalized_cut(graph: Graph, labels: Ints) -> float:
    """The sum over clusters of the part of their weight that leaves them (Shi & Malik 2000)."""
    count = int(labels.max()) + 1
    total = np.bincount(labels, graph.degrees, count)
    inside = labels[graph.i] == labels[graph.j]
    kept = 2.0 * np.bincount(labels[graph.i[inside]], graph.w[inside], count)
    return float(np.sum(1.0 - np.divide(kept, total, out=np.ones(count), where=total > 0.0)))


def _judged(graph: Graph, labels: Ints, words: str) -> Clustering:
    return Clustering(labels, words, normalized_cut(graph, labels))


def _readings(
    graph: Graph, denser: Graph | None, k: int, method: str, seed: int, landmarks: Ints | None
) -> Iterator[tuple[str, Callable[[], Ints]]]:
    """The name of each reading, and a function that computes it."""
    graphs = {"": graph, **({} if denser is None else {", second neighbors": denser})}
    at = np.arange(graph.n) if landmarks is None else landmarks
    for where, one in graphs.items():
        if method in (AUTO, SPECTRAL):
            yield f"modes{where}", partial(_by_modes, one, k, seed)
        if method in (AUTO, HEAT) and graph.n <= limits.HEAT_CLUSTERS:
            for moves, rows in zip(CLUSTER_MOVES, _heat_rows(one, at, CLUSTER_MOVES), strict=True):
                yield f"heat after {moves:g} moves{where}", partial(_by_rows, rows, k, seed)


def _by_modes(graph: Graph, k: int, seed: int) -> Ints:
    return unit_row_clusters(lowest_normalized(graph, k).vectors, k, seed)


def _by_rows(rows: Floats, k: int, seed: int) -> Ints:
    return k_means(_reduced(rows, seed), k, seed)


def _heat_rows(graph: Graph, landmarks: Ints, moves: Sequence[float]) -> Iterator[Floats]:
    """For each time, the square roots of the shares of heat that flow from every vertex to each landmark."""
    times = np.array([diffusion_time(one, graph) for one in moves])
    points = np.zeros((graph.n, len(landmarks)))
    points[landmarks, np.arange(len(landmarks))] = 1.0
    for heat in flow(graph, points, times, "auto", _ROUGHLY):  # the kernel is symmetric
        heat = np.maximum(heat, 0.0)  # noqa: PLW2901
        total = heat.sum(axis=1, keepdims=True)
        yield np.sqrt(np.divide(heat, total, out=np.zeros_like(heat), where=total > 0.0))


def _reduced(X: Floats, seed: int) -> Floats:
    """Project long rows on the few dimensions in which they vary most, where k-means is much quicker."""
    from sklearn.decomposition import PCA

    if X.shape[1] <= 2 * _DIMENSIONS:
        return X
    reduction = PCA(_DIMENSIONS, svd_solver="randomized", random_state=seed)
    return np.asarray(reduction.fit_transform(X))
