"""Heat in the page: the times at which it is shown, frames of graphs that are shown in part, and values to check it by.

Times are 0, then times in equal ratios, as far as the page can compute them quickly. A Chebyshev series for e^{−tL}
needs about √(tλ ln(2/ε)) products with L, λ the largest eigenvalue, for an error ε.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermWarning
from cotherm.graphs.graph import Graph
from cotherm.heat.flow import heat_flow
from cotherm.heat.times import diffusion_time
from cotherm.methods.coupling.result import Coupling
from cotherm.progress import track

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


@dataclass(frozen=True)
class Frames:
    """Heat from one function at every stop, at the vertices that are shown: offset + scale · codes / 65535.

    ``sum`` is the heat of the whole graph, the same at every stop.
    """

    codes: NDArray[np.uint16]
    offset: Floats
    scale: Floats
    sum: float


def state_graphs(result: Coupling, k: int) -> list[tuple[str, Graph]]:
    """One view, before and after."""
    return [("before", result.originals[k]), ("after", result.graphs[k])]


def frames_of(
    result: Coupling, views: Sequence[int], shown: Sequence[Ints], functions: int, stops: Stops
) -> list[tuple[dict[str, Any], Frames]]:
    """Heat of the whole graphs at shown vertices: for each view, before and after, and each of the first functions."""
    jobs = [(k, state, graph) for k in views for state, graph in state_graphs(result, k)]
    found = []
    for k, state, graph in track(jobs, total=len(jobs), label="heat of the whole graphs"):
        together = max(1, _AT_ONCE // (len(stops.times) * graph.n))
        for start in range(0, functions, together):
            columns = range(start, min(start + together, functions))
            flow = _flow(graph, result.functions[k][:, columns], stops.times, TOLERANCE)
            for c, a in enumerate(columns):
                total = float(result.functions[k][:, a].sum())
                about = {"function": a, "view": k, "graph": state}
                found.append((about, _quantized(flow[:, shown[k], c], total)))
    return found


def _quantized(flow: Floats, total: float) -> Frames:
    low, scale = flow.min(axis=1), np.ptp(flow, axis=1)
    extent = np.where(scale > 0.0, scale, 1.0)[:, np.newaxis]
    levels = np.round((flow - low[:, np.newaxis]) / extent * (LEVELS - 1))
    return Frames((levels * _STEP).astype(np.uint16), low, scale, total)


def checks_of(result: Coupling, reduced: Sequence[bool], shown: Sequence[Ints], stops: Stops) -> list[dict[str, Any]]:
    """A few values of heat on every view, before and after: from a function, and from a vertex where it is whole.

    Vertices are counted as in the page.
    """
    rng = np.random.default_rng(_SEED)
    picked = np.unique(np.linspace(1, stops.count, _CHECKED_TIMES).round().astype(int))
    times = stops.times[picked]
    jobs = [(k, state, graph) for k in range(len(result.graphs)) for state, graph in state_graphs(result, k)]
    found: list[dict[str, Any]] = []
    for k, state, graph in track(jobs, total=len(jobs), label="heat to check the page by"):
        at = rng.choice(len(shown[k]), min(_CHECKED_VERTICES, len(shown[k])), replace=False)
        source = int(at[0])
        starts, about = _starts(result.functions[k], None if reduced[k] else int(shown[k][source]))
        flow = _flow(graph, starts, times, _CHECKED_TOLERANCE)
        for c, a in enumerate(about):
            for t, time in enumerate(times.tolist()):
                from_ = {"function": a, "vertex": source if a is None else None}
                values = flow[t, shown[k][at], c].tolist()
                found.append({"view": k, "graph": state, **from_, "time": time, "at": at.tolist(), "heat": values})
    return found


def _starts(F: Floats, vertex: int | None) -> tuple[Floats, list[int | None]]:
    """The first function and one vertex as columns; None means the vertex."""
    columns: list[Floats] = []
    about: list[int | None] = []
    if F.shape[1]:
        columns.append(F[:, 0])
        about.append(0)
    if vertex is not None:
        point = np.zeros(len(F))
        point[vertex] = 1.0
        columns.append(point)
        about.append(None)
    return np.column_stack(columns) if columns else np.empty((len(F), 0)), about


def _flow(graph: Graph, F: Floats, times: Floats, tolerance: float) -> Floats:
    """``heat_flow`` without warnings about columns with little heat left: the page says how far off it is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CothermWarning)
        return heat_flow(graph, F, times, tolerance=tolerance)
