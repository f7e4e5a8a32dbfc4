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
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from cotherm import limits
from cotherm.arrays import Floats
from cotherm.engines import Engine
from cotherm.engines.interface import Array
from cotherm.lazy import lazy
from cotherm.solve import descent
from cotherm.solve.compression import compressed
from cotherm.solve.curved_metric import Curvature, CurvedMetric
from cotherm.solve.descent import Damping, Descent, Progress, Proposal, Status
from cotherm.solve.implicit_matrix import ImplicitMatrix, Solve
from cotherm.solve.iterated_system import IteratedSystem, Preconditioner, approximate_inverse
from cotherm.solve.limited_memory import Inverse, Memory, minimize_from_inverse
from cotherm.solve.metric import Metric
from cotherm.solve.multipliers import FormedSystem, Start
from cotherm.solve.nearest_point import Closest, NearestPoint
from cotherm.solve.quasi_newton import Resumable, minimize_bounded
from cotherm.solve.secant import Secant
from cotherm.solve.tall_matrix import InMemory, TallMatrix

_DAMPING = Damping(first=100.0, least=0.0, most=1e12)
_EPSILON = float(np.finfo(np.float64).eps)
# Steps that are taken where rounding hides the cost.
_EXTRA_STEPS = 8
# A step is corrected if it brings less than this part of the predicted decrease.
_CORRECT = 0.5
# Where J is only applied, a step that brings less than this part is shortened, each time to between these parts of it.
_SHORTEN, _SHORTEST, _LONGEST = 0.1, 0.1, 0.7
# One that brings more than this part is lengthened, at most so many times.
_LENGTHEN, _FURTHEST = 1.2, 10.0
# Simpler steps come before those of Gauss–Newton until as many as cost what factors do bring less than this part of
# the cost. One costs about so many products with the Jacobian; at least, and at most, so many are looked at.
_SLOW, _STEP_PRODUCTS, _WINDOWS = 0.4, 5.0, (10, 200)
# The damping from there on, the most that there may be, and how many of them are remembered.
_APPROACHED, _MOST_APPROACHING, _REMEMBERED = 1.0, 5_000, 10
# Where J is only applied, the last digits are left to quasi-Newton steps once the optimality is below this.
_SETTLED = 1e-4
# Factors with a shift of at most this have hardly any damping in them.
_UNDAMPED = 1.01
# The phases of a descent, of which the last three are there where J is only applied.
_NEWTON, _APPROACH, _FINISH, _LAST = "newton", "approach", "finish", "last"
# Curvature is learned from earlier points; where J is only applied, it is used once the optimality is below this.
_LOCAL = 1e-2


class Point(Protocol):
    """The residuals at some u."""

    @property
    def residuals(self) -> Floats: ...

    @property
    def jacobian(self) -> TallMatrix | ImplicitMatrix:
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
    """A descent after a step. ``state``, called before the next one, is all that the descent needs to go on from here:
    numbers, and arrays on the host; None where it can only begin anew. To take it copies so many bytes."""

    u: Array
    cost: float
    residual: float  # ‖r‖²
    optimality: float
    iteration: int
    state: Callable[[], dict[str, Any] | None] = field(default=lambda: None, repr=False)
    copied: int = 0


