"""Clusters by heat and the cut that chooses among them."""

from __future__ import annotations

import random
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import cotherm as ct
from cotherm import limits
from cotherm.methods.pairs.clusters import clustering, normalized_cut, number_of_clusters
from cotherm.methods.pairs.leiden import _merged
from cotherm.methods.pairs.leiden import leiden as leiden_clusters
from tests import problems
from tests.problems import refused


def slow_cut(graph: ct.Graph, labels: np.ndarray) -> float:
    """For each cluster the weight to other clusters, divided by the weight to all vertices."""
    W = graph.adjacency().toarray()
    total = 0.0
    for cluster in np.unique(labels):
        inside = labels == cluster
        degree = W[inside].sum()
        total += W[np.ix_(inside, ~inside)].sum() / degree if degree > 0.0 else 0.0
    return total


@pytest.mark.parametrize("case", ["random", "several components", "wide range of weights", "cloud", "zero weights"])
def test_normalized_cut_is_its_definition(case: str) -> None:
    graph = problems.CASES[case]()
    for count in (1, 2, 4):
        labels = np.random.default_rng(count).integers(0, count, graph.n)
        assert_allclose(normalized_cut(graph, labels), slow_cut(graph, labels), atol=1e-12)


def test_nothing_is_cut_between_parts() -> None:
    pieces = ct.Graph(6, [0, 1, 3, 4], [1, 2, 4, 5], np.ones(4))
    assert normalized_cut(pieces, np.array([0, 0, 0, 1, 1, 1])) == 0.0
    assert_allclose(normalized_cut(pieces, np.array([0, 1, 1, 1, 1, 1])), 1.0 + 1.0 / 7.0)


def test_numbers_without_a_cluster_cost_nothing() -> None:
    graph = problems.cloud(30)
    labels = np.arange(30) % 3
    assert normalized_cut(graph, 2 * labels) == pytest.approx(normalized_cut(graph, labels))


@pytest.mark.parametrize("method", ["auto", "heat", "spectral", "leiden"])
def test_planted_groups_are_found(method: str) -> None:
    rng = np.random.default_rng(0)
    groups = rng.permutation(np.repeat(np.arange(4), [40, 25, 15, 10]))
    points = 6.0 * np.eye(4)[groups] + rng.standard_normal((90, 4))
    graph = ct.knn_graph(points, k=6)
    found = clustering(graph, 4, method, 0).labels
    assert ct.evaluate.clustering_scores(groups, found)["ARI"] > 0.95
    assert_array_equal(clustering(graph, 4, method, 0).labels, found)


def test_auto_takes_the_smallest_cut() -> None:
    graph = problems.cloud(120)
    cuts = {method: normalized_cut(graph, clustering(graph, 5, method, 0).labels) for method in ("heat", "spectral")}
    assert normalized_cut(graph, clustering(graph, 5, "auto", 0).labels) == min(cuts.values())


def test_heat_is_for_small_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = problems.cloud(60)
    monkeypatch.setattr(limits, "HEAT_CLUSTERS", 50)
    assert refused(lambda: clustering(graph, 3, "heat", 0)) == "method"
    assert_array_equal(clustering(graph, 3, "auto", 0).labels, clustering(graph, 3, "spectral", 0).labels)


def slow_gap(graph: ct.Graph) -> int:
    """The number of eigenvalues before the largest gap, all of them from the dense matrix."""
    W = graph.adjacency().toarray()
    root = 1.0 / np.sqrt(W.sum(axis=1))
    values = np.sort(1.0 - np.linalg.eigvalsh(root[:, np.newaxis] * W * root))
    gaps = {k: values[k] - values[k - 1] for k in range(2, min(30, graph.n // 5) + 1)}
    return max(gaps, key=lambda k: gaps[k])


@pytest.mark.parametrize("size", [20, 60, 200])
def test_the_number_of_clusters_is_where_the_gap_is_largest(size: int) -> None:
    graph = problems.cloud(size)
    assert number_of_clusters(graph) == slow_gap(graph)


def test_the_number_of_clusters_of_tiny_graphs() -> None:
    assert [number_of_clusters(problems.path(n)) for n in (2, 3, 4)] == [1, 2, 2]


def modularity(graph: ct.Graph, labels: np.ndarray) -> float:
    W = graph.adjacency().toarray()
    expected = np.outer(W.sum(axis=1), W.sum(axis=1)) / W.sum()
    return float((W - expected)[labels[:, np.newaxis] == labels].sum() / W.sum())


@pytest.mark.parametrize("k", [1, 2, 3, 7])
def test_leiden_gives_as_many_as_are_asked_for(k: int) -> None:
    graph = problems.cloud(120)
    found = clustering(graph, k, "leiden", 0).labels
    assert_array_equal(np.unique(found), np.arange(k))
    assert_array_equal(clustering(graph, k, "leiden", 0).labels, found)


def test_merging_loses_the_least_modularity() -> None:
    graph = problems.cloud(60)
    fine = leiden_clusters(graph, 6, 0)
    merged = _merged(graph, fine, 5)
    ways = [np.where(fine == a, b, fine) for a in range(6) for b in range(a)]
    assert modularity(graph, merged) == pytest.approx(max(modularity(graph, way) for way in ways))


def test_leiden_leaves_the_generator_of_igraph_alone() -> None:
    graph = problems.cloud(60)
    random.seed(3)
    drawn = random.random()
    random.seed(3)
    clustering(graph, 3, "leiden", 0)
    assert random.random() == drawn


def test_without_igraph_leiden_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "igraph", None)
    with pytest.raises(ct.CothermError, match=r"cotherm\[igraph\]"):
        clustering(problems.cloud(60), 3, "leiden", 0)
