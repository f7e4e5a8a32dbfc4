"""The search for commuting Laplacians of given graphs, nearest to the given ones.

A path: α from small to large, each stage from the answer of the last, with the multipliers of an augmented Lagrangian.
Where the matrices that commute meet in a corner, products of small weights must vanish, and a second path decides
which, cutting edges for good as α rises. More starts, drawn at random from a seed, are tried within bounds set by the
best so far. Commutators that are small enough are brought to rounding by damped least-norm corrections.

The search never returns anything further away than weights with which graphs always commute. *Equal*: the same on the
edges all graphs share, zero elsewhere. *Proportional*: each graph these times a number of its own. *Alone*: the graph
with the largest Laplacian as it is and the others without weight.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.optimize
from numpy.typing import NDArray

from cotherm import limits
from cotherm.arrays import Floats
from cotherm.lazy import lazy
from cotherm.methods.commuting.commutation import Commutation, Pairs, Stage
from cotherm.solve.bounded_newton import descend_bounded, nearest_bounded

# A path ends when the commutator is this part of that of the given weights; least-norm corrections do the rest.
_TARGET = 1e-9
# The path, in units of α, and its tolerances.
_FACTOR, _LAST_ALPHA = 10.0, 1e11
_TOLERANCE, _ROUGH_TOLERANCE, _STEPS = 1e-3, 1e-2, 60
# From this α on a regular path loses this much of the commutator at every stage; twice less is a corner.
_LATE, _REGULAR_LOSS = 1e6, 10.0**-0.7
# The cutting path: up to _CUT_UNTIL edges below a fraction of the typical weight are cut, more as α rises.
_CUT_FROM, _CUT_UNTIL = 1e4, 1e7
_MILD = ((1e5, 0.03), (1e6, 0.1), (1e7, 0.3))
_STRONG = ((1e4, 0.1), (1e5, 0.3), (3e5, 0.5), (1e6, 0.7))
# Steps of a stage without curvature.
_PLAIN_STEPS = 300
# From this α on they do not converge without curvature: this many steps with it follow, if edges are not too many,
# and a path on many edges ends.
_CURVED_FROM, _CURVED_STEPS, _LAST_LARGE_ALPHA = 3e7, 20, 1e9
# From this α on, and once the commutator is this part of that of the given weights, a cutting path ends in corrections
# if they can bring the commutator to zero while the distance grows by no more than a small part.
_SETTLE_FROM, _NEARLY, _SETTLED = 1e6, 1e-3, 1.01
# A start is given up once it costs this much more than the best answer.
_HOPELESS = 1.02
_ROUNDING = 1e-13
# Dampings of corrections in units of the largest curvature; a round must bring this part of the commutator.
_FIRST_DAMPING, _LEAST_DAMPING, _MOST_DAMPING = 1e-6, 1e-14, 1e-2
_ROUNDS, _LEAST_LOSS = 30, 0.9

# Where an answer that always commutes comes from.
ALONE, EQUAL, PROPORTIONAL = "one graph alone", "equal graphs", "proportional graphs"

Watch = Callable[[str, float], None]


@dataclass(frozen=True)
class _Walk:
    """Where a path led: "there", "too far" or "corner", and the points on the way by α."""

    end: str
    u: Floats
    trail: list[tuple[float, Floats]]


class CommutingSearch:
    """Search from several starts."""

    def __init__(self, graphs: Commutation, watch: Watch) -> None:
        self._graphs, self._watch = graphs, watch
        self._target, self._label = _TARGET * graphs.start, ""
        self._typical = float(np.median(graphs.w[graphs.w > 0.0])) if np.any(graphs.w > 0.0) else 0.0
        self.best, self.origin = alone(graphs), ALONE
        self.cost = graphs.distance(self.best)
        # The distance of the nearest equal graphs.
        self.equal_cost: float | None = None

    def run(self, restarts: int, seed: int) -> tuple[Floats, bool]:
        """The best weights found, and whether the search came to its end before an interrupt from the keyboard."""
        try:
            self._search(restarts, seed)
        except KeyboardInterrupt:
            return self._corrected(self.best), False
        return self._corrected(self.best), True

    def _search(self, restarts: int, seed: int) -> None:
        edges = SharedEdges(self._graphs)
        equal = edges.equal()
        self.equal_cost = self._graphs.distance(equal)
        self._offer(equal, EQUAL)
        shared = edges.proportional()
        self._offer(shared, PROPORTIONAL)
        self._try(self._graphs.w, 1.0, "given weights", bound=np.inf)
        if len(self._graphs.w) <= limits.COMMUTING_DENSE_EDGES:
            self._try(shared, 1e4, "shared edges")
        random = np.random.default_rng(seed)
        for number in range(restarts):
            self._try(*self._drawn(random, number))

    def _try(self, u: Floats, alpha: float, label: str, bound: float | None = None) -> None:
        limit = _HOPELESS * self.cost if bound is None else bound
        walk = self._path(u, alpha, limit, label)
        if walk.end == "there":
            self._offer(walk.u, label)
        elif walk.end == "corner":
            early = [step for step in walk.trail if step[0] <= 1.01 * _CUT_FROM]
            alpha, u = early[-1] if early else walk.trail[0]
            for thresholds in (_MILD, _STRONG):
                cut = self._cutting_path(u, alpha, thresholds, min(limit, _HOPELESS * self.cost), label)
                if cut is not None:
                    self._offer(cut, label)

    def _tick(self) -> None:
        """Something has been done: a stage of a large problem takes seconds."""
        self._watch(self._label, self.cost)

    def _offer(self, u: Floats, label: str) -> None:
        cost = self._graphs.distance(u)
        if cost < self.cost * (1.0 - 1e-9):
            self.best, self.cost, self.origin = u, cost, label
        self._watch(label, self.cost)

    def _path(self, u: Floats, alpha: float, bound: float, label: str) -> _Walk:
        self._label = label
        graphs, shift = self._graphs, self._graphs.no_shift()
        trail: list[tuple[float, Floats]] = []
        every = np.arange(len(u))
        before, slow = np.inf, 0
        while True:
            u = self._stage(u, alpha, shift, every, _TOLERANCE)
            trail.append((alpha, u))
            size, cost = graphs.commutator(u), graphs.distance(u)
            self._watch(label, cost)
            if size <= self._target:
                return _Walk("there", u, trail)
            if cost > bound:
                return _Walk("too far", u, trail)
            slow = slow + 1 if alpha >= _LATE and size > _REGULAR_LOSS * before else 0
            if slow == 2 or alpha >= _LAST_ALPHA or (len(u) > limits.COMMUTING_DENSE_EDGES and alpha >= _CUT_FROM):
                return _Walk("corner", u, trail)
            before = size
            shift, alpha = self._shifted(shift, u, _FACTOR), alpha * _FACTOR

    def _cutting_path(
        self, u: Floats, alpha: float, thresholds: tuple[tuple[float, float], ...], bound: float, label: str
    ) -> Floats | None:
        graphs, shift = self._graphs, self._graphs.no_shift()
        kept = np.arange(len(u))
        while True:
            u = self._stage(u, alpha, shift, kept, _ROUGH_TOLERANCE)
            size, cost = graphs.commutator(u), graphs.distance(u)
            self._watch(label, cost)
            if size <= self._target:
                return u
            if cost > bound:
                return None
            if alpha >= 0.9 * _SETTLE_FROM and size <= _NEARLY * graphs.start:
                settled = self._corrected(u)
                if graphs.commutator(settled) <= self._target and graphs.distance(settled) <= _SETTLED * cost:
                    return settled
            if alpha >= (_LAST_ALPHA if len(kept) <= limits.COMMUTING_DENSE_EDGES else _LAST_LARGE_ALPHA):
                return None
            factor = _FACTOR**0.5 if alpha < 0.99 * _CUT_UNTIL else _FACTOR
            shift = self._shifted(shift, u, factor)
            if alpha <= 1.01 * _CUT_UNTIL:
                fraction = max((part for least, part in thresholds if alpha >= 0.9 * least), default=0.0)
                kept = kept[u[kept] >= fraction * self._reference[kept]]
                u = np.where(np.isin(np.arange(len(u)), kept), u, 0.0)
            alpha *= factor

    @lazy
    def _reference(self) -> Floats:
        """The weights below a fraction of which edges count as small; on large graphs more edges have to go."""
        typical = np.full(len(self._graphs.w), self._typical)
        return typical if len(typical) > limits.COMMUTING_DENSE_EDGES else np.minimum(self._graphs.w, typical)

    def _stage(self, u: Floats, alpha: float, shift: Pairs, kept: NDArray[np.intp], tolerance: float) -> Floats:
        stage = Stage(self._graphs, alpha * self._graphs.unit, shift, kept, self._tick)
        if len(kept) <= limits.COMMUTING_DENSE_EDGES:
            return stage.full(descend_bounded(stage, u[kept], tolerance=tolerance, iterations=_STEPS))
        found = scipy.optimize.minimize(
            stage.cost_and_gradient,
            u[kept],
            jac=True,
            method="L-BFGS-B",
            bounds=scipy.optimize.Bounds(lb=0.0),
            options={"maxiter": _PLAIN_STEPS, "maxcor": 20, "ftol": 1e-12, "gtol": 0.0},
        )
        v = np.maximum(found.x, 0.0)
        if alpha >= _CURVED_FROM and len(kept) <= limits.COMMUTING_CORRECTED_EDGES:
            v = descend_bounded(stage, v, tolerance=tolerance, iterations=_CURVED_STEPS)
        return stage.full(v)

    def _shifted(self, shift: Pairs, u: Floats, factor: float) -> Pairs:
        """The multipliers after a stage, for an α that is ``factor`` times as large."""
        return {pair: (shift[pair] + C) / factor for pair, C in self._graphs.commutators(u).items()}

    def _drawn(self, random: np.random.Generator, number: int) -> tuple[Floats, float, str]:
        """A start: for the first half of them anywhere, then around the best so far."""
        graphs, best = self._graphs, self.best
        m, kind = len(graphs.w), number % 6
        alpha = (1e4, 1e3, 1e5)[number // 6 % 3]
        if kind == 0:
            return random.uniform(size=m) * graphs.w.max(), alpha, "random weights"
        if kind == 1:
            away = random.uniform(size=graphs.n) < 0.2
            return np.where(away[graphs.i] | away[graphs.j], graphs.w, best), 1e4, "around the best"
        if kind == 2:
            return graphs.w * np.exp(0.5 * random.standard_normal(m)), alpha, "noisy weights"
        if kind == 3:
            return 0.5 * (best + graphs.w) * np.exp(0.5 * random.standard_normal(m)), 1e4, "around the best"
        if kind == 4:
            kept = random.uniform(size=graphs.n) > 0.15
            return graphs.w * (kept[graphs.i] & kept[graphs.j]), alpha, "some vertices cut off"
        return np.where(random.uniform(size=m) < 0.2, graphs.w, best), 1e5, "around the best"

    def _corrected(self, u: Floats) -> Floats:
        """Vanishing commutators over edges that have weight, by damped least-norm Gauss-Newton steps within u ≥ 0."""
        graphs = self._graphs
        kept = np.flatnonzero(u > 0.0)
        damping, last, rounds = _FIRST_DAMPING, np.inf, 0
        while len(kept) <= limits.COMMUTING_CORRECTED_EDGES and rounds < _ROUNDS:
            before = graphs.commutator(u)
            if before <= np.finfo(np.float64).eps or before > _LEAST_LOSS * last:
                break
            v, damping = self._correction(u, kept, before, damping)
            last, u, rounds = before, v, rounds + 1
        # Weights that are rounding beside the others are none.
        cleaned = np.where(u > _ROUNDING * u.max(initial=0.0), u, 0.0)
        return cleaned if graphs.commutator(cleaned) <= max(2.0 * graphs.commutator(u), self._target) else u

    def _correction(self, u: Floats, kept: NDArray[np.intp], before: float, damping: float) -> tuple[Floats, float]:
        """One step, with the least damping that lets it succeed, and the damping to try next."""
        graphs = self._graphs
        point = Stage(graphs, 1.0, graphs.no_shift(), kept, self._tick).at(u[kept])
        curvature, slope = point.gauss_newton(), point.slope_of_commutators
        scale = float(curvature.diagonal().max(initial=0.0))
        diagonal = np.arange(len(kept))
        plain = curvature[diagonal, diagonal].copy()
        while damping <= _MOST_DAMPING:
            curvature[diagonal, diagonal] = plain + damping * scale
            found = nearest_bounded(curvature, slope, u[kept], u[kept] <= 0.0)
            if found is not None:
                v = u.copy()
                v[kept] = found[0]
                after = graphs.commutator(v)
                if after < before:
                    return v, max(_LEAST_DAMPING, damping * max(1e-4, min(1.0, after / before) ** 2))
            damping *= 10.0
        return u, _FIRST_DAMPING


# Rounds in which weights and factors are fitted in turn, and the relative gain below which that ends.
_FITTINGS, _GAIN = 30, 1e-9


def alone(graphs: Commutation) -> Floats:
    """All graphs but one emptied, that with the largest Laplacian."""
    norms = [float(np.linalg.norm(L)) for L in graphs.laplacians(graphs.w)]
    return np.where(graphs.owner == int(np.argmax(norms)), graphs.w, 0.0)


class SharedEdges:
    """The edges that all graphs have, and weights on them alone."""

    def __init__(self, graphs: Commutation) -> None:
        self._graphs = graphs
        key = graphs.i * graphs.n + graphs.j
        names, number, times = np.unique(key, return_inverse=True, return_counts=True)
        columns = np.flatnonzero(times == graphs.count)
        place = np.full(len(names), -1)
        place[columns] = np.arange(len(columns))
        # For every edge of every graph its number among the shared ones, or -1.
        self._place = place[number]
        self._count = len(columns)

    def equal(self) -> Floats:
        """The nearest weights that are the same on every graph."""
        return self._spread(self._fitted(np.ones(self._graphs.count), None), np.ones(self._graphs.count))

    def proportional(self) -> Floats:
        """The nearest ones of which every graph has a multiple; weights and multiples are fitted in turn."""
        graphs, factors = self._graphs, np.ones(self._graphs.count)
        v = self._fitted(factors, None)
        u = self._spread(v, factors)
        for _ in range(_FITTINGS):
            size = float(v @ (self._metric @ v))
            if size <= 0.0:
                break
            factors = np.maximum(0.0, np.array([float(v @ row) for row in self._targets]) / size)
            v = self._fitted(factors, v)
            better = self._spread(v, factors)
            if graphs.distance(better) > graphs.distance(u) * (1.0 - _GAIN):
                break
            u = better
        return u

    def _fitted(self, factors: Floats, start: Floats | None) -> Floats:
        """v ≥ 0 that minimizes Σ_k ‖f_k L(v) − L(w_k)‖², which is (Σf²) vᵀ(G∘G)v − 2vᵀΣ f_k g_k and a constant."""
        u = np.zeros(self._count) if start is None else start
        H = float(factors @ factors) * self._metric
        found = nearest_bounded(H, H @ u - factors @ self._targets, u, u <= 0.0)
        assert found is not None  # G∘G is positive definite: 2I plus a Gram matrix
        return found[0]

    @lazy
    def _metric(self) -> Floats:
        """G∘G over the shared edges, G_ef = b_e·b_f."""
        of = self._of(0)
        return _ends(self._graphs.i[of], self._graphs.j[of]) ** 2

    @lazy
    def _targets(self) -> Floats:
        """(G∘G)w of every graph on the shared edges, all of its edges counted: (graphs, shared edges)."""
        gradient = self._graphs.distance_gradient(self._graphs.w)
        return np.array([gradient[self._of(k)] for k in range(self._graphs.count)])

    def _of(self, k: int) -> NDArray[np.intp]:
        """The shared edges among those of graph k, in their order."""
        edges = np.flatnonzero((self._place >= 0) & (self._graphs.owner == k))
        return edges[np.argsort(self._place[edges])]

    def _spread(self, v: Floats, factors: Floats) -> Floats:
        """All weights: on every graph its multiple of v, and zero off the shared edges."""
        padded = np.append(v, 0.0)  # the number -1 is the last
        return np.asarray(factors[self._graphs.owner] * padded[self._place])


def _ends(i: NDArray[np.intp], j: NDArray[np.intp]) -> Floats:
    """b_e·b_f."""
    G = np.zeros((len(i), len(i)))
    for a, b, sign in ((i, i, 1.0), (j, j, 1.0), (i, j, -1.0), (j, i, -1.0)):
        G += sign * (a[:, np.newaxis] == b)
    return G
