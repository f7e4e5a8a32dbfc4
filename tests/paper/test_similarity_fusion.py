"""Similarity network fusion: against plain loops, fixed points, relabeled, planted clusters, real data, bad input."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import cotherm as ct
from paper.data import nus
from paper.rivals.similarity_fusion import SimilarityFusion, fuse_similarity
from tests import problems


def normalized(X: np.ndarray) -> np.ndarray:
    """Halves on the diagonal, the other half shared out among the others; then symmetric."""
    n = len(X)
    P = np.zeros((n, n))
    for i in range(n):
        total = sum(X[i, k] for k in range(n) if k != i)
        for j in range(n):
            if i == j:
                P[i, j] = 0.5
            elif total > 0:
                P[i, j] = X[i, j] / (2 * total)
    return np.array([[(P[i, j] + P[j, i]) / 2 for j in range(n)] for i in range(n)])


def strongest(P: np.ndarray, count: int) -> np.ndarray:
    S = np.zeros_like(P)
    for i in range(len(P)):
        kept = sorted(range(len(P)), key=lambda j: (P[i, j], j))[-count:]
        for j in kept:
            S[i, j] = P[i, j] / sum(P[i, l] for l in kept)  # noqa: E741
    return S


def slow(graphs: list[ct.Graph], neighbors: int, steps: int) -> np.ndarray:
    """The fused weights, in loops."""
    P = [normalized(g.adjacency().toarray()) for g in graphs]
    S = [strongest(p, neighbors) for p in P]
    for _ in range(steps):
        means = [np.mean([P[w] for w in range(len(P)) if w != v], axis=0) for v in range(len(P))]
        P = [normalized(S[v] @ means[v] @ S[v].T) for v in range(len(P))]
    fused = normalized(np.mean(P, axis=0))
    return fused - np.diag(np.diag(fused))


def fused_weights(result: SimilarityFusion) -> np.ndarray:
    return result.graph.adjacency().toarray()


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize(("n_neighbors", "steps"), [(2, 1), (4, 3), (12, 20)])
def test_weights_are_those_of_plain_loops(count: int, n_neighbors: int, steps: int) -> None:
    graphs = [problems.random_graph(12, 30, seed=s) for s in (1, 2, 3)][:count]
    result = fuse_similarity(graphs, n_neighbors=n_neighbors, steps=steps)
    assert_allclose(fused_weights(result), slow(graphs, n_neighbors, steps), rtol=1e-9, atol=1e-15)


def test_vertices_without_neighbors() -> None:
    """Vertex 8 has none in the first view, vertex 9 none at all."""
    first = ct.Graph(10, [0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6], [1.0, 2.0, 3.0, 1.5, 0.5, 0.7])
    second = ct.Graph(10, [0, 1, 2, 6, 7], [2, 4, 5, 7, 8], [1.2, 2.1, 0.3, 1.5, 0.9])
    result = fuse_similarity([first, second], n_neighbors=3, steps=5)
    W = fused_weights(result)
    assert_allclose(W, slow([first, second], 3, 5), rtol=1e-9, atol=1e-15)
    assert W[8].sum() > 0.0
    assert W[9].sum() == 0.0


def test_identical_views_agree_and_the_order_of_views_does_not_matter() -> None:
    a, b, c = (problems.random_graph(20, 70, seed=s) for s in (4, 5, 6))
    twice, thrice = (fused_weights(fuse_similarity([a] * count, n_neighbors=5)) for count in (2, 3))
    assert_allclose(twice, thrice, rtol=1e-9, atol=1e-15)
    forth, back = (fused_weights(fuse_similarity(views, n_neighbors=5)) for views in ([a, b, c], [c, a, b]))
    assert_allclose(forth, back, rtol=1e-9, atol=1e-15)


def test_steps_settle() -> None:
    graphs, _ = problems.planted_views()
    short, long = (fuse_similarity(graphs, n_neighbors=10, steps=steps) for steps in (20, 200))
    assert short.changes[-1] < 0.1 * short.changes[0]
    assert long.changes[-1] < 1e-12
    assert_allclose(long.changes[:20], short.changes)


def test_the_scale_of_weights_does_not_matter() -> None:
    graphs, _ = problems.planted_views()
    scaled = [graphs[0].with_weights(1e-200 * graphs[0].w), graphs[1].with_weights(1e200 * graphs[1].w)]
    plain, again = (fused_weights(fuse_similarity(g, n_neighbors=10)) for g in (graphs, scaled))
    assert_allclose(again, plain, rtol=1e-9)


def test_relabelling_relabels() -> None:
    graphs, _ = problems.planted_views()
    order = np.random.default_rng(0).permutation(60)
    W = fused_weights(fuse_similarity(graphs, n_neighbors=8))
    again = fused_weights(fuse_similarity([problems.relabeled(g, order) for g in graphs], n_neighbors=8))
    assert_allclose(again, W[np.ix_(order, order)], rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_planted_clusters_are_found(seed: int) -> None:
    graphs, classes = problems.planted_views(seed=seed)
    clusters = fuse_similarity(graphs, n_neighbors=10).clusters(3)
    assert ct.evaluate.clustering_accuracy(classes, clusters[0]) > 0.9
    assert clusters[0] is clusters[1]


def test_it_is_a_joint_and_prints() -> None:
    result = fuse_similarity(problems.planted_views()[0], n_neighbors=7, steps=3)
    assert isinstance(result, ct.JointResult)
    assert result.common
    assert result.graphs == (result.graph, result.graph)
    assert [Y.shape for Y in result.embedding(2)] == [(60, 2)] * 2
    assert result.settings == {"n_neighbors": 7, "steps": 3}
    assert "7 neighbors, 3 steps: 60 vertices" in str(result)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_graphs_without_edges_fuse_to_one(n: int) -> None:
    graph = ct.Graph(n, [], [], [])
    assert fuse_similarity([graph, graph]).graph.m == 0


def test_nus(data_file: Callable[[str], Path]) -> None:
    """0.95 was measured, and 0.81 for the mean of the weights."""
    views = nus(stored=True, data=data_file("nus/NUS_results.mat").parents[1])
    assert views.labels is not None
    clusters = fuse_similarity(views.graphs).clusters(7)[0]
    assert ct.evaluate.clustering_accuracy(views.labels, clusters) > 0.9


GOOD = [problems.ring(10), problems.path(10)]

BAD: list[tuple[str, dict[str, object]]] = [
    ("graphs", {"graphs": GOOD[:1]}),
    ("graphs", {"graphs": GOOD[0]}),
    ("graphs", {"graphs": [GOOD[0], problems.ring(11)]}),
    ("graphs", {"graphs": [problems.ring(8_001)] * 2}),
    ("graphs[1]", {"graphs": [GOOD[0], np.eye(10)]}),
    ("n_neighbors", {"n_neighbors": 1}),
    ("n_neighbors", {"n_neighbors": 2.5}),
    ("steps", {"steps": 0}),
    ("steps", {"steps": None}),
]


@pytest.mark.parametrize(("argument", "change"), BAD)
def test_bad_input_is_named(argument: str, change: dict[str, object]) -> None:
    arguments: dict[str, object] = {"graphs": GOOD} | change
    with pytest.raises(ct.CothermError) as caught:
        fuse_similarity(**arguments)  # type: ignore[arg-type]
    assert caught.value.argument == argument
