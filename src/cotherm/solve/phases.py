"""The phases of a descent to a minimum of D(u) + ‖r(u)‖² over u ≥ 0.

Where the Jacobian is formed there is one: steps of Gauss–Newton. Where equations are so many that it is only applied,
quasi-Newton steps lead to where those of Gauss–Newton pay, and once the active set has settled others, from the inverse
that the factors give, take over again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from cotherm.engines.interface import Array
from cotherm.solve.descent import Descent, Status
from cotherm.solve.gauss_newton import LOCAL, Learned, newton_steps
from cotherm.solve.implicit_matrix import ImplicitMatrix
from cotherm.solve.iterated_system import Preconditioner, approximate_inverse
from cotherm.solve.least_squares import Iterate, Problem, Slope, Trial, applied_jacobian, iterate_of, trial_at
from cotherm.solve.quasi_newton import Inverse, QuasiNewton

# Simpler steps come before those of Gauss–Newton until as many as cost what factors do bring less than this part of
# the cost. One costs about so many products with the Jacobian; at least, and at most, so many are looked at.
_SLOW, _STEP_PRODUCTS, _WINDOWS = 0.4, 5.0, (10, 200)
# The damping from there on, the most that there may be, and how many of them are remembered.
_APPROACHED, _MOST_APPROACHING, _REMEMBERED = 1.0, 5_000, 10
# Where J is only applied, the last digits are left to quasi-Newton steps once the optimality is below this; so many of
# these are remembered, and with the factors of one place they must lower the optimality to this part.
_SETTLED, _REMEMBERED_LAST, _PROGRESS = 1e-4, 20, 0.5
# Factors with a shift of at most this have hardly any damping in them.
_UNDAMPED = 1.01
# The phases of a descent, of which the last three are there where J is only applied.
_NEWTON, _APPROACH, _FINISH, _LAST = "newton", "approach", "finish", "last"


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
    learned = Learned(problem.metric(u).engine)
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
        first = trial_at(problem, u, u <= 0.0)
        applied = isinstance(first.point.jacobian, ImplicitMatrix)
        if applied and np.isinf(damping):
            del first  # derivatives are large
            u, steps = _approached(problem, u, tolerance, told(_APPROACH), state.get("inside"))
            first, damping = trial_at(problem, u, u <= 0.0), _APPROACHED
    elif phase in (_NEWTON, _LAST):
        first = _restored_trial(problem, state["inside"])
        applied = isinstance(first.point.jacobian, ImplicitMatrix)
    if phase in (None, _APPROACH, _NEWTON):
        settled = max(tolerance, _SETTLED) if applied and not least_gain else tolerance
        inside = state["inside"] if phase == _NEWTON else None
        end = newton_steps(problem, first, learned, damping, settled, iterations, least_gain, told(_NEWTON), inside)
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
        first = trial_at(problem, here.u, here.u <= 0.0)
    inside = state["inside"] if phase == _LAST else None
    end = newton_steps(problem, first, learned, damping, tolerance, iterations - used, least_gain, told(_LAST), inside)
    return replace(end, iterations=used + end.iterations)


def _in_phase(at: dict[str, Any], here: Iterate) -> dict[str, Any] | None:
    """A state with the phase that it belongs to; a phase that has just begun has none of its own."""
    inside = here.state()
    return {**at, "inside": inside} if inside is not None or not here.iteration else None


def _restored_trial(problem: Problem, state: Mapping[str, Any]) -> Trial:
    engine = problem.metric(problem.center).engine
    return trial_at(problem, engine.asarray(state["u"]), engine.asarray(state["active"]))


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
    engine = problem.metric(u).engine

    def evaluate(u: Array) -> _Reached:
        slope = Slope(problem, problem.metric(u), trial_at(problem, u, u <= 0.0))
        return _Reached(iterate_of(slope.here, slope.optimality, 0), slope.half, _steps_worth_factors(slope.here))

    start: _Reached | None = None
    if begun is None:
        start = evaluate(u)
        last = start.iterate
        if last.optimality <= max(LOCAL, tolerance):
            return u, 0
        costs = [last.cost]
        watch(last)
    else:
        costs = list(begun["costs"])
    run = QuasiNewton(engine, _REMEMBERED, None if begun is None else begun["run"])

    def after_step(there: _Reached) -> None:
        nonlocal last
        last = replace(
            there.iterate,
            iteration=len(costs),
            state=lambda: {"costs": costs[:-1], "run": run.state()},
            copied=run.size,
        )
        costs.append(last.cost)
        watch(last)
        window = min(max(there.worth, _WINDOWS[0]), _WINDOWS[1])
        if len(costs) > window and last.cost > (1.0 - _SLOW) * costs[-1 - window]:
            raise StopIteration

    run.minimize(evaluate, start, iterations=_MOST_APPROACHING, after_step=after_step)
    return last.u, last.iteration


class _Reached(NamedTuple):
    """A point without its derivatives, and half the gradient there."""

    iterate: Iterate
    half: Array
    worth: int  # steps that cost what factors would cost here

    @property
    def u(self) -> Array:
        return self.iterate.u

    @property
    def cost(self) -> float:
        return self.iterate.cost


def _steps_worth_factors(here: Trial) -> int:
    """How many quasi-Newton steps cost what factors do, where there may be any."""
    J = applied_jacobian(here.point)
    return math.ceil(min(J.factoring_work(here.active) / (_STEP_PRODUCTS * J.work), _MOST_APPROACHING))


def _finished(
    problem: Problem,
    u: Array,
    learned: Learned,
    tolerance: float,
    iterations: int,
    watch: Callable[[Iterate], None],
    begun: Mapping[str, Any] | None,
) -> tuple[Slope, int]:
    """A point as near to the minimum as quasi-Newton steps lead once the active set has settled, and their number.

    They begin with the factors of the last steps of Gauss–Newton, and leave theirs to those that follow.
    """
    engine, factors = problem.metric(problem.center).engine, learned.preconditioner
    run = QuasiNewton(engine, _REMEMBERED_LAST, None if begun is None else begun["run"])

    def evaluate(u: Array) -> Slope:
        return Slope(problem, problem.metric(u), trial_at(problem, u, u <= 0.0))

    def after_step(here: Slope) -> None:
        at = {"until": until, "goal": goal}
        iterate = iterate_of(here.here, here.optimality, run.steps)
        watch(replace(iterate, state=lambda: {**at, "run": run.state(), "learned": learned.state()}, copied=run.size))
        if here.optimality <= tolerance:
            raise StopIteration

    inverse = _inverse_from(problem, factors)
    here = evaluate(u) if begun is None else None
    until, goal = (0, np.inf) if begun is None else (begun["until"], begun["goal"])
    if here is not None and inverse is not None:
        until, goal = inverse.steps, _PROGRESS * here.optimality
    while here is None or (here.optimality > tolerance and run.steps < iterations):
        if inverse is not None:
            most = min(until, iterations)
            here = run.minimize(evaluate, here, iterations=most, after_step=after_step, inverse=inverse.apply)
            if run.steps < most or run.steps >= iterations or not tolerance < here.optimality <= goal:
                break
        assert here is not None
        inverse, factors.place = None, here.u  # no inverse while the next is made: it may be large
        held = (here.half >= 0.0) & (here.u <= 0.0)
        factors.renew(applied_jacobian(here.here.point), problem.metric(here.u), held, 1.0)
        inverse = _inverse_from(problem, factors)
        if inverse is None:
            break
        until, goal = run.steps + inverse.steps, _PROGRESS * here.optimality
    assert here is not None
    return here, run.steps


class _Inverse(NamedTuple):
    """About the inverse of half the second derivative, and for how many steps it is worth making."""

    apply: Inverse
    steps: int


def _inverse_from(problem: Problem, factors: Preconditioner) -> _Inverse | None:
    """Of the curvature where factors were made, if there are any, and with hardly any damping."""
    if factors.made is None or factors.made.shift > _UNDAMPED:
        return None
    u, active, _ = factors.made
    here = trial_at(problem, u, active)
    apply = approximate_inverse(problem.metric(u), applied_jacobian(here.point), active, factors.apply)
    return _Inverse(apply, max(_steps_worth_factors(here), _WINDOWS[0]))
