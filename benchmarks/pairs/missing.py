"""Clusters of items that are in all views or in one: adjusted mutual information and accuracy.

Where items are really missing from views, these are the ones. Graphs are made of the rows that a view has. The number
of clusters is known, the classes are not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from benchmarks.pairs import cases
from benchmarks.pairs.cases import Case
from benchmarks.pairs.pairing import seen, vertices
from benchmarks.pairs.peers import PEERS, Peer, standardized
from benchmarks.pairs.sets import Items, source, unit_rows
from benchmarks.suite.parts import Contestant, Family, Figure, Library, Limits, Problem
from cotherm.arrays import Floats, Ints
from cotherm.evaluate import clustering_scores
from cotherm.graphs.graph import Graph
from cotherm.methods.average import average
from cotherm.methods.pairs.common import CommonGraph, common_graph
from cotherm.methods.pairs.couple_pairs import couple_pairs

NAME = "missing"
PARTS = (100.0, 50.0, 30.0)
STANDARDIZED, UNIT, PUBLISHED = ", standardized", ", unit rows", ", as published"


class Seen(NamedTuple):
    """What contestants see of n items.

    ``table`` has the vertex of every item in each graph, −1 where it is missing. ``rows`` are the features that graphs
    are made of, (n, d_k), and ``published`` those of the data set, both NaN where an item is missing.
    """

    graphs: tuple[Graph, ...]
    table: Ints
    rows: tuple[Floats, ...]
    published: tuple[Floats, ...]
    clusters: int
    seed: int


class Judged(NamedTuple):
    """And what only the judge sees."""

    seen: Seen
    labels: Ints


def draw(items: Items, case: Case) -> Judged:
    """The problem of a case; items in random order, as rows sorted by class and equal distances would flatter."""
    order = np.random.default_rng([case.seed, 1]).permutation(items.n)
    really = items.there[order]
    there = seen(items.n, len(items.views), case.percent, case.seed) if really.all() else really
    graphs = items.graphs_of([order[column] for column in there.T])
    rows, published = (
        tuple(np.where(column[:, np.newaxis], X[order], np.nan) for X, column in zip(views, there.T, strict=True))
        for views in (items.rows, items.published or items.rows)
    )
    return Judged(Seen(graphs, vertices(there), rows, published, items.classes, case.seed), items.labels[order])


def judge(problem: Judged, clusters: Ints) -> Mapping[str, float | None]:
    """The scores of a cluster for every item."""
    scores = clustering_scores(problem.labels, clusters)
    return {"AMI": scores["AMI"], "accuracy": scores["ACC"]}


def _coupled(given: Seen, _: Limits) -> Ints:
    return of_items(couple_pairs(given.graphs, given.table, random_state=given.seed).common_graph(), given)


def _merged(given: Seen, _: Limits) -> Ints:
    return of_items(common_graph(given.graphs, given.table), given)


def of_items(common: CommonGraph, given: Seen) -> Ints:
    """Clusters of a common graph, in the order of the items."""
    found = common.clusters(given.clusters, random_state=given.seed)
    clusters = np.empty(len(given.table), dtype=np.int64)
    for k, column in enumerate(given.table.T):
        here = np.flatnonzero(column >= 0)
        clusters[here] = found[common.of_view(k)[column[here]]]
    return clusters


def _average(given: Seen, _: Limits) -> Ints:
    return average(given.graphs, normalized=True).clusters(given.clusters, random_state=given.seed)[0]


def _peer(peer: Peer, tables: Callable[[Seen], Sequence[Floats]], given: Seen, _: Limits) -> Ints:
    return peer(tables(given), given.clusters, given.seed)


# What is given to peers, by the word that their names end in: preparation matters more than method.
_TABLES: dict[str, Callable[[Seen], Sequence[Floats]]] = {
    "": lambda given: given.rows,
    STANDARDIZED: lambda given: standardized(given.rows),
    UNIT: lambda given: [unit_rows(X) for X in given.rows],
    PUBLISHED: lambda given: given.published,
}


class Method(NamedTuple):
    """A contestant, and where it takes part."""

    solve: Callable[[Seen, Limits], Ints]
    needs: Library | None = None
    complete: bool = False  # only with all items in all views
    already: str = ""  # but where of these views rows have unit length already: nothing new


METHODS = {
    "coupled, common graph": Method(_coupled),
    "common graph, not coupled": Method(_merged),
    "normalized average": Method(_average, complete=True),
    **{
        name + word: Method(
            partial(_peer, peer, tables), library, already={UNIT: "all", PUBLISHED: "none"}.get(word, "")
        )
        for name, (peer, library) in PEERS.items()
        for word, tables in _TABLES.items()
    },
}


def takes_part(name: str, case: Case) -> bool:
    """Whether a contestant can do with so many items in all views, and its preparation is not that of another."""
    method = METHODS[name]
    return (case.percent == 100.0 or not method.complete) and source(case.set).unit != method.already


def named(name: str) -> Problem:
    return cases.problem(Case.named(name), draw)


FAMILY = Family(
    name=NAME,
    description="Clusters of all items.",
    problems=lambda _: (),
    contestants=tuple(
        Contestant(name, method.solve, needs=method.needs, prepare=lambda p: p.seen) for name, method in METHODS.items()
    ),
    figures=(Figure("AMI", "higher", ".3f"), Figure("accuracy", "higher", ".3f")),
    judge=judge,
    named=named,
)
