"""The times at which the page shows heat: 0, then times in equal ratios, as far as the page can compute them quickly.

A Chebyshev series for e^{−tL} needs about √(tλ ln(2/ε)) products with L, λ the largest eigenvalue, for an error ε.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cotherm.arrays import Floats
from cotherm.graphs.graph import Graph
from cotherm.heat.times import diffusion_time

# Error of heat in the page, relative to the norm of the function it starts from.
TOLERANCE = 1e-6
# From a tenth of a move along an edge to a thousand moves; by then heat is even on most small graphs.
_FEWEST_MOVES, _MOST_MOVES = 0.1, 1_000.0
# Multiply-adds on all graphs, before and after, for one source: some seconds in a browser.
_WORK = 2e9
_LEAST_DEGREE, _MOST_DEGREE = 100.0, 50_000.0


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
