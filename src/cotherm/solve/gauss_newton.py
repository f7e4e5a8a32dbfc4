"""Bounded nonlinear least squares in a metric: minimize D(u) + ‖r(u)‖² over u ≥ 0.

D is a distance from a center w, r a few residuals. At u the model

    D_u(v) + ‖r + J(v − u)‖² + (v − u)ᵀS(v − u) + μ (v − u)ᵀA(v − u)

is a nearest-point problem: D_u(v) = D(u) + (v − w)ᵀA(v − w) − (u − w)ᵀA(u − w) with a metric A that may depend on u, J
the Jacobian, S the curvature learned from earlier steps, and μ a damping (Levenberg–Marquardt) that only moves the
center towards u and lightens the equations. The ratio of the true decrease to the model's steers μ (Nielsen 1999).
Where the residuals bend so much that a step fails, it is corrected once for the bend it met (a second-order
correction), at the price of one evaluation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.engines.cpu.elementwise import mapped, summed
from cotherm.solve.metric import Metric
from cotherm.solve.nearest_point import NearestPoint
from cotherm.solve.secant import Secant
from cotherm.solve.tall_matrix import Stored, Tall

Mask = NDArray[np.bool_]

_FIRST_DAMPING = 100.0
_LEAST_DAMPING = 1e-8
_EPSILON = float(np.finfo(np.float64).eps)
_MOST_DAMPING = 1e12
# Entries of the Jacobian up to which curvature is learned: it takes two Jacobians at a time, and equations of its own.
_MOST_LEARNED = 5_000_000
# Steps that are taken where the cost cannot tell any more.
_MOST_BLIND = 8
# A step is taken if it brings at least this part of what the model predicted, and corrected if it brings less than
# that.
_ACCEPT, _CORRECT = 1e-3, 0.5


class Point(Protocol):
    """The residuals at some u."""

    @property
    def residuals(self) -> Floats: ...

    @property
    def jacobian(self) -> Tall:
        """Jᵀ: a row for each unknown, a column for each residual."""

    @property
    def noise(self) -> float:
        """How much of ‖r‖ may be rounding."""


class Problem(Protocol):
    """D(u) + ‖r(u)‖²."""

    @property
    def center(self) -> Floats:
        """w, where D is zero."""

    def distance(self, u: Floats) -> float:
        """D(u)."""

    def metric(self, u: Floats) -> Metric:
        """A, with D(v) ≤ D(u) + (v − w)ᵀA(v − w) − (u − w)ᵀA(u − w) for all v."""

    def at(self, u: Floats) -> Point: ...


class Status(Enum):
    """How a descent ended."""

    CONVERGED = "converged"
    STALLED = "stalled"
    OUT_OF_BUDGET = "out of budget"


@dataclass(frozen=True)
class Iterate:
    """Where a descent stands after a step."""

    u: Floats
    cost: float
    residual: float  # ‖r‖²
    optimality: float
    iteration: int


@dataclass(frozen=True)
class Descent:
    """Where a descent ended."""

    u: Floats
    cost: float
    optimality: float
    status: Status
    iterations: int


@dataclass(frozen=True)
class _Trial:
    """A point with its cost, and the unknowns held at zero on the way there."""

    u: Floats
    point: Point
    cost: float
    held: Mask

    @property
    def rounding(self) -> float:
        """How much of the cost may be rounding."""
        return 4.0 * _EPSILON * self.cost + 2.0 * float(np.linalg.norm(self.point.residuals)) * self.point.noise


def descend(
    problem: Problem,
    u: Floats,
    *,
    tolerance: float,
    iterations: int,
    least_gain: float = 0.0,
    watch: Callable[[Iterate], None] = lambda _: None,
) -> Descent:
    """From u to a local minimum.

    Converged: the projected gradient is within ``tolerance`` of the gradients of D and ‖r‖² that balance in it, or
    within rounding. Stalled: no step lowers the cost by more than rounding, nor do a few more, which are not counted,
    bring the gradient there. A step that brings less than ``least_gain`` of the cost, or of all that was gained, ends
    the descent as well, for where a rough answer will do. ``watch`` is called at the start and after every step.
    """
    here = _trial(problem, u, u <= 0.0)
    first = here.cost
    secant = Secant()
    damping, growth = _FIRST_DAMPING, 4.0
    for iteration in range(iterations):
        model = _Model(problem, here, secant)
        watch(Iterate(here.u, here.cost, _square(here.point.residuals), model.optimality, iteration))
        if model.optimality <= tolerance:
            return Descent(here.u, here.cost, model.optimality, Status.CONVERGED, iteration)
        while True:
            there, predicted = model.step(damping)
            gained = here.cost - there.cost
            if gained >= _ACCEPT * predicted and gained > 0.0:
                break
            if predicted <= here.rounding:
                stalled = Descent(here.u, here.cost, model.optimality, Status.STALLED, iteration)
                if least_gain:
                    return stalled
                highest, here = here.cost + here.rounding, there
                del model  # with the Jacobians of both
                return _led_by_gradient(problem, stalled, here, secant, damping, tolerance, highest)
            damping, growth = max(damping, _LEAST_DAMPING) * growth, 2.0 * growth
            if damping > _MOST_DAMPING:
                return Descent(here.u, here.cost, model.optimality, Status.STALLED, iteration)
        ratio = gained / predicted if predicted > 0.0 else 0.0
        damping, growth = damping * float(np.clip(1.0 - (2.0 * ratio - 1.0) ** 3, 0.1, 2.0)), 4.0
        # A small gain of a heavily damped step says little. A large part of the cost may be beyond mending: then
        # gains are measured against each other.
        if gained < least_gain * min(here.cost, first - there.cost) and damping < 1.0:
            return Descent(there.u, there.cost, model.optimality, Status.STALLED, iteration + 1)
        if there.u.size * len(there.point.residuals) <= _MOST_LEARNED:
            secant.learn(*model.lesson(there))
        here = there
        del model  # and its Jacobian, before there is another
    model = _Model(problem, here, secant)
    status = Status.CONVERGED if model.optimality <= tolerance else Status.OUT_OF_BUDGET
    watch(Iterate(here.u, here.cost, _square(here.point.residuals), model.optimality, iterations))
    return Descent(here.u, here.cost, model.optimality, status, iterations)


def _led_by_gradient(
    problem: Problem, best: Descent, here: _Trial, secant: Secant, damping: float, tolerance: float, highest: float
) -> Descent:
    """A few more steps where the cost is rounding: the gradient, which keeps twice the digits, tells which is best."""
    for _ in range(_MOST_BLIND):
        if here.cost > highest:
            break
        model = _Model(problem, here, secant)
        if model.optimality < best.optimality:
            status = Status.CONVERGED if model.optimality <= tolerance else Status.STALLED
            best = Descent(here.u, here.cost, model.optimality, status, best.iterations)
        if best.status is Status.CONVERGED:
            break
        here = model.step(damping)[0]
        del model  # and its Jacobian, before there is another
    return best


class _Model:
    """The model of the cost around a point."""

    def __init__(self, problem: Problem, here: _Trial, secant: Secant) -> None:
        self._problem, self._here = problem, here
        self._metric = problem.metric(here.u)
        self._J = here.point.jacobian
        r = here.point.residuals
        pull, push = self._metric.apply(here.u - problem.center), self._J.dot(r)
        self._slope = mapped(np.add, pull, push)  # half the gradient
        self.optimality = self._measure(pull, push)
        rows, self._fewer = _compressed(self._J)
        self._definite = rows.shape[1]
        self._bends, self._curvatures = secant.terms(len(here.u))
        self._equations = Stored(np.hstack([rows.whole(), self._bends])) if len(self._curvatures) else rows
        self._steps = NearestPoint(self._metric, self._equations, self._definite)

    def _measure(self, pull: Floats, push: Floats) -> float:
        """The projected gradient relative to the two gradients that balance in it; 0 once it is rounding."""
        size = math.sqrt(summed(_projected, self._here.u, self._slope))
        if size <= float(np.sqrt(self._J.squares.sum())) * self._here.point.noise:
            return 0.0
        return size / float(np.linalg.norm(pull) + np.linalg.norm(push))

    def step(self, damping: float) -> tuple[_Trial, float]:
        """The point the damped model proposes, corrected where that helps, and the decrease the model predicted."""
        u = self._here.u
        residuals = self._fewer(self._here.point.residuals)
        there, predicted = self._propose(damping, residuals, self._here.held)
        if self._here.cost - there.cost < _CORRECT * predicted:
            bend = there.point.residuals - self._here.point.residuals - self._J.transposed_dot(there.u - u)
            corrected, _ = self._propose(damping, residuals + self._fewer(bend), there.held)
            if corrected.cost < there.cost:
                return corrected, predicted
        return there, predicted

    def _propose(self, damping: float, residuals: Floats, held: Mask) -> tuple[_Trial, float]:
        u = self._here.u
        center = mapped(lambda c, u: (c + damping * u) / (1.0 + damping), self._problem.center, u)
        v, held, curved = self._nearest(center, damping, residuals, held)
        s = v - u
        change = 2.0 * (self._slope @ s) + s @ self._metric.apply(s) + _square(self._J.transposed_dot(s))
        if curved:
            change += float(self._curvatures @ (self._bends.T @ s) ** 2)
        return _trial(self._problem, v, held), -float(change)

    def _nearest(self, center: Floats, damping: float, residuals: Floats, held: Mask) -> tuple[Floats, Mask, bool]:
        """With the learned curvature if the model is convex with it, else without."""
        u, k = self._here.u, self._definite
        b = self._equations.transposed_dot(u)
        b[:k] -= residuals
        weights = np.append(np.ones(k), self._curvatures) / (1.0 + damping)
        if len(self._curvatures):
            found = self._steps.solve(center, b, weights, held)
            if found is not None:
                return *found, True
        found = self._steps.solve(center, b[:k], weights[:k], held)
        assert found is not None  # positive weights always make a convex problem
        return *found, False

    def lesson(self, there: _Trial) -> tuple[Floats, Floats]:
        """A step, and what the curvature of the residuals does to it."""
        r = there.point.residuals
        return there.u - self._here.u, there.point.jacobian.dot(r) - self._J.dot(r)


def _projected(u: Floats, slope: Floats) -> float:
    """The square of the slope along which u may move, being bounded by zero."""
    free = np.where(u > 0.0, slope, np.minimum(slope, 0.0))
    return float(np.sum(free * free))


def _compressed(J: Tall) -> tuple[Tall, Callable[[Floats], Floats]]:
    """At most as many equations as unknowns: Jᵀ = QR makes R do for Jᵀ, and Qᵀr for r."""
    m, k = J.shape
    if k <= m:
        return J, lambda r: r
    Q, R = scipy.linalg.qr(J.whole().T, mode="economic", check_finite=False)
    return Stored(np.ascontiguousarray(R.T)), lambda r: np.asarray(Q.T @ r)


def _trial(problem: Problem, u: Floats, held: Mask) -> _Trial:
    point = problem.at(u)
    return _Trial(u, point, problem.distance(u) + _square(point.residuals), held)


def _square(x: Floats) -> float:
    return float(x @ x)
