"""The Cauchy point beside a search through all pieces of the path with a dense matrix."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from cotherm.engines import default_engine
from cotherm.solve import cauchy_point as module
from cotherm.solve.cauchy_point import cauchy_point
from cotherm.solve.compact_hessian import CompactHessian

N = 40


def hessian(seed: int, count: int) -> tuple[CompactHessian, np.ndarray, np.ndarray]:
    """With its middle, and as a dense matrix."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((N, N))
    A = A @ A.T / N + 0.1 * np.eye(N)
    B = CompactHessian(default_engine(), N, 5)
    for s in rng.standard_normal((count, N)):
        B.learn(s, A @ s, float(s @ A @ s))
    if not count:
        return B, np.zeros((0, 0)), np.eye(N)
    W, M = B.rows(np.arange(N)), B.middle()
    return B, M, B.theta * np.eye(N) - W @ M @ W.T


def by_pieces(x: np.ndarray, g: np.ndarray, B: np.ndarray) -> np.ndarray:
    """The first minimum of gᵀs + ½ sᵀBs on the path, piece after piece."""
    with np.errstate(divide="ignore"):
        t = np.where(g > 0.0, x / np.where(g > 0.0, g, 1.0), np.inf)
    ends = np.unique(np.append(t[np.isfinite(t)], np.inf))
    start = 0.0
    for end in ends:
        d = np.where(t > start, -g, 0.0)
        here = np.maximum(x - start * g, 0.0)
        slope, curvature = d @ (g + B @ (here - x)), d @ B @ d
        if slope >= 0.0:
            return here
        if end == np.inf or -slope / curvature < end - start:
            return here - slope / curvature * d if curvature > 0.0 else here
        start = end
    raise AssertionError


@pytest.mark.parametrize("at_once", [1, 3, 4_096])
@pytest.mark.parametrize("count", [0, 1, 8])
@pytest.mark.parametrize("seed", range(8))
def test_it_is_the_first_minimum(monkeypatch: pytest.MonkeyPatch, seed: int, count: int, at_once: int) -> None:
    monkeypatch.setattr(module, "_AT_ONCE", at_once)
    B, M, dense = hessian(seed, count)
    rng = np.random.default_rng(seed)
    x = np.maximum(rng.standard_normal(N), 0.0) * 10.0 ** rng.uniform(-2, 0)
    g = rng.standard_normal(N) * 10.0 ** rng.uniform(-1, 1)
    found = cauchy_point(default_engine(), x, g, B, M)
    assert found is not None
    expected = by_pieces(x, g, dense)
    assert_allclose(found.x, expected, atol=1e-10)
    assert_allclose(found.along, B.transposed(expected - x), atol=1e-9)
    assert not found.x[~found.free].any()
    assert np.array_equal(found.free, (expected > 1e-12) | ((x <= 0.0) & (g < 0.0)))


def test_where_all_unknowns_reach_zero() -> None:
    B, M, _ = hessian(0, 0)
    found = cauchy_point(default_engine(), np.full(N, 0.1), np.full(N, 50.0), B, M)
    assert found is not None
    assert not found.x.any()
    assert not found.free.any()


def test_breakpoints_that_overflow_are_not_reached() -> None:
    B, M, _ = hessian(0, 3)
    x, g = np.ones(N), np.full(N, 1e-3)
    x[0], g[0] = 1e200, 1e-200
    with np.errstate(over="raise", divide="raise", invalid="raise"):
        found = cauchy_point(default_engine(), x, g, B, M)
    assert found is not None
    assert found.free[0]


def test_at_a_minimum_there_is_none() -> None:
    B, M, _ = hessian(0, 3)
    x = np.r_[np.zeros(N - 3), np.ones(3)]
    assert cauchy_point(default_engine(), x, np.r_[np.ones(N - 3), np.zeros(3)], B, M) is None
