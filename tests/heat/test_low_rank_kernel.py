"""The integral of products of exponentials as a short sum of products, from gentle to stiff."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad

from cotherm.heat.low_rank_kernel import divided_differences, low_rank_kernel

STIFFNESS = [1e-3, 0.1, 1.0, 10.0, 500.0, 3_000.0, 1e6, 1e14, 1e30]


def spread(stiffness: float) -> np.ndarray:
    """Points of every size."""
    return np.concatenate([[0.0], stiffness * np.geomspace(1e-12, 1.0, 97), np.geomspace(1e-3, 1.0, 40) * stiffness])


@pytest.mark.parametrize("tolerance", [1e-6, 1e-10, 1e-12])
@pytest.mark.parametrize("stiffness", STIFFNESS)
def test_sum_of_products(stiffness: float, tolerance: float) -> None:
    x = spread(stiffness)
    parts = low_rank_kernel(stiffness, tolerance)
    values = parts.at(x)
    found = (values * parts.signs) @ values.T
    assert np.abs(found - divided_differences(x[:, np.newaxis], x)).max() <= tolerance
    assert len(parts.signs) <= 14


@pytest.mark.parametrize("stiffness", [0.1, 10.0, 500.0, 1e5])
def test_series_are_the_functions(stiffness: float) -> None:
    parts = low_rank_kernel(stiffness, 1e-10)
    x = spread(stiffness)
    found = np.polynomial.chebyshev.chebval(2.0 * x / stiffness - 1.0, parts.series).T
    assert_allclose(found, parts.at(x), atol=1e-11)


@pytest.mark.parametrize(("x", "y"), [(0.0, 0.0), (1.0, 1.0), (0.5, 7.0), (3.0, 3.0 + 1e-9), (0.0, 40.0)])
def test_divided_difference_is_the_integral(x: float, y: float) -> None:
    expected, _ = quad(lambda s: np.exp(-(1.0 - s) * x - s * y), 0.0, 1.0, epsabs=1e-13)
    assert_allclose(divided_differences(np.array(x), np.array(y)), expected, rtol=1e-10)