@dataclass(frozen=True)
class _Trial:
    """A point with its cost, and the active set of the step that led there."""

    u: Array
    point: Point
    cost: float
    active: Array

    @lazy
    def pull(self) -> Array:
        """Jᵀr, half the gradient of ‖r‖²."""
        return self.point.jacobian.matvec(self.point.residuals)

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
    damping: float = np.inf,
    watch: Callable[[Iterate], None] = lambda _: None,
    begun: Mapping[str, Any] | None = None,
) -> Descent:
    """From u to a local minimum: see :func:`cotherm.solve.descent.descend`; ``damping`` is that of an earlier descent.

    The optimality is the projected gradient relative to the gradients of D and ‖r‖² that balance in it, and zero within
    rounding. With ``begun``, the state of an iterate that was watched, this goes on from there, the other arguments
    being the same: that iterate is watched once more, and all that follows is as it would have been.
    """
    phase, state = (None, {}) if begun is None else (begun["phase"], begun)
    steps, used, damping = state.get("steps", 0), state.get("used", 0), state.get("damping", damping)
    learned = _Learned(problem.metric(u).engine)
    if phase in (_NEWTON, _FINISH, _LAST):
        learned.restore(problem, state["inside"]["learned"])

    def told(phase: str) -> Callable[[Iterate], None]:
        """With steps numbered through all phases, and states that know the phase."""

        def tell(here: Iterate) -> None:
            if here.iteration or not steps:
                at = {"phase": phase, "steps": steps, "used": used, "damping": damping}
                watch(replace(here, iteration=steps + here.iteration, state=lambda: _in_phase(at, here)))

        return tell

    if phase in (None, _APPROACH):
        first = _trial(problem, u, u <= 0.0)
        applied = isinstance(first.point.jacobian, ImplicitMatrix)
        if applied and np.isinf(damping):
            del first  # derivatives are large
            u, steps = _approached(problem, u, tolerance, told(_APPROACH), state.get("inside"))
            first, damping = _trial(problem, u, u <= 0.0), _APPROACHED
    elif phase in (_NEWTON, _LAST):
        first = _restored_trial(problem, state["inside"])
        applied = isinstance(first.point.jacobian, ImplicitMatrix)
    if phase in (None, _APPROACH, _NEWTON):
        settled = max(tolerance, _SETTLED) if applied and not least_gain else tolerance
        inside = state["inside"] if phase == _NEWTON else None
        end = _newton(problem, first, learned, damping, settled, iterations, least_gain, told(_NEWTON), inside)
        if not (settled > tolerance and end.status is Status.CONVERGED and end.optimality > tolerance):
            return end
        del first
        u, damping, used, steps = end.u, end.damping, end.iterations, steps + end.iterations
    if phase != _LAST:
        inside = state["inside"] if phase == _FINISH else None
        here, count = _finished(problem, u, learned, tolerance, iterations - used, told(_FINISH), inside)
        used, steps = used + count, steps + count
        if here.optimality <= tolerance:
            return Descent(here.u, here.cost, here.optimality, Status.CONVERGED, used, damping)
        first = _trial(problem, here.u, here.u <= 0.0)
    inside = state["inside"] if phase == _LAST else None
    end = _newton(problem, first, learned, damping, tolerance, iterations - used, least_gain, told(_LAST), inside)
    return replace(end, iterations=used + end.iterations)


def _in_phase(at: dict[str, Any], here: Iterate) -> dict[str, Any] | None:
    """A state with the phase that it belongs to; a phase that has just begun has none of its own."""
    inside = here.state()
    return {**at, "inside": inside} if inside is not None or not here.iteration else None


def _newton(
    problem: Problem,
    first: _Trial,
    learned: _Learned,
    damping: float,
    tolerance: float,
    iterations: int,
    least_gain: float,
    watch: Callable[[Iterate], None],
    begun: Mapping[str, Any] | None,
) -> Descent:
    """Damped steps of Gauss–Newton, or the rest of them: then the first point is that of the state."""
    engine = problem.metric(first.u).engine

    def watched(here: _Trial, optimality: float, progress: Progress) -> None:
        def state() -> dict[str, Any]:
            point = {"u": engine.to_numpy(here.u), "active": engine.to_numpy(here.active)}
            return {**point, "progress": asdict(progress), "learned": learned.state()}

        watch(_iterate(here, optimality, progress.iteration, state))

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


def _restored_trial(problem: Problem, state: Mapping[str, Any]) -> _Trial:
    engine = problem.metric(problem.center).engine
    return _trial(problem, engine.asarray(state["u"]), engine.asarray(state["active"]))


def _approached(
    problem: Problem,
    u: Array,
    tolerance: float,
    watch: Callable[[Iterate], None],
    begun: Mapping[str, Any] | None,
) -> tuple[Array, int]:
    """A point from which steps of Gauss–Newton pay, and how many steps of a simpler kind led there.

    Where equations are many, a step takes factors for every exchange of the active set, and far from the minimum there
    are many exchanges: so far quasi-Newton steps, of which each costs a gradient, get on faster. They end where as
    many as cost what factors do bring little.
    """
    engine, rows = problem.metric(u).engine, len(u)

    def evaluate(x: Floats) -> _Reached:
        u = engine.own_rows(x, rows)
        slope = _Slope(problem, problem.metric(u), _trial(problem, u, u <= 0.0))
        worth = _steps_worth_factors(slope.here)
        return _Reached(_iterate(slope.here, slope.optimality, 0), 2.0 * engine.all_rows(slope.half), worth)

    if begun is None:
        last = evaluate(engine.all_rows(u)).iterate
        if last.optimality <= max(_LOCAL, tolerance):
            return u, 0
        costs = [last.cost]
        watch(last)
    else:
        costs = list(begun["costs"])
    run = Resumable(None if begun is None else begun["run"])

    def after_step(_: Floats, there: _Reached) -> None:
        nonlocal last

        def state() -> dict[str, Any] | None:
            inside = run.state()
            return None if inside is None else {"costs": costs[:-1], "run": inside}

        last = replace(there.iterate, iteration=len(costs), state=state, copied=run.size)
        costs.append(last.cost)
        watch(last)
        window = min(max(there.worth, _WINDOWS[0]), _WINDOWS[1])
        if len(costs) > window and last.cost > (1.0 - _SLOW) * costs[-1 - window]:
            raise StopIteration

    minimize_bounded(
        evaluate,
        engine.all_rows(u),
        iterations=_MOST_APPROACHING,
        tolerance=0.0,
        memory=_REMEMBERED,
        after_step=after_step,
        run=run,
    )
    return last.u, last.iteration


