"""How far the other views support the edges of a view: the heat that flows in them between the ends of an edge.

The heat between two vertices is taken relative to what stays at them, K(a, b) / √(K(a, a) K(b, b)), a number from 0 to
1. On large graphs it is estimated: random functions diffuse for half the time, and the inner products of their rows,
one for each vertex, have mean K.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cotherm import deadline, limits
from cotherm.arrays import Floats, Ints
from cotherm.engines import Engine
from cotherm.graphs.graph import Graph
from cotherm.heat.flow import flow
from cotherm.heat.times import diffusion_time
from cotherm.methods.pairs.relation import Link
from cotherm.methods.pairs.rules import MOVES
from cotherm.pairs import Pairs

# Number of random functions that heat is estimated from, to about 1/√1024 = 0.03.
_FUNCTIONS = 1_024
# Functions, sources and edges that are worked on at once, to bound the memory.
_AT_ONCE, _BLOCK, _EDGES = 32, 2_048, 65_536
_ROUGHLY = 1e-6
# Less heat than this is rounding, as between pieces of a graph. It must not make second neighbors.
_NOTHING = 1e-9


class Support:
    """For every two linked views, the heat in one of them along the edges of the other."""

    def __init__(
        self, graphs: Sequence[Graph], pairs: Pairs, linked: Sequence[Link], seed: int, engine: Engine
    ) -> None:
        self._heat: dict[Link, Floats] = {}
        for view, graph in enumerate(graphs):
            others = [b if view == a else a for a, b in linked if view in (a, b)]
            ends = {other: edges_on(graphs[other], pairs, other, view) for other in others}
            for other, heat in zip(ends, _heat_between(graph, list(ends.values()), seed, engine), strict=True):
                self._heat[view, other] = heat

    def of_edges(self, lender: int, views: Sequence[int], trust: Sequence[float], known: Floats) -> Floats:
        """The mean heat in some views along the edges of another, weighted by trust and by which views know them.

        ``known`` is (views, edges), 1 where a view has both ends of an edge. Where no view has both, the mean is 0.
        """
        weights = known * np.asarray(trust)[:, np.newaxis]
        total = weights.sum(axis=0)
        heat = sum(w * self._heat[view, lender] for view, w in zip(views, weights, strict=True))
        return np.divide(heat, total, out=np.zeros(len(total)), where=total > 0.0)


def edges_on(graph: Graph, pairs: Pairs, view: int, other: int) -> tuple[Ints, Ints]:
    """The ends of a view's edges as vertices of another view, −1 where that view lacks one of them."""
    place = np.full(graph.n, -1)
    mine, theirs = pairs.shared(view, other)
    place[mine] = theirs
    i, j = place[graph.i], place[graph.j]
    both = (i >= 0) & (j >= 0)
    return np.where(both, i, -1), np.where(both, j, -1)


def _heat_between(graph: Graph, ends: list[tuple[Ints, Ints]], seed: int, engine: Engine) -> list[Floats]:
    """The relative heat between the ends of edges, 0 where an end is missing, for several lists of edges."""
    if not ends:
        return []
    t = diffusion_time(MOVES, graph)
    estimate = _estimated if graph.n > limits.EXACT_SUPPORT else _exact
    found = estimate(graph, np.hstack([i for i, _ in ends]), np.hstack([j for _, j in ends]), t, seed, engine)
    return np.split(np.where(found > _NOTHING, found, 0.0), np.cumsum([len(i) for i, _ in ends])[:-1])


def _exact(graph: Graph, i: Ints, j: Ints, t: float, seed: int, engine: Engine) -> Floats:  # noqa: ARG001
    heat, own = np.zeros(len(i)), np.zeros(graph.n)
    at = np.flatnonzero(i >= 0)
    sources = np.unique(np.concatenate([i[at], j[at]]))
    for first in range(0, len(sources), _BLOCK):
        block = sources[first : first + _BLOCK]
        column = np.full(graph.n, -1)
        column[block] = np.arange(len(block))
        points = np.zeros((graph.n, len(block)))
        points[block, column[block]] = 1.0
        K = flow(graph, points, np.array([t]), "auto", _ROUGHLY, engine)[0]
        own[block] = K[block, column[block]]
        here = at[column[i[at]] >= 0]
        heat[here] = K[j[here], column[i[here]]]
    heat[at] /= np.sqrt(own[i[at]] * own[j[at]])
    return heat


def _estimated(graph: Graph, i: Ints, j: Ints, t: float, seed: int, engine: Engine) -> Floats:
    rng = np.random.default_rng(seed)
    at = np.flatnonzero(i >= 0)
    between, own = np.zeros(len(at)), np.zeros(graph.n)
    for _ in range(_FUNCTIONS // _AT_ONCE):
        deadline.check()
        functions = rng.standard_normal((graph.n, _AT_ONCE))
        Z = flow(graph, functions, np.array([0.5 * t]), "chebyshev", _ROUGHLY, engine)[0]
        own += np.einsum("vr,vr->v", Z, Z)
        for first in range(0, len(at), _EDGES):
            part = at[first : first + _EDGES]
            between[first : first + _EDGES] += np.einsum("er,er->e", Z[i[part]], Z[j[part]])
    heat = np.zeros(len(i))
    heat[at] = between / np.sqrt(own[i[at]] * own[j[at]])
    return heat
