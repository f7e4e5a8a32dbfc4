"""The factorization without subtractions, against exact rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose

from cotherm.engines.cpu.elimination import eliminate
from tests import problems, references
from tests.problems import CASES


@pytest.mark.parametrize("case", CASES)
def test_factors_multiply_to_the_laplacian(case: str) -> None:
    graph = CASES[case]()
    X, d = eliminate(graph.adjacency().toarray())
    L = references.laplacian(graph)
    assert_allclose(X * d @ X.T, L, atol=1e-13 * max(1.0, L.max()))
    assert len(d) == graph.n - graph.component_count
    assert np.all(d > 0)


def test_every_pivot_keeps_its_digits() -> None:
    """The product of the pivots is the determinant of L without its last row and column, here over 60 decades."""
    graph = problems.random_graph(8, 40, seed=0, spread=20.0)
    W = graph.adjacency().toarray()
    _, d = eliminate(W.copy())
    exact = [[Fraction(-x) for x in row] for row in W]
    for r in range(8):
        exact[r][r] = sum((Fraction(x) for x in W[r]), Fraction(0))
    determinant = Fraction(1)
    for k in range(7):
        determinant *= exact[k][k]
        for r in range(k + 1, 7):
            factor = exact[r][k] / exact[k][k]
            exact[r] = [a - factor * b for a, b in zip(exact[r], exact[k], strict=True)]
    product = Fraction(1)
    for pivot in d:
        product *= Fraction(pivot)
    assert abs(float(product / determinant) - 1.0) < 1e-13
