"""The step: the point v ≥ 0 nearest to a center that also satisfies a few weighted linear equations.

    minimize (v − c)ᵀA(v − c) + Σ_r ω_r (e_rᵀv − b_r)²   over v ≥ 0

With the active unknowns P at zero and F free, v_F = z − Zη, z the nearest point without equations, Z = A_FF⁻¹E_F and

    (Diag(1/ω) + E_FᵀZ) η = E_Fᵀz − b,

a system as small as the equations are few, well conditioned as ω → ∞. Weights ω may be negative, for curvature of
either sign, as long as the problem stays convex.

Unknowns that the solution would make negative become active, active unknowns that would grow become free, all at once.
That is Newton's method for the dual problem (see :class:`_Dual`). Where it would cycle, a line search along its
direction makes the dual increase, so that it terminates.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.linalg

from cotherm.arrays import Floats
from cotherm.engines import Engine
from cotherm.engines.interface import Array
from cotherm.lazy import lazy
from cotherm.solve.bounded_newton import misplaced
from cotherm.solve.metric import Metric, Restricted
from cotherm.solve.tall_matrix import TallMatrix

_MOST_EXCHANGES = 300
# Exchanges under negative weights, where no line search prevents cycling.
_MOST_UNGUARDED = 30
# Halvings of a step along the dual, which may be tiny beside the whole way, and the part of its first slope that counts
# as zero.
_HALVINGS, _FLAT = 100, 1e-8
# Eigenvalues below this part of the largest are rounding.
_ROUNDING = 1e-14


class Start(NamedTuple):
    """A point v ≥ 0 with what the equations leave there, e(v); they are linear, e(v + d) = e(v) + Eᵀd."""

    v: Array
    residuals: Floats


class Closest(NamedTuple):
    """The nearest point and its active set."""

    v: Array
    active: Array


class NearestPoint:
    """The problem for one metric and one set of equations, solved for many centers, targets and weights."""

    def __init__(self, metric: Metric, E: TallMatrix, definite: int) -> None:
        """E has an equation in each column; the first ``definite`` have positive weights in every solve."""
        self._metric, self._E, self._definite = metric, E, definite
        self._engine, self._prepared = metric.engine, metric.prepared(E)
        self._last: tuple[Array, Restricted] | None = None

    def solve(self, center: Array, start: Start, weights: Floats, active: Array) -> Closest | None:
        """None where negative weights make the problem nonconvex. As many equations count as there are weights.

        ``active`` is where the search starts.
        """
        E, elementwise = self._E.first_columns(len(weights)), self._engine.elementwise
        dual = _Dual(self._metric, center, E, start, weights) if np.all(weights > 0.0) else None
        state = None
        for exchange in range(_MOST_EXCHANGES):
            part = self._restricted(active)
            z = part.nearest(center)
            eta = self._multipliers(part.gram, E.rmatvec(z - start.v) + start.residuals, weights)
            if eta is None:
                return None
            force = E.matvec(eta)
            v = elementwise(np.subtract, z, part.inverse(force))
            slope = elementwise(np.add, self._metric.apply(elementwise(np.subtract, v, center)), force)
            wrong = misplaced(active, v, slope)
            if not wrong.any():
                return Closest(np.maximum(v, 0.0), active)  # what is below is rounding
            del part  # before the next is made: its gram may be large
            active = active ^ wrong
            if dual is not None:
                there = dual.at(v, eta, force)
                step = 1.0 if state is None else dual.line_search(state, there)
                if state is None or step == 1.0:
                    state = there
                else:
                    state = state.towards(there, step, self._engine)
                    active = dual.active(state)
            elif exchange >= _MOST_UNGUARDED:
                return None
        return Closest(np.maximum(v, 0.0), active)

    def _restricted(self, active: Array) -> Restricted:
        """The metric for an active set; the last one is kept."""
        if self._last is None or not np.array_equal(self._last[0], active):
            self._last = None  # before the next is made: its gram may be large
            self._last = active, self._prepared(active)
        return self._last[1]

    def _multipliers(self, gram: Array, rhs: Floats, weights: Floats) -> Floats | None:
        """η; None where negative weights make the problem nonconvex."""
        engine, k, count = self._engine, self._definite, len(weights)
        K = gram[:count, :count].copy()
        diagonal = engine.xp.arange(len(K))
        K[diagonal, diagonal] += engine.asarray(1.0 / weights)
        if k == len(K):
            return engine.to_numpy(_solve_definite(engine, K, engine.asarray(rhs)))
        # Eliminate the definite rows. The problem is convex if and only if the rest has as many negative eigenvalues as
        # there are negative weights.
        columns = [K[:k, k:], engine.asarray(rhs[:k])[:, np.newaxis]]
        X = _solve_definite(engine, K[:k, :k], np.concatenate(columns, axis=1))
        products = engine.to_numpy(K[k:, :k] @ X)
        X = engine.to_numpy(X)
        rest = engine.to_numpy(K[k:, k:]) - products[:, :-1]
        values, vectors = np.linalg.eigh(0.5 * (rest + rest.T))
        if np.sum(values < 0) != np.sum(weights[k:] < 0) or np.abs(values).min() <= _ROUNDING * np.abs(values).max():
            return None
        tail = vectors @ ((vectors.T @ (rhs[k:] - products[:, -1])) / values)
        return np.concatenate([X[:, -1] - X[:, :-1] @ tail, tail])


@dataclass(frozen=True)
class _DualPoint:
    """Of the rows of R and of the equations, and the force g = Rᵀy + Eη that they exert on the unknowns."""

    y: Array
    eta: Floats
    force: Array

    def towards(self, other: _DualPoint, step: float, engine: Engine) -> _DualPoint:
        def between(a: Array, b: Array) -> Array:
            return a + step * (b - a)

        y = engine.elementwise(between, self.y, other.y)
        force = engine.elementwise(between, self.force, other.force)
        return _DualPoint(y, between(self.eta, other.eta), force)


class _Dual:
    """The dual of the problem, with A = Diag(s) + RᵀR: the multipliers (y, η) maximize the concave

        φ(y, η) = min_{v ≥ 0} (v − c)ᵀDiag(s)(v − c) + 2gᵀv − 2yᵀRc − 2ηᵀb − ‖y‖² − Σ η²/ω,   g = Rᵀy + Eη,

    whose minimum is at v = max(0, c − g/s). Its pieces are quadratic, one for each active set, and the solution for an
    active set is where Newton's step from that piece leads.
    """

    def __init__(self, metric: Metric, center: Array, E: TallMatrix, start: Start, weights: Floats) -> None:
        self._metric, self._center, self._E, self._start, self._weights = metric, center, E, start, weights

    @lazy
    def _b(self) -> Floats:
        """The targets of the equations."""
        return self._E.rmatvec(self._start.v) - self._start.residuals

    @lazy
    def _root_of_center(self) -> Array:
        return self._metric.root(self._center)

    def at(self, v: Array, eta: Floats, force: Array) -> _DualPoint:
        """The multipliers of a solution v for some active set."""
        y = self._metric.root(v - self._center)
        return _DualPoint(y, eta, self._metric.root_transposed(y) + force)

    def active(self, here: _DualPoint) -> Array:
        return self._metric.diagonal * self._center <= here.force

    def line_search(self, here: _DualPoint, there: _DualPoint) -> float:
        """How far to go from here towards there, 1 being all the way: up to where φ no longer increases."""
        first = self._slope(here, there, 0.0)
        if self._slope(here, there, 1.0) >= -_FLAT * abs(first):
            return 1.0
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            slope = self._slope(here, there, middle)
            low, high = (middle, high) if slope >= 0.0 else (low, middle)
            if low > 0.0 and abs(slope) <= 0.1 * abs(first):
                break
        # Where rounding hides the slope, all the way is as good as none of it.
        return low if low > 0.0 else 1.0

    def _slope(self, here: _DualPoint, there: _DualPoint, step: float) -> float:
        """Half the derivative of φ along the line, at some part of it."""

        def unknowns(old: Array, new: Array, center: Array, s: Array) -> Array:
            line = new - old
            return line * np.maximum(0.0, center - (old + step * line) / s)

        def rows(old: Array, new: Array, Rc: Array) -> Array:
            line = new - old
            return line * (Rc + old + step * line)

        engine = self._metric.engine
        deta = there.eta - here.eta
        equations = deta @ (self._b + (here.eta + step * deta) / self._weights)
        increase = _sum(engine, unknowns, here.force, there.force, self._center, self._metric.diagonal)
        return increase - _sum(engine, rows, here.y, there.y, self._root_of_center) - float(equations)


def _sum(engine: Engine, formula: Callable[..., Array], *vectors: Array) -> float:
    return float(engine.elementwise(formula, *vectors).sum())


def _solve_definite(engine: Engine, K: Array, rhs: Array) -> Array:
    """K⁻¹ rhs for K positive definite; directions lost in rounding, which repeated equations have, are left out."""
    try:
        solve = engine.cholesky_solver(K)
    except np.linalg.LinAlgError:
        # This driver needs the least memory.
        values, vectors = scipy.linalg.eigh(engine.to_numpy(K).T, driver="evr", check_finite=False)
        first = int(np.sum(values <= _ROUNDING * values[-1]))
        kept = vectors[:, first:]
        return engine.asarray(kept @ ((kept.T @ engine.to_numpy(rhs)).T / values[first:]).T)
    return solve(rhs)
