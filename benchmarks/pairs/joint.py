"""One graph for all items, which are in all views: retrieval and clusters on it, the same way for every contestant.

Graphs are those of neighbors as usual, and items are in random order. Every contestant returns one graph for every row
of the table. The judge lets heat move along its edges, whatever their units are: mean average precision of diffusion
distances after some moves. Dense affinities may be meant to be read as they are, so items are also ranked by weight.
Clusters, as many as there are classes, are those of the modes, and those by where heat goes where items are not too
many.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
from sklearn.decomposition import PCA

from benchmarks.pairs import cases
from benchmarks.pairs.cases import Case
from benchmarks.pairs.diffusions import alternating, integrated
from benchmarks.pairs.peers import standardized
from benchmarks.pairs.rivals import REDUCING, RIVALS, Rival
from benchmarks.pairs.sets import Items
from benchmarks.suite.parts import Contestant, Family, Library, Limits, Problem
from cotherm import limits
from cotherm.arrays import Floats, Ints
from cotherm.evaluate import clustering_scores, retrieval
from cotherm.graphs.build import knn_graph
from cotherm.graphs.graph import Graph
from cotherm.heat.distance import diffusion_distance
from cotherm.heat.spectrum import lowest_normalized
from cotherm.heat.times import diffusion_time
from cotherm.methods.average import average
from cotherm.methods.pairs.clusters import HEAT as BY_HEAT
from cotherm.methods.pairs.clusters import clustering
from cotherm.methods.pairs.common import CommonGraph, common_graph
from cotherm.methods.pairs.couple_pairs import couple_pairs
from cotherm.methods.result import unit_row_clusters
from paper.rivals.similarity_fusion import fuse_similarity

NAME = "joint"
PARTS = (100.0,)
MOVES = {"1 move": 1.0, "4 moves": 4.0, "8 moves": 8.0}
WEIGHTS, AMI, HEAT, OWN = "by weight", "AMI", "AMI, by heat", "AMI, own clusters"
SINGLE, MERGED, SPREAD, COMMON = "single views", "merged, not coupled", "merged, second neighbors", "common graph"
_COLUMNS = 30


class Seen(NamedTuple):
    """What contestants see of the same items in several views: graphs, and the rows they are made of.

    ``features`` are the columns that rows are made of where these are components, else the same.
    """

    graphs: tuple[Graph, ...]
    rows: tuple[Floats, ...]
    features: tuple[Floats, ...]
    clusters: int
    seed: int


class Judged(NamedTuple):
    """And what only the judge sees."""

    seen: Seen
    labels: Ints


class Joined(NamedTuple):
    """One graph of all items, and clusters where the method has its own."""

    graph: Graph
    clusters: Ints | None = None


Answer = dict[str, Joined]  # by the name of a row


def draw(items: Items, case: Case) -> Judged:
    """The problem of a case; items in random order, as rows sorted by class and equal distances would flatter."""
    items = items.of(np.random.default_rng([case.seed, 2]).permutation(items.n))
    seen = Seen(items.default_graphs(), items.rows, items.features or items.rows, items.classes, case.seed)
    return Judged(seen, items.labels)


def judge(problem: Judged, answer: Answer) -> Mapping[str, float | None]:
    """mAP after some moves and AMI for each row: figures named by ``figure_name``."""
    figures: dict[str, float | None] = {}
    for row, found in answer.items():
        figures[figure_name(row, WEIGHTS)] = ranked(found.graph, problem.labels)
        for moment, moves in MOVES.items():
            figures[figure_name(row, moment)] = precision(found.graph, problem.labels, moves)
        ways = {**clusterings(found.graph, problem.seen.clusters, problem.seen.seed), OWN: found.clusters}
        for name, clusters in ways.items():
            scores = None if clusters is None else clustering_scores(problem.labels, clusters)
            figures[figure_name(row, name)] = None if scores is None else scores["AMI"]
    return figures


def clusterings(graph: Graph, count: int, seed: int) -> dict[str, Ints | None]:
    """Clusters of a graph by its modes, and by heat where there are not too many vertices."""
    by_heat = clustering(graph, count, BY_HEAT, seed).labels if graph.n <= limits.HEAT_CLUSTERS else None
    return {AMI: unit_row_clusters(lowest_normalized(graph, count).vectors, count, seed), HEAT: by_heat}


def precision(graph: Graph, labels: Ints, moves: float) -> float:
    """mAP of diffusion distances after so many moves along the graph's own edges."""
    return retrieval(diffusion_distance(graph, diffusion_time(moves, graph)), labels).mean_average_precision


