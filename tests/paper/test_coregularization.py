"""Co-regularized modes: against plain loops, monotone, relabeled, planted clusters, real data, bad input."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import cotherm as ct
from paper.data import nus
from paper.rivals.coregularization import coregularize
from tests import problems, references

KINDS = ("pairwise", "centroid")


def similarity(graph: ct.Graph) -> np.ndarray:
    """D^{−½}WD^{−½}, entry by entry."""
    L = references.laplacian(graph)
    K = np.zeros_like(L)
    for i in range(graph.n):
        for j in range(graph.n):
            if i != j and L[i, i] > 0 and L[j, j] > 0:
                K[i, j] = -L[i, j] / np.sqrt(L[i, i] * L[j, j])
    return K


def largest(A: np.ndarray, k: int) -> np.ndarray:
    return np.linalg.eigh(A)[1][:, -k:]


def slow(graphs: list[ct.Graph], k: int, lam: float, kind: str, rounds: int) -> tuple[list[np.ndarray], list[float]]:
    """The projectors U_vUᵀ_v, the centroid's last, and the objective after every round, all in n × n matrices."""
    K = [similarity(g) for g in graphs]
    P = [project(largest(A, k)) for A in K]
    center = project(largest(sum(P, np.zeros_like(K[0])), k))
    values = []
    for _ in range(rounds):
        for v in range(len(K)):
            others = sum((P[w] for w in range(len(K)) if w != v), np.zeros_like(K[v]))
            P[v] = project(largest(K[v] + lam * (others if kind == "pairwise" else center), k))
        center = project(largest(sum(P, np.zeros_like(K[0])), k))
        alike = [(p, center) for p in P] if kind == "centroid" else list(combinations(P, 2))
        smooth = sum(np.trace(p @ A) for p, A in zip(P, K, strict=True))
        values.append(float(smooth + lam * sum(np.trace(a @ b) for a, b in alike)))
    return [*P, center], values


def project(U: np.ndarray) -> np.ndarray:
    return U @ U.T


def three_views() -> list[ct.Graph]:
    return [problems.random_graph(25, 90, seed=s) for s in (1, 2, 3)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [2, 3])
