"""The limit on BLAS threads is lifted again, however calls overlap."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from cotherm.engines import threads
from cotherm.engines.threads import limited_blas, one_thread


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


def within(call: Callable[[], Any]) -> Any:
    """What the call returns in a thread of its own."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result()


def limited() -> set[int]:
    with limited_blas(10):
        return blas_threads()


def test_every_thread_is_limited_one_after_the_other(two_threads: set[int]) -> None:
    """The first thread to set a limit must not be the only one that can."""
    assert limited() == {1}
    for _ in range(3):
        assert within(limited) == {1}
        assert blas_threads() == two_threads
    assert limited() == {1}
    assert blas_threads() == two_threads


def test_limits_of_other_libraries_work_in_threads_after_ours() -> None:
    """With threadpoolctl 3.8 they do nothing if the main thread has kept the control it took."""
    limited()

    def other() -> set[int]:
        with threadpool_limits(limits=1, user_api="blas"):
            return blas_threads()

    assert within(other) == {1}


def test_calls_that_overlap_in_threads(two_threads: set[int]) -> None:
    """The thread that came first leaves first; the other is limited to its end."""
    outer = limited_blas(10)
    outer.__enter__()
    left = threading.Event()

    def inner() -> set[int]:
        with limited_blas(10):
            assert left.wait(60.0)
            return blas_threads()

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(inner)
        while len(threads._blas._inside) < 2:
            assert not future.done()
        outer.__exit__(None, None, None)
        left.set()
        assert future.result() == {1}
    assert blas_threads() == two_threads


def test_a_limit_may_be_left_in_another_thread(two_threads: set[int]) -> None:
    stay = limited_blas(10)
    within(stay.__enter__)
    assert blas_threads() == {1}
    stay.__exit__(None, None, None)
    assert blas_threads() == two_threads


def test_what_others_set_meanwhile_is_theirs() -> None:
    with threadpool_limits(limits=3, user_api="blas"):
        if blas_threads() != {3}:
            pytest.skip("this BLAS does not let its threads be set")
        with limited_blas(10):
            for library in threads._blas._libraries:
                library.set(2)
        assert blas_threads() == {2}


def test_limits_of_others_inside_ours_are_not_taken_for_the_first_number(two_threads: set[int]) -> None:
    with limited_blas(10), threadpool_limits(limits=3, user_api="blas"), limited_blas(10):
        assert blas_threads() == {1}
    assert blas_threads() == two_threads


def test_many_threads_at_once(two_threads: set[int]) -> None:
    def often(_: int) -> set[int]:
        found: set[int] = set()
        for _ in range(100):
            found |= limited()
        return found

    with ThreadPoolExecutor(8) as pool:
        assert set().union(*pool.map(often, range(8))) == {1}
    assert blas_threads() == two_threads


class Own:
    """A library in which every thread has a number of its own, as in OpenMP."""

    def __init__(self) -> None:
        self._local = threading.local()

    def get(self) -> int:
        return getattr(self._local, "number", 4)

    def set(self, number: int) -> None:
        self._local.number = number


def test_numbers_of_single_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    own = Own()
    library = threads._Library("own", False, own.get, own.set)
    monkeypatch.setattr(threads, "_loaded", lambda interface: [library])

    def call() -> tuple[int, int]:
        with one_thread():
            inside = own.get()
        return inside, own.get()

    with one_thread():
        assert own.get() == 1
        assert within(call) == (1, 4)
        assert own.get() == 1
    assert own.get() == 4


def test_all_libraries_get_one_thread() -> None:
    def numbers() -> list[int]:
        """Of dense algebra and OpenMP; SciPy's writer of Matrix Market has threads too, and is not called here."""
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] in ("blas", "openmp")]

    before = numbers()
    with one_thread():
        assert set(numbers()) == {1}
    assert numbers() == before


def test_an_interrupt_while_entering(two_threads: set[int], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(interface: str) -> list[Any]:
        found = loaded(interface)
        return [*found, threads._Library("bad", True, lambda: 2, interrupt)]

    def interrupt(number: int) -> None:
        raise KeyboardInterrupt

    loaded = threads._loaded
    with monkeypatch.context() as patch:
        patch.setattr(threads, "_loaded", interrupted)
        with pytest.raises(KeyboardInterrupt), limited_blas(10):
            pass
    assert not threads._blas._inside
    assert blas_threads() == two_threads
