"""From a solution to the result that the caller sees, its cost and coupling evaluated anew."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from cotherm.heat.coupling import all_correlations, coupling_error, coupling_terms, functions_mismatch
from cotherm.methods.coupling.options import Options
from cotherm.methods.coupling.result import Coupling
from cotherm.methods.coupling.solve import Solution
from cotherm.methods.validation import versions

# Relative error of the heat that judges solutions.
_EXACT = 1e-12
# If the search's cost is further off than this, relative to the functions, the search was misled.
_NOISE = 1e-8


def report(options: Options, solution: Solution, began: float) -> Coupling:
    """Cost and coupling are computed from the same numbers, so that they cannot contradict each other.

    ``began`` is the reading of ``time.perf_counter`` at the start.
    """
    columns, times = options.functions, solution.times
    coupled = tuple(g.with_weights(u) for g, u in zip(options.graphs, solution.weights, strict=True))
    Q = all_correlations(coupled, columns, times, _EXACT, options.engine)
    weighted = Q * np.sqrt(np.outer(options.function_weights, options.function_weights))
    cost = solution.distance + solution.alpha * float(coupling_terms(weighted, options.graph_weights).sum())
    size = max(float(np.sum(F**2)) for F in options.weighted_functions)
    misled = solution.status == "converged" and is_misled(options, solution, cost, size)
    return Coupling(
        graphs=coupled,
        originals=tuple(options.graphs),
        functions=tuple(columns),
        times=tuple(times.tolist()),
        alpha=solution.alpha,
        cost=cost,
        distance=solution.distance,
        coupling_before=coupling_error(options.graphs, columns, times, engine=options.engine),
        coupling=np.sqrt(coupling_terms(Q, np.ones(len(coupled)))),
        mismatch=functions_mismatch(columns),
        status="stalled" if misled else solution.status,
        optimality=solution.optimality,
        history=solution.history,
        settings=_settings(options, solution),
        versions=versions(),
        seconds=time.perf_counter() - began,
    )


def is_misled(options: Options, solution: Solution, cost: float, size: float) -> bool:
    """Whether the search's cost differs from the true one by more than rounding; ``size`` is that of the functions."""
    noise = np.sqrt(solution.alpha) * float(options.graph_weights.sum()) * _NOISE * size
    return not abs(np.sqrt(solution.cost) - np.sqrt(cost)) <= noise + _NOISE * np.sqrt(cost)


def _settings(options: Options, solution: Solution) -> dict[str, Any]:
    """The arguments as understood."""
    plan = solution.plan
    return {
        **options.settings(),
        **({} if solution.strength is None else {"strength": solution.strength}),
        "function_weights": options.function_weights.tolist(),
        "frozen": [g.m - len(edges) for g, edges in zip(options.graphs, options.free, strict=True)],
        "warm_start": options.start is not None,
        "memory": {"derivatives": plan.description, "precision": plan.precision, "peak": plan.peak},
        "engine": options.engine.name,
    }
