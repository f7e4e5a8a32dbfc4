"""Long vectors a block at a time, against the same formula in one piece."""

from __future__ import annotations

import threading
import time

import numba
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from cotherm.engines.cpu.vectors import elementwise


def _blend(held: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.where(held, 0.0, x / (1.0 + y))


@pytest.mark.parametrize("length", [0, 1, 65_536, 65_537, 1_000_003])
def test_blocks_make_what_one_piece_makes(length: int) -> None:
    rng = np.random.default_rng(length)
    x, y = rng.random((2, length))
    held = rng.random(length) < 0.3
    assert_array_equal(elementwise(_blend, held, x, y), _blend(held, x, y))


def test_an_error_in_a_block_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    def elsewhere(x: np.ndarray) -> np.ndarray:
        if threading.current_thread() is threading.main_thread():
            time.sleep(0.01)  # leaves some blocks to the others
            return x
        raise ZeroDivisionError

    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", 2)
    with pytest.raises(ZeroDivisionError):
        elementwise(elsewhere, np.zeros(1_000_003))
