"""Bounded nonlinear least squares in a metric: minimize D(u) + ‖r(u)‖² over u ≥ 0.

D is a distance from a center w, r a few residuals. At u the model

    D_u(v) + ‖r + J(v − u)‖² + (v − u)ᵀS(v − u) + μ (v − u)ᵀA(v − u)

is a nearest-point problem: D_u(v) = D(u) + (v − w)ᵀA(v − w) − (u − w)ᵀA(u − w) with a metric A that may depend on u, J
the Jacobian, S the curvature learned from earlier steps, and μ a damping that only moves the center towards u and
lightens the equations. Where the residuals bend so much that a step fails, it is corrected once for the bend that it
met (a second-order correction), at the price of one evaluation. The loop is that of :mod:`cotherm.solve.descent`; what
comes before and after these steps is in :mod:`cotherm.solve.phases`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from cotherm import limits
from cotherm.arrays import Floats
from cotherm.engines import Engine
from cotherm.engines.interface import Array
from cotherm.solve import descent
from cotherm.solve.compression import compressed
from cotherm.solve.curved_metric import Curvature, CurvedMetric
from cotherm.solve.descent import Damping, Descent, Progress, Proposal
from cotherm.solve.implicit_matrix import ImplicitMatrix, Solve
from cotherm.solve.iterated_system import IteratedSystem, Preconditioner
from cotherm.solve.least_squares import Iterate, Problem, Slope, Trial, applied_jacobian, iterate_of, square, trial_at
from cotherm.solve.metric import Metric
from cotherm.solve.multipliers import FormedSystem, Start
from cotherm.solve.nearest_point import Closest, NearestPoint
from cotherm.solve.secant import Secant
from cotherm.solve.tall_matrix import InMemory, TallMatrix

_DAMPING = Damping(first=100.0, least=0.0, most=1e12)
# Steps that are taken where rounding hides the cost.
_EXTRA_STEPS = 8
# A step is corrected if it brings less than this part of the predicted decrease.
_CORRECT = 0.5
# Where J is only applied, a step that brings less than this part is shortened, each time to between these parts of it.
_SHORTEN, _SHORTEST, _LONGEST = 0.1, 0.1, 0.7
# One that brings more than this part is lengthened, at most so many times.
_LENGTHEN, _FURTHEST = 1.2, 10.0
# Curvature is learned from earlier points; where J is only applied, it is used once the optimality is below this.
LOCAL = 1e-2


def newton_steps(
    problem: Problem,
    first: Trial,
    learned: Learned,
    damping: float,
    tolerance: float,
    iterations: int,
    least_gain: float,
    watch: Callable[[Iterate], None],
    begun: Mapping[str, Any] | None,
) -> Descent:
    """Damped steps of Gauss–Newton, or the rest of them: then the first point is that of the state."""
    engine = problem.metric(first.u).engine

    def watched(here: Trial, optimality: float, progress: Progress) -> None:
        def state() -> dict[str, Any]:
            point = {"u": engine.to_numpy(here.u), "active": engine.to_numpy(here.active)}
            return {**point, "progress": asdict(progress), "learned": learned.state()}

        watch(iterate_of(here, optimality, progress.iteration, state))

    return descent.descend(
        first,
        lambda here: _Model(problem, problem.metric(here.u), here, learned),
        damping=replace(_DAMPING, first=min(damping, _DAMPING.first)),
        tolerance=tolerance,
        iterations=iterations,
        least_gain=least_gain,
        extra_steps=_EXTRA_STEPS,
        watch=watched,
        begun=None if begun is None else Progress(**begun["progress"]),
    )


class Learned:
    """What models take over from those before."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.secant = Secant(engine)
        self.preconditioner = Preconditioner()
        self.size: float | None = None

    def state(self) -> dict[str, Any]:
        preconditioner = self.preconditioner.state(self._engine)
        return {"secant": self.secant.state(), "size": self.size, "preconditioner": preconditioner}

    def restore(self, problem: Problem, state: Mapping[str, Any]) -> None:
        def factored(u: Array, active: Array, shift: float) -> Solve | None:
            return applied_jacobian(problem.at(u)).factored(problem.metric(u), active, shift)

        self.secant.restore(state["secant"])
        self.size = state["size"]
        self.preconditioner.restore(state["preconditioner"], self._engine, factored)


