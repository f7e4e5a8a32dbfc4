"""igraph: names are the vertex attribute "name", coordinates "x", "y", "z"."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from cotherm import validation
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.heat.validation import require_graph
from cotherm.interop.named import checked_names, ends_of, named_graph, require_keys, vertex_values, weights_of
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
    w = np.ones(len(pairs))
    if weight is not None:
        values = G.es[weight] if weight in G.es.attributes() else [None] * len(pairs)
        w = weights_of(values, [(names[a], names[b]) for a, b in pairs], str(weight))
    found: dict[str, Any] = {"coordinates": _coordinates(G, names)}
    if labels is not None and labels in here:
        found["labels"] = vertex_values("labels", str(labels), G.vs[labels], names)
    title = G["name"] if "name" in G.attributes() else None
    name = None if title is None else str(title)
    return named_graph("G", names, ends_of(pairs), w, made_up=made_up, name=name, **found)


def to_igraph(graph: Graph, names: Iterable[Hashable] | ArrayLike | None = None) -> igraph.Graph:
    """Convert a graph to igraph, with the same edges in the same order.

    Weights become the edge attribute "weight", coordinates (at most three columns) the vertex attributes "x", "y" and
    "z", and labels "label". Edges of weight 0 are kept.

    Parameters
    ----------
    graph : Graph
        The graph.
    names : iterable of hashable, optional
        Vertex attribute "name" of every vertex. By default the names of the vertices, if they have any.

    Returns
    -------
    igraph.Graph
        The igraph graph.

    Raises
    ------
    CothermError
        If there is not one distinct name for every vertex, or if there are more than three coordinates.

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
    own = graph.vertex_names if names is None else names
    if own is not None:
        G.vs["name"] = checked_names(own, graph.n)
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
    found = [vertex_values("G", axis, G.vs[axis], names) for axis in axes] if names else []
    columns = [column for column in found if column is not None]
    return np.array(columns).T if columns else None