class _Reached(NamedTuple):
    """A point without its derivatives, and the gradient there."""

    iterate: Iterate
    gradient: Floats
    worth: int  # steps that cost what factors would cost here

    @property
    def cost(self) -> float:
        return self.iterate.cost


def _steps_worth_factors(here: _Trial) -> int:
    """How many quasi-Newton steps cost what factors do, where there may be any."""
    J = _applied(here.point)
    return math.ceil(min(J.factoring_work(here.active) / (_STEP_PRODUCTS * J.work), _MOST_APPROACHING))


def _finished(
    problem: Problem,
    u: Array,
    learned: _Learned,
    tolerance: float,
    iterations: int,
    watch: Callable[[Iterate], None],
    begun: Mapping[str, Any] | None,
) -> tuple[_Slope, int]:
    """A point as near to the minimum as quasi-Newton steps lead once the active set has settled, and their number.

    They begin with the factors of the last steps of Gauss–Newton, and leave theirs to those that follow.
    """
    count, engine, factors = 0, problem.metric(problem.center).engine, learned.preconditioner

    def evaluate(u: Array) -> _Slope:
        return _Slope(problem, problem.metric(u), _trial(problem, u, u <= 0.0))

    def inverse_at(here: _Slope, held: Array) -> Inverse | None:
        factors.place = here.u
        factors.renew(_applied(here.here.point), problem.metric(here.u), held, 1.0)
        return _inverse_from(problem, factors)

    def after_step(here: _Slope) -> None:
        nonlocal count
        count += 1

        def state() -> dict[str, Any]:
            return {
                "u": engine.to_numpy(here.u),
                "count": count,
                "memory": memory.state(engine),
                "learned": learned.state(),
            }

        watch(_iterate(here.here, here.optimality, count, state))

    memory = Memory(_inverse_from(problem, factors))
    if begun is not None:
        u, count = engine.asarray(begun["u"]), begun["count"] - 1
        memory.restore(begun["memory"], engine)
    start = evaluate(u)
    if begun is not None:
        after_step(start)
    end = minimize_from_inverse(
        engine,
        start,
        evaluate,
        inverse_at,
        tolerance=tolerance,
        iterations=iterations - count,
        after_step=after_step,
        memory=memory,
    )
    return end, count


def _inverse_from(problem: Problem, factors: Preconditioner) -> Inverse | None:
    """Of the curvature where factors were made, if there are any, and with hardly any damping."""
    if factors.made is None or factors.made.shift > _UNDAMPED:
        return None
    u, active, _ = factors.made
    here = _trial(problem, u, active)
    apply = approximate_inverse(problem.metric(u), _applied(here.point), active, factors.apply)
    return Inverse(apply, max(_steps_worth_factors(here), _WINDOWS[0]))


def _applied(point: Point) -> ImplicitMatrix:
    J = point.jacobian
    assert isinstance(J, ImplicitMatrix)
    return J


class _Slope:
    """Half the gradient of the cost at a point, with the parts that balance in it: of the distance and of ‖r‖²."""

    def __init__(self, problem: Problem, metric: Metric, here: _Trial) -> None:
        self.here, self._engine = here, metric.engine
        of_distance = metric.apply(here.u - problem.center)
        self.half = self._engine.elementwise(np.add, of_distance, here.pull)
        self._balancing = float(np.linalg.norm(of_distance) + np.linalg.norm(here.pull))

    @property
    def u(self) -> Array:
        return self.here.u

    @property
    def cost(self) -> float:
        return self.here.cost

    @lazy
    def size(self) -> float:
        """Of what is left where u is bounded by zero."""
        return math.sqrt(self._engine.elementwise_sum(_projected, self.here.u, self.half))

    @property
    def optimality(self) -> float:
        return self.size / self._balancing if self._balancing > 0.0 else 0.0


