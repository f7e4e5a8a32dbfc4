"""What the benchmark of pairs is made of: planted views, real sets, and what is drawn of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import cotherm as ct
from benchmarks.pairs.pairing import paired_items, seen, vertices
from benchmarks.pairs.planted import planted
from benchmarks.pairs.sets import Moment, source, unit_rows
from paper.data import nus, scgem, sources
from tests.problems import refused


def test_planted_views_differ_in_quality() -> None:
    rows, labels = planted(240, groups=4, noises=(0.05, 0.2, 0.4), seed=3)
    assert [X.shape for X in rows] == [(240, 20)] * 3
    assert np.bincount(labels).tolist() == [60] * 4
    scores = [ct.evaluate.retrieval(_distances(X), labels).mean_average_precision for X in rows]
    assert scores[0] > 0.999
    assert scores[0] > scores[1] > scores[2] > 0.3
    again, same = planted(240, groups=4, noises=(0.05, 0.2, 0.4), seed=3)
    assert all(np.array_equal(X, Y) for X, Y in zip(rows, again, strict=True))
    assert np.array_equal(labels, same)


def test_planted_groups_are_at_equal_distances() -> None:
    (X,), labels = planted(30, groups=5, noises=(0.0,))
    D = _distances(X)
    apart = labels[:, np.newaxis] != labels
    np.testing.assert_allclose(D[apart], 1.0)
    np.testing.assert_allclose(D[~apart], 0.0, atol=1e-7)


def _distances(
    X: np.ndarray[tuple[int, int], np.dtype[np.float64]],
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    return np.asarray(np.linalg.norm(X[:, np.newaxis] - X, axis=2))


def test_so_many_items_are_paired() -> None:
    assert paired_items(10, 100.0, 0).tolist() == list(range(10))
    some = paired_items(200, 25.0, 1)
    assert len(some) == len(set(some.tolist())) == 50
    assert np.all(np.diff(some) > 0)
    assert not np.array_equal(some, paired_items(200, 25.0, 2))
    assert len(paired_items(10, 1.0, 0)) == 2


def test_items_are_in_all_views_or_in_one() -> None:
    there = seen(100, 3, 40.0, 0)
    counts = there.sum(axis=1)
    assert np.sum(counts == 3) == 40
    assert np.sum(counts == 1) == 60
    assert there[counts == 1].sum(axis=0).tolist() == [20, 20, 20]
    assert seen(100, 3, 100.0, 0).all()


def test_vertices_count_the_items_of_a_view() -> None:
    there = np.array([[True, False], [True, True], [False, True]])
    assert vertices(there).tolist() == [[0, -1], [1, 0], [-1, 1]]


def test_sets_have_names() -> None:
    items = source("planted-50").make(None)
    assert (items.n, items.classes) == (50, 6)
    assert [graph.n for graph in items.graphs_of([np.arange(20), np.arange(30), np.arange(50)])] == [20, 30, 50]
    assert all(graph.labels is None for graph in items.graphs())
    for unknown in ("unknown", "unknown-40", "unknown+permuted", "planted-4", "planted-x"):
        assert refused(lambda: source(unknown)) == "sets"  # noqa: B023


def test_samples_of_a_set(data_file: Callable[[str], Path]) -> None:
    data = data_file("scgem/expression.txt").parents[1]
    whole, some = (source(name).make(data) for name in ("scgem", "scgem-50"))
    assert some.n == 50
    for row, label in zip(some.rows[0], some.labels, strict=True):
        assert label in whole.labels[(whole.rows[0] == row).all(axis=1)]
    assert np.array_equal(some.labels, source("scgem-50").make(data).labels)
    assert refused(lambda: source("scgem-500").make(data)) == "sets"


def test_unit_rows_keep_what_is_missing() -> None:
    X = np.array([[3.0, 4.0], [0.0, 0.0], [np.nan, np.nan]])
    np.testing.assert_allclose(unit_rows(X), [[0.6, 0.8], [0.0, 0.0], [np.nan, np.nan]])


def test_moments_are_of_the_graph_as_given() -> None:
    path = ct.Graph(4, [0, 1, 2], [1, 2, 3], [2.0, 2.0, 2.0])
    assert Moment("t = 0.75", t=0.75).time(path) == 0.75
    assert Moment("6 moves", moves=6.0).time(path) == pytest.approx(6.0 / 3.0)


def test_real_sets_are_those_of_the_library(data_file: Callable[[str], Path]) -> None:
    data = data_file("nus/NUS_results.mat").parents[1]
    for name, views in (
        ("nus", nus(recipe="paper", data=data)),
        ("3sources", sources(data=data)),
        ("scgem", scgem(data=data)),
    ):
        items = source(name).make(data)
        for graph, known in zip(items.graphs(), views.graphs, strict=True):
            assert (graph.name, graph.m) == (known.name, known.m)
            np.testing.assert_allclose(graph.w, known.w, atol=1e-12)
        assert views.labels is not None
        assert ct.evaluate.clustering_accuracy(views.labels, items.labels) == 1.0


def test_the_papers_neighbors_are_for_all_rows(data_file: Callable[[str], Path]) -> None:
    """Of some rows NUS has the graphs of ``knn_graph`` by default."""
    items = source("nus").make(data_file("nus/NUS_results.mat").parents[1])
    rows = np.arange(0, items.n, 2)
    for X, whole, part in zip(items.rows, items.graphs(), items.graphs_of([rows, rows]), strict=True):
        known = ct.knn_graph(X[rows])
        assert np.array_equal(part.edges, known.edges)
        np.testing.assert_array_equal(part.w, known.w)
        assert whole.m / whole.n > 2.0 * part.m / part.n
