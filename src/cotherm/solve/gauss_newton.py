"""Bounded nonlinear least squares in a metric: minimize D(u) + ‖r(u)‖² over u ≥ 0.

D is a distance from a center w, r a few residuals. At u the model

    D_u(v) + ‖r + J(v − u)‖² + (v − u)ᵀS(v − u) + μ (v − u)ᵀA(v − u)

is a nearest-point problem: D_u(v) = D(u) + (v − w)ᵀA(v − w) − (u − w)ᵀA(u − w) with a metric A that may depend on u, J
the Jacobian, S the curvature learned from earlier steps, and μ a damping that only moves the center towards u and
lightens the equations. Where the residuals bend so much that a step fails, it is corrected once for the bend that it
met (a second-order correction), at the price of one evaluation. The loop is that of :mod:`cotherm.solve.descent`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from cotherm import limits
from cotherm.arrays import Floats
from cotherm.engines.interface import Array
from cotherm.solve import descent
from cotherm.solve.compression import compressed
from cotherm.solve.descent import Damping, Descent
from cotherm.solve.metric import Metric
from cotherm.solve.nearest_point import NearestPoint
from cotherm.solve.secant import Secant
from cotherm.solve.tall_matrix import InMemory, TallMatrix

_DAMPING = Damping(first=100.0, least=0.0, most=1e12)
_EPSILON = float(np.finfo(np.float64).eps)
# Steps that are taken where rounding hides the cost.
_EXTRA_STEPS = 8
# A step is corrected if it brings less than this part of the predicted decrease.
_CORRECT = 0.5


class Point(Protocol):
    """The residuals at some u."""

    @property
    def residuals(self) -> Floats: ...

    @property
    def jacobian(self) -> TallMatrix:
        """Jᵀ: a row for each unknown, a column for each residual."""

    @property
    def noise(self) -> float:
        """How much of ‖r‖ may be rounding."""


class Problem(Protocol):
    """D(u) + ‖r(u)‖²."""

    @property
    def center(self) -> Array:
        """w, where D is zero."""

    def distance(self, u: Array) -> float:
        """D(u)."""

    def metric(self, u: Array) -> Metric:
        """A, with D(v) ≤ D(u) + (v − w)ᵀA(v − w) − (u − w)ᵀA(u − w) for all v."""

    def at(self, u: Array) -> Point: ...


@dataclass(frozen=True)
class Iterate:
    """The state of a descent after a step."""

    u: Array
    cost: float
    residual: float  # ‖r‖²
    optimality: float
    iteration: int


@dataclass(frozen=True)
class _Trial:
    """A point with its cost, and the active set of the step that led there."""

    u: Array
    point: Point
    cost: float
    active: Array

    @property
    def rounding(self) -> float:
        return 4.0 * _EPSILON * self.cost + 2.0 * float(np.linalg.norm(self.point.residuals)) * self.point.noise


def descend(
    problem: Problem,
    u: Array,
    *,
    tolerance: float,
    iterations: int,
    least_gain: float = 0.0,
    watch: Callable[[Iterate], None] = lambda _: None,
) -> Descent:
    """From u to a local minimum: see :func:`cotherm.solve.descent.descend`.

    The optimality is the projected gradient relative to the gradients of D and ‖r‖² that balance in it, and zero within
    rounding.
    """
    secant: Secant | None = None

    def model_at(here: _Trial) -> _Model:
        nonlocal secant
        metric = problem.metric(here.u)
        secant = Secant(metric.engine) if secant is None else secant
        return _Model(problem, metric, here, secant)

    return descent.descend(
        _trial(problem, u, u <= 0.0),
        model_at,
        damping=_DAMPING,
        tolerance=tolerance,
        iterations=iterations,
        least_gain=least_gain,
        extra_steps=_EXTRA_STEPS,
        watch=lambda here, optimality, iteration: watch(
            Iterate(here.u, here.cost, _square(here.point.residuals), optimality, iteration)
        ),
    )


class _Model:
    """The model of the cost around a point."""

    def __init__(self, problem: Problem, metric: Metric, here: _Trial, secant: Secant) -> None:
        self._problem, self._metric, self._here, self._secant = problem, metric, here, secant
        self._engine = metric.engine
        self._J = here.point.jacobian
        of_distance = metric.apply(here.u - problem.center)
        of_residuals = self._J.matvec(here.point.residuals)
        self._half_gradient = self._engine.elementwise(np.add, of_distance, of_residuals)
        self.optimality = self._measured(of_distance, of_residuals)
        rows, self._compress = compressed(self._J)
        self._definite = rows.shape[1]
        self._bends, self._curvatures = secant.terms(len(here.u))
        if len(self._curvatures):
            rows = InMemory(np.concatenate([rows.to_array(), self._bends], axis=1), self._engine)
        self._equations = rows
        self._steps = NearestPoint(metric, rows, self._definite)

    def _measured(self, of_distance: Array, of_residuals: Array) -> float:
        size = math.sqrt(self._engine.elementwise_sum(_projected, self._here.u, self._half_gradient))
        if size <= float(np.sqrt(self._J.row_squares.sum())) * self._here.point.noise:
            return 0.0
        return size / float(np.linalg.norm(of_distance) + np.linalg.norm(of_residuals))

    def step(self, damping: float) -> tuple[_Trial, float]:
        """The point that the damped model proposes, corrected where that helps, and the predicted decrease."""
        u = self._here.u
        residuals = self._compress(self._here.point.residuals)
        there, predicted = self._propose(damping, residuals, self._here.active)
        if self._here.cost - there.cost < _CORRECT * predicted:
            bend = there.point.residuals - self._here.point.residuals - self._J.rmatvec(there.u - u)
            corrected, _ = self._propose(damping, residuals + self._compress(bend), there.active)
            if corrected.cost < there.cost:
                return corrected, predicted
        return there, predicted

    def accepted(self, there: _Trial) -> None:
        """Learn what the curvature of the residuals does to the step, where the Jacobian is small enough."""
        r = there.point.residuals
        if len(there.u) * len(r) <= limits.LEARNED_CURVATURE:  # it takes two Jacobians at a time
            change = there.point.jacobian.matvec(r) - self._J.matvec(r)
            self._secant.learn(there.u - self._here.u, change)

    def _propose(self, damping: float, residuals: Floats, active: Array) -> tuple[_Trial, float]:
        u = self._here.u
        center = self._engine.elementwise(lambda c, u: (c + damping * u) / (1.0 + damping), self._problem.center, u)
        v, active, curved = self._nearest(center, damping, residuals, active)
        s = v - u
        change = 2.0 * float(self._half_gradient @ s) + float(s @ self._metric.apply(s)) + _square(self._J.rmatvec(s))
        if curved:
            change += float(self._curvatures @ self._engine.to_numpy(self._bends.T @ s) ** 2)
        return _trial(self._problem, v, active), -change

    def _nearest(self, center: Array, damping: float, residuals: Floats, active: Array) -> tuple[Array, Array, bool]:
        """With the learned curvature if the model is convex with it, else without."""
        u, k = self._here.u, self._definite
        b = self._equations.rmatvec(u)
        b[:k] -= residuals
        weights = np.append(np.ones(k), self._curvatures) / (1.0 + damping)
        if len(self._curvatures):
            found = self._steps.solve(center, b, weights, active)
            if found is not None:
                return found[0], found[1], True
        found = self._steps.solve(center, b[:k], weights[:k], active)
        assert found is not None  # positive weights always make a convex problem
        return found[0], found[1], False


def _projected(u: Array, slope: Array) -> float:
    """The square of the slope along which u may move, being bounded by zero."""
    free: Array = np.where(u > 0.0, slope, np.minimum(slope, 0.0))
    return float(np.sum(free * free))


def _trial(problem: Problem, u: Array, active: Array) -> _Trial:
    point = problem.at(u)
    return _Trial(u, point, problem.distance(u) + _square(point.residuals), active)


def _square(x: Floats) -> float:
    return float(x @ x)
