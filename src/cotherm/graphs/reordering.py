"""Vertices and edges renumbered for cache locality: neighbors get close numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.engines import default_engine
from cotherm.graphs.graph import Graph


@dataclass(frozen=True)
class Reordered:
    """A renumbered graph: vertex v was ``vertices[v]`` of the original graph, edge e was ``edges[e]``."""

    graph: Graph
    vertices: NDArray[np.intp]
    edges: NDArray[np.intp]

    def in_original_order(self, w: Floats) -> Floats:
        """Values on the edges of this graph, in the order of the original's edges."""
        out = np.empty_like(w)
        out[self.edges] = w
        return out


def reordered(graph: Graph) -> Reordered:
    """Vertices by breadth-first search, edges by their ends; coordinates, labels and name are dropped."""
    order = default_engine().reordered_laplacian(graph.n, graph.i, graph.j, graph.w).order
    rank = np.empty(graph.n, dtype=np.int32)
    rank[order] = np.arange(graph.n, dtype=np.int32)
    a, b = rank[graph.i], rank[graph.j]
    low, high = np.minimum(a, b), np.maximum(a, b)
    edges = np.argsort(low.astype(np.int64) * graph.n + high)
    return Reordered(Graph(graph.n, low[edges], high[edges], graph.w[edges]), order.astype(np.intp), edges)


def unchanged(graph: Graph) -> Reordered:
    """The graph with its own numbers, for graphs so small that renumbering gains nothing."""
    return Reordered(graph, np.arange(graph.n), np.arange(graph.m))
