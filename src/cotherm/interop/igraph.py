"""igraph: names are the vertex attribute "name", coordinates "x", "y", "z"."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Any

import numpy as np

from cotherm import validation
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.heat.validation import require_graph
from cotherm.interop.named import all_or_none, named_graph, require_keys
from cotherm.optional import require

if TYPE_CHECKING:
    import igraph


def from_igraph(G: igraph.Graph, weight: str | None = "weight", *, labels: str | None = "label") -> Graph:
    """Convert an igraph graph, with the same vertices and edges in the same order.

    The vertex attribute "name" becomes ``vertex_names``; where it is missing vertices have no names. The vertex
    attributes "x", "y" and "z", where the graph has them, become coordinates. The graph attribute "name" is kept. It
    needs igraph: ``pip install 'cotherm[igraph]'``.

    Parameters
    ----------
    G : igraph.Graph
        An undirected graph without parallel edges, loops or negative weights.
    weight : str or None, default "weight"
        Edge attribute with the weights, on all edges, or on none: then every edge has weight 1. None ignores it.
    labels : str or None, default "label"
        Vertex attribute with labels, on all vertices or on none. None ignores them.

    Returns
    -------
    Graph
        The graph.

    See Also
    --------
    to_igraph : The other direction.

    Examples
    --------
    >>> import igraph
    >>> import cotherm as ct
    >>> G = igraph.Graph([(0, 1), (1, 2)], edge_attrs={"weight": [2.0, 0.5]}, vertex_attrs={"name": ["a", "b", "c"]})
    >>> graph = ct.interop.from_igraph(G)
    >>> graph.w.tolist(), ct.interop.to_igraph(graph).vs["name"]
    ([2.0, 0.5], ['a', 'b', 'c'])
    """
    if not isinstance(G, require("igraph", "igraph").Graph):
        raise CothermError("G", validation.describe(G), "an igraph.Graph")
    if G.is_directed():
        advice = 'G.as_undirected(combine_edges="max") makes one.'
        raise CothermError("G", "a directed graph", "an undirected one", advice)
    require_keys(weight=weight, labels=labels)
    here = G.vs.attributes()
    made_up = "name" not in here or None in G.vs["name"]
    names = list(range(G.vcount())) if made_up else G.vs["name"]
    pairs = G.get_edgelist()
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    of_edges = G.es[weight] if weight in G.es.attributes() else [None] * len(pairs)
    between = [(names[a], names[b]) for a, b in pairs]
    given = all_or_none("weight", weight, of_edges, between, "a weight on every edge; weight=None gives each weight 1")
    w = np.ones(len(pairs)) if given is None else validation.numeric("weight", given, ndim=(1,))
    found: dict[str, Any] = {"coordinates": _coordinates(G, names)}
    if labels in here:
        needed = "one at every vertex, or at none; labels=None ignores them"
        found["labels"] = all_or_none("labels", labels, G.vs[labels], names, needed)
    title = G["name"] if "name" in G.attributes() else None
    name = None if title is None else str(title)
    return named_graph("G", names, ends, w, made_up=made_up, name=name, **found)


def to_igraph(graph: Graph) -> igraph.Graph:
    """Convert a graph to igraph, with the same edges in the same order.

    Names become the vertex attribute "name", weights the edge attribute "weight", coordinates (at most three columns)
    the vertex attributes "x", "y" and "z", and labels "label". Edges of weight 0 are kept.

    Parameters
    ----------
    graph : Graph
        The graph.

    Returns
    -------
    igraph.Graph
        The igraph graph.

    Raises
    ------
    CothermError
        If there are more than three coordinates.

    See Also
    --------
    from_igraph : The other direction.

    Examples
    --------
    >>> import cotherm as ct
    >>> ct.interop.to_igraph(ct.Graph(2, [0], [1], [2.0])).es["weight"]
    [2.0]
    """
    igraph = require("igraph", "igraph")
    require_graph(graph)
    G = igraph.Graph(graph.n, graph.edges.tolist(), edge_attrs={"weight": graph.w.tolist()})
    if graph.vertex_names is not None:
        G.vs["name"] = graph.vertex_names.tolist()
    if graph.name is not None:
        G["name"] = graph.name
    if graph.labels is not None:
        G.vs["label"] = graph.labels.tolist()
    if graph.coordinates is not None:
        if graph.coordinates.shape[1] > 3:
            d = graph.coordinates.shape[1]
            raise CothermError("graph", f"coordinates in {d} dimensions", "at most three", "Use graph.bare().")
        for axis, values in zip("xyz", graph.coordinates.T.tolist(), strict=False):
            G.vs[axis] = values
    return G


def _coordinates(G: Any, names: list[Any]) -> Any:
    axes = takewhile(lambda axis: axis in G.vs.attributes(), "xyz")
    found = [all_or_none("G", axis, G.vs[axis], names, f"{axis} at every vertex, or at none") for axis in axes]
    columns = [column for column in found if column is not None]
    return np.array(columns).T if columns else None
