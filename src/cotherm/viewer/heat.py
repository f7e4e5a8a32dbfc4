"""Heat in the page: the times at which it is shown, frames of graphs that are shown in part, and values to check it by.

Times are 0, then times in equal ratios, as far as the page can compute them quickly. A Chebyshev series for e^{−tL}
needs about √(tλ ln(2/ε)) products with L, λ the largest eigenvalue, for an error ε.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermWarning
from cotherm.graphs.graph import Graph
from cotherm.heat.flow import heat_flow
from cotherm.heat.times import diffusion_time
from cotherm.methods.coupling.result import Coupling
from cotherm.progress import track
from cotherm.viewer.blocks import Blocks

# Error of heat in the page, relative to the norm of the function it starts from.
TOLERANCE = 1e-6
# From a tenth of a move along an edge to a thousand moves; by then heat is even on most small graphs.
_FEWEST_MOVES, _MOST_MOVES = 0.1, 1_000.0
# Multiply-adds on all graphs, before and after, for one source: some seconds in a browser.
_WORK = 2e9
_LEAST_DEGREE, _MOST_DEGREE = 100.0, 50_000.0
# Levels between the least and the greatest heat at each time: codes are multiples of a divisor of 65,535, so that the
# last one is reached. Fewer levels compress better, and no screen has as many colors.
_STEP = 15
LEVELS = 65_535 // _STEP + 1
# Numbers of heat in memory at once.
_AT_ONCE = 50_000_000
# Check values: the numbers of times and vertices, and the tolerance, as exact as rounding allows.
_CHECKED_TIMES, _CHECKED_VERTICES, _CHECKED_TOLERANCE = 3, 4, 1e-11
_SEED = 0


@dataclass(frozen=True)
class Stops:
    """Stop 0 is t = 0; then ``count`` times from ``least`` to ``most``."""

    least: float
    most: float
    count: int
    unit: float

    @property
    def times(self) -> Floats:
        return np.concatenate([[0.0], np.geomspace(self.least, self.most, self.count)])


def stops_of(graphs: Sequence[Graph], coupled: Sequence[float], count: int) -> Stops:
    """Choose stops for the graphs before and after, and the times at which they were coupled."""
    unit = diffusion_time(1.0, *graphs, without_edges=1.0)
    unit = float(np.clip(unit, 1e-200, 1e200))
    positive = [float(t) for t in coupled if 1e-200 < t < 1e200]
    least = min([_FEWEST_MOVES * unit, *(0.5 * t for t in positive)])
    longest = max([_MOST_MOVES * unit, *(2.0 * t for t in positive)])
    quick = max([_quick(graphs), *(1.25 * t for t in positive)])
    most = max(min(longest, quick), 10.0 * least)
    return Stops(least, most, count, unit)


def _quick(graphs: Sequence[Graph]) -> float:
    """The longest time whose heat is still quick to compute."""
    step = sum(2.0 * graph.m + 10.0 * graph.n for graph in graphs)
    degree = float(np.clip(_WORK / step, _LEAST_DEGREE, _MOST_DEGREE))
    bound = 2.0 * max(float(graph.degrees.max(initial=0.0)) for graph in graphs)
    return degree**2 / (max(bound, 1e-200) * np.log(2.0 / TOLERANCE))


def series_degree(graphs: Sequence[Graph], t: float) -> float:
    """About how many products with L heat at time t takes, on the graph that needs the most."""
    bound = 2.0 * max(float(graph.degrees.max(initial=0.0)) for graph in graphs)
    return 30.0 + float(np.sqrt(min(t * bound, 1e300) * np.log(2.0 / TOLERANCE)))


def _states(result: Coupling, views: Iterable[int], label: str) -> Iterable[tuple[int, str, Graph]]:
    """These views before and after, one after the other."""
    states = (("before", result.originals), ("after", result.graphs))
    jobs = [(k, state, graphs[k]) for k in views for state, graphs in states]
    return track(jobs, total=len(jobs), label=label)


def frames_of(
    blocks: Blocks, result: Coupling, views: Sequence[int], shown: Sequence[Ints], functions: int, stops: Stops
) -> list[dict[str, Any]]:
    """Heat of the whole graphs at shown vertices: for each view, before and after, and each of the first functions.

    Heat at every stop is offset + scale · codes / 65535, and ``sum`` that of the whole graph, the same at every stop.
    """
    found = []
    for k, state, graph in _states(result, views, "heat of the whole graphs"):
        together = max(1, _AT_ONCE // (len(stops.times) * graph.n))
        for start in range(0, functions, together):
            columns = range(start, min(start + together, functions))
            flows = _flow(graph, result.functions[k][:, columns], stops.times, TOLERANCE)
            for c, a in enumerate(columns):
                flow = flows[:, shown[k], c]
                low, scale = flow.min(axis=1), np.ptp(flow, axis=1)
                extent = np.where(scale > 0.0, scale, 1.0)[:, np.newaxis]
                codes = np.round((flow - low[:, np.newaxis]) / extent * (LEVELS - 1)) * _STEP
                about = {"function": a, "view": k, "graph": state}
                values = blocks.add(f"{k}.{state}.heat.{a}", codes.astype(np.uint16), "u2")
                total = float(result.functions[k][:, a].sum())
                found.append(about | {"values": values, "scale": scale.tolist(), "offset": low.tolist(), "sum": total})
    return found


def checks_of(result: Coupling, reduced: Sequence[int], shown: Sequence[Ints], stops: Stops) -> list[dict[str, Any]]:
    """A few values of heat on every view, before and after: from a function, and from a vertex where it is whole.

    Vertices are counted as in the page.
    """
    rng = np.random.default_rng(_SEED)
    picked = np.unique(np.linspace(1, stops.count, _CHECKED_TIMES).round().astype(int))
    times = stops.times[picked]
    found: list[dict[str, Any]] = []
    for k, state, graph in _states(result, range(len(result.graphs)), "heat to check the page by"):
        at = rng.choice(len(shown[k]), min(_CHECKED_VERTICES, len(shown[k])), replace=False)
        source = int(at[0])
        F = result.functions[k][:, :1]
        about: list[dict[str, Any]] = [{"function": 0, "vertex": None}] * F.shape[1]
        if k not in reduced:
            F = np.column_stack([F, np.arange(graph.n) == shown[k][source]])
            about = [*about, {"function": None, "vertex": source}]
        flow = _flow(graph, F, times, _CHECKED_TOLERANCE)
        for c, start in enumerate(about):
            for t, time in enumerate(times.tolist()):
                values = flow[t, shown[k][at], c].tolist()
                found.append({"view": k, "graph": state, **start, "time": time, "at": at.tolist(), "heat": values})
    return found


def _flow(graph: Graph, F: Floats, times: Floats, tolerance: float) -> Floats:
    """``heat_flow`` without warnings about columns with little heat left: the page says how far off it is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CothermWarning)
        return heat_flow(graph, F, times, tolerance=tolerance)
