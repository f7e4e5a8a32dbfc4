"""Clusters by heat and the cut that chooses among them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import cotherm as ct
from cotherm import limits
from cotherm.methods.pairs.clusters import clustering, normalized_cut, number_of_clusters
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


@pytest.mark.parametrize("method", ["auto", "heat", "spectral"])
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
