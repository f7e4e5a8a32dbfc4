"""Edges as numbers, and graphs with edges from several lists, or with other degrees."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats, Ints
from cotherm.graphs.graph import Graph

# Rounds of scaling, each of which halves the error of the degrees or better.
_ROUNDS = 30


def edge_keys(i: NDArray[Any], j: NDArray[Any], n: int) -> Ints:
    """One number for each edge."""
    return i.astype(np.int64) * n + j


def summed(graph: Graph, keys: Ints, weights: Floats) -> Graph:
    """The graph with new weights: edges by their keys, its own ones first, weights of the same edge added."""
    unique, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    total = np.bincount(inverse, weights)[order]
    i, j = np.divmod(unique[order], graph.n)
    return graph.with_edges(i, j, total)


def with_degrees(graph: Graph, degrees: Floats) -> Graph:
    """The graph with weights s_i s_j w_ij whose degrees are those asked for, as nearly as its edges allow.

    By Sinkhorn's iteration with square roots, as it is done for symmetric matrices (Knight, Ruiz & Uçar 2014).
    """
    w = graph.w
    for _ in range(_ROUNDS):
        now = np.bincount(graph.i, w, graph.n) + np.bincount(graph.j, w, graph.n)
        factor = np.sqrt(np.divide(degrees, now, out=np.ones(graph.n), where=(now > 0.0) & (degrees > 0.0)))
        w = w * factor[graph.i] * factor[graph.j]
    return graph.with_weights(w)
