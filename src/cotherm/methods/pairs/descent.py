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
from cotherm.methods.coupling.problem import Problem
from cotherm.methods.coupling.search import Step, Stop, Watch
from cotherm.progress import Meter
from cotherm.solve.least_squares import Slope, square, trial_at
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
    """The weights of every view, their cost, and how the search for them ended."""

    weights: list[Floats]
    cost: float
    optimality: float
    status: str
    history: list[dict[str, Any]] = field(default_factory=list)
    measured: list[Any] = field(default_factory=list)


def descend(
    problem: Problem,
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
    watch = Watch(problem.engine, callback, deadline, meter)
    search = _Search(problem, max_iterations, watch, checkpoint, name, measure)
    first = search.take_up(begun)
    try:
        if begun is None:
            search.measure()
        for stage, alpha in enumerate(alphas[:-1]):
            if stage >= first:
                search.solve(alpha, stage, ROUGH, _ROUGH_STEPS)
                search.measure()
        last = len(alphas) - 1
        for more in range(1 + _ROUNDS):
            if last + more >= first:
                search.solve(alphas[-1], last + more, tolerance * _LOWER**more, None)
            if not balanced or search.status != "converged" or search.slope(alphas[-1]).optimality <= _BALANCED:
                break
        else:
            search.status = "stalled"
        search.measure()
    except Stop as stop:
        search.status = str(stop)
    except KeyboardInterrupt:
        if problem.engine.is_distributed:  # ranks are interrupted at different places: all must end
            raise
        search.status = "interrupted"
    end = search.slope(alphas[-1])
    weights = problem.weights_on_host(search.u)
    outcome = Outcome(weights, end.cost, end.optimality, search.status, watch.history, search.measured)
    if checkpoint is not None and outcome.status not in UNFINISHED:
        checkpoint.ended(name, vars(outcome), {})
    return outcome


class _Scaled(NamedTuple):
    """A point in variables of about the same size, its cost in units of what it was at first, and half its gradient."""

    u: Array
    cost: float
    half: Array
    slope: Slope


class _Search:
    def __init__(
        self,
        problem: Problem,
        iterations: int,
        watch: Watch,
        checkpoint: Checkpoint | None,
        name: str,
        measure: Callable[[list[Floats]], Any] | None,
    ) -> None:
        self._problem, self._left, self._watch, self._measure = problem, iterations, watch, measure
        self._checkpoint, self._name = checkpoint, name
        self._run: State | None = None  # of a stage, where it is to go on
        self._unit: float | None = None  # the cost at which that began
        self.u, self.status = problem.center, "converged"
        self.measured: list[Any] = []
        # In these units the distance of every view has the same curvature, and weights are about 1.
        given, rho = np.concatenate([graph.w for graph in problem.graphs]), problem.rigidity
        units = (float(np.mean(given)) if given.any() else 1.0) * np.sqrt(rho.min() / rho)
        sizes = np.diff(problem.cuts).tolist()
        self._scale = np.concatenate(
            [problem.engine.xp.full(size, unit) for size, unit in zip(sizes, units.tolist(), strict=True)]
        )

    def measure(self) -> None:
        """Measure the weights as they are now."""
        if self._measure is not None:
            self.measured.append(self._measure(self._problem.weights_on_host(self.u)))

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
        common = {"history": list(self._watch.history)}
        here = {"stage": stage, "left": left, "measured": list(self.measured), "unit": self._unit, **common}
        self._checkpoint.step(self._name, lambda: {**here, "run": run.state()}, lambda: common, run.size)

    def slope(self, alpha: float, u: Array = None) -> Slope:
        """The cost and its gradient, here or at other weights."""
        problem = self._problem.restated(self._problem.times, alpha, None)
        u = self.u if u is None else u
        return Slope(problem, problem.metric(u), trial_at(problem, u, u <= 0.0))

    def solve(self, alpha: float, stage: int, tolerance: float, most: int | None) -> None:
        if not any(graph.m for graph in self._problem.graphs):
            return
        if self._left <= 0:
            self.status = "out of budget"
            return
        scale, left = self._scale, self._left
        run = QuasiNewton(self._problem.engine, _MEMORY, self._run)

        def evaluate(x: Array) -> _Scaled:
            slope = self.slope(alpha, x * scale)
            if self._unit is None:  # where graphs agree, the cost is rounding, and must not be the measure
                self._unit = max(slope.cost, _NOTHING * float(self._problem.center @ self._problem.center)) or 1.0
            return _Scaled(x, slope.cost / self._unit, slope.half * (scale / self._unit), slope)

        def after_step(there: _Scaled) -> None:
            self._keep(stage, left, run)
            self.u, self._left = there.u * scale, left - run.steps
            self._report(there.slope, alpha, stage)

        budget = left if most is None else min(left, most)
        here = evaluate(self.u / scale) if self._run is None else None
        self._run = None
        found = run.minimize(evaluate, here, iterations=budget, least=tolerance, after_step=after_step)
        self.u, self._unit = found.u * scale, None
        self.status = "out of budget" if most is None and run.steps >= budget else "converged"

    def _report(self, slope: Slope, alpha: float, stage: int) -> None:
        row = {
            "route": "pairs",
            "stage": stage,
            "iteration": sum(entry["stage"] == stage for entry in self._watch.history),
            "cost": slope.cost,
            "coupling": square(slope.here.point.residuals) / alpha,
            "optimality": slope.optimality,
        }
        self._watch.tell(row, lambda: [w.copy() for w in self._problem.weights_on_host(self.u)])