class _Model:
    """The model of the cost around a point."""

    def __init__(self, problem: Problem, metric: Metric, here: Trial, learned: Learned) -> None:
        self._problem, self._metric, self._here, self._learned = problem, metric, here, learned
        self._engine = metric.engine
        self._J = here.point.jacobian
        self._rows = self._engine.ranks.sum(len(here.u))
        self._is_formed = not isinstance(self._J, ImplicitMatrix)
        self._slope = Slope(problem, metric, here)
        self.optimality = 0.0 if self._slope.size <= self._size() * here.point.noise else self._slope.optimality
        bends, curvatures = learned.secant.terms(len(here.u))
        self._steps: _FormedSteps | _AppliedSteps
        if isinstance(self._J, ImplicitMatrix):
            used = len(curvatures) if self.optimality <= LOCAL else 0
            self._steps = _AppliedSteps(
                metric, self._J, here, learned.preconditioner, bends[:, :used], curvatures[:used]
            )
        else:
            self._steps = _FormedSteps(metric, self._J, here, bends, curvatures)

    def _size(self) -> float:
        """About ‖J‖_F; where that takes products, as it was at the first point."""
        if isinstance(self._J, ImplicitMatrix):
            self._learned.size = self._J.size if self._learned.size is None else self._learned.size
            return self._learned.size
        return self._J.size

    def step(self, damping: float) -> Proposal[Trial]:
        """The point that the damped model proposes, corrected where that helps, or a point on the way to it."""
        here, residuals = self._here, self._here.point.residuals
        there, expected = self._propose(damping, residuals, here.active)
        predicted = expected.decrease(1.0)
        decrease = here.cost - there.cost
        if not self._is_formed and decrease > _LENGTHEN * predicted:
            return Proposal(self._lengthened(there, expected), predicted, damping)
        if decrease >= _CORRECT * predicted:
            return Proposal(there, predicted, damping)
        bend = there.point.residuals - residuals - self._J.rmatvec(there.u - here.u)
        corrected, _ = self._propose(damping, residuals + bend, there.active)
        best = min(there, corrected, key=lambda trial: trial.cost)
        if not self._is_formed and here.cost - best.cost < _SHORTEN * predicted:
            return self._shortened(there, expected, damping)
        return Proposal(best, predicted, damping)

    def _lengthened(self, there: Trial, expected: _Expected) -> Trial:
        """A point beyond, where the cost falls much more than the model says: along valleys that are nearly flat."""
        bent = there.cost - self._here.cost - expected.slope
        part = min(-0.5 * expected.slope / bent, _FURTHEST) if bent > 0.0 else _FURTHEST
        beyond = self._engine.elementwise(lambda u, s: np.maximum(u + part * s, 0.0), self._here.u, expected.step)
        return min(there, trial_at(self._problem, beyond, there.active), key=lambda trial: trial.cost)

    def _shortened(self, there: Trial, expected: _Expected, damping: float) -> Proposal[Trial]:
        """A point on the way that brings enough: to evaluate one costs little beside a step with more damping."""
        here, part = self._here, 1.0
        while True:
            # Where the parabola through the cost here, its slope and the cost there has its minimum.
            bent = there.cost - here.cost - part * expected.slope
            least = -0.5 * part**2 * expected.slope / bent if bent > 0.0 else 0.0
            part = min(max(least, _SHORTEST * part), _LONGEST * part)
            there = trial_at(self._problem, here.u + part * expected.step, there.active)
            predicted = expected.decrease(part)
            if here.cost - there.cost >= _SHORTEN * predicted or predicted <= here.rounding:
                # With so much damping the model would have its minimum on this line about there.
                more = (1.0 / part - 1.0) * (1.0 + damping) * expected.stiffness
                return Proposal(there, predicted, damping + more)

    def accepted(self, there: Trial) -> None:
        """Learn what the curvature of the residuals does to the step, where the Jacobian is small enough."""
        r = there.point.residuals
        # It takes two Jacobians at a time.
        if isinstance(self._J, ImplicitMatrix) or self._rows * len(r) <= limits.LEARNED_CURVATURE:
            self._learned.secant.learn(there.u - self._here.u, there.pull - self._J.matvec(r))

    def _propose(self, damping: float, residuals: Floats, active: Array) -> tuple[Trial, _Expected]:
        u = self._here.u
        center = self._engine.elementwise(lambda c, u: (c + damping * u) / (1.0 + damping), self._problem.center, u)
        found, curvature = self._steps.nearest(center, damping, residuals, active)
        s = found.v - u
        # What the equations leave has changed by Js.
        moved = self._J.rmatvec(s) if self._is_formed else found.residuals - residuals
        length = float(s @ self._metric.apply(s))
        expected = _Expected(s, 2.0 * float(self._slope.half @ s), length + square(moved) + curvature(s), length)
        return trial_at(self._problem, found.v, found.active), expected


