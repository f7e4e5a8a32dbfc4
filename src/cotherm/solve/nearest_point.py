"""The step: the point v ≥ 0 nearest to a center that also satisfies a few weighted linear equations.

    minimize (v − c)ᵀA(v − c) + Σ_r ω_r (e_rᵀv − b_r)²   over v ≥ 0

The e_r are few, the unknowns many. With the active unknowns P at zero and F free, A_FF(v_F − z) + E_Fη = 0 where z is
the nearest point without equations, so v_F = z − Zη with Z = A_FF⁻¹E_F and

    (Diag(1/ω) + E_FᵀZ) η = E_Fᵀz − b,

a system as small as the equations are few. It stays well conditioned as ω → ∞, when the equations become exact. Weights
ω may be negative, for curvature of either sign, as long as the problem stays convex.

The active set: unknowns that the solution would make negative become active, active unknowns that would grow become
free, all at once. That is Newton's method for the dual problem (A = Diag(s) + RᵀR; see :class:`_Dual`). Where it would
cycle, a line search along its direction makes the dual increase, so that it terminates.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cotherm.arrays import Floats
from cotherm.engines import Engine
from cotherm.engines.interface import Array
from cotherm.lazy import lazy
from cotherm.solve.active_set import misplaced
from cotherm.solve.curved_metric import CurvedMetric
from cotherm.solve.implicit_matrix import ImplicitMatrix
from cotherm.solve.metric import Metric
from cotherm.solve.multipliers import Known, Start, System
from cotherm.solve.tall_matrix import TallMatrix

_MOST_EXCHANGES = 300
# Exchanges under negative weights, where no line search prevents cycling.
_MOST_UNGUARDED = 30
# Halvings of a step along the dual, which may be tiny beside the whole way, and the part of its first slope that counts
# as zero.
_HALVINGS, _FLAT = 100, 1e-8
# An approximate solution brings at least this part of what the best could.
_SUFFICIENT = 0.5


class Closest(NamedTuple):
    """The nearest point, its active set, and what the equations leave there."""

    v: Array
    active: Array
    residuals: Floats


class NearestPoint:
    """The problem for one metric and one set of equations, solved for many centers, targets and weights."""

    def __init__(self, metric: Metric | CurvedMetric, E: TallMatrix | ImplicitMatrix, system: System) -> None:
        """E has an equation in each column, and the system is theirs."""
        self._metric, self._E, self._system = metric, E, system
        self._engine = metric.engine

    def solve(
        self, center: Array, start: Start, weights: Floats, active: Array, pull: Array | None = None
    ) -> Closest | None:
        """None where negative weights make the problem nonconvex, or the metric is curved and no active set settles.

        Where the system is iterative, a point that brings at least half of what is possible is good enough.
        The first equations count, as many as there are weights. ``active`` is where the search starts; ``pull`` is E
        times the residuals of the start, where that is known.
        """
        E, elementwise = self._E.first_columns(len(weights)), self._engine.elementwise
        dual = None
        if not isinstance(self._metric, CurvedMetric) and np.all(weights > 0.0):
            dual = _Dual(self._metric, center, E, start, weights)
        iterative, known = self._system.is_iterative, None
        if iterative:
            objective, least = self._distance(start.v, center) + float(weights @ start.residuals**2), 0.0
            eta = weights * start.residuals
            force = E.matvec(eta) if pull is None else weights[0] * pull
        state = None
        for exchange in range(_MOST_EXCHANGES):
            part = self._system.restricted(active)
            z = part.nearest(center)
            if iterative:
                known = Known(objective - self._distance(z, center), eta, force)
            found = self._system.solve(part, z, start, weights, known)
            if found is None:
                return None
            eta, force, v, residuals = found
            slope = elementwise(np.add, self._metric.apply(elementwise(np.subtract, v, center)), force)
            wrong = misplaced(active, v, slope)
            if not wrong.any():
                return Closest(np.maximum(v, 0.0), active, residuals)  # what is below is rounding
            del part  # before the next is made: its gram may be large
            active = active ^ wrong
            there = None if dual is None else dual.at(v, eta, force)
            if iterative:
                least = least if dual is None or there is None else max(least, dual.value(there))
                inside = np.maximum(v, 0.0)
                residuals = E.rmatvec(inside - start.v) + start.residuals
                reached = self._distance(inside, center) + float(weights @ residuals**2)
                if objective - reached >= _SUFFICIENT * (objective - least):
                    return Closest(inside, active, residuals)
            if dual is not None and there is not None:
                step = 1.0 if state is None else dual.line_search(state, there)
                if state is None or step == 1.0:
                    state = there
                else:
                    state = state.towards(there, step, self._engine)
                    active = dual.active(state)
            elif exchange >= _MOST_UNGUARDED:
                return None
        v = np.maximum(v, 0.0)
        return Closest(v, active, E.rmatvec(v - start.v) + start.residuals)

    def _distance(self, v: Array, center: Array) -> float:
        d = self._engine.elementwise(np.subtract, v, center)
        return float(d @ self._metric.apply(d))


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

    def __init__(
        self, metric: Metric, center: Array, E: TallMatrix | ImplicitMatrix, start: Start, weights: Floats
    ) -> None:
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

    def value(self, here: _DualPoint) -> float:
        """φ: no point has a smaller objective."""

        def unknowns(force: Array, center: Array, s: Array) -> Array:
            v = np.maximum(0.0, center - force / s)
            return s * (v - center) ** 2 + 2.0 * force * v

        total = _sum(self._metric.engine, unknowns, here.force, self._center, self._metric.diagonal)
        fixed = 2.0 * float(here.y @ self._root_of_center) + float(here.y @ here.y)
        return total - fixed - float(here.eta @ (2.0 * self._b + here.eta / self._weights))

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
