"""Weights that a view borrows from the others: edges between shared items, as far as other views support them.

Heat kernel coupling changes the edges that a view has as little as possible. A view with few neighbors for each item
can agree with another only by cutting edges, and edges that are wrong in one view remain in the mixture of
several. So before they are coupled, views that belong together are brought nearer to each other:

- An edge is *supported* by how much heat flows between its ends in the other views, each of them counted by its
  correlation with this view. Edges with twice the median support, or more, count fully; others less, in proportion.
- A view's own weights between shared items are multiplied by the square root of their support, but no less than 0.3:
  a poor view must not cut a good one to pieces.
- A share of them is replaced by the mean of the other views' weights, multiplied by their support: the mean correlation
  of the view's heat with theirs, or of theirs with each other where that is more, and at most 0.4. A view that has
  little in common with others that agree is the one to learn from them.
- Half of the weight moves to second neighbors, those that the strongest paths of two edges lead to, and all degrees
  become equal. Heat leaves a vertex at the rate of its degree. With degrees that vary, a vertex with a high one is near
  to all others at short times, whatever its neighbors are.

Edges of items that are in one view only, which no other view knows, are not multiplied by a support.

All of this changes a view, and a view that is ρ times as rigid as the least rigid one goes 1/ρ of the way.

The heat between two vertices is taken relative to what stays at them, K(a, b) / √(K(a, a) K(b, b)), a number from 0 to
1. On large graphs it is estimated: random functions diffuse for half the time, and the inner products of their rows,
one for each vertex, have mean K.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from cotherm import deadline, limits
from cotherm.arrays import Floats, Ints
from cotherm.engines import Engine
from cotherm.graphs.graph import Graph
from cotherm.heat.flow import flow
from cotherm.heat.times import diffusion_time, median_degree
from cotherm.methods.pairs.relation import Link
from cotherm.methods.pairs.rules import HELD, LEAST_OWN, MOST_BORROWED, MOVES
from cotherm.methods.pairs.second import edge_keys, summed, with_degrees, with_second_neighbors
from cotherm.pairs import Pairs


class Borrowing:
    """Graphs, how rigid they are, how far they trust each other, and the support of their edges."""

    def __init__(
        self, graphs: Sequence[Graph], rigidity: Floats, trust: Mapping[Link, float], support: Support
    ) -> None:
        self._graphs, self._support = graphs, support
        ways = rigidity.min() / rigidity
        self._ways = np.where(ways < HELD, 0.0, ways).tolist()
        self._trust = {**trust, **{(b, a): value for (a, b), value in trust.items()}}

    def shares(self, share: float | None) -> list[float]:
        """The share that every view borrows; ``share`` is what the caller asks for, None if not given."""
        return [way * self._share(view, share) for view, way in enumerate(self._ways)]

    def _share(self, view: int, share: float | None) -> float:
        if not self._linked(view):
            return 0.0
        return self._usual(view) if share is None else share

    def _usual(self, view: int) -> float:
        lenders = self._linked(view)
        own = np.mean([self._trust[view, other] for other in lenders])
        theirs = [self._trust[pair] for pair in combinations(lenders, 2) if pair in self._trust]
        return min(MOST_BORROWED, float(max(own, np.mean(theirs or [0.0]))))

    def lent(self, pairs: Pairs, share: float | None) -> list[Graph]:
        """The graphs after borrowing from those they are linked to; new edges come after their own."""
        return [
            _between(graph, self._whole(view, pairs, self._share(view, share)), way) if way > 0.0 else graph
            for view, (graph, way) in enumerate(zip(self._graphs, self._ways, strict=True))
        ]

    def _whole(self, view: int, pairs: Pairs, share: float) -> Graph:
        graph, others = self._graphs[view], self._linked(view)
        trust = np.array([self._trust[view, other] for other in others])
        known = self._known(view, others, pairs)
        if not known.any():
            return graph
        trust = trust / trust.sum()
        own = self._supported(view, others, known) * (1.0 - share * (trust @ known))
        keys, weights = [edge_keys(graph.i, graph.j, graph.n)], [own]
        for other, part in zip(others, trust, strict=True):
            at, w = self._offered(other, view, pairs)
            keys.append(at)
            weights.append(w * (share * part))
        lent = summed(graph, np.concatenate(keys), np.concatenate(weights))
        return with_degrees(with_second_neighbors(lent), np.full(graph.n, median_degree(graph)))

    def _supported(self, view: int, others: Sequence[int], known: Floats) -> Floats:
        """A view's own weights, multiplied by the root of their support."""
        graph = self._graphs[view]
        at = known.any(axis=0)
        support = self._support.of_edges(view, others, [self._trust[view, other] for other in others], known)
        w = graph.w.copy()
        w[at] = _rescaled(graph.w[at], np.maximum(LEAST_OWN, np.sqrt(_relative(support[at], graph.w[at]))))
        return w

    def _offered(self, lender: int, view: int, pairs: Pairs) -> tuple[Ints, Floats]:
        """A lender's edges between items that a view has, by their keys there, and their supported weights."""
        graph, others = self._graphs[lender], self._linked(lender)
        i, j = edges_on(graph, pairs, lender, view)
        at = np.flatnonzero((i >= 0) & (graph.w > 0.0))
        known = self._known(lender, others, pairs)
        support = self._support.of_edges(lender, others, [self._trust[lender, other] for other in others], known)
        weights = _rescaled(graph.w[at], _relative(support[at], graph.w[at]))
        n = self._graphs[view].n
        return edge_keys(np.minimum(i[at], j[at]), np.maximum(i[at], j[at]), n), weights

    def _known(self, view: int, others: Sequence[int], pairs: Pairs) -> Floats:
        """(others, edges): 1 where another view has both ends of an edge."""
        known = [edges_on(self._graphs[view], pairs, view, other)[0] >= 0 for other in others]
        return np.array(known, dtype=float).reshape(len(others), self._graphs[view].m)

    def _linked(self, view: int) -> list[int]:
        return sorted(b for a, b in self._trust if a == view)


def _between(graph: Graph, grown: Graph, way: float) -> Graph:
    """Go a fraction of the way from a graph to another whose edges begin with its own."""
    if way == 1.0:
        return grown
    before = np.concatenate([graph.w, np.zeros(grown.m - graph.m)])
    return grown.with_weights(before + way * (grown.w - before))


def _relative(support: Floats, w: Floats) -> Floats:
    """Support in units of twice the median over the edges with weight, at most 1; all 1 if no edge has support."""
    counted = support[w > 0.0]
    unit = 2.0 * float(np.median(counted) or np.mean(counted)) if len(counted) else 0.0
    return np.minimum(1.0, support / unit) if unit > 0.0 else np.ones(len(support))


def _rescaled(w: Floats, factors: Floats) -> Floats:
    """Weights times factors, with the same total."""
    changed = w * factors
    total = changed.sum()
    return changed * (w.sum() / total) if total > 0.0 else w


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
