"""networkx: nodes become vertices in their order; their names go with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cotherm import validation
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.heat.validation import require_graph
from cotherm.interop.named import all_or_none, named_graph, require_keys
from cotherm.optional import require

if TYPE_CHECKING:
    import networkx as nx


def from_networkx(
    G: nx.Graph,
    weight: str | None = "weight",
    *,
    coordinates: str | None = "pos",
    labels: str | None = "label",
) -> Graph:
    """Convert a networkx graph; vertex v is ``list(G.nodes)[v]``.

    The nodes become ``vertex_names``: integers if all are, otherwise strings, those of other nodes such as tuples by
    ``repr``. The name of the graph is kept. It needs networkx: ``pip install 'cotherm[networkx]'``.

    Parameters
    ----------
    G : networkx.Graph
        An undirected graph without parallel edges, loops or negative weights.
    weight : str or None, default "weight"
        Edge attribute with the weights, on all edges, or on none: then every edge has weight 1. None ignores it.
    coordinates : str or None, default "pos"
        Node attribute with coordinates, on all nodes or on none. None ignores them.
    labels : str or None, default "label"
        Node attribute with labels, on all nodes or on none. None ignores them.

    Returns
    -------
    Graph
        The graph, with edges sorted by (i, j).

    See Also
    --------
    to_networkx : The other direction.

    Examples
    --------
    >>> import networkx as nx
    >>> import cotherm as ct
    >>> G = nx.Graph()
    >>> G.add_weighted_edges_from([("rain", "wet", 2.0), ("wet", "cold", 0.5)])
    >>> graph = ct.interop.from_networkx(G)
    >>> graph.edges.tolist(), graph.w.tolist()
    ([[0, 1], [1, 2]], [2.0, 0.5])
    >>> list(ct.interop.to_networkx(graph).edges(data="weight"))
    [('rain', 'wet', 2.0), ('wet', 'cold', 0.5)]
    """
    if not isinstance(G, require("networkx", "networkx").Graph):
        raise CothermError("G", validation.describe(G), "a networkx.Graph")
    if G.is_multigraph() or G.is_directed():
        advice = "Add up or choose among parallel edges and the two directions; then nx.Graph(G)."
        raise CothermError("G", f"a {type(G).__name__}", "an undirected networkx.Graph", advice)
    require_keys(weight=weight, coordinates=coordinates, labels=labels)
    names, pairs = list(G.nodes), list(G.edges)
    number = {name: v for v, name in enumerate(names)}
    ends = np.array([(number[a], number[b]) for a, b in pairs], dtype=np.int64).reshape(-1, 2)
    order = np.lexsort((ends.max(axis=1), ends.min(axis=1)))
    of_edges = [data.get(weight) for _, _, data in G.edges(data=True)]
    found = all_or_none("weight", weight, of_edges, pairs, "a weight on every edge; weight=None gives each weight 1")
    w = np.ones(len(pairs)) if found is None else validation.numeric("weight", found, ndim=(1,))
    more = {}
    for argument, attribute in (("coordinates", coordinates), ("labels", labels)):
        values = [data.get(attribute) for _, data in G.nodes(data=True)]
        needed = f"one at every vertex, or at none; {argument}=None ignores them"
        more[argument] = all_or_none(argument, attribute, values, names, needed)
    return named_graph("G", names, ends[order], w[order], name=str(G.name) or None, **more)


def to_networkx(graph: Graph) -> nx.Graph:
    """Convert a graph to networkx.

    The nodes are the names of the vertices, or 0 to n − 1 if they have none; ``networkx.relabel_nodes`` gives others.
    Weights become the edge attribute "weight", coordinates the node attribute "pos" and labels "label". Edges of
    weight 0 are kept.

    Parameters
    ----------
    graph : Graph
        The graph.

    Returns
    -------
    networkx.Graph
        The networkx graph.

    See Also
    --------
    from_networkx : The other direction.

    Examples
    --------
    >>> import cotherm as ct
    >>> list(ct.interop.to_networkx(ct.Graph(2, [0], [1], [2.0])).edges(data=True))
    [(0, 1, {'weight': 2.0})]
    """
    nx = require("networkx", "networkx")
    require_graph(graph)
    nodes = list(range(graph.n)) if graph.vertex_names is None else graph.vertex_names.tolist()
    G = nx.Graph(name=graph.name) if graph.name is not None else nx.Graph()
    G.add_nodes_from(nodes)
    rows = zip(graph.i.tolist(), graph.j.tolist(), graph.w.tolist(), strict=True)
    G.add_weighted_edges_from((nodes[i], nodes[j], w) for i, j, w in rows)
    for node, place in zip(nodes, () if graph.coordinates is None else graph.coordinates.tolist(), strict=False):
        G.nodes[node]["pos"] = tuple(place)
    for node, label in zip(nodes, () if graph.labels is None else graph.labels.tolist(), strict=False):
        G.nodes[node]["label"] = label
    return G
