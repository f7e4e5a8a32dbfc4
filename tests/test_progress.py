"""Progress bars: seen where a person watches, and never the end of a computation."""

from __future__ import annotations

import io
from collections.abc import Callable
from itertools import count
from pathlib import Path
from time import sleep
from typing import Any

import pytest
import tqdm
import tqdm.std

import cotherm as ct
from cotherm.progress import Meter, track, waiting


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Broken(Terminal):
    """A terminal that goes away: the first so many texts are written, then each one fails."""

    def __init__(self, failure: Exception, good: int = 0) -> None:
        super().__init__()
        self.failure, self.good, self.failures = failure, good, 0

    def write(self, text: str) -> int:
        self.good -= 1
        if self.good < 0:
            self.failures += 1
            raise self.failure
        return super().write(text)

    def flush(self) -> None:
        if self.good < 0:
            raise self.failure


class Doubtful:
    def isatty(self) -> bool:
        raise RuntimeError("on purpose")


def closed() -> io.StringIO:
    stream = io.StringIO()
    stream.close()
    return stream


BROKEN = [BrokenPipeError(32, "gone"), ValueError("I/O operation on closed file"), RuntimeError("anything")]
NO_TERMINAL: list[Callable[[], Any]] = [lambda: None, closed, object, Doubtful]


@pytest.fixture
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten seconds pass whenever a bar looks at the clock."""
    clock = count(0.0, 10.0)
    monkeypatch.setattr(tqdm.std, "time", lambda: next(clock))
    monkeypatch.setattr(tqdm.tqdm, "monitor_interval", 0)


def used() -> list[int]:
    with Meter(total=3) as meter:
        for label in ("first", "second"):
            meter.advance(label)
            meter.show(cost=1.0)
        meter.extend(2)
        meter.advance("third")
    return list(track(range(5), total=5, label="items"))


def test_a_terminal_shows_both_bars(hurry: None, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    assert used() == [0, 1, 2, 3, 4]
    assert "second" in screen.getvalue()
    assert "items" in screen.getvalue()


@pytest.mark.parametrize("failure", BROKEN, ids=lambda failure: type(failure).__name__)
@pytest.mark.parametrize("good", [0, 3])
def test_a_terminal_that_breaks_costs_nothing(
    hurry: None, monkeypatch: pytest.MonkeyPatch, failure: Exception, good: int
) -> None:
    screen = Broken(failure, good)
    monkeypatch.setattr("sys.stderr", screen)
    assert used() == [0, 1, 2, 3, 4]
    assert screen.failures > 0


@pytest.mark.parametrize("make", NO_TERMINAL, ids=["none", "closed", "no isatty", "isatty fails"])
def test_no_terminal_is_needed(monkeypatch: pytest.MonkeyPatch, make: Callable[[], Any]) -> None:
    views = ct.datasets.ring()
    with monkeypatch.context() as patch:  # pytest wants its own back before it reports
        patch.setattr("sys.stderr", make())
        assert used() == [0, 1, 2, 3, 4]
        coupled = ct.couple(views.graphs, views.functions, [1.0], max_iterations=2)
        places = ct.diffusion_map(views.graphs[0], 1.0, k=2)
    assert coupled.cost > 0.0
    assert places.shape == (70, 2)


@pytest.mark.parametrize("size", [1, 2**60])
def test_reading_and_searching_are_seen(
    hurry: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, size: int
) -> None:
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setattr("cotherm.limits.COMPILED_TABLE_BYTES", size)
    (tmp_path / "points.csv").write_text("1.5,2\n3,4\n5,6.5\n")
    table = ct.io.read_table(tmp_path / "points.csv")
    assert "reading points.csv" in screen.getvalue()
    ct.knn_graph(table.values, 1, scale_neighbor=1)
    assert "neighbors" in screen.getvalue()


def test_a_call_that_says_nothing_of_itself(hurry: None, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setattr("cotherm.progress._TICK", 0.001)
    with waiting("neighbors"):
        while "neighbors" not in screen.getvalue():
            sleep(0.001)
    monkeypatch.setattr("sys.stderr", Broken(BrokenPipeError(32, "gone")))
    with pytest.raises(ZeroDivisionError), waiting("neighbors"):
        raise ZeroDivisionError
    with monkeypatch.context() as patch:
        patch.setattr("sys.stderr", None)
        with waiting("neighbors"):
            pass


def test_a_failure_of_the_computation_is_seen(hurry: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", Broken(BrokenPipeError(32, "gone")))
    with pytest.raises(ZeroDivisionError):
        list(track((1 // x for x in (1, 0)), total=2, label="items"))
