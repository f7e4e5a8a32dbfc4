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

from cotherm.arrays import Floats
from cotherm.engines.interface import Array
from cotherm.solve.descent import Descent, Status
from cotherm.solve.gauss_newton import LOCAL, Learned, newton_steps
from cotherm.solve.implicit_matrix import ImplicitMatrix
from cotherm.solve.iterated_system import Preconditioner, approximate_inverse
from cotherm.solve.least_squares import Iterate, Problem, Slope, Trial, applied_jacobian, iterate_of, trial_at
from cotherm.solve.limited_memory import Inverse, Memory, minimize_from_inverse
from cotherm.solve.quasi_newton import Resumable, minimize_bounded
from cotherm.solve.spread_quasi_newton import SpreadQuasiNewton

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

    def evaluate(x: Floats) -> _Reached:
        u = engine.asarray(x)
        slope = Slope(problem, problem.metric(u), trial_at(problem, u, u <= 0.0))
        worth = _steps_worth_factors(slope.here)
        return _Reached(iterate_of(slope.here, slope.optimality, 0), 2.0 * engine.to_numpy(slope.half), worth)

    if begun is None:
        last = evaluate(engine.to_numpy(u)).iterate
        if last.optimality <= max(LOCAL, tolerance):
            return u, 0
        costs = [last.cost]
        watch(last)
    else:
        costs = list(begun["costs"])
    state_of_run = None if begun is None else begun["run"]
    # Where vectors are spread over ranks none has all of them, as SciPy's routine would need.
    run = SpreadQuasiNewton(engine, state_of_run) if engine.is_distributed else Resumable(state_of_run)

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
        engine.to_numpy(u),
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
    count, engine, factors = 0, problem.metric(problem.center).engine, learned.preconditioner

    def evaluate(u: Array) -> Slope:
        return Slope(problem, problem.metric(u), trial_at(problem, u, u <= 0.0))

    def inverse_at(here: Slope, held: Array) -> Inverse | None:
        factors.place = here.u
        factors.renew(applied_jacobian(here.here.point), problem.metric(here.u), held, 1.0)
        return _inverse_from(problem, factors)

    def after_step(here: Slope) -> None:
        nonlocal count
        count += 1

        def state() -> dict[str, Any]:
            return {
                "u": engine.to_numpy(here.u),
                "count": count,
                "memory": memory.state(engine),
                "learned": learned.state(),
            }

        watch(iterate_of(here.here, here.optimality, count, state))

    memory, known = Memory(), _inverse_from(problem, factors)
    if begun is not None:
        u, count = engine.asarray(begun["u"]), begun["count"] - 1
    start = evaluate(u)
    if known is not None:
        memory.take(known, start.optimality)
    if begun is not None:
        memory.restore(begun["memory"], engine)
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
    here = trial_at(problem, u, active)
    apply = approximate_inverse(problem.metric(u), applied_jacobian(here.point), active, factors.apply)
    return Inverse(apply, max(_steps_worth_factors(here), _WINDOWS[0]))
