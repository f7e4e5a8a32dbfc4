"""Weights that a view borrows from the others: between items that two views share, a part of the other view's weights.

A view of few neighbors an item has no way to agree with another view but to cut what it has. With a share s of borrowed
weight, the weight between two items is (1 − s) times its own plus s times the mean of the other views', as far as these
have both items; what another view does not know stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats, Ints
from cotherm.graphs.graph import Graph
from cotherm.pairs import Pairs


def with_borrowed_weights(
    graphs: Sequence[Graph], pairs: Pairs, linked: Sequence[tuple[int, int]], share: float
) -> list[Graph]:
    """The graphs after borrowing from the views they are linked to; new edges come after their own."""
    found = []
    for k, graph in enumerate(graphs):
        others = [b if k == a else a for a, b in linked if k in (a, b)]
        if not others:
            found.append(graph)
            continue
        known = np.zeros(graph.m)  # by how many other views, for every edge
        keys, weights = [_keys(graph.i, graph.j, graph.n)], [graph.w]
        for other in others:
            theirs, mine = pairs.shared(other, k)
            at_both = np.zeros(graph.n, dtype=bool)
            at_both[mine] = True
            known += at_both[graph.i] & at_both[graph.j]
            carried = _carried(graphs[other], theirs, mine, graph.n)
            keys.append(carried[0])
            weights.append(carried[1] * (share / len(others)))
        weights[0] = graph.w * (1.0 - share * known / len(others))
        found.append(_summed(graph, np.concatenate(keys), np.concatenate(weights)))
    return found


def with_edges_of(graph: Graph, grown: Graph) -> Graph:
    """The graph with the edges of one that begins with its own; those it does not have get weight zero."""
    w = np.concatenate([graph.w, np.zeros(grown.m - graph.m)])
    return Graph(grown.n, grown.i, grown.j, w, coordinates=graph.coordinates, labels=graph.labels, name=graph.name)


def _summed(graph: Graph, keys: Ints, weights: Floats) -> Graph:
    """The graph with new weights: edges by their keys, its own ones first, weights of the same edge added."""
    unique, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    total = np.bincount(inverse, weights)[order]
    i, j = np.divmod(unique[order], graph.n)
    return Graph(graph.n, i, j, total, coordinates=graph.coordinates, labels=graph.labels, name=graph.name)


def _carried(other: Graph, theirs: Ints, mine: Ints, n: int) -> tuple[Ints, Floats]:
    """The edges with weight between shared items of another graph, by the keys they have on this one."""
    place = np.full(other.n, -1)
    place[theirs] = mine
    i, j = place[other.i], place[other.j]
    kept = (other.w > 0.0) & (i >= 0) & (j >= 0)
    i, j = i[kept], j[kept]
    return _keys(np.minimum(i, j), np.maximum(i, j), n), other.w[kept]


def _keys(i: NDArray[Any], j: NDArray[Any], n: int) -> Ints:
    """One number for each edge."""
    return i.astype(np.int64) * n + j
