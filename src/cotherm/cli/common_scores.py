"""Scores of a common graph beside those of its views, by labels that only judge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cotherm import limits
from cotherm.arrays import Floats, Ints
from cotherm.cli.outputs import table_text
from cotherm.errors import CothermError
from cotherm.evaluate.clustering import clustering_scores
from cotherm.evaluate.retrieval import retrieval
from cotherm.graphs.graph import Graph
from cotherm.heat.distance import diffusion_distance
from cotherm.heat.times import diffusion_time
from cotherm.io.labels import UNKNOWN
from cotherm.methods.coupling.result import Coupling
from cotherm.methods.pairs.clusters import AUTO, clustering
from cotherm.methods.pairs.common import CommonGraph
from cotherm.methods.pairs.rules import MOVES

_TITLE = "Clusters, and retrieval by diffusion distance in percent; labels only judge"


class _State(NamedTuple):
    """Vertices of a graph, their labels, and what is judged by them: clusters and distances of the graph."""

    name: str
    judged: Ints
    labels: NDArray[np.str_]
    clusters: Ints | None
    distances: Floats | None


def scored(
    names: list[str], result: Coupling, common: CommonGraph, clusters: Ints | None, seed: int
) -> tuple[list[dict[str, Any]], str]:
    """Scores of every view as given, coupled, and on the common graph; nothing if labels are not stored.

    Beside all items of the common graph stand those of the views as given, merged in the same way but not coupled.
    """
    if common.graph.labels is None:
        return [], ""
    states = _states(names, result, common, clusters, seed)
    rows: list[dict[str, Any]] = [
        {"row": one.name, "items": len(one.judged), **_scores(one)} for one in states if len(one.judged) > 1
    ]
    columns = [title for title in ("mAP", "ACC", "NMI", "AMI", "ARI") if any(title in row for row in rows)]
    if not columns:
        return [], ""
    cells = [[row["row"], f"{row['items']:,}", *(_shown(row, title) for title in columns)] for row in rows]
    return rows, f"\n{_TITLE}\n{table_text(['', 'items', *columns], cells)}"


def _states(
    names: list[str], result: Coupling, common: CommonGraph, clusters: Ints | None, seed: int
) -> Iterator[_State]:
    labels = np.asarray(common.graph.labels).astype(str)
    known = labels != UNKNOWN
    count = None if clusters is None else int(clusters.max()) + 1
    distances = _distances(common.graph, common)
    for k, name in enumerate(names):
        items = common.of_view(k)
        judged = np.flatnonzero((items >= 0) & known[items])
        own = labels[items[judged]]
        for state, graph in (("before", result.originals[k]), ("coupled", result.graphs[k])):
            yield _State(f"{name}, {state}", judged, own, _clusters(graph, count, seed), _distances(graph))
        yield _State(f"{name}, common graph", items[judged], own, clusters, distances)
    every = np.flatnonzero(known)
    merged = _not_coupled(result, common)
    own_clusters = None if count is None else merged.clusters(count, seed=seed)
    yield _State("all items, merged, not coupled", every, labels[known], own_clusters, _distances(merged.graph, merged))
    yield _State("all items, common graph", every, labels[known], clusters, distances)


def _not_coupled(result: Coupling, common: CommonGraph) -> CommonGraph:
    """The common graph of the same views as given."""
    given = replace(result, graphs=result.originals)
    every = not common.left_out
    return given.common_graph(second_neighbors=common.first_neighbors is not None, include_unrelated=every)


def _clusters(graph: Graph, count: int | None, seed: int) -> Ints | None:
    """Clusters of a view by itself, of the same number and method as the common graph's; None if impossible."""
    if count is None or count > graph.n:
        return None
    try:
        return clustering(graph, count, AUTO, seed).labels
    except CothermError:  # a view without weight, or with fewer vertices that differ; the others can still be judged
        return None


def _distances(graph: Graph, common: CommonGraph | None = None) -> Floats | None:
    """Distances between all vertices, after equally many moves on every graph; None for graphs that are too large."""
    if graph.n > limits.ALL_DISTANCES:
        return None
    time = diffusion_time(MOVES, graph, without_edges=MOVES)
    return diffusion_distance(graph, time) if common is None else common.distances(time)


def _scores(state: _State) -> dict[str, float]:
    found: dict[str, float] = {}
    repeated = len(np.unique(state.labels)) < len(state.labels)  # otherwise no item has another one to find
    if state.distances is not None and repeated:
        judged = retrieval(state.distances[np.ix_(state.judged, state.judged)], state.labels)
        found["mAP"] = 100.0 * judged.mean_average_precision
    if state.clusters is not None:
        found.update(clustering_scores(state.labels, state.clusters[state.judged]))
    return found


def _shown(row: dict[str, Any], title: str) -> str:
    if title not in row:
        return "-"
    return f"{row[title]:.1f}" if title == "mAP" else f"{row[title]:.3f}"
