"""Heat along edges of another view, against the heat kernel itself."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import expm

import cotherm as ct
from cotherm import limits
from cotherm.arrays import Floats
from cotherm.engines import get_engine
from cotherm.methods.pairs.borrow import Support, edges_on
from cotherm.pairs import checked_pairs
from tests import problems, references

ENGINE = get_engine("cpu")
MOVES = 8.0


def relative_heat(graph: ct.Graph) -> Floats:
    """K(a, b) / √(K(a, a) K(b, b)) after eight moves along edges."""
    K = expm(-MOVES / np.median(graph.degrees) * references.laplacian(graph))
    own = np.sqrt(np.diag(K))
    return np.asarray(K / np.outer(own, own))


def slow_support(graphs: list[ct.Graph], table: np.ndarray, lender: int, view: int) -> Floats:
    """Edge by edge: where the ends are in the other view, and the heat between them there."""
    heat, found = relative_heat(graphs[view]), []
    place = {int(row[lender]): int(row[view]) for row in table if row[lender] >= 0 and row[view] >= 0}
    for i, j in zip(graphs[lender].i.tolist(), graphs[lender].j.tolist(), strict=True):
        found.append(heat[place[i], place[j]] if i in place and j in place else 0.0)
    return np.array(found)


def known_edges(graphs: list[ct.Graph], table: np.ndarray, lender: int, view: int) -> Floats:
    i, _ = edges_on(graphs[lender], checked_pairs(table, [graph.n for graph in graphs]), lender, view)
    return (i >= 0).astype(float)


@pytest.fixture(scope="module")
def views() -> list[ct.Graph]:
    return [problems.cloud(60, seed) for seed in (0, 1, 2)]


@pytest.fixture(scope="module")
def table() -> np.ndarray:
    """Items 0 to 39 in the first two views, in another order in the second; 20 to 49 in the third, with holes."""
    rows = np.full((50, 3), -1)
    rows[:40, 0] = np.arange(40)
    rows[:40, 1] = np.random.default_rng(5).permutation(60)[:40]
    rows[20:50, 2] = np.arange(30)
    rows[40:50, 0] = np.arange(40, 50)
    return rows


def test_edges_on_another_view() -> None:
    graph = ct.Graph(5, [0, 1, 2, 3], [1, 2, 3, 4], np.ones(4))
    other = problems.path(6)
    table = np.array([[0, 5], [1, 3], [2, 0], [4, 1]])
    i, j = edges_on(graph, checked_pairs(table, [graph.n, other.n]), 0, 1)
    assert i.tolist() == [5, 3, -1, -1]
    assert j.tolist() == [3, 0, -1, -1]


def test_edges_on_a_view_that_lacks_items() -> None:
    graph = ct.Graph(4, [0, 1, 2], [1, 2, 3], np.ones(3))
    table = np.array([[0, 0, -1], [1, 1, 0], [2, -1, 1], [3, 2, 2]])
    pairs = checked_pairs(table, [4, 4, 4])
    first, second = edges_on(graph, pairs, 0, 1), edges_on(graph, pairs, 0, 2)
    assert_array_equal(first, [[0, -1, -1], [1, -1, -1]])
    assert_array_equal(second, [[-1, 0, 1], [-1, 1, 2]])


@pytest.mark.parametrize(("lender", "view"), [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2)])
def test_exact_heat_is_that_of_the_kernel(views: list[ct.Graph], table: np.ndarray, lender: int, view: int) -> None:
    pairs = checked_pairs(table, [graph.n for graph in views])
    support = Support(views, pairs, [(0, 1), (0, 2), (1, 2)], 0, ENGINE)
    found = support.of_edges(lender, [view], [1.0], known_edges(views, table, lender, view))
    assert_allclose(found, slow_support(views, table, lender, view), atol=1e-5)
    assert np.all((found >= 0.0) & (found <= 1.0 + 1e-5))


def test_mean_of_several_views_by_trust(views: list[ct.Graph], table: np.ndarray) -> None:
    pairs = checked_pairs(table, [graph.n for graph in views])
    support = Support(views, pairs, [(0, 1), (0, 2)], 0, ENGINE)
    known = np.array([known_edges(views, table, 0, view) for view in (1, 2)])
    trust = np.array([0.9, 0.3])
    found = support.of_edges(0, [1, 2], trust.tolist(), known)
    heat = [slow_support(views, table, 0, view) for view in (1, 2)]
    for e in range(views[0].m):
        weights = trust * known[:, e]
        expected = (weights[0] * heat[0][e] + weights[1] * heat[1][e]) / weights.sum() if weights.any() else 0.0
        assert found[e] == pytest.approx(expected, abs=1e-5)
    assert np.any(known.sum(axis=0) == 0.0)
    assert np.any(known.sum(axis=0) == 2.0)


def test_estimates_are_near(views: list[ct.Graph], table: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    """From 1,024 random functions: a standard error of at most 1/√1024 = 0.03 for every edge."""
    pairs = checked_pairs(table, [graph.n for graph in views])
    monkeypatch.setattr(limits, "EXACT_SUPPORT", 10)
    for lender, view in ((0, 1), (1, 0)):
        known = known_edges(views, table, lender, view)
        expected = slow_support(views, table, lender, view)
        estimates = [Support(views, pairs, [(0, 1)], seed, ENGINE) for seed in range(4)]
        apart = np.array([one.of_edges(lender, [view], [1.0], known) - expected for one in estimates])
        assert np.sqrt(np.mean(apart**2)) < 1.0 / 32.0
        assert np.max(np.abs(apart)) < 5.0 / 32.0
        assert np.all(apart[:, known == 0.0] == 0.0)
        assert np.any(apart != 0.0)


def test_estimates_are_repeatable(views: list[ct.Graph], table: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = checked_pairs(table, [graph.n for graph in views])
    monkeypatch.setattr(limits, "EXACT_SUPPORT", 10)
    known = known_edges(views, table, 0, 1)
    one, two = (Support(views, pairs, [(0, 1)], 3, ENGINE).of_edges(0, [1], [1.0], known) for _ in range(2))
    assert_array_equal(one, two)


def test_the_exact_heat_does_not_depend_on_blocks(
    views: list[ct.Graph], table: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = checked_pairs(table, [graph.n for graph in views])
    known = known_edges(views, table, 0, 1)
    whole = Support(views, pairs, [(0, 1)], 0, ENGINE).of_edges(0, [1], [1.0], known)
    monkeypatch.setattr("cotherm.methods.pairs.borrow._BLOCK", 7)
    parts = Support(views, pairs, [(0, 1)], 0, ENGINE).of_edges(0, [1], [1.0], known)
    assert_allclose(parts, whole, atol=1e-8)


def test_edges_across_parts_get_no_heat() -> None:
    """Two pieces in one view: an edge of the other that joins them is not borne out."""
    pieces = ct.Graph(6, [0, 1, 3, 4], [1, 2, 4, 5], np.ones(4))
    path = problems.path(6)
    pairs = checked_pairs("same", [6, 6])
    heat = Support([pieces, path], pairs, [(0, 1)], 0, ENGINE).of_edges(1, [0], [1.0], np.ones((1, 5)))
    between = (path.i < 3) != (path.j < 3)
    assert_allclose(heat[between], 0.0, atol=1e-6)
    assert np.all(heat[~between] > 0.5)
