"""Tasks side by side: results in order, errors passed on, and pools within them with their share of the threads."""

from __future__ import annotations

from functools import partial

import numba
import pytest

from cotherm.engines.cpu.thread_pool import side_by_side, thread_count


def test_results_are_in_order_and_threads_are_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", 4)

    def task(k: int) -> tuple[int, int]:
        return k, thread_count()

    assert side_by_side([partial(task, k) for k in range(2)]) == [(0, 2), (1, 2)]
    assert side_by_side([partial(task, k) for k in range(9)]) == [(k, 1) for k in range(9)]
    assert thread_count() == 4


def test_an_error_in_a_task_is_raised_and_the_share_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", 3)
    with pytest.raises(ZeroDivisionError):
        side_by_side([lambda: 1 // 0, lambda: 2, lambda: 1 // 0])
    assert thread_count() == 3
