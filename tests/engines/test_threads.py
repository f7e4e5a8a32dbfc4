"""The limit on BLAS threads is lifted again, however calls overlap."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from cotherm.engines.threads import limited_blas


def blas_threads() -> set[int]:
    np.ones((2, 2)) @ np.ones((2, 2))  # loaded by now, if ever
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.fixture
def two_threads() -> Iterator[set[int]]:
    with threadpool_limits(limits=2, user_api="blas"):
        found = blas_threads()
        if found != {2}:
            pytest.skip("this BLAS does not let its threads be set")
        yield found


def test_overlapping_calls_leave_the_number_of_threads_alone(two_threads: set[int]) -> None:
    """The first to come is the first to go, as may happen between threads."""
    first, second = limited_blas(10), limited_blas(10)
    first.__enter__()
    second.__enter__()
    assert blas_threads() == {1}
    first.__exit__(None, None, None)
    assert blas_threads() == {1}
    second.__exit__(None, None, None)
    assert blas_threads() == two_threads


def test_nested_calls_and_failures_leave_the_number_of_threads_alone(two_threads: set[int]) -> None:
    def fail() -> None:
        with limited_blas(10), limited_blas(20):
            raise RuntimeError("on purpose")

    with pytest.raises(RuntimeError, match="on purpose"):
        fail()
    assert blas_threads() == two_threads


def test_large_problems_are_not_limited(two_threads: set[int]) -> None:
    with limited_blas(10_000):
        assert blas_threads() == two_threads
