"""What the verbs of heat ask of a graph at the door, and the sizes that decide how things are done."""

from __future__ import annotations

from cotherm import validation
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph

# Never a dense n × n matrix above this, unless the caller asks for one.
SMALL = 2_000
# All pairs of this many vertices are 3.2 GB, and as much again on the way.
LARGEST_DENSE = 20_000


def require_graph(graph: Graph) -> None:
    if not isinstance(graph, Graph):
        raise CothermError("graph", validation.describe(graph), "a cotherm.Graph", "Graph.from_adjacency(W) makes one.")


def require_two(graph: Graph) -> None:
    """Refuse to compare the vertices of a graph that has but one."""
    if graph.n == 1:
        raise CothermError("graph", "a single vertex", "at least two vertices")


def require_dense(graph: Graph) -> None:
    """Refuse an n × n result that would not fit."""
    if graph.n > LARGEST_DENSE:
        raise CothermError(
            "graph",
            f"{graph.n} vertices: all pairs take {2 * graph.n**2 * 8 / 1e9:.0f} GB, half of it for the result",
            f"at most {LARGEST_DENSE} vertices for all pairs",
            "Use heat_flow for some functions, or sources= or nearest= for some pairs.",
        )
