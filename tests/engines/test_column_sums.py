"""ColumnSums of columns, against NumPy."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from cotherm.engines.cpu.vectors import column_sums


@pytest.mark.parametrize(("n", "q"), [(1, 1), (7, 3), (4_095, 2), (8_193, 5), (300_001, 4)])
def test_amounts_are_those_of_the_columns(n: int, q: int) -> None:
    F = np.random.default_rng(n).standard_normal((n, q)) + 0.3
    for given in (F, np.asfortranarray(F), F[::-1]):
        found = column_sums(given)
        assert_array_equal(found.largest, np.abs(F).max(axis=0))
        assert_allclose(found.sums, F.sum(axis=0), rtol=1e-11)
        assert_allclose(found.squares, (F**2).sum(axis=0), rtol=1e-12)


def test_amounts_are_the_same_whatever_the_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    F = np.random.default_rng(0).standard_normal((300_001, 4))
    several = column_sums(F)
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", 1)
    for one, other in zip(several, column_sums(F), strict=True):
        assert_array_equal(one, other)
