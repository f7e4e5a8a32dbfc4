"""Heat followed from single vertices against the matrix exponential."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from cotherm.engines.cpu import local_heat
from cotherm.engines.cpu.laplacian import reordered_laplacian
from tests import references
from tests.problems import CASES


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("span", [0.0, 0.01, 3.0, 900.0])
def test_rows_of_the_kernel(case: str, span: float) -> None:
    """At a span of 900 the first Poisson weights underflow to zero."""
    graph = CASES[case]()
    matrix = reordered_laplacian(graph.n, graph.i, graph.j, graph.w)
    s = span / max(float(graph.degrees.max()), 1e-300) if graph.degrees.max() > 0 else span
    expected = references.heat_kernel(graph, s)[np.ix_(matrix.order, matrix.order)]
    everyone = np.arange(graph.n)
    assert_allclose(local_heat.local_kernel_rows(matrix, s, everyone), expected, atol=1e-4)
    heat, moves = local_heat.local_self_heat(matrix, s, everyone)
    assert_allclose(heat, np.diag(expected), atol=1e-4)
    assert moves >= 0

    k = min(5, graph.n - 1)
    if k:
        indices, values = local_heat.local_nearest(matrix, s, everyone, np.diag(expected).copy(), k)
        squares = np.diag(expected)[:, np.newaxis] + np.diag(expected) - 2 * expected
        np.fill_diagonal(squares, np.inf)
        assert_allclose(values, np.sort(squares, axis=1)[:, :k], atol=1e-3)
        assert not np.any(indices == everyone[:, np.newaxis])
        assert_array_equal(np.diff(np.sort(indices, axis=1), axis=1) > 0, True)
