"""Figures beside the graphs: cost, coupling error against time, agreement on pairs kept back, and the way there."""

from __future__ import annotations

from typing import Any

import numpy as np

from cotherm.arrays import Floats
from cotherm.errors import visible_lines
from cotherm.heat.coupling import coupling_error
from cotherm.methods.coupling.result import Coupling, best_route
from cotherm.progress import working
from cotherm.viewer.heat import Stops, series_degree

# Number of times of the curve, and their cost limits: multiply-adds, and numbers in memory.
_CURVE_TIMES, _CURVE_WORK, _CURVE_NUMBERS = 24, 3e9, 30_000_000
# If all times would take too long, the curve ends at this multiple of the longest time of the coupling.
_BEYOND = 2.0
# Errors below this fraction of the largest are not shown: heat is even by then.
_NEXT_TO_NOTHING = 1e-8
_MOST_STEPS = 1_000


def summary_of(result: Coupling) -> dict[str, Any]:
    """How the search ended."""
    return {
        "cost": result.cost,
        "distance": result.distance,
        "coupling": float(np.linalg.norm(result.coupling)),
        "coupling_before": float(np.linalg.norm(result.coupling_before)),
        "alpha": result.alpha,
        "status": result.status,
        "seconds": result.seconds,
        "method": "couple" if result.pairs is None else "couple_pairs",
        "text": visible_lines(str(result)),
    }


def curve_of(result: Coupling, stops: Stops) -> dict[str, Any]:
    """Coupling error before and after, at many times if that is quick, else at the times of the coupling."""
    times = np.asarray(result.times, dtype=np.float64)
    before, after = np.asarray(result.coupling_before), np.asarray(result.coupling)
    ends = [stops.most, min(stops.most, _BEYOND * float(np.max(times, initial=stops.least)))]
    end = next((end for end in ends if _is_quick(result, end)), None)
    if end is not None:
        times = np.unique(np.concatenate([np.geomspace(stops.least, end, _CURVE_TIMES), times]))
        with working("coupling error against time"):
            before = coupling_error(result.originals, result.functions, times)
            after = coupling_error(result.graphs, result.functions, times)
    order = np.argsort(times, kind="stable")
    least = _NEXT_TO_NOTHING * float(np.max(before, initial=0.0))
    return {
        "times": times[order].tolist(),
        "before": _numbers(before[order], least),
        "after": _numbers(after[order], least),
    }


def _is_quick(result: Coupling, longest: float) -> bool:
    graphs = [*result.originals, *result.graphs]
    q, n = result.functions[0].shape[1], max(graph.n for graph in graphs)
    steps = sum(2.0 * graph.m + 4.0 * graph.n for graph in graphs) * q
    many = (_CURVE_TIMES + len(result.times)) * n * q > _CURVE_NUMBERS
    return q > 0 and len(result.graphs) > 1 and not many and series_degree(graphs, 0.5 * longest) * steps <= _CURVE_WORK


def _numbers(values: Floats, least: float) -> list[float | None]:
    """Drop errors close to zero: a scale that included them would show little else."""
    return [float(value) if value >= least else None for value in values]


def agreement_of(result: Coupling) -> list[dict[str, Any]]:
    """Agreement of every two views with pairs that were kept back."""
    if result.pairs is None:
        return []
    return [
        {
            "views": list(one.views),
            "pairs": one.kept_back,
            "before": one.before,
            "borrowed": one.borrowed,
            "after": one.after,
            "chance": one.chance,
        }
        for one in result.pairs.agreement
        if one.kept_back
    ]


def history_of(result: Coupling) -> list[dict[str, float]]:
    """The steps of the route taken; if they are very many, evenly spaced ones and the last."""
    steps = best_route(result.history)
    if len(steps) > _MOST_STEPS:
        steps = [steps[k] for k in np.unique(np.linspace(0, len(steps) - 1, _MOST_STEPS).astype(int))]
    return [{"cost": float(step["cost"]), "coupling": float(step["coupling"])} for step in steps]
