"""The compact form of limited-memory BFGS beside updates of a dense matrix, one after the other."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from cotherm.engines import default_engine
from cotherm.solve.compact_hessian import CompactHessian

N, MOST = 30, 4


def learned(count: int, seed: int = 0) -> tuple[CompactHessian, np.ndarray]:
    """After so many steps on a quadratic, and the same matrix by BFGS updates of θI with the last few of them."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((N, N))
    A = A @ A.T + np.eye(N)
    steps = rng.standard_normal((count, N))
    B = CompactHessian(default_engine(), N, MOST)
    for s in steps:
        B.learn(s, A @ s, float(s @ A @ s))
    dense = B.theta * np.eye(N)
    for s in steps[-MOST:]:
        y = A @ s
        dense += np.outer(y, y) / (y @ s) - np.outer(dense @ s, dense @ s) / (s @ dense @ s)
    return B, dense


@pytest.mark.parametrize("count", [1, 3, 4, 5, 11])
def test_it_is_the_updated_matrix(count: int) -> None:
    B, dense = learned(count)
    W = B.rows(np.arange(N))
    assert W.shape == (N, 2 * min(count, MOST))
    assert_allclose(B.theta * np.eye(N) - W @ B.middle() @ W.T, dense, atol=1e-10 * float(np.abs(dense).max()))
    x = np.random.default_rng(1).standard_normal(N)
    assert_allclose(B.transposed(x), W.T @ x)
    assert_allclose(B.times(W.T @ x), W @ (W.T @ x))


@pytest.mark.parametrize("count", [1, 4, 9])
@pytest.mark.parametrize("held", [0, 1, 12, N - 1])
def test_systems_of_free_unknowns(count: int, held: int) -> None:
    B, dense = learned(count)
    free = np.ones(N, dtype=bool)
    free[np.random.default_rng(2).choice(N, held, replace=False)] = False
    r = np.random.default_rng(3).standard_normal(N)
    d = B.solve(r, free)
    assert not d[~free].any()
    assert_allclose(dense[np.ix_(free, free)] @ d[free], r[free], atol=1e-9)


def test_it_forgets_and_goes_on_from_a_state() -> None:
    B, _ = learned(6)
    other = CompactHessian(default_engine(), N, MOST)
    other.restore(B.state())
    step = np.random.default_rng(4).standard_normal(N)
    for one in (B, other):
        one.learn(step, 2.0 * step, 2.0 * float(step @ step))
    assert np.array_equal(other.middle(), B.middle())
    B.forget()
    assert (B.count, B.theta) == (0, 1.0)
    B.learn(step, 3.0 * step, 3.0 * float(step @ step))
    assert_allclose(B.theta, 3.0)
    assert len(B.middle()) == 2


@pytest.mark.parametrize("along", [-1.0, np.nan])
def test_a_matrix_that_rounding_has_spoiled_is_refused(along: float) -> None:
    B, _ = learned(2)
    B.learn(np.ones(N), np.ones(N), along)
    with pytest.raises(np.linalg.LinAlgError):
        B.middle()
