"""Sharded graphs as the solver sees them: each rank has its part, laid out with the engine, and rows of functions."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm import ranks as processes
from cotherm import validation
from cotherm.arrays import Floats, Ints
from cotherm.engines.petsc.engine import PetscEngine
from cotherm.engines.petsc.part import Part, owners_of
from cotherm.engines.petsc.pattern import Pattern
from cotherm.errors import CothermError
from cotherm.graphs.sharded.staging import COUPLED
from cotherm.graphs.sharded.store import GraphPart, ShardedGraph
from cotherm.heat.chebyshev import chebyshev_flow, require_bound
from cotherm.io import atomic
from cotherm.ranks import Ranks, together

# Moves along edges that make a bump of a landmark, as in cotherm.functions.
_MOVES = 2.0
_EXACT = 1e-10


@dataclass(frozen=True, eq=False)
class PartOfGraph:
    """A graph as the solver needs it: the number of all vertices, and the edges of this rank."""

    n: int
    i: NDArray[Any]
    j: NDArray[Any]
    w: Floats

    @property
    def m(self) -> int:
        return len(self.w)


@dataclass(frozen=True, eq=False)
class ShardView:
    """One graph: on disk, this rank's part of it, what the solver sees, and its edges laid out with the engine."""

    sharded: ShardedGraph
    part: GraphPart
    graph: PartOfGraph
    pattern: Pattern

    @property
    def rows(self) -> int:
        """Vertices of this rank's part."""
        return self.part.stop - self.part.start


def read_view(ranks: Ranks, engine: PetscEngine, sharded: ShardedGraph) -> ShardView:
    """Called by all ranks together; each reads its own part."""
    with together(ranks):
        ranges = sharded.vertex_ranges(ranks.size)
        part = sharded.part(ranks.rank, ranges=ranges)
    first_edges = engine.communicator.counts(part.first_edge)
    owners = owners_of(ranges, part.mirror_i)
    layout = Part(
        sharded.n,
        np.asarray(ranges, dtype=np.int64),
        part.i,
        part.j,
        part.mirror_i,
        part.mirror_j,
        owners.astype(np.int64),
        part.mirror_e - first_edges[owners],
    )
    graph = PartOfGraph(sharded.n, part.i, part.j, part.w)
    return ShardView(sharded, part, graph, engine.pattern_of_part(layout))


def start_weights(ranks: Ranks, views: Sequence[ShardView], start: Any) -> list[Floats] | None:
    """Weights to start from: those of an earlier result, or of graphs with the same edges."""
    processes.require_equal(ranks, "start", start is None)
    if start is None:
        return None
    with together(ranks):
        return [
            _weights_at(f"start[{k}]", one, view, ranks)
            for k, (one, view) in enumerate(zip(_started(start, len(views)), views, strict=True))
        ]


def _started(start: Any, count: int) -> list[Any]:
    if isinstance(start, str | os.PathLike):
        folder = atomic.as_path(start)
        if not (folder / COUPLED).is_file():
            raise CothermError("start", f"{folder}, without {COUPLED}", "the directory of an earlier result")
        return [folder / str(k) for k in range(count)]
    if not isinstance(start, Sequence) or len(start) != count:
        raise CothermError("start", validation.describe(start), f"one sharded graph for each of {count} graphs")
    return list(start)


def _weights_at(argument: str, given: Any, view: ShardView, ranks: Ranks) -> Floats:
    graph = given if isinstance(given, ShardedGraph) else ShardedGraph.open(given)
    if (graph.n, graph.m) != (view.sharded.n, view.sharded.m):
        found, needed = f"{graph.n} vertices and {graph.m} edges", f"{view.sharded.n} and {view.sharded.m}"
        raise CothermError(argument, found, f"{needed}, as the graph has")
    part = graph.part(ranks.rank, ranges=view.sharded.vertex_ranges(ranks.size))
    if not (np.array_equal(part.i, view.part.i) and np.array_equal(part.j, view.part.j)):
        raise CothermError(argument, f"other edges in {graph.path}", "the edges of the graph")
    return part.w


