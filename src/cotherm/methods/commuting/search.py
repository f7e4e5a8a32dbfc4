"""The search for commuting Laplacians of given graphs, nearest to the given ones.

A path: α from small to large, each stage from the answer of the last, with the multipliers of an augmented Lagrangian.
Along a regular path the commutator vanishes like 1/α and faster. Where the matrices that commute meet in a corner it
does not: there products of small weights must vanish, and a second path decides which, cutting edges for good as α
rises. Minima are many on small dense graphs; more starts, drawn at random from a seed, are tried within bounds set by
the best so far. At the end the commutator is brought to rounding by least-norm corrections of the edges that are left.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg
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
_PLAIN_STEPS = 300
# A start is given up once it costs this much more than the best answer.
_HOPELESS = 1.02
_ROUNDING = 1e-13
# Eigenvalues of JᵀJ below this part of the largest are equations that repeat others.
_REPEATED = 1e-11

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
        self._target = _TARGET * graphs.start
        self._typical = float(np.median(graphs.w[graphs.w > 0.0])) if np.any(graphs.w > 0.0) else 0.0
        self.best = _without_smallest(graphs)
        self.cost = graphs.distance(self.best)

    def run(self, restarts: int, seed: int) -> tuple[Floats, bool]:
        """The best weights found, and whether the search came to its end before an interrupt from the keyboard."""
        try:
            self._search(restarts, seed)
        except KeyboardInterrupt:
            return self._corrected(self.best), False
        return self._corrected(self.best), True

    def _search(self, restarts: int, seed: int) -> None:
        shared = _equal_where_shared(self._graphs)
        self._offer(shared, "shared edges")
        self._try(self._graphs.w, 1.0, "given weights", bound=np.inf)
        if len(self._graphs.w) <= limits.COMMUTING_DENSE_EDGES:
            self._try(shared, 1e4, "shared edges")
        random = np.random.default_rng(seed)
        for number in range(restarts):
            u, alpha, label = self._drawn(random, number)
            self._try(u, alpha, label)

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

    def _offer(self, u: Floats, label: str) -> None:
        cost = self._graphs.distance(u)
        if cost < self.cost * (1.0 - 1e-9):
            self.best, self.cost = u, cost
        self._watch(label, self.cost)

    def _path(self, u: Floats, alpha: float, bound: float, label: str) -> _Walk:
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
            if cost > bound or alpha >= _LAST_ALPHA:
                return None
            factor = _FACTOR**0.5 if alpha < 0.99 * _CUT_UNTIL else _FACTOR
            shift = self._shifted(shift, u, factor)
            if alpha <= 1.01 * _CUT_UNTIL:
                fraction = max((part for least, part in thresholds if alpha >= 0.9 * least), default=0.0)
                kept = kept[u[kept] >= fraction * self._reference[kept]]
                u = _only(u, kept)
            alpha *= factor

    @lazy
    def _reference(self) -> Floats:
        """The weights below a fraction of which edges count as small; on large graphs more edges have to go."""
        typical = np.full(len(self._graphs.w), self._typical)
        return typical if len(typical) > limits.COMMUTING_DENSE_EDGES else np.minimum(self._graphs.w, typical)

    def _stage(self, u: Floats, alpha: float, shift: Pairs, kept: NDArray[np.intp], tolerance: float) -> Floats:
        stage = Stage(self._graphs, alpha * self._graphs.unit, shift, kept)
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
        return stage.full(np.maximum(found.x, 0.0))

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

    def _corrected(self, u: Floats, rounds: int = 20) -> Floats:
        """Newton's method for vanishing commutators over the edges that have weight, each step of least norm."""
        graphs = self._graphs
        for _ in range(rounds):
            before = graphs.commutator(u)
            kept = np.flatnonzero(u > 0.0)
            if before <= np.finfo(np.float64).eps or len(kept) > 2 * limits.COMMUTING_DENSE_EDGES:
                break
            point = Stage(graphs, 1.0, graphs.no_shift(), kept).at(u[kept])
            values, vectors = scipy.linalg.eigh(point.gauss_newton(), check_finite=False)
            firm = values > _REPEATED * values[-1]
            of_commutators = point.slope - graphs.distance_gradient(u - graphs.w)[kept]
            v = u.copy()
            v[kept] -= vectors[:, firm] @ ((vectors[:, firm].T @ of_commutators) / values[firm])
            v = np.maximum(v, 0.0)
            if not graphs.commutator(v) < 0.5 * before:
                break
            u = v
        # Weights that are rounding beside the others are none.
        cleaned = np.where(u > _ROUNDING * u.max(initial=0.0), u, 0.0)
        return cleaned if graphs.commutator(cleaned) <= max(2.0 * graphs.commutator(u), self._target) else u


def _only(u: Floats, kept: NDArray[np.intp]) -> Floats:
    result = np.zeros_like(u)
    result[kept] = u[kept]
    return result


def _without_smallest(graphs: Commutation) -> Floats:
    """All graphs but one emptied, that with the largest Laplacian: they commute, whatever else they are."""
    norms = [float(np.linalg.norm(L)) for L in graphs.laplacians(graphs.w)]
    return np.where(graphs.owner == int(np.argmax(norms)), graphs.w, 0.0)


def _equal_where_shared(graphs: Commutation) -> Floats:
    """The nearest weights that are equal on the edges all graphs share, and zero elsewhere: equal matrices commute."""
    key = graphs.i * graphs.n + graphs.j
    names, number, times = np.unique(key, return_inverse=True, return_counts=True)
    columns = np.flatnonzero(times == graphs.count)
    if not len(columns):
        return np.zeros_like(graphs.w)
    place = np.full(len(names), -1)
    place[columns] = np.arange(len(columns))
    group = place[number]
    shared = group >= 0

    def summed(x: Floats) -> Floats:
        return np.bincount(group[shared], x[shared], len(columns)).astype(np.float64)

    # ½ the cost in v is vᵀHv − 2vᵀg with H = N(G∘G) over the shared edges.
    of = np.flatnonzero(shared & (graphs.owner == 0))
    of = of[np.argsort(group[of])]
    G = _ends(graphs.i[of], graphs.j[of])
    found = nearest_bounded(
        graphs.count * G**2,
        -summed(graphs.distance_gradient(graphs.w)),
        np.zeros(len(of)),
        np.ones(len(of), dtype=bool),
    )
    assert found is not None  # G∘G is positive definite: 2I plus a Gram matrix
    return np.where(shared, found[0][np.maximum(group, 0)], 0.0)


def _ends(i: NDArray[np.intp], j: NDArray[np.intp]) -> Floats:
    """b_e·b_f."""
    G = np.zeros((len(i), len(i)))
    for a, b, sign in ((i, i, 1.0), (j, j, 1.0), (i, j, -1.0), (j, i, -1.0)):
        G += sign * (a[:, np.newaxis] == b)
    return G