def test_rounds_are_those_of_a_plain_loop(kind: str, count: int) -> None:
    graphs = three_views()[:count]
    result = coregularize(graphs, 3, strength=0.7, kind=kind, tolerance=1e-15, max_iterations=4)
    projectors, values = slow(graphs, 3, 0.7, kind, 4)
    assert_allclose(result.history[1:], values, rtol=1e-10)
    for U, P in zip(result.vectors, projectors, strict=False):
        assert_allclose(project(U), P, atol=1e-8)
    assert (result.centroid is None) == (kind == "pairwise")
    if result.centroid is not None:
        assert_allclose(project(result.centroid), projectors[-1], atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("strength", [0.0, 0.1, 0.5, 3.0])
def test_the_objective_never_falls(kind: str, strength: float) -> None:
    result = coregularize(three_views(), 4, strength=strength, kind=kind, max_iterations=30)
    assert all(later >= earlier - 1e-12 * abs(earlier) for earlier, later in pairwise(result.history))
    assert result.objective == result.history[-1]
    if strength > 0.0:
        assert result.objective > result.history[0] + 1e-3


@pytest.mark.parametrize("kind", KINDS)
def test_modes_are_orthonormal_and_correspond(kind: str) -> None:
    graphs = three_views()
    result = coregularize(graphs, 4, strength=0.3, kind=kind)
    first = result.vectors[0]
    for U, values, graph in zip(result.vectors, result.values, graphs, strict=True):
        inside = U.T @ (np.eye(25) - similarity(graph)) @ U
        assert_allclose(U.T @ U, np.eye(4), atol=1e-12)
        assert_allclose(values, np.diag(inside), atol=1e-12)
        # Turned as close to the first as can be: UᵀU₁ is symmetric and positive semi-definite.
        assert_allclose(U.T @ first, first.T @ U, atol=1e-10)
        assert np.linalg.eigvalsh(U.T @ first).min() > -1e-10
    assert_allclose(first.T @ similarity(graphs[0]) @ first, np.diag(1.0 - result.values[0]), atol=1e-10)
    assert (np.diff(result.values[0]) >= 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_large_graphs_go_without_dense_matrices(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graphs, _ = problems.planted_views()
    dense = coregularize(graphs, 3, kind=kind)
    monkeypatch.setattr("cotherm.limits.DENSE", 0)
    sparse = coregularize(graphs, 3, kind=kind)
    assert_allclose(sparse.history, dense.history, rtol=1e-10)
    for a, b in zip(sparse.vectors, dense.vectors, strict=True):
        assert_allclose(a, b, atol=1e-6)


def test_relabelling_relabels() -> None:
    graphs, _ = problems.planted_views()
    order = np.random.default_rng(0).permutation(60)
    result = coregularize(graphs, 3)
    again = coregularize([problems.relabeled(g, order) for g in graphs], 3)
    for a, b in zip(result.vectors, again.vectors, strict=True):
        assert_allclose(project(b), project(a)[np.ix_(order, order)], atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_planted_clusters_are_found_where_no_view_shows_them(kind: str, seed: int) -> None:
    graphs, classes = problems.planted_views(seed=seed)
    alone = coregularize(graphs, 3, strength=0.0)
    joint = coregularize(graphs, 3, kind=kind)
    before, after = (
        [ct.evaluate.clustering_accuracy(classes, c) for c in result.clusters(3)] for result in (alone, joint)
    )
    assert min(after) > 0.9
    assert min(after) > min(before)
    assert joint.converged


def test_without_strength_every_view_stands_alone() -> None:
    graphs = three_views()
    result = coregularize(graphs, 3, strength=0.0)
    for U, graph in zip(result.vectors, graphs, strict=True):
        assert_allclose(project(U), project(largest(similarity(graph), 3)), atol=1e-8)


def test_much_strength_makes_views_agree() -> None:
    U, V = coregularize(problems.planted_views()[0], 3, strength=100.0, max_iterations=20).vectors
    assert_allclose(project(U), project(V), atol=1e-2)


def test_it_is_a_joint_and_prints() -> None:
    result = coregularize(problems.planted_views()[0], 3, max_iterations=1)
    assert isinstance(result, ct.JointResult)
    assert [Y.shape for Y in result.embedding(2)] == [(60, 2)] * 2
    assert [D.shape for D in result.distances(1.0)] == [(60, 60)] * 2
    assert result.settings["strength"] == 0.5
    assert result.status == "out of budget"
    assert "max_iterations" in str(result)
    assert "60 vertices, 3 modes" in str(result)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 5, 2_001])
def test_graphs_without_edges(kind: str, n: int) -> None:
    graph = ct.Graph(n, [], [], [])
    result = coregularize([graph, graph], min(n, 5), kind=kind)
    assert_allclose(result.values, 1.0)


def test_nus(data_file: Callable[[str], Path]) -> None:
    """The views alone give 0.74 and 0.68; 0.92, 0.79 (pairwise) and 0.86 (centroid) were measured."""
    views = nus(stored=True, data=data_file("nus/NUS_results.mat").parents[1])
    assert views.labels is not None
    accuracy = {
        kind: ct.evaluate.clustering_accuracy(views.labels, coregularize(views.graphs, 7, kind=kind).clusters(7)[0])
        for kind in KINDS
    }
    assert accuracy["pairwise"] > 0.85
    assert accuracy["centroid"] > 0.8


GOOD = [problems.ring(10), problems.path(10)]

BAD: list[tuple[str, dict[str, object]]] = [
    ("graphs", {"graphs": GOOD[:1]}),
    ("graphs", {"graphs": GOOD[0]}),
    ("graphs", {"graphs": [GOOD[0], problems.ring(11)]}),
    ("graphs[1]", {"graphs": [GOOD[0], np.eye(10)]}),
    ("k", {"k": 0}),
    ("k", {"k": 11}),
    ("k", {"k": 2.0}),
    ("strength", {"strength": -1.0}),
    ("strength", {"strength": np.nan}),
    ("kind", {"kind": "triangle"}),
    ("tolerance", {"tolerance": 0.0}),
    ("max_iterations", {"max_iterations": 0}),
]


@pytest.mark.parametrize(("argument", "change"), BAD)
def test_bad_input_is_named(argument: str, change: dict[str, object]) -> None:
    arguments: dict[str, object] = {"graphs": GOOD, "k": 2} | change
    with pytest.raises(ct.CothermError) as caught:
        coregularize(**arguments)  # type: ignore[arg-type]
    assert caught.value.argument == argument
