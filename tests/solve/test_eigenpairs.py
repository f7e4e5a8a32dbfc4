"""The smallest eigenpairs of a sparse matrix less one of low rank."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from cotherm.solve import eigenpairs
from cotherm.solve.eigenpairs import smallest_pairs
from tests import problems


@pytest.mark.parametrize("n", [50, 2_300])
@pytest.mark.parametrize("kind", ["path", "cloud"])
def test_against_a_dense_solver(n: int, kind: str) -> None:
    """Tiny eigenvalues (a path) take the inverse, others (a cloud of points) do not; both with a part of low rank."""
    graph = problems.path(n) if kind == "path" else problems.cloud(n)
    random = np.random.default_rng(0)
    Z = random.random((n, 3)) / n
    K = 0.1 * np.array([[0.0, 1.0, 0.5], [1.0, 0.0, 0.2], [0.5, 0.2, 0.0]])
    # Diagonally dominant with what is taken away, as the degrees of links are.
    S = sp.csr_array(graph.laplacian() + sp.diags_array(Z @ K @ Z.sum(axis=0)))
    values, vectors = smallest_pairs(S, 5, 2.0 * float(S.diagonal().max()), Z, K)
    dense = S.toarray() - Z @ K @ Z.T
    assert np.allclose(values, np.linalg.eigvalsh(dense)[:5], rtol=1e-6, atol=1e-13)
    assert np.allclose(vectors.T @ vectors, np.eye(5), atol=1e-8)
    assert np.abs(dense @ vectors - vectors * values).max() <= 1e-9


def test_without_a_part_of_low_rank_and_for_most_of_the_spectrum() -> None:
    L = problems.ring(2_100).laplacian()
    values, _ = smallest_pairs(L, 600, 4.0)
    expected = np.sort(2.0 - 2.0 * np.cos(2.0 * np.pi * np.arange(2_100) / 2_100))[:600]
    assert np.allclose(values, expected, atol=1e-12)
    few, _ = smallest_pairs(L, 7, 4.0)
    assert np.allclose(few, expected[:7], atol=1e-13)


def test_graphs_that_are_nearly_trees_take_the_inverse_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a long path Lanczos iteration does not converge; it was tried at length before the inverse."""
    attempts: list[int] = []
    largest = eigenpairs._largest

    def counted(*arguments: Any, **options: Any) -> Any:
        attempts.append(options["restarts"])
        return largest(*arguments, **options)

    monkeypatch.setattr(eigenpairs, "_largest", counted)
    n, k = 6_000, 6
    values, vectors = smallest_pairs(problems.path(n).laplacian(), k, 4.0)
    assert attempts == [10 * n]
    assert np.allclose(values, 4.0 * np.sin(0.5 * np.pi * np.arange(k) / n) ** 2, rtol=1e-6, atol=1e-15)
    assert np.allclose(vectors.T @ vectors, np.eye(k), atol=1e-10)
    smallest_pairs(problems.cloud(2_300).laplacian(), k, 100.0)
    assert attempts[1] == eigenpairs._ATTEMPTS


@pytest.mark.parametrize("seed", range(4))
def test_random_trees_with_some_cycles_against_a_dense_solver(seed: int) -> None:
    """In pieces, with hubs, with weights of many sizes."""
    random, n, k = np.random.default_rng(seed), 2_050, 7
    parents = (np.arange(1, n) * random.random(n - 1) ** (1 + seed)).astype(int)
    i, j = (
        np.append(parents, random.integers(0, n // 2, 40)),
        np.append(np.arange(1, n), random.integers(n // 2, n, 40)),
    )
    W = sp.coo_array((10.0 ** random.uniform(-1.0, 1.0 + seed, len(i)), (i, j)), shape=(n, n)).tocsr()
    W = sp.csr_array(W + W.T)
    cut = random.choice(n, 2, replace=False)
    W = sp.csr_array(
        sp.diags_array(~np.isin(np.arange(n), cut) * 1.0) @ W @ sp.diags_array(~np.isin(np.arange(n), cut) * 1.0)
    )
    W.eliminate_zeros()
    L = sp.csr_array(sp.diags_array(W.sum(axis=1)) - W)
    bound = 2.0 * float(L.diagonal().max())
    assert eigenpairs._cycles(L) <= 40
    values, vectors = smallest_pairs(L, k, bound)
    assert np.allclose(values, np.linalg.eigvalsh(L.toarray())[:k], rtol=1e-6, atol=1e-13 * bound)
    assert np.abs(L @ vectors - vectors * values).max() <= 1e-10 * bound
    assert np.allclose(vectors.T @ vectors, np.eye(k), atol=1e-8)
