"""Bounded nonlinear least squares in a metric: minimize D(u) + ‖r(u)‖² over u ≥ 0.

D is a distance from a center w, r the residuals. Where they are few the Jacobian is formed, and steps are those of
Gauss–Newton. At u the model

    D_u(v) + ‖r + J(v − u)‖² + (v − u)ᵀS(v − u) + μ (v − u)ᵀA(v − u)

is a nearest-point problem: D_u(v) = D(u) + (v − w)ᵀA(v − w) − (u − w)ᵀA(u − w) with a metric A that may depend on u, S
the curvature learned from earlier steps, and μ a damping. A step that fails is corrected once for the bend that it met
(a second-order correction). Where residuals are many, steps are those of :mod:`cotherm.solve.quasi_newton`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm import limits
from cotherm.arrays import Floats
from cotherm.engines import Engine
from cotherm.engines.interface import Array
from cotherm.solve import descent
from cotherm.solve.descent import Damping, Descent, Progress, Proposal, Status
from cotherm.solve.least_squares import Iterate, Problem, Slope, Trial, iterate_of, square, trial_at
from cotherm.solve.metric import Metric
from cotherm.solve.nearest_point import NearestPoint, Start
from cotherm.solve.quasi_newton import QuasiNewton
from cotherm.solve.tall_matrix import TallMatrix

_DAMPING = Damping(first=100.0, least=0.0, most=1e12)
# Steps that are taken where rounding hides the cost.
_EXTRA_STEPS = 8
# A step is corrected if it brings less than this part of the predicted decrease.
_CORRECT = 0.5
# So many quasi-Newton steps are remembered. So many of them count as one of Gauss–Newton where the number of steps is
# limited, and what they bring is judged over so many.
_REMEMBERED, _OF_A_STEP, _WINDOW = 40, 25, 10
# Steps from which curvature is learned. An update whose denominator is smaller than this fraction of its factors says
# nothing reliable.
_MEMORY, _SAFE = 6, 1e-8

Watch = Callable[[Iterate], None]


def descend(
    problem: Problem,
    u: Array,
    *,
    tolerance: float,
    iterations: int,
    least_gain: float = 0.0,
    damping: float = np.inf,
    watch: Watch = lambda _: None,
    begun: Mapping[str, Any] | None = None,
) -> Descent:
    """From u to a local minimum: see :func:`cotherm.solve.descent.descend`; ``damping`` is that of an earlier descent.

    The optimality is the projected gradient relative to the gradients of D and ‖r‖² that balance in it, and zero within
    rounding. With ``begun``, the state of an iterate that was watched, this goes on from there, and watches it again.
    """
    if not problem.is_formed:
        return _by_gradients(problem, u, tolerance, iterations, least_gain, watch, begun)
    engine = problem.metric(u).engine
    secant = Secant(engine)
    active = u <= 0.0
    if begun is not None:
        secant.restore(begun["secant"])
        u, active = engine.asarray(begun["u"]), engine.asarray(begun["active"])

    def watched(here: Trial, optimality: float, progress: Progress) -> None:
        def state() -> dict[str, Any]:
            point = {"u": engine.to_numpy(here.u), "active": engine.to_numpy(here.active)}
            return {**point, "progress": asdict(progress), "secant": secant.state()}

        watch(replace(iterate_of(here, optimality, progress.iteration), state=state))

    return descent.descend(
        trial_at(problem, u, active),
        lambda here: _Model(problem, problem.metric(here.u), here, secant),
        damping=replace(_DAMPING, first=min(damping, _DAMPING.first)),
        tolerance=tolerance,
        iterations=iterations,
        least_gain=least_gain,
        extra_steps=_EXTRA_STEPS,
        watch=watched,
        begun=None if begun is None else Progress(**begun["progress"]),
    )


def _by_gradients(
    problem: Problem,
    u: Array,
    tolerance: float,
    iterations: int,
    least_gain: float,
    watch: Watch,
    begun: Mapping[str, Any] | None,
) -> Descent:
    """Steps of limited-memory BFGS.

    Three views of 1,600 digits with 45 functions take twice as long as by steps of Gauss–Newton with conjugate
    gradients and factors in single precision, which were 1,400 lines: 76 s beside 37 s where α is chosen, to a lower
    cost, and 5.2 s beside 6.5 s at α = 1e4. Two views of 145 items with 50 functions take 24 s beside 2.6 s.
    """
    run = QuasiNewton(problem.metric(u).engine, _REMEMBERED, None if begun is None else begun["run"])
    costs: list[float] = [] if begun is None else list(begun["costs"])

    def evaluate(u: Array) -> Slope:
        return Slope(problem, problem.metric(u), trial_at(problem, u, u <= 0.0))

    def optimality(there: Slope) -> float:
        # ‖J‖ is at least ‖Jᵀr‖/‖r‖: a slope that so large a derivative makes of rounding in r is none.
        r = float(np.linalg.norm(there.here.point.residuals))
        is_rounding = there.size * r <= float(np.linalg.norm(there.here.pull)) * there.here.point.noise
        return 0.0 if is_rounding else there.optimality

    def is_slow(cost: float) -> bool:
        if not least_gain or len(costs) <= _WINDOW:
            return False
        return costs[-1 - _WINDOW] - cost < least_gain * min(cost, costs[0] - cost)

    def after_step(there: Slope) -> None:
        costs.append(there.cost)
        reached = optimality(there)
        at = iterate_of(there.here, reached, run.steps)
        watch(replace(at, state=lambda: {"costs": costs[:-1], "run": run.state()}, copied=run.size))
        if reached <= tolerance or is_slow(there.cost):
            raise StopIteration

    here = None
    if begun is None:
        here = evaluate(u)
        costs.append(here.cost)
        watch(iterate_of(here.here, optimality(here), 0))
        if optimality(here) <= tolerance:
            return Descent(here.u, here.cost, optimality(here), Status.CONVERGED, 0)
    most = _OF_A_STEP * iterations
    here = run.minimize(evaluate, here, iterations=most, after_step=after_step)
    ended = Status.OUT_OF_BUDGET if run.steps >= most else Status.STALLED
    status = Status.CONVERGED if optimality(here) <= tolerance else ended
    return Descent(here.u, here.cost, optimality(here), status, run.steps)


class _Model:
    """The model of the cost around a point; learned curvature makes more equations, of either sign."""

    def __init__(self, problem: Problem, metric: Metric, here: Trial, secant: Secant) -> None:
        self._problem, self._metric, self._here, self._secant = problem, metric, here, secant
        self._engine, self._J = metric.engine, here.point.jacobian
        self._slope = Slope(problem, metric, here)
        self.optimality = 0.0 if self._slope.size <= self._J.size * here.point.noise else self._slope.optimality
        self._bends, self._curvatures = secant.terms(len(here.u))
        rows = self._J
        if len(self._curvatures):
            rows = TallMatrix(np.concatenate([rows.array, self._bends], axis=1), self._engine)
        self._points = NearestPoint(metric, rows, self._J.shape[1])

    def step(self, damping: float) -> Proposal[Trial]:
        """The point that the damped model proposes, corrected where that helps."""
        here, residuals = self._here, self._here.point.residuals
        there, predicted = self._propose(damping, residuals, here.active)
        if here.cost - there.cost >= _CORRECT * predicted:
            return Proposal(there, predicted, damping)
        bend = there.point.residuals - residuals - self._J.rmatvec(there.u - here.u)
        corrected, _ = self._propose(damping, residuals + bend, there.active)
        return Proposal(min(there, corrected, key=lambda trial: trial.cost), predicted, damping)

    def accepted(self, there: Trial) -> None:
        """Learn what the curvature of the residuals does to the step, where the Jacobian is small enough."""
        r = there.point.residuals
        # It takes two Jacobians at a time.
        if self._engine.ranks.sum(len(there.u)) * len(r) <= limits.LEARNED_CURVATURE:
            self._secant.learn(there.u - self._here.u, there.pull - self._J.matvec(r))

    def _propose(self, damping: float, residuals: Floats, active: Array) -> tuple[Trial, float]:
        """The nearest point and the decrease that is predicted there."""
        u = self._here.u
        center = self._engine.elementwise(lambda c, u: (c + damping * u) / (1.0 + damping), self._problem.center, u)
        v, active, bent = self._nearest(center, damping, residuals, active)
        s = v - u
        curvature = float(s @ self._metric.apply(s)) + square(self._J.rmatvec(s))
        if bent:
            curvature += float(self._curvatures @ self._engine.to_numpy(self._bends.T @ s) ** 2)
        predicted = -(2.0 * float(self._slope.half @ s) + curvature)
        return trial_at(self._problem, v, active), predicted

    def _nearest(self, center: Array, damping: float, residuals: Floats, active: Array) -> tuple[Array, Array, bool]:
        """The point, its active set, and whether the model is convex with the learned curvature, which then counts."""
        u, k, bends = self._here.u, len(residuals), len(self._curvatures)
        weights = np.append(np.ones(k), self._curvatures) / (1.0 + damping)
        if bends:
            left = np.append(residuals, np.zeros(bends))
            found = self._points.solve(center, Start(u, left), weights, active)
            if found is not None:
                return *found, True
        found = self._points.solve(center, Start(u, residuals), weights[:k], active)
        assert found is not None  # positive weights always make a convex problem
        return *found, False


class Secant:
    """The curvature that Gauss–Newton leaves out, estimated from the steps already taken.

    The Hessian of ‖r(u)‖²/2 is JᵀJ + S, S = Σ_i r_i ∇²r_i. Each step s and the two Jacobians at its ends say what S
    does to s: Ss ≈ (J₊ − J)ᵀr₊ (Dennis, Gay & Welsch 1981). Symmetric rank-one updates from the last few steps collect
    it as S ≈ Σ_l ω_l a_l a_lᵀ, of either sign: a few more equations for the nearest-point problem.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._pairs: deque[tuple[Array, Array]] = deque(maxlen=_MEMORY)

    def learn(self, step: Array, change: Array) -> None:
        self._pairs.append((step, change))

    def state(self) -> list[list[NDArray[Any]]]:
        """What was learned, on the host."""
        return [[self._engine.to_numpy(one) for one in pair] for pair in self._pairs]

    def restore(self, state: Sequence[Sequence[NDArray[Any]]]) -> None:
        for step, change in state:
            self.learn(self._engine.asarray(step), self._engine.asarray(change))

    def terms(self, m: int) -> tuple[Array, Floats]:
        """The a_l as columns (m, terms), of unit length, and the ω_l."""
        directions: list[Array] = []
        weights: list[float] = []
        for step, change in self._pairs:
            known = sum((w * (a @ step) * a for a, w in zip(directions, weights, strict=True)), 0.0 * step)
            missing = change - known
            size, along = float(np.linalg.norm(missing)), float(missing @ step)
            if abs(along) > _SAFE * size * float(np.linalg.norm(step)):
                directions.append(missing / size)
                weights.append(size**2 / along)
        if not directions:
            return self._engine.xp.empty((m, 0)), np.empty(0)
        return np.stack(directions).T, np.array(weights)
