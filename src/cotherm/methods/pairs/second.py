"""Neighbors of neighbors: weight of a graph moved from its edges to the strongest paths of two edges.

A single wrong edge makes two items neighbors. Many paths of two edges hardly arise by accident, least of all in a graph
whose edges come from several views.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from cotherm.arrays import Floats, Ints
from cotherm.graphs.graph import Graph
from cotherm.methods.pairs.rules import SECOND_BETWEEN, SECOND_SHARE

# Paths lead through at most this many edges of a vertex, the heaviest: a hub would join everything to everything.
_THROUGH = 64
# Vertices from which paths are looked for at once, to bound the memory.
_BLOCK = 2_048
# Numbers that differ by less than this factor count as equal.
_ALIKE = 1.0 + 1e-9


def with_second_neighbors(graph: Graph, *, share: float = SECOND_SHARE, most: int | None = None) -> Graph:
    """The graph with edges to second neighbors: its own edges first, and the same total weight.

    ``most`` is how many of a vertex's strongest paths are taken, by default √n: the more vertices a graph has, the
    more belong together.
    """
    if most is None:
        most = int(np.clip(np.sqrt(graph.n), *SECOND_BETWEEN))
    keys, strength = _paths(graph, most)
    total = float(strength.sum())
    if not total > 0.0:
        return graph
    own, others = (1.0 - share) * graph.w, (share * float(graph.w.sum()) / total) * strength
    at = np.concatenate([edge_keys(graph.i, graph.j, graph.n), keys])
    return summed(graph, at, np.concatenate([own, others]))


def _paths(graph: Graph, most: int) -> tuple[Ints, Floats]:
    """Pairs of vertices by their keys, and how strongly paths join them, Σ_v w_iv w_vj / d_v, with d_v the degree.

    Only pairs that are among the strongest of either end are kept.
    """
    n, degrees = graph.n, graph.degrees
    through = _heaviest(graph)
    inverse = np.divide(1.0, degrees, out=np.zeros(n), where=degrees > 0.0)
    there, back = sp.csr_array(through.T), sp.csr_array(sp.diags_array(inverse) @ through)
    keys, values = [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
    for first in range(0, n, _BLOCK):
        rows, columns, strength = _entries(sp.csr_array(there[first : first + _BLOCK] @ back))
        rows = rows + first
        apart = rows != columns
        rows, columns, strength = rows[apart], columns[apart], strength[apart]
        kept = _largest(rows, strength, most)
        rows, columns = rows[kept], columns[kept]
        keys.append(edge_keys(np.minimum(rows, columns), np.maximum(rows, columns), n))
        values.append(strength[kept])
    unique, at = np.unique(np.concatenate(keys), return_index=True)
    return unique, np.concatenate(values)[at]


def _heaviest(graph: Graph) -> sp.csr_array:
    """The weights, a row for each vertex with those of its heaviest edges."""
    rows, columns, weights = _entries(sp.csr_array(graph.adjacency()))
    kept = _largest(rows, weights, _THROUGH)
    return sp.csr_array((weights[kept], (rows[kept], columns[kept])), shape=(graph.n, graph.n))


def _entries(matrix: sp.csr_array) -> tuple[Ints, Ints, Floats]:
    """Rows, columns and values of the positive entries."""
    found = sp.coo_array(matrix)
    rows, columns = (at.astype(np.int64) for at in found.coords)
    positive = found.data > 0.0
    return rows[positive], columns[positive], found.data[positive]


def _largest(rows: Ints, values: Floats, most: int) -> NDArray[np.bool_]:
    """Which values are among the largest of their row: all where there are few, else those above all the others.

    If a tie crosses the limit, none of the tied values is taken, so that the order of vertices does not matter.
    """
    order = np.lexsort((-values, rows))
    _, start, number, counts = np.unique(rows[order], return_index=True, return_inverse=True, return_counts=True)
    next_one = np.where(counts > most, values[order[start + np.minimum(most, counts - 1)]], 0.0)
    kept = np.empty(len(rows), dtype=bool)
    kept[order] = values[order] > _ALIKE * next_one[number]
    return kept


# Rounds of scaling, each of which halves the error of the degrees or better.
_ROUNDS = 30


def edge_keys(i: NDArray[Any], j: NDArray[Any], n: int) -> Ints:
    """One number for each edge."""
    return i.astype(np.int64) * n + j


def summed(graph: Graph, keys: Ints, weights: Floats) -> Graph:
    """The graph with new weights: edges by their keys, its own ones first, weights of the same edge added."""
    unique, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    total = np.bincount(inverse, weights)[order]
    i, j = np.divmod(unique[order], graph.n)
    return graph.with_edges(i, j, total)


def with_degrees(graph: Graph, degrees: Floats) -> Graph:
    """The graph with weights s_i s_j w_ij whose degrees are those asked for, as nearly as its edges allow.

    By Sinkhorn's iteration with square roots, as it is done for symmetric matrices (Knight, Ruiz & Uçar 2014).
    """
    w = graph.w
    for _ in range(_ROUNDS):
        now = np.bincount(graph.i, w, graph.n) + np.bincount(graph.j, w, graph.n)
        factor = np.sqrt(np.divide(degrees, now, out=np.ones(graph.n), where=(now > 0.0) & (degrees > 0.0)))
        w = w * factor[graph.i] * factor[graph.j]
    return graph.with_weights(w)
