"""What the functions of heat ask of their arguments."""

from __future__ import annotations

from cotherm import limits, validation
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph


def require_graph(graph: Graph) -> None:
    if not isinstance(graph, Graph):
        raise CothermError("graph", validation.describe(graph), "a cotherm.Graph", "Graph.from_adjacency(W) makes one.")


def require_two(graph: Graph) -> None:
    """Refuse to compare the vertices of a graph that has but one."""
    if graph.n == 1:
        raise CothermError("graph", "a single vertex", "at least two vertices")


def require_dense(graph: Graph) -> None:
    """Refuse an n × n result that would not fit."""
    if graph.n > limits.DENSE_RESULT:
        raise CothermError(
            "graph",
            f"{graph.n} vertices: all pairs take {2 * graph.n**2 * 8 / 1e9:.0f} GB, half of it for the result",
            f"at most {limits.DENSE_RESULT} vertices for all pairs",
            "Use heat_flow for some functions, or sources= or nearest= for some pairs.",
        )
