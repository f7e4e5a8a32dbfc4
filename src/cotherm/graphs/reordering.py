"""Vertices numbered so that neighbors have near numbers, edges accordingly: what is used together lies together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.engines import default_engine
from cotherm.graphs.graph import Graph


@dataclass(frozen=True)
class Localized:
    """A graph with other numbers: its vertex v is the given graph's ``vertices[v]``, its edge e ``edges[e]``."""

    graph: Graph
    vertices: NDArray[np.intp]
    edges: NDArray[np.intp]

    def in_original_order(self, w: Floats) -> Floats:
        """Numbers of the edges of this graph, as those of the given one."""
        out = np.empty_like(w)
        out[self.edges] = w
        return out


def localized(graph: Graph) -> Localized:
    """Vertices by breadth-first search, edges by their ends. No coordinates, labels or name: they are not for eyes."""
    order = default_engine().reordered_laplacian(graph.n, graph.i, graph.j, graph.w).order
    rank = np.empty(graph.n, dtype=np.int32)
    rank[order] = np.arange(graph.n, dtype=np.int32)
    a, b = rank[graph.i], rank[graph.j]
    low, high = np.minimum(a, b), np.maximum(a, b)
    edges = np.argsort(low.astype(np.int64) * graph.n + high)
    return Localized(Graph(graph.n, low[edges], high[edges], graph.w[edges]), order.astype(np.intp), edges)


def unchanged(graph: Graph) -> Localized:
    """The graph with the numbers it has, for where near numbers would bring nothing."""
    return Localized(graph, np.arange(graph.n), np.arange(graph.m))
