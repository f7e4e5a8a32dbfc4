"""What the functions of heat ask of their arguments."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from cotherm import limits, validation
from cotherm.arrays import Floats
from cotherm.errors import CothermError, known_as
from cotherm.graphs.graph import Graph

# What makes a graph of objects of other libraries, by the library.
_CONVERTERS = {
    "networkx": "cotherm.interop.from_networkx(G) makes one.",
    "igraph": "cotherm.interop.from_igraph(G) makes one.",
    "torch_geometric": "cotherm.interop.from_pyg(data) makes one.",
    "anndata": "cotherm.interop.from_anndata(adata) makes one.",
    "mudata": "cotherm.interop.anndata_graphs(mdata) makes one for each modality.",
    "numpy": "knn_graph(X) makes one of points, Graph.from_adjacency(W) of a matrix of weights.",
}
_CONVERTERS |= dict.fromkeys(("builtins", "pandas", "polars", "scipy", "torch"), _CONVERTERS["numpy"])


def require_graph(graph: Graph) -> None:
    if not isinstance(graph, Graph):
        raise CothermError("graph", validation.describe(graph), "a cotherm.Graph", _converter(graph))


def _converter(given: object) -> str:
    return _CONVERTERS.get(type(given).__module__.partition(".")[0], _CONVERTERS["numpy"])


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


def checked_graphs(graphs: Sequence[Graph]) -> list[Graph]:
    """Two or more graphs."""
    if isinstance(graphs, Graph) or not isinstance(graphs, Sequence) or len(graphs) < 2:
        raise CothermError("graphs", validation.describe(graphs), "a list of two or more graphs")
    for k, graph in enumerate(graphs):
        with known_as("graph", f"graphs[{k}]"):
            require_graph(graph)
    return list(graphs)


def checked_views(graphs: Sequence[Graph], functions: Sequence[ArrayLike]) -> tuple[list[Graph], list[Floats]]:
    """Two or more graphs and as many blocks of functions, all with the same number of columns."""
    graphs = checked_graphs(graphs)
    if isinstance(functions, np.ndarray | str) or not isinstance(functions, Sequence) or len(functions) != len(graphs):
        raise CothermError(
            "functions",
            validation.describe(functions),
            f"a list with a block of functions for each of {len(graphs)} graphs",
        )
    columns = [
        validation.functions(f"functions[{k}]", F, g.n, g.vertex_names)
        for k, (g, F) in enumerate(zip(graphs, functions, strict=True))
    ]
    widths = [F.shape[1] for F in columns]
    if len(set(widths)) > 1 or widths[0] == 0:
        raise CothermError("functions", f"{widths} functions", "the same number on every graph, at least one")
    return graphs, columns
