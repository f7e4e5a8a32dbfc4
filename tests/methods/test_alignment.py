"""Manifold alignment: against the joint Laplacian written out, links of all kinds, bad input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import cotherm as ct
from cotherm.arrays import Floats
from tests import problems


def joint_laplacian(graphs: list[ct.Graph], functions: list[Floats], link: float) -> Floats:
    """Edge by edge and link by link."""
    starts = np.cumsum([0, *(g.n for g in graphs)])
    W = np.zeros((starts[-1], starts[-1]))
    for g, s in zip(graphs, starts, strict=False):
        W[s : s + g.n, s : s + g.n] = g.adjacency().toarray()
    for v in range(len(graphs)):
        for w in range(len(graphs)):
            if v != w:
                for i in range(graphs[v].n):
                    for j in range(graphs[w].n):
                        products = functions[v][i] * functions[w][j]
                        W[starts[v] + i, starts[w] + j] = link * products[products > 0.0].sum()
    return np.asarray(np.diag(W.sum(axis=1)) - W)


CASES = [([12, 9], 3), ([8, 7, 10], 2)]


@pytest.mark.parametrize(("sizes", "q"), CASES)
@pytest.mark.parametrize("normalized", [False, True])
def test_against_the_joint_laplacian_written_out(sizes: list[int], q: int, normalized: bool) -> None:
    random = np.random.default_rng(0)
    graphs = [problems.random_graph(n, 3 * n, seed=n) for n in sizes]
    functions = [random.standard_normal((n, q)) for n in sizes]
    result = ct.align(graphs, functions, k=5, normalized=normalized)
    L = joint_laplacian(graphs, functions, result.link)
    values, vectors = scipy.linalg.eigh(L, np.diag(np.diagonal(L)) if normalized else None)
    assert np.allclose(result.bases[0].values, values[:5], atol=1e-10)
    joint = np.vstack([basis.vectors for basis in result.bases])
    assert np.allclose(np.abs(joint), np.abs(vectors[:, :5]), atol=1e-7)


def test_the_links_weigh_what_was_asked() -> None:
    graphs = [problems.ring(10), problems.ring(14)]
    functions = [np.eye(10, 3), np.eye(14, 3)]
    result = ct.align(graphs, functions, k=3, strength=2.5)
    # Three pairs, products of one: each of the six ends has one link; the mean degree of the rings is 2.
    assert result.link == pytest.approx(2.5 * 2.0)


def test_linked_vertices_meet() -> None:
    """The stronger the links, the nearer the two ends of each in the embedding."""
    graphs = [problems.cloud(60, seed=1), problems.cloud(80, seed=2)]
    ends = np.arange(12)
    functions = [np.eye(g.n)[:, :12] for g in graphs]
    gaps = []
    for strength in (0.01, 1.0, 100.0):
        a, b = ct.align(graphs, functions, k=4, strength=strength).embedding(3)
        gaps.append(np.linalg.norm(a[ends] - b[ends]) / np.linalg.norm(a[ends]))
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 0.1


def test_labels_bring_classes_together() -> None:
    random = np.random.default_rng(3)
    truth = np.repeat([0, 1, 2], 30)
    graphs = []
    for _ in range(2):
        X = random.standard_normal((90, 2)) + 6.0 * np.column_stack([np.cos(2.1 * truth), np.sin(2.1 * truth)])
        graphs.append(ct.knn_graph(X, 8))
    known = truth.copy()
    known[random.random(90) < 0.7] = -1
    F = ct.label_functions(known, unlabeled=-1, unit_norm=False)
    result = ct.align(graphs, [F, F], k=6, normalized=True)
    both = np.concatenate(result.clusters(3))
    assert ct.evaluate.clustering_accuracy(np.concatenate([truth, truth]), both) > 0.95


def test_large_graphs_by_iteration() -> None:
    graphs = [problems.cloud(1_500, seed=1), problems.cloud(1_200, seed=2)]
    functions = [ct.landmark_functions(g, [0, 1, 2]) for g in graphs]
    result = ct.align(graphs, functions, k=4)
    joint = np.vstack([basis.vectors for basis in result.bases])
    W = result.link
    F = functions
    for value, x in zip(result.bases[0].values, joint.T, strict=True):
        a, b = x[:1_500], x[1_500:]
        # Lx by hand: the graphs' own part and the links'.
        top = graphs[0].laplacian() @ a + W * (F[0] @ F[1].sum(axis=0)) * a - W * (F[0] @ (F[1].T @ b))
        assert np.linalg.norm(top - value * a) < 1e-6


def test_tiny_eigenvalues_are_not_missed() -> None:
    """Two long paths tied at two places: eigenvalues of a millionth, some of them nearly equal."""
    graphs = [problems.path(1_100), problems.path(1_100)]
    ends = np.zeros((1_100, 2))
    ends[[0, 550], [0, 1]] = 1.0
    result = ct.align(graphs, [ends, ends], k=6)
    L = joint_laplacian_of_points(graphs, [0, 550], result.link)
    assert np.allclose(result.bases[0].values, np.linalg.eigvalsh(L)[:6], rtol=1e-6, atol=1e-12)


def joint_laplacian_of_points(graphs: list[ct.Graph], points: list[int], link: float) -> Floats:
    """Two graphs of one size with links between the same points."""
    n = graphs[0].n
    L = np.zeros((2 * n, 2 * n))
    L[:n, :n], L[n:, n:] = (g.laplacian().toarray() for g in graphs)
    for p in points:
        L[p, p] += link
        L[n + p, n + p] += link
        L[p, n + p] -= link
        L[n + p, p] -= link
    return L


VIEWS = ct.datasets.ring(20)
G, F = VIEWS.graphs, VIEWS.functions
BAD: dict[str, tuple[Callable[[], Any], str]] = {
    "one graph": (lambda: ct.align([G[0]], [F[0]], 3), "graphs"),
    "functions missing": (lambda: ct.align(G, [F[0]], 3), "functions"),
    "rows": (lambda: ct.align(G, [F[0], F[1][:-1]], 3), "functions[1]"),
    "NaN": (lambda: ct.align(G, [F[0] * np.nan, F[1]], 3), "functions[0]"),
    "no links": (lambda: ct.align(G, [F[0], -F[1]], 3), "functions"),
    "zero": (lambda: ct.align(G, [0 * F[0], F[1]], 3), "functions"),
    "no weight": (lambda: ct.align([g.with_weights(0 * g.w) for g in G], F, 3), "graphs"),
    "huge functions": (lambda: ct.align(G, [1e200 * F[0], F[1]], 3), "functions"),
    "huge strength": (lambda: ct.align(G, F, 3, strength=1e308), "strength"),
    "k": (lambda: ct.align(G, F, 0), "k"),
    "k too large": (lambda: ct.align(G, F, 21), "k"),
    "strength": (lambda: ct.align(G, F, 3, strength=0.0), "strength"),
    "normalized": (lambda: ct.align(G, F, 3, normalized="no"), "normalized"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named(case: str) -> None:
    call, argument = BAD[case]
    assert problems.refused(call) == argument
