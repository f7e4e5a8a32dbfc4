"""Blocks of tall matrices are those of the matrix."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from cotherm.engines.cpu.engine import CPU
from cotherm.solve.tall_matrix import TallMatrix


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(CPU), "block_size", 21)  # seven rows


@pytest.mark.parametrize("rows", [0, 1, 7, 40])
def test_products_and_rows(rows: int) -> None:
    rng = np.random.default_rng(rows)
    E = rng.standard_normal((rows, 3))
    x, y = rng.standard_normal(3), rng.standard_normal(rows)
    matrix = TallMatrix(E, CPU)
    assert matrix.shape == E.shape
    assert_allclose(matrix.matvec(x), E @ x, atol=1e-13)
    assert_allclose(matrix.rmatvec(y), E.T @ y, atol=1e-13)
    assert_allclose(matrix.row_squares, np.sum(E**2, axis=1))
    assert_allclose(matrix.first_columns(2).array, E[:, :2])
    some = np.flatnonzero(rng.random(rows) < 0.5)
    blocks = list(matrix.row_blocks(some))
    assert [number for numbers, _ in blocks for number in numbers.tolist()] == some.tolist()
    assert all(np.array_equal(block, E[numbers]) for numbers, block in blocks)
    part = matrix.row_slice(rows // 3, rows)
    assert_allclose(part.array, E[rows // 3 :])
    assert_allclose(part.matvec(x), E[rows // 3 :] @ x, atol=1e-13)
