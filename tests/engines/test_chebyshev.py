"""The fused recurrence against Chebyshev polynomials of a dense matrix, term by term."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from cotherm.engines.cpu.chebyshev import chebyshev_sums
from cotherm.engines.cpu.laplacian import reordered_laplacian
from tests import problems, references


@pytest.mark.parametrize("degree", range(11))
@pytest.mark.parametrize("width", [1, 3, 8, 16, 19])
def test_every_coefficient_counts_once(degree: int, width: int) -> None:
    graph = problems.random_graph(40, 90, seed=1)
    matrix = reordered_laplacian(graph.n, graph.i, graph.j, graph.w)
    X = (2.0 / matrix.bound) * references.laplacian(graph) - np.eye(graph.n)
    random = np.random.default_rng(degree)
    F = random.standard_normal((graph.n, width))
    coefficients = random.standard_normal((degree + 1, 3))
    coefficients[degree // 2 + 1 :, 1] = 0.0  # a time whose own series ends earlier

    polynomials = [F, X @ F]
    while len(polynomials) <= degree:
        polynomials.append(2 * X @ polynomials[-1] - polynomials[-2])
    expected = np.einsum("kt,kvc->vtc", coefficients, np.array(polynomials[: degree + 1]))
    assert_allclose(chebyshev_sums(matrix, F, coefficients, matrix.bound), expected, atol=1e-12)
