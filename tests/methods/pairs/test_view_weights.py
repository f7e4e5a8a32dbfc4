"""Which views to believe about an item: against loops over neighbors and all items, and where a view is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import roc_auc_score

import cotherm as ct
from cotherm import limits
from cotherm.arrays import Floats, Ints
from cotherm.heat.spectrum import lowest_normalized
from cotherm.methods.pairs.rules import STRUCTURE_MOVES, WEIGHT_LEAST, WEIGHT_MOVES, WEIGHT_ROUNDS
from cotherm.methods.pairs.view_weights import structure, view_weights, weights_of_two
from tests import references

SIZES = 60


def grouped(seed: int, order: Ints | None = None, n: int = SIZES, noise: float = 0.2) -> ct.Graph:
    """Items in six groups; ``order`` says whose place each item has."""
    random = np.random.default_rng(seed)
    points = np.eye(6)[np.arange(n) % 6] + noise * random.standard_normal((n, 6))
    return ct.knn_graph(points if order is None else points[order], k=6).replace(coordinates=None)


def swapped(n: int = SIZES) -> tuple[Ints, Ints]:
    """Half of the items have the places of each other; which of them are in another group than before."""
    random = np.random.default_rng(9)
    moved = random.choice(n, n // 2, replace=False)
    order = np.arange(n)
    order[moved] = random.permutation(moved)
    return order, np.flatnonzero(order % 6 != np.arange(n) % 6)


def slow(graphs: list[ct.Graph], items: Ints) -> Floats:
    here = items >= 0
    weights = here.astype(float)
    kernels = [references.heat_kernel(g, WEIGHT_MOVES / float(np.median(g.degrees))) for g in graphs]
    for _ in range(WEIGHT_ROUNDS):
        found = np.zeros(items.shape)
        for i in range(len(items)):
            for k in np.flatnonzero(here[i]).tolist():
                told = []
                for m in np.flatnonzero(here[i]).tolist():
                    if m != k:
                        told += [one(graphs, kernels, items, weights, i, *pair) for pair in ((k, m), (m, k))]
                known = [value for value in told if not np.isnan(value)]
                found[i, k] = max(2.0 * float(np.mean(known)) - 1.0, WEIGHT_LEAST) if known else 1.0
        weights = found / found.sum(axis=1, keepdims=True)
    return weights


def one(graphs: list[ct.Graph], kernels: list[Floats], items: Ints, weights: Floats, i: int, k: int, m: int) -> float:
    """How far the neighbors of item i in view k are borne out by heat in view m."""
    both = [j for j in range(len(items)) if items[j, k] >= 0 and items[j, m] >= 0]
    W, heat = graphs[k].adjacency().toarray(), kernels[m][items[i, m]]
    total = norm = 0.0
    for j in both:
        w = W[items[i, k], items[j, k]] * weights[j, k] * weights[j, m]
        if w > 0.0:
            others = np.array([heat[items[r, m]] for r in both if r not in (i, j)])
            mine = heat[items[j, m]]
            total += w * float(np.mean(0.5 * (others < mine - 1e-12) + 0.5 * (others < mine + 1e-12)))
            norm += w
    return total / norm if norm > 0.0 else np.nan


def test_against_loops() -> None:
    graphs = [grouped(seed, n=24) for seed in range(3)]
    items = np.column_stack([np.arange(24)] * 3)
    items[20:, 1] = -1
    items[:2, 2] = -1
    items[2, :2] = -1
    found = view_weights(graphs, items)
    assert_allclose(found, slow(graphs, items), atol=1e-6)
    assert_allclose(found.sum(axis=1), 1.0)
    assert_array_equal(found > 0.0, items >= 0)


def test_items_that_a_view_is_wrong_about_are_told() -> None:
    order, wrong = swapped()
    graphs = [grouped(0), grouped(1), grouped(2, order)]
    weights = view_weights(graphs, np.column_stack([np.arange(SIZES)] * 3))
    bad = np.isin(np.arange(SIZES), wrong)
    assert roc_auc_score(bad, -weights[:, 2]) > 0.9
    assert weights[bad, 2].mean() < 0.5 * weights[~bad, 2].mean()


def test_large_graphs_by_random_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    order, wrong = swapped()
    graphs = [grouped(0), grouped(1), grouped(2, order)]
    items = np.column_stack([np.arange(SIZES)] * 3)
    exact = view_weights(graphs, items)
    monkeypatch.setattr(limits, "EXACT_FLOW", 10)
    found = view_weights(graphs, items)
    assert np.corrcoef(found.ravel(), exact.ravel())[0, 1] > 0.9
    assert roc_auc_score(np.isin(np.arange(SIZES), wrong), -found[:, 2]) > 0.9


def test_structure_by_all_modes() -> None:
    """Heat that nine modes keep, from a dense eigensolver."""
    graph = grouped(0, n=24)
    roots = np.sqrt(graph.degrees)
    values, vectors = np.linalg.eigh(references.laplacian(graph) / np.outer(roots, roots))
    at_vertices = vectors[:, 1:10] ** 2 @ np.exp(-STRUCTURE_MOVES * values[1:10])
    assert_allclose(structure(graph), np.minimum(at_vertices, 9 / 24).sum(), rtol=1e-6)


def test_a_few_odd_items_are_no_structure() -> None:
    """Small groups far from all others make slow modes, but few items are in them."""
    points = np.random.default_rng(3).standard_normal((400, 12))
    points[:36] += 40.0 * np.repeat(np.arange(1, 5), 9)[:, np.newaxis]
    noise = ct.knn_graph(points, k=8)
    assert lowest_normalized(noise, 5).values[4] < 1e-3
    assert structure(noise) < 0.3 * structure(grouped(0, n=400))


def test_of_two_views_structure_tells_the_better_one() -> None:
    noise = ct.knn_graph(np.random.default_rng(5).standard_normal((60, 6)), k=6)
    items = np.column_stack([np.arange(60), np.arange(60)])
    items[50:, 1] = -1
    shares = []
    for correlation in (0.9, 0.4, 0.1):
        found = weights_of_two([grouped(0, n=60), noise], items, correlation)
        assert_allclose(found.sum(axis=1), 1.0)
        assert_array_equal(found[50:], [[1.0, 0.0]] * 10)
        assert np.ptp(found[:50, 0]) == 0.0
        shares.append(found[0, 0])
    assert 0.5 < shares[0] < shares[1] < shares[2]
    assert shares[2] > 0.9
    assert_allclose(weights_of_two([noise, noise], items[:50], 0.1), 0.5)


def test_a_common_graph_has_them() -> None:
    """A view that is wrong about half of its items counts for the others."""
    order, wrong = swapped(120)
    graphs = [grouped(0, n=120), grouped(1, n=120), grouped(2, order, n=120)]
    common = ct.couple_pairs(graphs).common_graph()
    bad = np.isin(np.arange(120), wrong)
    assert common.view_weights.shape == (120, 3)
    assert roc_auc_score(bad, -common.view_weights[:, 2]) > 0.9
    noise = ct.knn_graph(np.random.default_rng(5).standard_normal((120, 6)), k=6)
    left = ct.couple_pairs([*graphs[:2], noise]).common_graph()
    assert_array_equal(left.view_weights[:, 2], 0.0)
    assert_allclose(left.view_weights[:, :2], 0.5, atol=0.1)
