"""What contestants of both experiments see, what the judges measure, and our contestants on small problems."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import cotherm as ct
from benchmarks.pairs import missing, retrieval
from benchmarks.pairs.cases import Case
from benchmarks.pairs.geometry import OfBases, OfCommon, OfGraphs
from benchmarks.pairs.peers import standardized
from benchmarks.pairs.sets import Moment, grown
from benchmarks.suite.parts import Limits
from cotherm.arrays import Floats
from paper.rivals.coregularization import coregularize

LIMITS = Limits(60.0, 8e9)
HALF = Case("planted-60", 50.0, 1)


@pytest.fixture(scope="module")
def views() -> retrieval.Judged:
    return retrieval.draw(grown(60), HALF)


@pytest.fixture(scope="module")
def items() -> missing.Judged:
    return missing.draw(grown(60), HALF)


def test_names_of_cases_are_read_back() -> None:
    assert Case.named(HALF.name) == HALF
    for family in (retrieval.FAMILY, missing.FAMILY):
        problem = family.problem(HALF.name, quick=False)
        assert (problem.name, problem.file) == (HALF.name, None)
        assert family.problem("nus 10 3", quick=False).file == "nus/NUS_results.mat"


def test_contestants_see_no_labels(views: retrieval.Judged, items: missing.Judged) -> None:
    for family, problem in ((retrieval.FAMILY, views), (missing.FAMILY, items)):
        for contestant in family.contestants:
            given = contestant.prepare(problem)
            assert not hasattr(given, "labels")
            assert all(graph.labels is None for graph in given.graphs)


def test_retrieval_is_judged_by_view_moment_and_pairing(views: retrieval.Judged) -> None:
    figures = retrieval.judge(views, {"row": OfGraphs(views.views.graphs)})
    assert len(figures) == 3 * 3 * 2
    k, moment = 1, views.moments[2]
    graph = views.views.graphs[k]
    D = ct.diffusion_distance(graph, 8.0 / float(np.median(graph.degrees)))
    scores = ct.evaluate.retrieval(D, views.labels).average_precisions
    known = np.isin(np.arange(60), views.views.paired)
    for who, asked in (("paired", known), ("unpaired", ~known)):
        name = retrieval.figure_name("row", graph.name or "", moment.name, who)
        assert figures[name] == pytest.approx(scores[asked].mean())


def test_where_all_are_paired_nobody_is_unpaired() -> None:
    problem = retrieval.draw(grown(40), Case("planted-40", 100.0, 0))._replace(moments=(Moment("t", t=1.0),))
    figures = retrieval.judge(problem, {"row": OfGraphs(problem.views.graphs)})
    assert {name.split("|")[3] for name, value in figures.items() if value is None} == {"unpaired"}


def test_units_do_not_matter_to_normalized_geometries(views: retrieval.Judged) -> None:
    graph = views.views.graphs[0]
    scaled = graph.with_weights(7.0 * graph.w)
    degree = float(np.median(graph.degrees))
    mine = OfGraphs([graph]).distances(0, 4.0 / degree, 4.0)
    np.testing.assert_allclose(OfGraphs([scaled], normalized=True).distances(0, 4.0 / degree, 4.0), mine, atol=1e-10)
    modes = coregularize(views.views.graphs, 5)
    np.testing.assert_array_equal(OfBases(modes, normalized=True).distances(1, 0.1, 4.0), modes.distances(4.0)[1])


def test_a_common_graph_is_judged_by_the_vertices_of_a_view() -> None:
    path = ct.Graph(3, [0, 1], [1, 2], [1.0, 3.0])
    common = ct.common_graph([path, path], pairs=[[0, 1], [2, 1]])
    D = OfCommon(common, [path, path]).distances(1, 0.0, 2.0)
    here = [3, 1, 0]  # the items that the vertices of the second view are
    t = 2.0 / float(np.median(common.graph.degrees))
    np.testing.assert_allclose(D, common.distances(t)[np.ix_(here, here)])


def test_paired_average() -> None:
    one = ct.Graph(4, [0, 1, 2], [1, 2, 3], [1.0, 2.0, 4.0])
    two = ct.Graph(4, [0, 0], [1, 2], [3.0, 8.0])
    for found, graph in zip(retrieval.paired_average((one, two), np.array([0, 1, 2])), (one, two), strict=True):
        expected = 0.5 * (one.adjacency().toarray() + two.adjacency().toarray())
        expected[3], expected[:, 3] = graph.adjacency().toarray()[3], graph.adjacency().toarray()[:, 3]
        np.testing.assert_allclose(found.adjacency().toarray(), expected)
    both = retrieval.paired_average((one, two), np.arange(4))
    assert both[0] == both[1]
    assert both[0] == ct.average([one, two]).graph


def test_shared_modes_are_zero_where_nothing_is_known(views: retrieval.Judged) -> None:
    F = retrieval.shared_modes(views.views)
    assert F.shape == (60, 3 * 24)
    known = np.isin(np.arange(60), views.views.paired)
    assert np.all(F[~known] == 0.0)
    np.testing.assert_allclose(np.linalg.norm(F, axis=0), 1.0)


def test_so_weak_that_nothing_is_coupled() -> None:
    """What is left is borrowed weight, which a coupling that is weaker still does not change."""
    views = retrieval.draw(grown(60), Case("planted-60", 100.0, 0)).views

    def weights(name: str) -> Floats:
        geometry = retrieval.METHODS[name].solve(views, LIMITS)[name]
        assert isinstance(geometry, OfGraphs)
        return geometry.graphs[0].adjacency().toarray()

    borrowed = weights(retrieval.BORROWED)
    weaker = ct.couple_pairs(views.graphs, alpha=1e-9).graphs[0].adjacency().toarray()
    assert np.linalg.norm(borrowed - weaker) < 1e-3 * np.linalg.norm(borrowed)
    assert np.linalg.norm(borrowed - weights(retrieval.SECOND)) > 0.05 * np.linalg.norm(borrowed)


def test_rows_of_the_tables() -> None:
    assert tuple(retrieval.CONTESTANTS)[: len(retrieval.STEPS)] == retrieval.STEPS
    for row, name in retrieval.CONTESTANTS.items():
        assert row in retrieval.METHODS[name].rows


@pytest.mark.parametrize("name", [name for name, method in retrieval.METHODS.items() if name != "coupled bases"])
def test_every_contestant_of_retrieval(name: str) -> None:
    """Coupled bases take long, and are tried by ``python -m benchmarks pairs --quick``."""
    method = retrieval.METHODS[name]
    problem = retrieval.draw(grown(60), Case("planted-60", 50.0 if method.partial else 100.0, 0))
    problem = problem._replace(moments=(Moment("4 moves", moves=4.0),))
    answer = method.solve(problem.views, LIMITS)
    assert tuple(answer) == method.rows
    figures = retrieval.judge(problem, answer)
    assert all(value is not None and 0.2 < value <= 1.0 for key, value in figures.items() if key.endswith("|paired"))


def test_items_with_missing_views(items: missing.Judged) -> None:
    given = items.seen
    assert given.table.shape == (60, 3)
    assert [graph.n for graph in given.graphs] == [40, 40, 40]
    for X, column in zip(given.rows, given.table.T, strict=True):
        assert np.array_equal(np.isnan(X).all(axis=1), column < 0)
        assert np.array_equal(np.isnan(X).any(axis=1), column < 0)
    # Vertex v of a graph is the v-th item that the view has.
    rows = given.rows[1][given.table[:, 1] >= 0]
    assert ct.knn_graph(rows, 10, name="noise 0.26") == given.graphs[1]


def test_items_that_are_really_missing_stay_so() -> None:
    plain = grown(60)
    last = plain.rows[2].copy()
    last[40:] = np.nan
    problem = missing.draw(replace(plain, rows=(*plain.rows[:2], last)), Case("planted-60", 66.7, 2))
    assert [graph.n for graph in problem.seen.graphs] == [60, 60, 40]
    assert np.array_equal(np.isnan(problem.seen.rows[2][:, 0]), problem.seen.table[:, 2] < 0)


def test_rows_go_with_their_labels() -> None:
    plain = grown(60)
    problem = missing.draw(plain, Case("planted-60", 100.0, 2))
    for row, label in zip(problem.seen.rows[0], problem.labels, strict=True):
        original = np.flatnonzero((plain.rows[0] == row).all(axis=1))
        assert plain.labels[original].tolist() == [label]


def test_clusters_are_in_the_order_of_the_items(items: missing.Judged) -> None:
    """A common graph of separate groups is cut into these groups."""
    given = items.seen
    graphs = []
    for k in range(3):
        labels = items.labels[given.table[:, k] >= 0]
        i, j = np.nonzero(np.triu(labels[:, np.newaxis] == labels, 1))
        graphs.append(ct.Graph(len(labels), i, j, np.ones(len(i))))
    clusters = missing.of_items(ct.common_graph(graphs, given.table), given)
    assert missing.judge(items, clusters) == {"AMI": pytest.approx(1.0), "accuracy": 1.0}


def test_clusters_without_information_are_worth_nothing(items: missing.Judged) -> None:
    figures = missing.judge(items, np.zeros(60, dtype=np.int64))
    assert figures["AMI"] == pytest.approx(0.0)


def test_uncoupled_and_average_clusters(items: missing.Judged) -> None:
    merged = missing.METHODS["common graph, not coupled"]
    assert (missing.judge(items, merged.solve(items.seen, LIMITS))["AMI"] or 0.0) > 0.3
    average = missing.METHODS["normalized average"]
    full = missing.draw(grown(60), Case("planted-60", 100.0, 0))
    assert average.complete
    assert (missing.judge(full, average.solve(full.seen, LIMITS))["AMI"] or 0.0) > 0.6


def test_standardized_by_the_rows_that_are_there() -> None:
    X = np.array([[1.0, 5.0], [np.nan, np.nan], [3.0, 5.0]])
    (Z,) = standardized([X])
    np.testing.assert_allclose(Z, [[-1.0, 0.0], [np.nan, np.nan], [1.0, 0.0]])
