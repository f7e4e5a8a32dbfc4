"""Attributes that are computed once and kept."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Barrier, Event

from cotherm.lazy import lazy


@dataclass(frozen=True)
class Square:
    x: int

    @lazy
    def area(self) -> list[int]:
        """x²."""
        return [self.x**2]


def test_computed_once_and_kept() -> None:
    square = Square(3)
    assert square.area == [9]
    assert square.area is square.area
    assert Square(4).area == [16]
    assert square == Square(3)
    assert isinstance(Square.area, lazy)
    assert Square.area.__doc__ == "x²."


def test_pickled_with_and_without_the_value() -> None:
    square = Square(3)
    assert pickle.loads(pickle.dumps(square)).area == [9]
    assert square.area == [9]
    assert pickle.loads(pickle.dumps(square)).__dict__["area"] == [9]


def test_threads_that_compute_at_the_same_time_get_the_same() -> None:
    meet = Barrier(2, timeout=60.0)

    class Slow:
        @lazy
        def value(self) -> list[int]:
            meet.wait()  # both are here before either has an answer
            return []

    slow = Slow()
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: slow.value, range(2))
    assert first is second


def test_objects_do_not_wait_for_each_other() -> None:
    """One that takes long does not keep another object of its class."""
    begun, ended = Event(), Event()

    class Slow:
        def __init__(self, waits: bool) -> None:
            self.waits = waits

        @lazy
        def value(self) -> bool:
            if self.waits:
                begun.set()
                assert ended.wait(60.0)
            return self.waits

    with ThreadPoolExecutor(2) as pool:
        slow = pool.submit(lambda: Slow(True).value)
        assert begun.wait(60.0)
        quick = pool.submit(lambda: Slow(False).value)
        try:
            assert quick.result(30.0) is False
        finally:
            ended.set()
        assert slow.result() is True
