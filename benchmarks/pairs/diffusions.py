"""Products of random walks on several views, as others use them to make one affinity of all.

A step of a walk on a graph stays where it is as if the vertex were its own neighbor, with the weight of a neighbor at
distance 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
import scipy.linalg as la

from cotherm.arrays import Floats
from cotherm.graphs.graph import Graph

# Steps among which the time of a view is looked for.
_MOST_STEPS = 100


def alternating(graphs: Sequence[Graph]) -> Graph:
    """A step in every view, one after the other, and back and forth alike (Lederman & Talmon 2018).

    Only what all views know of is left.
    """
    return as_graph(_product([walk(graph) for graph in graphs]))


def integrated(graphs: Sequence[Graph]) -> Graph:
    """The same with more steps in views with more noise (Kuchroo et al. 2022).

    The time in which noise goes is where the entropy of a view's walk stops falling fast. Steps are in proportion to
    these times, one where it is shortest.
    """
    times = np.array([knee(entropies(graph)) for graph in graphs])
    steps = np.ceil(times / times.min()).astype(int).tolist()
    return as_graph(_product([np.linalg.matrix_power(walk(graph), t) for graph, t in zip(graphs, steps, strict=True)]))


def _product(walks: Sequence[Floats]) -> Floats:
    return reduce(lambda P, Q: P @ Q, walks)


def walk(graph: Graph) -> Floats:
    """The probabilities of a step, (n, n): rows sum to 1."""
    W = _kernel(graph)
    return np.asarray(W / W.sum(axis=1, keepdims=True))


def entropies(graph: Graph) -> Floats:
    """How many eigenvalues of the walk are left after 1, 2, ... steps: the entropy of their shares."""
    W = _kernel(graph)
    root = np.sqrt(W.sum(axis=1))
    values = np.abs(la.eigvalsh(W / root / root[:, np.newaxis]))
    powers = values[np.newaxis, :] ** np.arange(1, _MOST_STEPS + 1)[:, np.newaxis]
    shares = powers / powers.sum(axis=1, keepdims=True)
    return np.asarray(-np.sum(shares * np.log(np.maximum(shares, 1e-300)), axis=1))


def knee(curve: Floats) -> int:
    """The number of steps, from 1, at which a falling curve is farthest below the line between its ends."""
    line = np.linspace(curve[0], curve[-1], len(curve))
    return int(np.argmax(line - curve)) + 1


def as_graph(A: Floats) -> Graph:
    """The graph of an affinity: the mean of both directions, without what stays."""
    W = 0.5 * (A + A.T)
    np.fill_diagonal(W, 0.0)
    return Graph.from_adjacency(W)


def _kernel(graph: Graph) -> Floats:
    """Weights, and 1 on the diagonal, which is the weight of Gaussian neighbors at distance 0."""
    W = np.asarray(graph.adjacency().toarray())
    np.fill_diagonal(W, 1.0)
    return W
