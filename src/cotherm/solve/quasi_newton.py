"""Limited-memory BFGS with bounds (Byrd, Lu, Nocedal & Zhu 1995), by SciPy: a gradient a step, and no systems."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

import numpy as np
from scipy.optimize import Bounds, OptimizeResult, minimize

from cotherm.arrays import Floats

# Evaluations a step, of which line searches rarely need more than one.
_EVALUATIONS = 20


class Evaluated(Protocol):
    """A cost at some point, and its gradient there."""

    @property
    def cost(self) -> float: ...

    @property
    def gradient(self) -> Floats: ...


V = TypeVar("V", bound=Evaluated)


def minimize_bounded(
    evaluate: Callable[[Floats], V],
    x: Floats,
    *,
    iterations: int,
    tolerance: float,
    memory: int,
    after_step: Callable[[Floats, V], None],
) -> OptimizeResult:
    """Minimize over x ≥ 0, until a step brings less than ``tolerance`` of the cost.

    ``memory`` is the number of steps that are remembered, each by two vectors as long as x.
    ``after_step`` is called with every point and what was evaluated there; it may raise StopIteration to end.
    """
    latest: dict[bytes, V] = {}

    def cost(x: Floats) -> tuple[float, Floats]:
        value = evaluate(x)
        latest[x.tobytes()] = value
        while len(latest) > 2:
            latest.pop(next(iter(latest)))
        return value.cost, value.gradient

    def called(intermediate_result: OptimizeResult) -> None:
        value = latest.get(intermediate_result.x.tobytes())
        after_step(intermediate_result.x, evaluate(intermediate_result.x) if value is None else value)

    return minimize(
        cost,
        x,
        jac=True,
        method="L-BFGS-B",
        bounds=Bounds(np.zeros(len(x)), np.full(len(x), np.inf)),
        callback=called,
        options={
            "maxiter": iterations,
            "maxfun": _EVALUATIONS * iterations,
            "maxcor": memory,
            "ftol": tolerance,
            "gtol": 0.0,
        },
    )
