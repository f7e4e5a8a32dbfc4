"""One graph for all items: what contestants see, what the judge measures, and contestants on a small problem."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import cotherm as ct
from benchmarks.pairs import joint
from benchmarks.pairs.cases import Case
from benchmarks.pairs.rivals import REDUCING, RIVALS
from benchmarks.pairs.sets import grown, source
from benchmarks.suite.parts import Limits
from cotherm.arrays import Floats

LIMITS = Limits(60.0, 8e9)
CASE = Case("planted-60", 100.0, 0)


@pytest.fixture(scope="module")
def problem() -> joint.Judged:
    return joint.draw(grown(60), CASE)


def _groups(labels: np.ndarray[tuple[int], np.dtype[np.int64]], weight: float = 1.0) -> ct.Graph:
    i, j = np.nonzero(np.triu(labels[:, np.newaxis] == labels, 1))
    return ct.Graph(len(labels), i, j, np.full(len(i), weight))


def test_contestants_see_no_labels(problem: joint.Judged) -> None:
    for contestant in joint.FAMILY.contestants:
        given = contestant.prepare(problem)
        assert not hasattr(given, "labels")
        assert all(graph.labels is None for graph in given.graphs)


def test_rows_go_with_their_labels() -> None:
    plain = grown(60)
    drawn = joint.draw(plain, Case("planted-60", 100.0, 3))
    for k, graph in enumerate(drawn.seen.graphs):
        assert graph == ct.knn_graph(drawn.seen.rows[k], name=graph.name)
    for row, label in zip(drawn.seen.rows[1], drawn.labels, strict=True):
        assert plain.labels[(plain.rows[1] == row).all(axis=1)].tolist() == [label]
    assert not np.array_equal(drawn.labels, plain.labels)


def test_who_reduces_columns_gets_them_all() -> None:
    items = replace(grown(60), features=tuple(np.hstack([X, X[:, :1]]) for X in grown(60).rows))
    drawn = joint.draw(items, Case("planted-60", 100.0, 1)).seen
    for X, rows in zip(drawn.features, drawn.rows, strict=True):
        np.testing.assert_array_equal(X, np.hstack([rows, rows[:, :1]]))
    assert all("MOFA" in name for name in REDUCING)


def test_the_graph_of_the_classes_is_right(problem: joint.Judged) -> None:
    graph = _groups(problem.labels)
    figures = joint.judge(problem, {"row": joint.Joined(graph, np.zeros(60, dtype=np.int64))})
    expected = dict.fromkeys([joint.WEIGHTS, *joint.MOVES, joint.AMI, joint.HEAT], 1.0) | {joint.OWN: 0.0}
    assert figures == pytest.approx({joint.figure_name("row", name): value for name, value in expected.items()})


def test_units_do_not_matter_to_the_judge(problem: joint.Judged) -> None:
    graph = problem.seen.graphs[0]
    figures = joint.judge(problem, {"row": joint.Joined(graph)})
    assert figures["row|AMI, own clusters"] is None
    scaled = joint.judge(problem, {"row": joint.Joined(graph.with_weights(7.0 * graph.w))})
    assert {name: value for name, value in scaled.items() if value is not None} == pytest.approx(
        {name: value for name, value in figures.items() if value is not None}
    )
    D = ct.diffusion_distance(graph, 8.0 / float(np.median(graph.degrees)))
    expected = ct.evaluate.retrieval(D, problem.labels).mean_average_precision
    assert figures["row|8 moves"] == pytest.approx(expected)


@pytest.mark.parametrize("name", [name for name, method in joint.METHODS.items() if method.needs is None])
def test_every_contestant_of_ours(name: str, problem: joint.Judged) -> None:
    answer = joint.METHODS[name].solve(problem.seen, LIMITS)
    for row, found in answer.items():
        assert found.graph.n == 60
        assert _best(joint.judge(problem, {row: found})) > 0.35  # where chance is 0.17


def _best(figures: Mapping[str, float | None]) -> float:
    """The highest of all readings but clusters: affinities are right at different numbers of moves."""
    return max(value for name, value in figures.items() if value is not None and "AMI" not in name)


@pytest.mark.parametrize("name", ["similarity fusion (snfpy)", *REDUCING])
def test_other_libraries_where_they_are_installed(name: str, problem: joint.Judged) -> None:
    """The others take long to load, and are tried by ``python -m benchmarks pairs --quick``."""
    make, library = RIVALS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip(library.module)
        graph = make(problem.seen.rows, 0)
    assert _best(joint.judge(problem, {"row": joint.Joined(graph)})) > 0.6


def test_other_libraries_need_to_be_installed() -> None:
    for name, (_, library) in RIVALS.items():
        assert joint.METHODS[name].needs == library


class Fuzzy:
    """In place of UMAP's model: distances as affinities, combined by what the operators say."""

    def __init__(self, **_: object) -> None:
        self.graph_: Any = None

    def fit(self, X: Floats) -> Fuzzy:
        self.graph_ = sp.csr_array(np.abs(X - X.T))
        return self

    def __mul__(self, other: Fuzzy) -> Fuzzy:
        found = Fuzzy()
        found.graph_ = sp.csr_array(self.graph_.toarray() * 2.0 + other.graph_.toarray())
        return found


def test_fuzzy_graphs_are_combined_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "umap", SimpleNamespace(UMAP=Fuzzy))
    first, second, third = (np.array([[0.0], [1.0], [k]]) for k in (2.0, 5.0, 9.0))
    intersection, _ = RIVALS["fuzzy intersection (UMAP)"]
    W = [np.abs(X - X.T) for X in (first, second, third)]
    np.testing.assert_allclose(
        intersection([first, second, third], 0).adjacency().toarray(), 4 * W[0] + 2 * W[1] + W[2]
    )


def test_a_permuted_view_is_of_no_use() -> None:
    items, whole = source("planted-60+permuted").make(None), source("planted-60").make(None)
    assert items.views == (*whole.views[:-1], f"{whole.views[-1]}, permuted")
    assert np.array_equal(items.labels, whole.labels)
    assert all(np.array_equal(X, Y) for X, Y in zip(items.rows[:-1], whole.rows[:-1], strict=True))
    assert sorted(items.rows[-1].tolist()) == sorted(whole.rows[-1].tolist())
    drawn = joint.draw(items, CASE)
    figures = joint.judge(drawn, joint.METHODS[joint.SINGLE].solve(drawn.seen, LIMITS))
    scores = [figures[joint.figure_name(joint.view_name(view), "8 moves")] or 0.0 for view in items.views]
    assert scores[0] > scores[1] > 0.5
    assert scores[2] < 0.3


def test_joint_takes_all_items() -> None:
    assert joint.takes_part(joint.COMMON, CASE)
    assert not joint.takes_part(joint.COMMON, Case("planted-60", 50.0, 0))
