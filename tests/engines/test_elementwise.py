"""Long vectors a block at a time, against the same formula in one piece."""

from __future__ import annotations

import threading
import time

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from cotherm.engines.cpu.elementwise import elementwise, elementwise_sum


def _blend(held: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.where(held, 0.0, x / (1.0 + y))


@pytest.mark.parametrize("length", [0, 1, 65_536, 65_537, 1_000_003])
def test_blocks_make_what_one_piece_makes(length: int) -> None:
    rng = np.random.default_rng(length)
    x, y = rng.random((2, length))
    held = rng.random(length) < 0.3
    assert_array_equal(elementwise(_blend, held, x, y), _blend(held, x, y))
    assert_allclose(elementwise_sum(np.dot, x, y), x @ y, rtol=1e-12)


def test_a_sum_is_the_same_whatever_the_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(0).random(1_000_003)
    several = [elementwise_sum(np.sum, x) for _ in range(5)]
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", 1)
    assert set(several) == {elementwise_sum(np.sum, x)}


def test_an_error_in_a_block_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    def elsewhere(x: np.ndarray) -> float:
        if threading.current_thread() is threading.main_thread():
            time.sleep(0.01)  # leaves some blocks to the others
            return 0.0
        raise ZeroDivisionError

    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", 2)
    with pytest.raises(ZeroDivisionError):
        elementwise_sum(elsewhere, np.zeros(1_000_003))
