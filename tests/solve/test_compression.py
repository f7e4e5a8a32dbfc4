"""More residuals than unknowns, made as many: the model they stand for is the same."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from cotherm.engines import default_engine
from cotherm.solve.compression import compressed
from cotherm.solve.tall_matrix import InMemory
from tests.solve.test_tall_matrix import KINDS, kept


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("m", [1, 7, 20])
def test_squares_differ_by_a_constant(kind: str, m: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(default_engine()), "block_size", 30)
    random = np.random.default_rng(m)
    J = random.standard_normal((m, 57)).astype(np.float32).astype(np.float64)
    E, compress = compressed(kept(kind, J))
    assert E.shape == (m, m)
    r = random.standard_normal(57)
    x = compress(r)
    steps = random.standard_normal((5, m))
    whole = [np.sum((r + J.T @ s) ** 2) for s in steps]
    small = [np.sum((x + E.rmatvec(s)) ** 2) for s in steps]
    assert_allclose(np.diff(whole), np.diff(small), rtol=1e-9, atol=1e-9)


def test_unknowns_that_change_nothing_and_equations_that_repeat() -> None:
    random = np.random.default_rng(0)
    J = random.standard_normal((6, 20))
    J[2] = 0.0
    J[4] = J[3]
    E, compress = compressed(InMemory(J))
    r = random.standard_normal(20)
    assert_allclose(E.to_array() @ E.to_array().T, J @ J.T, atol=1e-12)
    assert_allclose(E.matvec(compress(r)), J @ r, atol=1e-12)


def test_a_matrix_of_zeros() -> None:
    E, compress = compressed(InMemory(np.zeros((3, 8))))
    assert_allclose(E.to_array(), 0.0, atol=1e-14)
    assert_allclose(compress(np.ones(8)), 0.0)


@pytest.mark.parametrize("shape", [(9, 4), (4, 4), (0, 5)])
def test_few_residuals_are_left_as_they_are(shape: tuple[int, int]) -> None:
    J = InMemory(np.ones(shape))
    E, compress = compressed(J)
    r = np.arange(float(shape[1]))
    assert E is J
    assert compress(r) is r
