"""Retrieval with a part of the items paired: mean average precision of diffusion distances, view by view.

Every view keeps all its vertices. Of the items that are not paired nobody knows which vertex of another view is the
same. Contestants return geometries; no contestant sees labels. ``STEPS`` are what coupling by pairs consists of, each
with what comes before it, so that what a part adds can be told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from benchmarks.pairs import cases
from benchmarks.pairs.alone import alone
from benchmarks.pairs.cases import Case
from benchmarks.pairs.geometry import Geometry, OfBases, OfCommon, OfGraphs
from benchmarks.pairs.pairing import paired_items
from benchmarks.pairs.sets import Items, Moment
from benchmarks.suite.parts import Contestant, Family, Limits, Problem
from cotherm.arrays import Floats, Ints
from cotherm.evaluate import retrieval
from cotherm.functions import pair_functions
from cotherm.graphs.graph import Graph
from cotherm.heat.times import median_degree
from cotherm.methods.alignment import align
from cotherm.methods.average import average
from cotherm.methods.joint_diagonalization import joint_diagonalize
from cotherm.methods.pairs.common import common_graph
from cotherm.methods.pairs.couple_pairs import couple_pairs
from cotherm.methods.quasi_harmonic import coupled_bases
from paper.rivals.coregularization import coregularize
from paper.rivals.similarity_fusion import fuse_similarity

NAME = "retrieval"
PARTS = (100.0, 75.0, 50.0, 25.0, 10.0)
GIVEN, SECOND, BORROWED = "as given", "second neighbors, equal degrees", "borrowed"
ONLY_COUPLED, COUPLED = "coupled without borrowing", "coupled"
MERGED, SPREAD = "merged, not coupled", "merged, second neighbors"
OF_BORROWED, COMMON = "common graph of borrowed", "common graph"
EQUAL, PLAIN = "common graph, equal view weights", "common graph, plain distances"
STEPS = (GIVEN, SECOND, BORROWED, ONLY_COUPLED, COUPLED, MERGED, SPREAD, OF_BORROWED, EQUAL, PLAIN, COMMON)
# So weak that nothing is coupled: what is left is what comes before.
WEAK = 1e-6
# Of coupled bases, alignment and co-regularization, as in the paper's experiment with NUS.
_MODES = 20

Answer = dict[str, Geometry]


class Views(NamedTuple):
    """What contestants see: graphs, and the vertices that are the same item in all of them."""

    graphs: tuple[Graph, ...]
    paired: Ints
    seed: int

    @property
    def n(self) -> int:
        return self.graphs[0].n

    @property
    def pairs(self) -> list[Ints]:
        """The same for every view, as couplings take it."""
        return [self.paired] * len(self.graphs)


class Judged(NamedTuple):
    """And what only the judge sees."""

    views: Views
    labels: Ints
    moments: tuple[Moment, ...]


def draw(items: Items, case: Case) -> Judged:
    """The problem of a case."""
    paired = paired_items(items.n, case.percent, case.seed)
    return Judged(Views(items.graphs(), paired, case.seed), items.labels, items.moments)


def judge(problem: Judged, answer: Answer) -> Mapping[str, float | None]:
    """mAP of paired items and of the others, for each row, view and moment: figures named by ``figure_name``."""
    figures: dict[str, float | None] = {}
    known = np.isin(np.arange(problem.views.n), problem.views.paired)
    for row, geometry in answer.items():
        for k, graph in enumerate(problem.views.graphs):
            for moment in problem.moments:
                t = moment.time(graph)
                found = retrieval(geometry.distances(k, t, t * median_degree(graph)), problem.labels)
                for who, asked in (("paired", known), ("unpaired", ~known)):
                    scores = found.average_precisions[asked[found.queries]]
                    name = figure_name(row, graph.name or f"view {k + 1}", moment.name, who)
                    figures[name] = float(scores.mean()) if len(scores) else None
    return figures


def figure_name(row: str, view: str, moment: str, who: str) -> str:
    return f"{row}|{view}|{moment}|{who}"


def _given(views: Views, _: Limits) -> Answer:
    return {GIVEN: OfGraphs(views.graphs)}


def _average(views: Views, _: Limits) -> Answer:
    return {"average": OfGraphs(average(views.graphs).graphs)}


def _normalized_average(views: Views, _: Limits) -> Answer:
    return {"normalized average": OfGraphs(average(views.graphs, normalized=True).graphs, normalized=True)}


def _fused(views: Views, _: Limits) -> Answer:
    return {"similarity fusion": OfGraphs(fuse_similarity(views.graphs).graphs, normalized=True)}


def _diagonalized(views: Views, _: Limits) -> Answer:
    return {"joint diagonalization": OfBases(joint_diagonalize(views.graphs))}


def _coregularized(views: Views, _: Limits) -> Answer:
    return {"co-regularization": OfBases(coregularize(views.graphs, _MODES), normalized=True)}


def _coupled_bases(views: Views, _: Limits) -> Answer:
    return {"coupled bases": OfBases(coupled_bases(views.graphs, [shared_modes(views)] * len(views.graphs), _MODES))}


def _aligned(views: Views, _: Limits) -> Answer:
    """Linked vertex by vertex."""
    links = np.eye(views.n)[:, views.paired]
    return {"alignment": OfBases(align(views.graphs, [links] * len(views.graphs), _MODES))}


def _paired_average(views: Views, _: Limits) -> Answer:
    return {"paired average": OfGraphs(paired_average(views.graphs, views.paired))}


def _second(views: Views, _: Limits) -> Answer:
    return {SECOND: OfGraphs([alone(graph) for graph in views.graphs])}


def _borrowed(views: Views, _: Limits) -> Answer:
    result = couple_pairs(views.graphs, views.pairs, alpha=WEAK, random_state=views.seed)
    return {BORROWED: OfGraphs(result.graphs), OF_BORROWED: OfCommon(result.common_graph(), result.graphs)}


def _only_coupled(views: Views, _: Limits) -> Answer:
    return {ONLY_COUPLED: OfGraphs(couple_pairs(views.graphs, views.pairs, borrow=0.0, random_state=views.seed).graphs)}


def _coupled(views: Views, _: Limits) -> Answer:
    result = couple_pairs(views.graphs, views.pairs, random_state=views.seed)
    common = result.common_graph()
    weighed = len(result.graphs) > 2 and not common.left_out
    equal = common_graph(result.graphs, views.pairs, second_neighbors=True) if weighed else common
    return {
        COUPLED: OfGraphs(result.graphs),
        EQUAL: OfCommon(equal, result.graphs),
        PLAIN: OfCommon(common, result.graphs, plain=True),
        COMMON: OfCommon(common, result.graphs),
    }


def _merged(views: Views, _: Limits) -> Answer:
    ways = {MERGED: False, SPREAD: True}
    return {
        name: OfCommon(common_graph(views.graphs, views.pairs, second_neighbors=spread), views.graphs)
        for name, spread in ways.items()
    }


def shared_modes(views: Views) -> Floats:
    """The smooth modes of all graphs on the paired items, 0 elsewhere: the same functions on every graph."""
    found = pair_functions(views.graphs, [views.paired] * len(views.graphs))
    columns = found[0, 1][0].shape[1] // 2
    others = [found[0, k][0][:, columns:] for k in range(1, len(views.graphs))]
    return np.hstack([found[0, 1][0][:, :columns], *others])


def paired_average(graphs: tuple[Graph, ...], paired: Ints) -> tuple[Graph, ...]:
    """Weights between two paired vertices are the mean over all views, the others as given."""
    W: list[Any] = [graph.adjacency() for graph in graphs]
    there = np.zeros(graphs[0].n)
    there[paired] = 1.0
    P = sp.diags_array(there)
    mean = P @ (sum(W[1:], start=W[0]) / len(W)) @ P
    views = zip(graphs, W, strict=True)
    return tuple(Graph.from_adjacency(sp.csr_array(w - P @ w @ P + mean), name=graph.name) for graph, w in views)


class Method(NamedTuple):
    """A contestant, the rows it fills, and where it takes part."""

    solve: Callable[[Views, Limits], Answer]
    rows: tuple[str, ...]
    full: bool = True
    partial: bool = False
    drawn: bool = False  # whether the seed matters where all items are paired


METHODS = {
    rows[0]: Method(solve, rows, **where)
    for solve, rows, where in (
        (_given, (GIVEN,), {"partial": True}),
        (_second, (SECOND,), {"partial": True}),
        (_borrowed, (BORROWED, OF_BORROWED), {"partial": True, "drawn": True}),
        (_only_coupled, (ONLY_COUPLED,), {"partial": True, "drawn": True}),
        (_coupled, (COUPLED, EQUAL, PLAIN, COMMON), {"partial": True, "drawn": True}),
        (_merged, (MERGED, SPREAD), {"partial": True}),
        (_average, ("average",), {}),
        (_normalized_average, ("normalized average",), {}),
        (_fused, ("similarity fusion",), {}),
        (_diagonalized, ("joint diagonalization",), {}),
        (_coregularized, ("co-regularization",), {}),
        (_paired_average, ("paired average",), {"partial": True}),
        (_coupled_bases, ("coupled bases",), {"partial": True}),
        (_aligned, ("alignment",), {"partial": True}),
    )
}
_OF_ROWS = {row: name for name, method in METHODS.items() for row in method.rows}
# Who fills the rows of the tables, in their order.
CONTESTANTS = {row: _OF_ROWS[row] for row in dict.fromkeys((*STEPS, *_OF_ROWS))}


def takes_part(name: str, case: Case) -> bool:
    """Whether a contestant can do with so many pairs, and with this seed does not do again what it did before."""
    method = METHODS[name]
    if case.percent == 100.0:
        return method.full and (method.drawn or case.seed == 0)
    return method.partial


def named(name: str) -> Problem:
    return cases.problem(Case.named(name), draw)


FAMILY = Family(
    name=NAME,
    description="mAP of diffusion distances, in percent.",
    problems=lambda _: (),
    contestants=tuple(Contestant(name, method.solve, prepare=lambda p: p.views) for name, method in METHODS.items()),
    figures=(),
    judge=judge,
    named=named,
)
