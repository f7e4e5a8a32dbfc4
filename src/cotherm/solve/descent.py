"""The descent loop: damped steps of a model (Levenberg–Marquardt), written once for all costs over u ≥ 0.

The model around a point proposes another for a damping μ and predicts the decrease; the ratio of the true decrease to
the predicted one steers μ (Nielsen 1999).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Generic, Protocol, TypeVar

import numpy as np

from cotherm.engines.interface import Array

# A step is taken if it brings at least this part of the predicted decrease.
_ACCEPT = 1e-3
# Rejected steps raise the damping from at least this, by factors that double, the first being _GROWTH.
_LEAST_RAISED, _GROWTH = 1e-8, 4.0


class Trial(Protocol):
    """A point and its cost."""

    @property
    def u(self) -> Array: ...

    @property
    def cost(self) -> float: ...

    @property
    def rounding(self) -> float:
        """How much of the cost may be rounding."""


P = TypeVar("P", bound=Trial)


@dataclass(frozen=True)
class Proposal(Generic[P]):
    """A point, the decrease that the model predicts there, and the damping that leads about so far."""

    there: P
    predicted: float
    damping: float


class Model(Protocol[P]):
    """A model of the cost around a point."""

    @property
    def optimality(self) -> float:
        """The projected gradient relative to the gradients that balance in it."""

    def step(self, damping: float) -> Proposal[P] | None:
        """The point that the damped model proposes, or one on the way to it; None if there is none."""

    def accepted(self, there: P) -> None:
        """Called when a step to this point has been taken."""


@dataclass(frozen=True)
class Damping:
    """Where the damping starts, and its bounds; a descent that needs more has stalled."""

    first: float
    least: float
    most: float


class Status(Enum):
    """How a descent ended."""

    CONVERGED = "converged"
    STALLED = "stalled"
    OUT_OF_BUDGET = "out of budget"


@dataclass(frozen=True)
class Descent:
    """Where a descent ended."""

    u: Array
    cost: float
    optimality: float
    status: Status
    iterations: int
    damping: float = np.inf  # with which to go on


@dataclass(frozen=True)
class Progress:
    """Where a descent is when a step begins: with the point and what its models have learned, all that follows."""

    iteration: int
    first: float  # the cost at the start
    damping: float


def descend(
    here: P,
    model_at: Callable[[P], Model[P]],
    *,
    damping: Damping,
    tolerance: float,
    iterations: int,
    least_gain: float = 0.0,
    extra_steps: int = 0,
    watch: Callable[[P, float, Progress], None] = lambda _point, _optimality, _progress: None,
    begun: Progress | None = None,
) -> Descent:
    """From a point to a local minimum.

    Converged: the optimality is within ``tolerance``. Stalled: no step lowers the cost by more than rounding, nor do
    ``extra_steps`` more reach the tolerance, or a step brings less than ``least_gain`` of the cost or of all the
    decrease so far. ``watch`` is called with the point, its optimality and the progress, at the start and after every
    step. With ``begun``, the progress that was told at this point, an earlier descent goes on.
    """
    begun = Progress(0, here.cost, damping.first) if begun is None else begun
    first, mu, growth = begun.first, begun.damping, _GROWTH
    for iteration in range(begun.iteration, iterations):
        model = model_at(here)
        optimality = model.optimality
        watch(here, optimality, Progress(iteration, first, mu))
        if optimality <= tolerance:
            return Descent(here.u, here.cost, optimality, Status.CONVERGED, iteration, mu)
        while True:
            proposal = model.step(mu)
            if proposal is not None:
                there, predicted = proposal.there, proposal.predicted
                decrease = here.cost - there.cost
                if decrease >= _ACCEPT * predicted and decrease > 0.0:
                    break
                if predicted <= here.rounding:
                    stalled = Descent(here.u, here.cost, optimality, Status.STALLED, iteration, mu)
                    if least_gain or not extra_steps:
                        return stalled
                    highest, here = here.cost + here.rounding, there
                    del model, proposal, there  # and what they hold: models are large
                    return _polished(stalled, highest, here, model_at, mu, tolerance, extra_steps)
            mu, growth = max(mu, _LEAST_RAISED) * growth, 2.0 * growth
            if mu > damping.most:
                return Descent(here.u, here.cost, optimality, Status.STALLED, iteration)
        ratio = decrease / predicted if predicted > 0.0 else 0.0
        mu = max(proposal.damping * float(np.clip(1.0 - (2.0 * ratio - 1.0) ** 3, 0.1, 2.0)), damping.least)
        growth = _GROWTH
        # A small decrease from a heavily damped step says little. A large part of the cost may be out of reach: then
        # decreases are compared with each other.
        if decrease < least_gain * min(here.cost, first - there.cost) and mu < 1.0:
            return Descent(there.u, there.cost, optimality, Status.STALLED, iteration + 1, mu)
        model.accepted(there)
        here = there
        del model, proposal, there
    optimality = model_at(here).optimality
    watch(here, optimality, Progress(iterations, first, mu))
    status = Status.CONVERGED if optimality <= tolerance else Status.OUT_OF_BUDGET
    return Descent(here.u, here.cost, optimality, status, iterations, mu)


def _polished(
    best: Descent,
    highest: float,
    here: P,
    model_at: Callable[[P], Model[P]],
    mu: float,
    tolerance: float,
    steps: int,
) -> Descent:
    """A few more steps where the cost is rounding: the gradient, which keeps twice the digits, tells which is best."""
    for _ in range(steps):
        if here.cost > highest:
            break
        model = model_at(here)
        if model.optimality < best.optimality:
            status = Status.CONVERGED if model.optimality <= tolerance else Status.STALLED
            best = Descent(here.u, here.cost, model.optimality, status, best.iterations)
        if best.status is Status.CONVERGED:
            break
        proposal = model.step(mu)
        if proposal is None:
            break
        here = proposal.there
        del model, proposal
    return best
