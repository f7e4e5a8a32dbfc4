"""Large graphs are renumbered for cache locality before they are coupled, and their weights mapped back afterwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm import limits
from cotherm.arrays import Floats
from cotherm.engines import default_engine
from cotherm.graphs.graph import Graph
from cotherm.methods.coupling.search import Step

Edges = NDArray[np.intp]


class Reordering:
    """The renumbered graphs, and the maps from the caller's numbers to theirs and back.

    Small graphs, for which it gains nothing, and parts of graphs keep their numbers.
    """

    def __init__(self, graphs: Sequence[Graph]) -> None:
        self._moved = [reordered(g) if isinstance(g, Graph) and g.n > limits.REORDERED else None for g in graphs]
        self.graphs = [g if moved is None else moved.graph for g, moved in zip(graphs, self._moved, strict=True)]

    def functions(self, columns: Sequence[Floats]) -> list[Floats]:
        return [F if g is None else F[g.vertices] for F, g in zip(columns, self._moved, strict=True)]

    def edges(self, chosen: Sequence[Edges]) -> list[Edges]:
        """Some edges of each graph, ascending."""
        return [some if g is None else g.here(some) for some, g in zip(chosen, self._moved, strict=True)]

    def weights(self, weights: Sequence[Floats]) -> list[Floats]:
        return [w if g is None else w[g.edges] for w, g in zip(weights, self._moved, strict=True)]

    def in_original_order(self, weights: Sequence[Floats]) -> tuple[Floats, ...]:
        """Weights in the caller's order."""
        return tuple(w if g is None else g.in_original_order(w) for w, g in zip(weights, self._moved, strict=True))

    def wrapped(self, callback: Callable[[Step], Any] | None) -> Callable[[Step], Any] | None:
        """The callback, called with weights in the caller's order."""
        if callback is None:
            return None
        return lambda step: callback(replace(step, weights=self.in_original_order(step.weights)))


@dataclass(frozen=True)
class Reordered:
    """A renumbered graph: vertex v was ``vertices[v]`` of the original graph, edge e was ``edges[e]``."""

    graph: Graph
    vertices: NDArray[np.intp]
    edges: NDArray[np.intp]

    def here(self, edges: Edges) -> Edges:
        """Edges of the original graph by their numbers in this one, ascending."""
        mask = np.zeros(self.graph.m, dtype=bool)
        mask[edges] = True
        return np.flatnonzero(mask[self.edges])

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