@dataclass(frozen=True)
class _Expected:
    """The model along a step: the cost changes by slope·τ + curvature·τ² over a part τ of it."""

    step: Array
    slope: float
    curvature: float
    length: float  # of the step, sᵀAs

    def decrease(self, part: float) -> float:
        return -part * (self.slope + part * self.curvature)

    @property
    def stiffness(self) -> float:
        """Curvature in units of what damping adds."""
        return self.curvature / self.length


# Of a step, how much the learned curvature adds to the model there.
_Curvature = Callable[[Array], float]


class _FormedSteps:
    """Steps where J is formed: learned curvature makes more equations, of either sign."""

    def __init__(self, metric: Metric, J: TallMatrix, here: Trial, bends: Array, curvatures: Floats) -> None:
        self._here, self._bends, self._curvatures, self._engine = here, bends, curvatures, metric.engine
        rows, self._compress = compressed(J)
        self._definite = rows.shape[1]
        if len(curvatures):
            rows = InMemory(np.concatenate([rows.to_array(), bends], axis=1), self._engine)
        self._equations = rows
        self._points = NearestPoint(metric, rows, FormedSystem(metric, rows, self._definite))

    def nearest(self, center: Array, damping: float, residuals: Floats, active: Array) -> tuple[Closest, _Curvature]:
        """With the learned curvature if the model is convex with it, else without."""
        u, k, bends = self._here.u, self._definite, len(self._curvatures)
        left = np.append(self._compress(residuals), np.zeros(bends))
        weights = np.append(np.ones(k), self._curvatures) / (1.0 + damping)
        if bends:
            found = self._points.solve(center, Start(u, left), weights, active)
            if found is not None:
                return found, self._curvature
        found = self._points.solve(center, Start(u, left[:k]), weights[:k], active)
        assert found is not None  # positive weights always make a convex problem
        return found, _flat

    def _curvature(self, s: Array) -> float:
        return float(self._curvatures @ self._engine.to_numpy(self._bends.T @ s) ** 2)


class _AppliedSteps:
    """Steps where J is only applied: learned curvature is a part of the metric."""

    def __init__(
        self,
        metric: Metric,
        J: ImplicitMatrix,
        here: Trial,
        preconditioner: Preconditioner,
        bends: Array,
        curvatures: Floats,
    ) -> None:
        self._metric, self._J, self._here, self._preconditioner = metric, J, here, preconditioner
        preconditioner.place = here.u
        self._learned = Curvature(metric, bends, curvatures) if len(curvatures) else None

    def nearest(self, center: Array, damping: float, residuals: Floats, active: Array) -> tuple[Closest, _Curvature]:
        """With the learned curvature if its search ends, else without."""
        u, weight = self._here.u, 1.0 / (1.0 + damping)
        start, weights = Start(u, residuals), np.full(len(residuals), weight)
        pull = self._here.pull if residuals is self._here.point.residuals else self._J.matvec(residuals)
        if self._learned is not None:
            metric = self._learned.added(weight)
            moved = center + metric.restricted(np.zeros_like(active)).inverse(metric.curve(u - center))
            found = self._points(metric).solve(moved, start, weights, active, pull)
            if found is not None:
                return found, lambda s: float(s @ metric.curve(s)) / weight
        found = self._points(self._metric).solve(center, start, weights, active, pull)
        assert found is not None  # the search is guarded
        return found, _flat

    def _points(self, metric: Metric | CurvedMetric) -> NearestPoint:
        return NearestPoint(metric, self._J, IteratedSystem(metric, self._metric, self._J, self._preconditioner))


def _flat(_: Array) -> float:
    return 0.0
