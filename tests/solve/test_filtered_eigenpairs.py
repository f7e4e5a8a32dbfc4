"""Eigenvectors by filtered subspace iteration: those of dense algebra, whatever the spectrum and the order of rows."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import cotherm as ct
from cotherm.arrays import Floats
from cotherm.engines import default_engine
from cotherm.solve.filtered_eigenpairs import filter_series, scattered, smooth_eigenvectors


def rings(count: int, n: int) -> ct.Graph:
    """Equal rings: every eigenvalue is there many times."""
    v = np.arange(n)
    ends = [(at + np.minimum(v, (v + 1) % n), at + np.maximum(v, (v + 1) % n)) for at in n * np.arange(count)]
    i, j = (np.concatenate([one[k] for one in ends]) for k in range(2))
    return ct.Graph(count * n, i, j, np.ones(count * n))


def blobs(count: int) -> ct.Graph:
    """Nearest neighbors of points in groups that are far apart: components of different spectra."""
    rng = np.random.default_rng(0)
    points = np.repeat(100.0 * np.arange(count), 30)[:, np.newaxis] + rng.standard_normal((30 * count, 2))
    return ct.knn_graph(points, 6)


def found(graph: ct.Graph, k: int) -> tuple[Floats, float]:
    engine = default_engine()
    L = engine.laplacian(engine.pattern(graph.n, graph.i, graph.j), graph.w)
    return smooth_eigenvectors(engine, L, np.arange(graph.n), k), L.bound


@pytest.mark.parametrize(
    ("graph", "k"),
    [
        (ct.datasets.shortcuts(400).graphs[0], 12),
        (blobs(12), 8),  # fewer than there are components
        (blobs(6), 10),
        (rings(5, 60), 9),  # amid eigenvalues that are the same
        (ct.Graph(90, [3, 4], [4, 5], [1.0, 2.0]), 5),
        (ct.Graph(9, [], [], []), 3),
        (ct.Graph(200, np.arange(199), np.arange(1, 200), np.ones(199)), 6),
    ],
)
def test_eigenvectors_of_dense_algebra(graph: ct.Graph, k: int) -> None:
    X, bound = found(graph, k)
    dense = graph.laplacian().toarray()
    values, vectors = np.linalg.eigh(dense)
    assert_allclose(X.T @ X, np.eye(k), atol=1e-11)
    assert_allclose(X.sum(axis=0), 0.0, atol=1e-11)
    assert_allclose(np.sort(np.einsum("va,va->a", X, dense @ X)), values[1 : k + 1], atol=1e-11 * max(bound, 1.0))
    space = vectors[:, values <= values[k] + 1e-9 * bound]
    assert_allclose(space @ (space.T @ X), X, atol=1e-9)


def test_equal_eigenvalues_have_one_basis() -> None:
    """Rounding, here of scaled weights, does not turn it."""
    graph = rings(4, 50)
    X, _ = found(graph, 7)
    Y, _ = found(graph.with_weights(graph.w * 0.7), 7)
    assert_allclose(X, Y, atol=1e-9)


def test_numbers_depend_on_vertices_alone() -> None:
    whole = scattered(np.arange(50), 3)
    assert_allclose(scattered(np.arange(20, 50), 3), whole[20:])
    assert not np.any(scattered(np.arange(50), 3, seed=1) == whole)
    assert np.abs(whole.mean()) < 0.2


def test_filter() -> None:
    """Small where it should be, 1 at zero."""
    at = np.concatenate([[0.0], np.linspace(0.3, 4.0, 500)])
    p = np.polynomial.chebyshev.chebval(at / 2.0 - 1.0, filter_series(0.3, 4.0, 1e4)[:, 0])
    assert_allclose(p[0], 1.0, rtol=1e-12)
    assert np.abs(p[1:]).max() < 1.01e-4
