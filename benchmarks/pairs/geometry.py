"""What contestants of the retrieval return: distances in every view, at times that the judge asks for.

Some methods leave the units of the graphs as given, others normalize. Theirs is the time in which heat makes as many
moves along their own edges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from cotherm.arrays import Floats
from cotherm.graphs.graph import Graph
from cotherm.heat.distance import diffusion_distance
from cotherm.heat.times import diffusion_time
from cotherm.methods.pairs.common import CommonGraph
from cotherm.methods.result import JointBases


class Geometry(Protocol):
    """Distances between the vertices of a view."""

    def distances(self, view: int, t: float, moves: float) -> Floats:
        """At a time of the graphs as given, in which heat makes so many moves on the graph of the view."""


@dataclass(frozen=True)
class OfGraphs:
    """A graph for each view; ``normalized`` where it has units of its own."""

    graphs: Sequence[Graph]
    normalized: bool = False

    def distances(self, view: int, t: float, moves: float) -> Floats:
        graph = self.graphs[view]
        return diffusion_distance(graph, diffusion_time(moves, graph) if self.normalized else t)


@dataclass(frozen=True)
class OfBases:
    """Common modes; ``normalized`` where they are of normalized Laplacians, whose degrees are 1."""

    result: JointBases
    normalized: bool = False

    def distances(self, view: int, t: float, moves: float) -> Floats:
        return self.result.distances(moves if self.normalized else t)[view]


@dataclass(frozen=True)
class OfCommon:
    """One graph over all items, of which a view has some. Views whose items are not all in it keep their own graph.

    ``plain`` distances are those of the graph, whichever views items are in.
    """

    common: CommonGraph
    graphs: Sequence[Graph]
    plain: bool = False

    def distances(self, view: int, t: float, moves: float) -> Floats:
        here = self.common.of_view(view)
        if (here < 0).any():
            return diffusion_distance(self.graphs[view], t)
        time = diffusion_time(moves, self.common.graph)
        if self.plain:
            return diffusion_distance(self.common.graph, time, sources=here)[:, here]
        return self.common.distances(time, sources=here)[:, here]
