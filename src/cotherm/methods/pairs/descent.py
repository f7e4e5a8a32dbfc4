"""Minimizing the cost of coupling by pairs: limited-memory BFGS over u ≥ 0.

The strength of the coupling is raised by steps, each started at the solution of the one before, and after each of them
the weights may be measured.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from cotherm.arrays import Floats
from cotherm.engines.interface import Array
from cotherm.io.state_file import State
from cotherm.methods.checkpoint import UNFINISHED, Checkpoint
from cotherm.methods.coupling.search import Step, Stop, Watch
from cotherm.methods.pairs.problem import PairProblem, Value
from cotherm.progress import Meter
from cotherm.solve.quasi_newton import QuasiNewton

_MEMORY = 20
# Steps on the way to the final strength are solved roughly.
ROUGH, _ROUGH_STEPS = 1e-3, 60
# Costs below this part of Σw² are rounding.
_NOTHING = 1e-12
# Where steps bring little although the gradients do not balance to this part, the tolerance is lowered by this factor,
# so many times at most.
_BALANCED, _LOWER, _ROUNDS = 0.1, 0.01, 3


@dataclass
class Outcome:
    """The weights of every view, the two parts of their cost, and how the search for them ended."""

    weights: list[Floats]
    distance: float
    coupling: float
    optimality: float
    status: str
    history: list[dict[str, Any]] = field(default_factory=list)
    measured: list[Any] = field(default_factory=list)


def descend(
    problem: PairProblem,
    alphas: list[float],
    *,
    tolerance: float,
    max_iterations: int,
    meter: Meter,
    deadline: float | None = None,
    callback: Callable[[Step], Any] | None = None,
    checkpoint: Checkpoint | None = None,
    name: str = "",
    balanced: bool = False,
    measure: Callable[[list[Floats]], Any] | None = None,
) -> Outcome:
    """From the given weights through all strengths to a minimum at the last one.

    ``measure`` is called with the weights of every view at the start and after every strength; what it returns, lists
    of arrays, is in the outcome. ``balanced`` asks for gradients that balance, not only for steps that bring little; a
    search that cannot reach that has the status "stalled". ``deadline`` is a reading of ``time.perf_counter`` after
    which the search ends. An outcome that a checkpoint knows by that name is not computed again, and a search that was
    under way goes on.
    """
    answer = None if checkpoint is None else checkpoint.answer(name)
    if answer is not None:
        return Outcome(**answer)
    begun = None if checkpoint is None else checkpoint.begun(name)
    search = _Search(problem, callback, max_iterations, deadline, meter, checkpoint, name)
    first = search.take_up(begun)
    try:
        if begun is None:
            search.measure(measure)
        for stage, alpha in enumerate(alphas[:-1]):
            if stage >= first:
                search.solve(alpha, stage, ROUGH, _ROUGH_STEPS)
                search.measure(measure)
        last = len(alphas) - 1
        for more in range(1 + _ROUNDS):
            if last + more >= first:
                search.solve(alphas[-1], last + more, tolerance * _LOWER**more, None)
            if not balanced or search.status != "converged" or search.is_balanced(alphas[-1]):
                break
        else:
            search.status = "stalled"
        search.measure(measure)
    except Stop as stop:
        search.status = str(stop)
    except KeyboardInterrupt:
        if problem.engine.is_distributed:  # ranks are interrupted at different places: all must end
            raise
        search.status = "interrupted"
    outcome = search.outcome(alphas[-1])
    if checkpoint is not None and outcome.status not in UNFINISHED:
        checkpoint.ended(name, vars(outcome), {})
    return outcome


class _Scaled(NamedTuple):
    """The cost, in units of what it was at first and in variables of about the same size, and what it was made from."""

    u: Array
    cost: float
    half: Array  # half the gradient
    value: Value


class _Search:
    def __init__(
        self,
        problem: PairProblem,
        callback: Callable[[Step], Any] | None,
        iterations: int,
        deadline: float | None,
        meter: Meter,
        checkpoint: Checkpoint | None,
        name: str,
    ) -> None:
        self._problem, self._left, self._checkpoint, self._name = problem, iterations, checkpoint, name
        self._watch = Watch(problem.engine, callback, deadline, meter)
        self._run: State | None = None  # of a stage, where it is to go on
        self._unit: float | None = None  # the cost at which that began
        self.u, self.status = problem.center, "converged"
        self.measured: list[Any] = []

    @property
    def history(self) -> list[dict[str, Any]]:
        return self._watch.history

    def measure(self, measure: Callable[[list[Floats]], Any] | None) -> None:
        """Measure the weights as they are now."""
        if measure is not None:
            self.measured.append(measure(self._problem.weights(self.u)))

    def take_up(self, begun: State | None) -> int:
        """Go on from a state; the first stage that is not over."""
        if begun is None:
            return 0
        self._left, self._watch.history = begun["left"], begun["history"]
        self.measured = list(begun["measured"])
        self._run, self._unit = begun["run"], begun["unit"]
        return int(begun["stage"])

    def _keep(self, stage: int, left: int, run: QuasiNewton) -> None:
        """A state after a step; ``left`` are the steps that were left when the stage began."""
        if self._checkpoint is None:
            return
        history, measured = list(self.history), list(self.measured)

        def state() -> State:
            return {
                "stage": stage,
                "left": left,
                "history": history,
                "measured": measured,
                "run": run.state(),
                "unit": self._unit,
            }

        self._checkpoint.step(self._name, state, lambda: {"history": history}, run.size)

    def solve(self, alpha: float, stage: int, tolerance: float, most: int | None) -> None:
        if not any(graph.m for graph in self._problem.graphs):
            return
        if self._left <= 0:
            self.status = "out of budget"
            return
        scale, left = self._problem.scale, self._left
        run = QuasiNewton(self._problem.engine, _MEMORY, self._run)

        def evaluate(x: Array) -> _Scaled:
            value = self._problem.at(x * scale, alpha)
            cost = value.distance + alpha * value.coupling
            if self._unit is None:  # where graphs agree, the cost is rounding, and must not be the measure
                self._unit = max(cost, _NOTHING * float(self._problem.center @ self._problem.center)) or 1.0
            half = (value.of_distance + value.of_coupling) * (scale * (0.5 / self._unit))
            return _Scaled(x, cost / self._unit, half, value)

        def after_step(there: _Scaled) -> None:
            self._keep(stage, left, run)
            self.u, self._left = there.u * scale, left - run.steps
            self._report(there.value, alpha, stage)

        budget = left if most is None else min(left, most)
        here = evaluate(self.u / scale) if self._run is None else None
        self._run = None
        found = run.minimize(evaluate, here, iterations=budget, least=tolerance, after_step=after_step)
        self.u, self._unit = found.u * scale, None
        self.status = "out of budget" if most is None and run.steps >= budget else "converged"

    def _report(self, value: Value, alpha: float, stage: int) -> None:
        row = {
            "route": "pairs",
            "stage": stage,
            "iteration": sum(entry["stage"] == stage for entry in self.history),
            "cost": value.distance + alpha * value.coupling,
            "coupling": value.coupling,
            "optimality": _optimality(self.u, value),
        }
        self._watch.tell(row, lambda: [w.copy() for w in self._problem.weights(self.u)])

    def is_balanced(self, alpha: float) -> bool:
        """Whether what is left of the gradients is small beside them."""
        return _optimality(self.u, self._problem.at(self.u, alpha)) <= _BALANCED

    def outcome(self, alpha: float) -> Outcome:
        value = self._problem.at(self.u, alpha)
        optimality = _optimality(self.u, value)
        weights = self._problem.weights(self.u)
        return Outcome(weights, value.distance, value.coupling, optimality, self.status, self.history, self.measured)


def _optimality(u: Array, value: Value) -> float:
    """The projected gradient relative to the gradients that balance in it."""
    slope = value.of_distance + value.of_coupling
    free = np.where(u > 0.0, slope, np.minimum(slope, 0.0))
    size = float(np.linalg.norm(value.of_distance) + np.linalg.norm(value.of_coupling))
    return float(np.linalg.norm(free)) / size if size > 0.0 else 0.0