def median_degree(engine: PetscEngine, views: Sequence[ShardView]) -> float:
    """As :func:`cotherm.heat.times.median_degree`, over all ranks."""
    rows = [engine.sums_at_vertices(v.pattern, engine.edge_rows(v.pattern, v.graph.w)).values for v in views]
    degrees = np.concatenate(rows)
    return _median(engine, np.sort(degrees[degrees > 0.0]))


def _median(engine: PetscEngine, values: Floats) -> float:
    """The median of positive numbers on all ranks, ascending on each; 0 if there are none."""
    count = engine.ranks.sum(len(values))
    if not count:
        return 0.0
    low, high = (_ordered(engine, values, k) for k in ((count - 1) // 2, count // 2))
    return 0.5 * (low + high)


def _ordered(engine: PetscEngine, values: Floats, k: int) -> float:
    """The number with k smaller ones, by bisection: positive floats are in the order of their bits."""
    bits = values.view(np.int64)
    low, high = 0, int(np.array([np.inf]).view(np.int64)[0])
    while low < high:
        middle = (low + high) // 2
        if engine.ranks.sum(int(np.searchsorted(bits, middle, side="right"))) > k:
            high = middle
        else:
            low = middle + 1
    return float(np.array([low], dtype=np.int64).view(np.float64)[0])


def landmark_rows(engine: PetscEngine, view: ShardView, vertices: Ints) -> Floats:
    """Bumps around vertices, as :func:`cotherm.landmark_functions` makes them: the rows of this rank's part."""
    points = np.zeros((view.rows, len(vertices)))
    here = np.flatnonzero((vertices >= view.part.start) & (vertices < view.part.stop))
    points[vertices[here] - view.part.start, here] = 1.0
    degree = median_degree(engine, [view])
    times = np.array([_MOVES / degree if degree > 0.0 else 0.0])
    matrix = require_bound(engine.laplacian(view.pattern, engine.edge_rows(view.pattern, view.graph.w)))
    flow = chebyshev_flow(matrix, engine.vertex_rows(view.pattern, points), times, _EXACT)
    bumps = engine.to_numpy(flow)[0]
    return bumps / np.sqrt(engine.ranks.sum(np.sum(bumps**2, axis=0)))


def label_rows(ranks: Ranks, engine: PetscEngine, views: Sequence[ShardView]) -> list[Floats]:
    """Indicators of the classes that all views have, of unit norm; labels are those of the shards."""
    with together(ranks):
        for view in views:
            if view.part.labels is None:
                raise CothermError("labels", f"none in {view.sharded.path}", "shards with labels")
        here = [np.unique(view.part.labels) for view in views]  # type: ignore[arg-type]
    known = [set().union(*(set(one[k].tolist()) for one in ranks.gather(here))) for k in range(len(views))]
    classes = sorted(set.intersection(*known))
    with together(ranks):
        if not classes:
            raise CothermError("labels", "no class that all views have", "at least one class that occurs in every view")
    rows = []
    for view in views:
        F = (np.asarray(view.part.labels)[:, np.newaxis] == np.array(classes)).astype(np.float64)
        rows.append(F / np.sqrt(engine.ranks.sum(F.sum(axis=0))))
    return rows


def find_vertices(ranks: Ranks, graph: ShardedGraph, wanted: Sequence[str], source: str) -> Ints:
    """Find vertices by name, or by number as given; refuses missing ones.

    Each rank looks through its own range of the vertices.
    """
    named = next((one for one in ("vertex_names", "original") if graph.has(one)), None)
    with together(ranks):
        start, stop = graph.vertex_ranges(ranks.size)[ranks.rank : ranks.rank + 2].tolist()
        names = np.arange(start, stop) if named is None else graph.read_vertices(named, start, stop)
        places = {str(name): place for place, name in enumerate(names.tolist(), start)}
        found = np.array([places.get(one.strip(), -1) for one in wanted], dtype=np.int64)
    everywhere = np.max(ranks.gather(found), axis=0)
    with together(ranks):
        if np.any(everywhere < 0):
            missing = wanted[int(np.argmin(everywhere))]
            what = "a name" if named == "vertex_names" else f"a number from 0 to {graph.n - 1}"
            raise CothermError(source, repr(missing), f"{what} of a vertex of {graph.path}")
    return everywhere
