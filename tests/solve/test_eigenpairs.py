"""The smallest eigenpairs of a sparse matrix less one of low rank."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

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
