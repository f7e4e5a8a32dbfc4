"""Nodes for products of exponentials, from gentle to stiff."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from cotherm.heat.quadrature import quadrature


@pytest.mark.parametrize("stiffness", [0.0, 0.1, 10.0, 500.0, 2_999.0, 3_001.0, 1e6, 1e14])
def test_products_of_exponentials(stiffness: float) -> None:
    t = 2.0
    bound = stiffness / t
    nodes, weights = quadrature(t, bound, 1e-10)
    assert_allclose(nodes + nodes[::-1], t)
    assert_allclose(weights, weights[::-1])
    for a in (0.0, 1e-9, 1e-3, 0.3, 1.0):
        for b in (0.0, 1e-6, 0.5, 1.0):
            rate_a, rate_b = a * bound, b * bound
            z = t * abs(rate_a - rate_b)
            exact = t * np.exp(-t * min(rate_a, rate_b)) * (-np.expm1(-z) / z if z else 1.0)
            found = weights @ np.exp(-(t - nodes) * rate_a - nodes * rate_b)
            assert abs(found - exact) <= 2e-10 * t


def test_stiff_problems_need_few_nodes() -> None:
    assert len(quadrature(1.0, 1e14, 1e-10)[0]) < 1_500
