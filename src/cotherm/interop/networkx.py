"""networkx: node names stay with the networkx graph, in the order of its nodes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.heat.validation import require_graph
from cotherm.interop.named import ends_of, named_graph, vertex_values, weights_of
from cotherm.interop.optional import require
from cotherm.interop.validation import checked_names, require_simple

if TYPE_CHECKING:
    import networkx as nx


def from_networkx(
    G: nx.Graph,
    weight: str | None = "weight",
    *,
    coordinates: str | None = "pos",
    labels: str | None = "label",
) -> Graph:
    """The graph of a ``networkx.Graph``; vertex v is ``list(G.nodes)[v]``.

    Nodes may have any names. They stay behind: keep ``list(G.nodes)``, and give it to :func:`to_networkx` as names.
    Edges come sorted by (i, j). The graph's own name goes along.

    Parameters
    ----------
    G : undirected, without parallel edges, loops or negative weights.
    weight : the edge attribute that holds the weights, which every edge must have; None, every weight is 1.
    coordinates, labels : the node attributes that hold them, at all nodes or at none; None, they are left out.

    It needs networkx: ``pip install 'cotherm[networkx]'``.

    Examples
    --------
    >>> import networkx as nx
    >>> import cotherm as ct
    >>> G = nx.Graph()
    >>> G.add_weighted_edges_from([("rain", "wet", 2.0), ("wet", "cold", 0.5)])
    >>> graph = ct.interop.from_networkx(G)
    >>> graph.edges.tolist(), graph.w.tolist()
    ([[0, 1], [1, 2]], [2.0, 0.5])
    >>> list(ct.interop.to_networkx(graph, names=G.nodes).edges(data="weight"))
    [('rain', 'wet', 2.0), ('wet', 'cold', 0.5)]
    """
    require_simple(G)
    names = list(G.nodes)
    number = {name: v for v, name in enumerate(names)}
    pairs = list(G.edges)
    ends = ends_of((number[a], number[b]) for a, b in pairs)
    w = np.ones(len(pairs))
    if weight is not None:
        w = weights_of([data.get(weight) for _, _, data in G.edges(data=True)], pairs, str(weight))
    order = np.lexsort((ends.max(axis=1), ends.min(axis=1)))
    found = {}
    for argument, attribute in (("coordinates", coordinates), ("labels", labels)):
        if attribute is not None and names:
            values = [G.nodes[name].get(attribute) for name in names]
            found[argument] = vertex_values(argument, str(attribute), values, names)
    return named_graph("G", names, ends[order], w[order], name=str(G.name) or None, **found)


def to_networkx(graph: Graph, names: Iterable[Hashable] | ArrayLike | None = None) -> nx.Graph:
    """A ``networkx.Graph`` with the edge attribute "weight"; edges of weight 0 are there.

    Parameters
    ----------
    graph : its coordinates, where it has them, become the node attribute "pos" and its labels "label".
    names : for every vertex the name of its node, e.g. ``G.nodes`` of where it came from; by default 0 to n − 1.
    """
    nx = require("networkx", "networkx")
    require_graph(graph)
    nodes = checked_names(names, graph.n)
    if None in nodes:
        raise CothermError("names", "None", "names other than None, which networkx keeps for itself")
    G = nx.Graph(name=graph.name) if graph.name is not None else nx.Graph()
    G.add_nodes_from(nodes)
    rows = zip(graph.i.tolist(), graph.j.tolist(), graph.w.tolist(), strict=True)
    G.add_weighted_edges_from((nodes[i], nodes[j], w) for i, j, w in rows)
    for node, place in zip(nodes, () if graph.coordinates is None else graph.coordinates.tolist(), strict=False):
        G.nodes[node]["pos"] = tuple(place)
    for node, label in zip(nodes, () if graph.labels is None else graph.labels.tolist(), strict=False):
        G.nodes[node]["label"] = label
    return G
