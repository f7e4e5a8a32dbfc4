"""From a solution to the result that the caller sees, its cost and coupling evaluated anew."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any

import numpy as np

from cotherm.arrays import Floats
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
    misled = _is_misled(options, solution, cost)
    return Coupling(
        graphs=coupled,
        originals=tuple(options.graphs),
        functions=tuple(columns),
        times=tuple(times.tolist()),
        alpha=solution.alpha,
        cost=cost,
        distance=solution.distance,
        coupling_before=_before(options, columns, times),
        coupling=np.sqrt(coupling_terms(Q, np.ones(len(coupled)))),
        mismatch=functions_mismatch(columns),
        status="stalled" if misled and solution.status == "converged" else solution.status,
        optimality=solution.optimality,
        history=solution.history,
        settings=_settings(options, solution),
        versions=versions(),
        seconds=time.perf_counter() - began,
    )


def _before(options: Options, columns: list[Floats], times: Floats) -> Floats:
    """The weak coupling error of the graphs as given."""
    return coupling_error(options.graphs, columns, times, engine=options.engine)


def _is_misled(options: Options, solution: Solution, cost: float) -> bool:
    """Whether the search's cost differs from the true one by more than rounding."""
    size = max(float(np.sum(F**2)) for F in options.weighted_functions)
    noise = np.sqrt(solution.alpha) * float(options.graph_weights.sum()) * _NOISE * size
    return not abs(np.sqrt(solution.cost) - np.sqrt(cost)) <= noise + _NOISE * np.sqrt(cost)


def _settings(options: Options, solution: Solution) -> dict[str, Any]:
    """The arguments as understood."""
    continuation, plan = options.continuation, solution.plan
    return {
        "times": "auto" if options.times is None else options.times.tolist(),
        "alpha": "auto" if options.alpha is None else options.alpha,
        **({} if solution.strength is None else {"strength": solution.strength}),
        "rigidity": options.rigidity.tolist(),
        "graph_weights": options.graph_weights.tolist(),
        "function_weights": options.function_weights.tolist(),
        "frozen": [g.m - len(edges) for g, edges in zip(options.graphs, options.free, strict=True)],
        "continuation": continuation if isinstance(continuation, str) else [asdict(stage) for stage in continuation],
        "warm_start": options.start is not None,
        "tolerance": options.tolerance,
        "max_iterations": options.max_iterations,
        "max_seconds": options.max_seconds,
        "memory": {"derivatives": plan.description, "precision": plan.precision, "peak": plan.peak},
        "engine": options.engine.name,
    }
