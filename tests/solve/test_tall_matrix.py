"""Tall matrices, however they are kept, are the matrix they stand for."""

from __future__ import annotations

import gc
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from cotherm.engines import default_engine
from cotherm.solve import tall_matrix
from cotherm.solve.tall_matrix import InMemory, OnDisk, Recomputed, TallMatrix
from tests.problems import refused

KINDS = ["stored", "float32", "computed", "filed", "filed float32"]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(default_engine()), "block_size", 21)  # seven rows


def kept(kind: str, E: np.ndarray) -> TallMatrix:
    if kind == "computed":

        def rows(numbers: np.ndarray, out: np.ndarray) -> None:
            out[:] = E[numbers]

        return Recomputed((E.shape[0], E.shape[1]), rows)
    dtype = np.float32 if "float32" in kind else np.float64
    if "filed" in kind:
        blocks = (E[first : first + 7] for first in range(0, len(E), 7))
        return OnDisk.written((E.shape[0], E.shape[1]), dtype, blocks)
    return InMemory(E.astype(dtype))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", [0, 1, 7, 40])
def test_products_and_rows(kind: str, rows: int) -> None:
    rng = np.random.default_rng(rows)
    E = rng.standard_normal((rows, 3)).astype(np.float32).astype(np.float64)  # exact in both precisions
    x, y = rng.standard_normal(3), rng.standard_normal(rows)
    matrix = kept(kind, E)
    assert matrix.shape == E.shape
    assert_allclose(matrix.matvec(x), E @ x, atol=1e-13)
    assert_allclose(matrix.rmatvec(y), E.T @ y, atol=1e-13)
    assert_allclose(matrix.row_squares, np.sum(E**2, axis=1))
    assert_allclose(matrix.to_array(), E)
    assert matrix.to_array().dtype == np.float64
    assert_allclose(matrix.first_columns(2).to_array(), E[:, :2])
    some = np.flatnonzero(rng.random(rows) < 0.5)
    assert_allclose(matrix.rows(some), E[some])
    blocks = list(matrix.row_blocks(some))
    assert [number for numbers, _ in blocks for number in numbers.tolist()] == some.tolist()
    assert all(np.array_equal(block, E[numbers]) for numbers, block in blocks)
    part = matrix.row_slice(rows // 3, rows)
    assert_allclose(part.to_array(), E[rows // 3 :])
    assert_allclose(part.matvec(x), E[rows // 3 :] @ x, atol=1e-13)
    later = np.flatnonzero(rng.random(part.shape[0]) < 0.5)
    assert_allclose(part.rows(later), E[rows // 3 :][later])


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc")
def test_a_file_is_gone_with_its_matrix() -> None:
    def files() -> int:
        gc.collect()
        return len(list(Path("/proc/self/fd").iterdir()))

    before = files()
    matrix = kept("filed", np.ones((20, 3)))
    part = matrix.row_slice(0, 5)
    del matrix
    assert files() == before + 1
    assert part.to_array().sum() == 15.0
    del part
    assert files() == before


def test_no_room_on_disk_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tall_matrix._File, "append", full)
    assert refused(lambda: kept("filed", np.ones((20, 3)))) == "memory"