def ranked(graph: Graph, labels: Ints) -> float:
    """mAP where the items that an item has most weight to come first."""
    return retrieval(-graph.adjacency().toarray(), labels).mean_average_precision


def figure_name(row: str, figure: str) -> str:
    return f"{row}|{figure}"


def view_name(view: str | None) -> str:
    """The row of a single view."""
    return f"view: {view}"


def _single(given: Seen, _: Limits) -> Answer:
    return {view_name(graph.name): Joined(graph) for graph in given.graphs}


def _concatenated(given: Seen) -> Graph:
    """Neighbors by principal components of all columns side by side, standardized."""
    X = np.hstack(standardized(given.rows))
    return knn_graph(PCA(min(_COLUMNS, *X.shape), random_state=given.seed).fit_transform(X))


def _merged(given: Seen, _: Limits) -> Answer:
    """As given, and with the second neighbors and equal degrees that the common graph of coupled views has."""
    ways = {MERGED: common_graph(given.graphs), SPREAD: common_graph(given.graphs, second_neighbors=True)}
    return {name: _with_clusters(common, given) for name, common in ways.items()}


def _common(given: Seen, _: Limits) -> Answer:
    return {COMMON: _with_clusters(couple_pairs(given.graphs, random_state=given.seed).common_graph(), given)}


def _with_clusters(common: CommonGraph, given: Seen) -> Joined:
    """A common graph whose vertices are the items in their order, as they are where all items are paired."""
    assert np.array_equal(common.items[:, common.views[0]], np.arange(common.graph.n))
    return Joined(common.graph, common.clusters(given.clusters, random_state=given.seed))


def _of_graph(name: str, make: Callable[[Seen], Graph], given: Seen, _: Limits) -> Answer:
    return {name: Joined(make(given))}


def _of_rival(name: str, make: Rival, given: Seen, _: Limits) -> Answer:
    return {name: Joined(make(given.features if name in REDUCING else given.rows, given.seed))}


class Method(NamedTuple):
    """A contestant."""

    solve: Callable[[Seen, Limits], Answer]
    needs: Library | None = None


_GRAPHS: dict[str, Callable[[Seen], Graph]] = {
    "concatenation": _concatenated,
    "average": lambda given: average(given.graphs).graph,
    "normalized average": lambda given: average(given.graphs, normalized=True).graph,
    "similarity fusion": lambda given: fuse_similarity(given.graphs).graph,
    "alternating diffusion": lambda given: alternating(given.graphs),
    "integrated diffusion": lambda given: integrated(given.graphs),
}
METHODS = {
    SINGLE: Method(_single),
    **{name: Method(partial(_of_graph, name, make)) for name, make in _GRAPHS.items()},
    **{name: Method(partial(_of_rival, name, make), library) for name, (make, library) in RIVALS.items()},
    MERGED: Method(_merged),
    COMMON: Method(_common),
}


def takes_part(_name: str, case: Case) -> bool:
    """Everybody does where all items are in all views."""
    return case.percent == 100.0


def named(name: str) -> Problem:
    return cases.problem(Case.named(name), draw)


FAMILY = Family(
    name=NAME,
    description="One graph of all items.",
    problems=lambda _: (),
    contestants=tuple(
        Contestant(name, method.solve, needs=method.needs, prepare=lambda p: p.seen) for name, method in METHODS.items()
    ),
    figures=(),
    judge=judge,
    named=named,
)