class _Learned:
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
            return _applied(problem.at(u)).factored(problem.metric(u), active, shift)

        self.secant.restore(state["secant"])
        self.size = state["size"]
        self.preconditioner.restore(state["preconditioner"], self._engine, factored)


class _Model:
    """The model of the cost around a point."""

    def __init__(self, problem: Problem, metric: Metric, here: _Trial, learned: _Learned) -> None:
        self._problem, self._metric, self._here, self._learned = problem, metric, here, learned
        self._engine = metric.engine
        self._J = here.point.jacobian
        self._rows = self._engine.total(len(here.u))
        self._is_formed = not isinstance(self._J, ImplicitMatrix)
        self._slope = _Slope(problem, metric, here)
        self.optimality = 0.0 if self._slope.size <= self._size() * here.point.noise else self._slope.optimality
        bends, curvatures = learned.secant.terms(len(here.u))
        self._steps: _FormedSteps | _AppliedSteps
        if isinstance(self._J, ImplicitMatrix):
            used = len(curvatures) if self.optimality <= _LOCAL else 0
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

    def step(self, damping: float) -> Proposal[_Trial]:
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

    def _lengthened(self, there: _Trial, expected: _Expected) -> _Trial:
        """A point beyond, where the cost falls much more than the model says: along valleys that are nearly flat."""
        bent = there.cost - self._here.cost - expected.slope
        part = min(-0.5 * expected.slope / bent, _FURTHEST) if bent > 0.0 else _FURTHEST
        beyond = self._engine.elementwise(lambda u, s: np.maximum(u + part * s, 0.0), self._here.u, expected.step)
        return min(there, _trial(self._problem, beyond, there.active), key=lambda trial: trial.cost)

    def _shortened(self, there: _Trial, expected: _Expected, damping: float) -> Proposal[_Trial]:
        """A point on the way that brings enough: to evaluate one costs little beside a step with more damping."""
        here, part = self._here, 1.0
        while True:
            # Where the parabola through the cost here, its slope and the cost there has its minimum.
            bent = there.cost - here.cost - part * expected.slope
            least = -0.5 * part**2 * expected.slope / bent if bent > 0.0 else 0.0
            part = min(max(least, _SHORTEST * part), _LONGEST * part)
            there = _trial(self._problem, here.u + part * expected.step, there.active)
            predicted = expected.decrease(part)
            if here.cost - there.cost >= _SHORTEN * predicted or predicted <= here.rounding:
                # With so much damping the model would have its minimum on this line about there.
                more = (1.0 / part - 1.0) * (1.0 + damping) * expected.stiffness
                return Proposal(there, predicted, damping + more)

    def accepted(self, there: _Trial) -> None:
        """Learn what the curvature of the residuals does to the step, where the Jacobian is small enough."""
        r = there.point.residuals
        # It takes two Jacobians at a time.
        if isinstance(self._J, ImplicitMatrix) or self._rows * len(r) <= limits.LEARNED_CURVATURE:
            self._learned.secant.learn(there.u - self._here.u, there.pull - self._J.matvec(r))

    def _propose(self, damping: float, residuals: Floats, active: Array) -> tuple[_Trial, _Expected]:
        u = self._here.u
        center = self._engine.elementwise(lambda c, u: (c + damping * u) / (1.0 + damping), self._problem.center, u)
        found, curvature = self._steps.nearest(center, damping, residuals, active)
        s = found.v - u
        # What the equations leave has changed by Js.
        moved = self._J.rmatvec(s) if self._is_formed else found.residuals - residuals
        length = float(s @ self._metric.apply(s))
        expected = _Expected(s, 2.0 * float(self._slope.half @ s), length + _square(moved) + curvature(s), length)
        return _trial(self._problem, found.v, found.active), expected


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

    def __init__(self, metric: Metric, J: TallMatrix, here: _Trial, bends: Array, curvatures: Floats) -> None:
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
        here: _Trial,
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


def _projected(u: Array, slope: Array) -> float:
    """The square of the slope along which u may move, being bounded by zero."""
    free: Array = np.where(u > 0.0, slope, np.minimum(slope, 0.0))
    return float(np.sum(free * free))


def _iterate(
    here: _Trial, optimality: float, number: int, state: Callable[[], dict[str, Any] | None] = lambda: None
) -> Iterate:
    return Iterate(here.u, here.cost, _square(here.point.residuals), optimality, number, state)


def _trial(problem: Problem, u: Array, active: Array) -> _Trial:
    point = problem.at(u)
    return _Trial(u, point, problem.distance(u) + _square(point.residuals), active)


def _square(x: Floats) -> float:
    return float(x @ x)
