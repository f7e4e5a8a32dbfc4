"""Sums over terms for every edge, against the plain formula."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from cotherm.engines.cpu.edges import edge_products


def products(
    x: np.ndarray, i: np.ndarray, j: np.ndarray, weights: np.ndarray, scale: np.ndarray | None = None
) -> np.ndarray:
    """Written among other columns, which stay as they are."""
    pairs = x.shape[2] * (x.shape[2] + 1) // 2
    out = np.full((len(i), pairs + 5), 7.0)
    edge_products(x, i, j, weights, 0, np.ones(pairs) if scale is None else scale, out, 3)
    assert np.all(out[:, :3] == 7.0)
    assert np.all(out[:, 3 + pairs :] == 7.0)
    return out[:, 3 : 3 + pairs]


@pytest.mark.parametrize("m", [0, 1, 7, 8, 9, 500])
@pytest.mark.parametrize("q", [1, 2, 7, 8, 9, 19])
def test_products_are_the_plain_sum(m: int, q: int) -> None:
    rng = np.random.default_rng(m + q)
    x = rng.standard_normal((30, 5, q))
    i, j = rng.integers(0, 30, (2, m))
    weights = rng.standard_normal(5)
    gaps = x[i] - x[j]
    a, b = np.triu_indices(q)
    expected = np.einsum("s,esa,esb->eab", weights, gaps, gaps)[:, a, b]
    assert_allclose(products(x, i, j, weights), expected, atol=1e-13)
    scale = rng.random(len(a))
    assert_allclose(products(x, i, j, weights, scale), scale * expected, atol=1e-13)


def test_large_work_is_shared_among_threads() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((100, 40, 6))
    i, j = rng.integers(0, 100, (2, 20_001))
    weights = np.ones(40)
    alone = np.concatenate([products(x, i[k : k + 1000], j[k : k + 1000], weights) for k in range(0, 20_001, 1000)])
    assert_allclose(products(x, i, j, weights), alone, atol=1e-12)
