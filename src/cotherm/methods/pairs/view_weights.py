"""Which views to believe about an item: how far its neighbors in each view are borne out by heat in the others.

Heat flows from an item in view m. A neighbor of the item in view k is borne out if it gets more of that heat than most
items do. The share of items that get less, averaged over the neighbors, is 1 if view m agrees and ½ if it knows
nothing. Two views bear each other out by the mean of both directions, and a view is believed by the mean over the
others. In a second round neighbors count by how far the views are believed about *them*.

Of two views alone this cannot tell which one is wrong about an item. They are weighed as wholes, by how much structure
each has, and the less they are related the more that counts: noise and views that are mostly noise have no slow modes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from cotherm import deadline, limits
from cotherm.arrays import Floats, Ints
from cotherm.graphs.graph import Graph
from cotherm.heat.flow import flow
from cotherm.heat.spectrum import lowest_normalized
from cotherm.heat.times import diffusion_time
from cotherm.methods.pairs import rules

# On large graphs: random functions from which heat is estimated, and other items with which a neighbor is compared.
_FUNCTIONS, _OTHERS = 512, 512
# Items whose neighbors are compared at once, to bound the memory.
_ITEMS = 1_024
_ROUGHLY = 1e-9
# Amounts of heat that differ by less than this fraction of what stays at the source count as equal: between pieces of
# a graph they are rounding.
_ALIKE = 1e-7


def view_weights(graphs: Sequence[Graph], items: Ints, seed: int = 0) -> Floats:
    """How far each view is believed about each item, (items, views). Rows sum to 1; 0 where an item is missing.

    ``graphs`` are the views as given, and ``items`` the vertex that each item is in every view, −1 where it is missing.
    """
    here = items >= 0
    count = items.shape[1]
    heat = [_Heat.of(graph, seed) for graph in graphs]
    edges = {
        (k, m): _borne_out(graphs[k], heat[m], items[:, k], items[:, m], seed)
        for k in range(count)
        for m in range(count)
        if k != m
    }
    weights = here.astype(float)
    for _ in range(rules.WEIGHT_ROUNDS):
        total, known = np.zeros(here.shape), np.zeros(here.shape)
        for (k, m), shares in edges.items():
            believed = _mean_at(shares, weights[:, k] * weights[:, m])
            for view in (k, m):  # both directions count for both views
                total[:, view] += np.where(np.isnan(believed), 0.0, believed)
                known[:, view] += ~np.isnan(believed)
        mean = np.divide(total, known, out=np.full(here.shape, 1.0), where=known > 0)
        weights = np.where(here, np.maximum(2.0 * mean - 1.0, rules.WEIGHT_LEAST), 0.0)
        weights /= weights.sum(axis=1, keepdims=True)
    return weights


def weights_of_two(graphs: Sequence[Graph], items: Ints, correlation: float) -> Floats:
    """The same for two views whose heat correlates so much: every item has the weights of the views as wholes.

    They are in proportion to the structure of each view to the power (1 − ρ)/ρ, ρ being the correlation.
    """
    here = items >= 0
    logs = np.log([structure(graph) for graph in graphs]) * (1.0 - correlation) / correlation
    shares = np.exp(logs - logs.max())
    weights = np.where(here, np.maximum(shares / shares.sum(), rules.WEIGHT_LEAST), 0.0)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def structure(graph: Graph) -> float:
    """How much heat the smooth modes of a graph keep: noise has no slow modes.

    No vertex counts for more than its share of the modes, since a few odd items make slow modes, too.
    """
    spectrum = lowest_normalized(graph, min(rules.STRUCTURE_MODES, graph.n))
    at_vertices = spectrum.vectors[:, 1:] ** 2 @ np.exp(-rules.STRUCTURE_MOVES * spectrum.values[1:])
    most = (rules.STRUCTURE_MODES - 1) / graph.n
    return float(max(np.minimum(at_vertices, most).sum(), np.finfo(float).tiny))


class _Heat(NamedTuple):
    """Heat between vertices: the kernel, or rows whose inner products estimate it."""

    rows: Floats
    exact: bool

    @classmethod
    def of(cls, graph: Graph, seed: int) -> _Heat:
        moves, exact = rules.WEIGHT_MOVES, graph.n <= limits.ALL_DISTANCES
        if exact:
            functions = np.eye(graph.n)
        else:  # e^{−tL} ≈ XXᵀ for X = e^{−tL/2}F with random F
            moves *= 0.5
            functions = np.random.default_rng(seed).standard_normal((graph.n, _FUNCTIONS)) / np.sqrt(_FUNCTIONS)
        times = np.array([diffusion_time(moves, graph)])
        return cls(np.asarray(flow(graph, functions, times, "auto", _ROUGHLY)[0]), exact)

    def pairs(self, i: Ints, j: Ints) -> Floats:
        """From i[e] to j[e], for every e."""
        if self.exact:
            return np.asarray(self.rows[i, j])
        return np.asarray(np.einsum("er,er->e", self.rows[i], self.rows[j]))

    def table(self, i: Ints, j: Ints) -> Floats:
        """From all of i to all of j."""
        return np.asarray(self.rows[np.ix_(i, j)] if self.exact else self.rows[i] @ self.rows[j].T)


def _borne_out(graph: Graph, heat: _Heat, mine: Ints, theirs: Ints, seed: int) -> tuple[sp.csr_array, sp.csr_array]:
    """Over items in both views: the weights of one view's edges, and the share of items with less heat in the other.

    ``mine`` and ``theirs`` are the vertices of items in the view and in the other one, whose ``heat`` is given.
    """
    both = np.flatnonzero((mine >= 0) & (theirs >= 0))
    item = np.full(graph.n, -1)
    item[mine[both]] = both
    i, j, w = np.append(graph.i, graph.j), np.append(graph.j, graph.i), np.tile(graph.w, 2)
    used = np.flatnonzero((item[i] >= 0) & (item[j] >= 0) & (w > 0.0))
    i, j, w = item[i[used]], item[j[used]], w[used]
    others = both
    if len(others) > 2 * _OTHERS:
        others = np.random.default_rng(seed).choice(both, _OTHERS, replace=False)
    order = np.argsort(i, kind="stable")
    i, j, w = i[order], j[order], w[order]
    shares = np.empty(len(i))
    for first in range(0, len(both), _ITEMS):
        deadline.check()
        sources = both[first : first + _ITEMS]
        part = slice(*np.searchsorted(i, [sources[0], sources[-1] + 1]))
        at = np.searchsorted(sources, i[part])
        own = theirs[sources]
        here = heat.pairs(theirs[i[part]], theirs[j[part]])[:, np.newaxis]
        reached = heat.table(own, theirs[others])[at]
        counted = (others != i[part, np.newaxis]) & (others != j[part, np.newaxis])
        alike = _ALIKE * heat.pairs(own, own)[at, np.newaxis]
        less = 0.5 * ((reached < here - alike) + 1.0 * (reached <= here + alike))
        shares[part] = np.sum(less, axis=1, where=counted) / np.maximum(counted.sum(axis=1), 1)
    shape = (len(mine), len(mine))
    return sp.csr_array((w, (i, j)), shape=shape), sp.csr_array((w * shares, (i, j)), shape=shape)


def _mean_at(edges: tuple[sp.csr_array, sp.csr_array], weights: Floats) -> Floats:
    """The mean share at each item, over its neighbors by weight; NaN where it has none."""
    total = edges[0] @ weights
    return np.divide(edges[1] @ weights, total, out=np.full(len(weights), np.nan), where=total > 0.0)
