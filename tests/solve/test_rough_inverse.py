"""Inverses in single precision by equations and by unknowns, against the dense inverse."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from cotherm.engines import default_engine
from cotherm.solve.metric import Gram
from cotherm.solve.rough_inverse import Term, is_by_unknowns, rough_inverse, rough_solver
from cotherm.solve.tall_matrix import InMemory
from tests.solve.test_nearest_point import KINDS, dense, make


def case(kind: str, equations: int, held: float, count: int, seed: int = 0) -> tuple[list[Term], np.ndarray]:
    """Terms, and the sum that they stand for."""
    terms, total = [], np.zeros((equations, equations))
    for k in range(count):
        metric, m, rng = make(seed + k, kind)
        if isinstance(metric, Gram):  # of one graph
            m = metric.slices[0].stop
            metric = metric.part(0, m)
        E, factor = rng.standard_normal((m, equations)), 1.0 + k
        active = rng.random(m) < held
        A = dense(metric, m)[np.ix_(~active, ~active)]
        total += factor * E[~active].T @ np.linalg.solve(A, E[~active])
        terms.append(Term(metric, InMemory(E, default_engine()), active, factor))
    return terms, total


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize(("equations", "held"), [(5, 0.2), (300, 0.2), (300, 1.0)])
def test_both_ways_are_the_dense_inverse(kind: str, count: int, equations: int, held: float) -> None:
    terms, total = case(kind, equations, held, count)
    assert is_by_unknowns(sum(term.free for term in terms), equations) == (equations == 300)
    inverse = rough_inverse(terms, 2.0)
    assert inverse.size == equations
    expected = np.linalg.inv(2.0 * np.eye(equations) + total)
    x = np.random.default_rng(9).standard_normal(equations)
    for product in (inverse.apply(x), rough_solver(terms, 2.0)(x)):
        assert_allclose(product, expected @ x, atol=1e-3 * np.abs(expected @ x).max())
    out = np.ones((equations, equations), dtype=np.float32)
    for first in range(0, equations, 100):
        inverse.add_rows(first, min(first + 100, equations), 0.5, out)
    upper = np.triu_indices(equations)
    assert_allclose(out[upper], (1.0 + 0.5 * expected)[upper], atol=1e-3 * np.abs(expected).max())
