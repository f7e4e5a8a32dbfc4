"""Progress: seen where a person watches, and never the end of a computation."""

from __future__ import annotations

import io
import os
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import cotherm as ct
from cotherm import progress
from cotherm.progress import Meter, shown, track, working


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
    """Lines are written at once, and often; tests count as a part of the package."""
    monkeypatch.setattr(progress, "_DELAY", 0.0)
    monkeypatch.setattr(progress, "_EVERY", 0.001)
    monkeypatch.setattr(progress, "_inside_package", lambda _: True)


def watched(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal for standard error; no fixture, since pytest sets its own once more when a test begins."""
    found = Terminal()
    monkeypatch.setattr("sys.stderr", found)
    return found


def wait_for(happened: Callable[[], object]) -> None:
    """Until a thread has done something; a minute is for ever."""
    end = time.monotonic() + 60.0
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.001)


def used(seen: Callable[[str], object]) -> list[int]:
    """All kinds of progress, each until it has been seen."""
    with Meter() as meter:
        meter.advance("first")
        meter.advance("second", step=1)
        meter.show(cost=0.5)
        wait_for(lambda: seen("second [00:00, step 1, cost 0.5]"))
    with working("reading"):
        wait_for(lambda: seen("reading [00:00]"))
    done = []
    for item in track(range(4), total=4, label="items"):
        done.append(item)
        wait_for(lambda: seen(f"items: {25 * (len(done) - 1):3}%|"))
    return done


def test_a_terminal_shows_all_kinds_and_is_clean_in_the_end(hurry: None, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = watched(monkeypatch)
    assert used(lambda text: "\r" + text in screen.getvalue()) == [0, 1, 2, 3]
    assert screen.getvalue().endswith(" \r")
    assert "\n" not in screen.getvalue()


def test_only_the_outermost_is_shown(hurry: None, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = watched(monkeypatch)
    with working("outer"):
        assert list(track(range(3), total=3, label="inner")) == [0, 1, 2]
        wait_for(lambda: "outer" in screen.getvalue())
    assert "inner" not in screen.getvalue()


def test_lines_are_cut_at_the_width_of_the_terminal(hurry: None, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = watched(monkeypatch)
    with working("x" * 500):
        wait_for(screen.getvalue)
    assert max(map(len, screen.getvalue().split("\r"))) == 79


def test_what_is_left_is_estimated_from_parts_that_are_alike() -> None:
    work = Meter(total=4, bar=True)
    work.advance("items")
    assert work._text(7.0, 60) == f"items:   0%|{' ' * 33}| 0/4 [00:07<?]"
    work.advance("items")
    assert work._text(10.0, 60) == f"items:  25%|{'#' * 7}{' ' * 22}| 1/4 [00:10<00:30]"
    unlike = Meter(total=4)
    for _ in range(3):
        unlike.advance("rounds")
    assert unlike._text(9.0, 60) == "rounds (3 of up to 4) [00:09]"


def test_a_limit_is_beside_the_time() -> None:
    work = Meter(limit=600.0)
    work.advance("coupling")
    assert work._text(3725.0, 60) == "coupling [1:02:05 of 10:00]"


def test_nothing_is_shown_before_two_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = watched(monkeypatch)
    assert progress._DELAY == 2.0
    with working("short"):
        pass
    assert screen.getvalue() == ""


def test_silence_on_request(hurry: None, monkeypatch: pytest.MonkeyPatch) -> None:
    watched(monkeypatch)
    threads = threading.active_count()
    with shown(False), working("work"):
        assert threading.active_count() == threads
    with working("work"):
        assert threading.active_count() == threads + 1


def test_a_log_on_request(hurry: None, monkeypatch: pytest.MonkeyPatch) -> None:
    log = io.StringIO()
    monkeypatch.setattr("sys.stderr", log)
    with working("unasked"):
        pass
    with shown(True), working("asked"):
        wait_for(lambda: log.getvalue().count("\n") > 1)
    assert set(log.getvalue().splitlines()) == {"asked [00:00]"}


def test_an_abandoned_line_goes(hurry: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop that fails leaves its generator to whoever holds the traceback."""
    screen = watched(monkeypatch)
    items = track(range(3), total=3, label="items")
    next(items)
    wait_for(lambda: "items" in screen.getvalue())
    monkeypatch.setattr(progress, "_inside_package", lambda _: False)
    wait_for(lambda: progress._current is None)
    assert screen.getvalue().endswith(" \r")
    assert list(items) == [1, 2]


def test_inside_the_package_is_where_its_functions_run() -> None:
    own = threading.get_ident()

    def seen_by_another_thread() -> bool:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(progress._inside_package, own).result()

    assert not seen_by_another_thread()
    here = ModuleType("cotherm.somewhere")
    exec("def call(function):\n    return function()", vars(here))
    assert here.call(seen_by_another_thread)


def test_clear_removes_the_line(hurry: None, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = watched(monkeypatch)
    with working("work"):
        wait_for(lambda: "work" in screen.getvalue())
        progress.clear()
        assert screen.getvalue().endswith(" \r")
    progress.clear()  # nothing is there


@pytest.mark.parametrize("failure", BROKEN, ids=lambda failure: type(failure).__name__)
@pytest.mark.parametrize("good", [0, 3])
def test_a_terminal_that_breaks_costs_nothing(
    hurry: None, monkeypatch: pytest.MonkeyPatch, failure: Exception, good: int
) -> None:
    screen = Broken(failure, good)
    monkeypatch.setattr("sys.stderr", screen)
    assert used(lambda _: screen.failures > 1) == [0, 1, 2, 3]
    assert screen.failures > 1


@pytest.mark.parametrize("make", NO_TERMINAL, ids=["none", "closed", "no isatty", "isatty fails"])
def test_no_terminal_is_needed(monkeypatch: pytest.MonkeyPatch, make: Callable[[], Any]) -> None:
    views = ct.datasets.ring()
    with monkeypatch.context() as patch:  # pytest wants its own back before it reports
        patch.setattr("sys.stderr", make())
        assert used(lambda _: True) == [0, 1, 2, 3]
        coupled = ct.couple(views.graphs, views.functions, [1.0], options={"max_iterations": 2})
        places = ct.diffusion_map(views.graphs[0], 1.0, k=2)
    assert coupled.cost > 0.0
    assert places.shape == (70, 2)


def test_a_failure_of_the_computation_is_seen(hurry: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", Broken(BrokenPipeError(32, "gone")))
    with pytest.raises(ZeroDivisionError):
        list(track((1 // x for x in (1, 0)), total=2, label="items"))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_child_of_a_fork_is_silent(hurry: None, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = watched(monkeypatch)
    with working("parent"):
        wait_for(lambda: "parent" in screen.getvalue())
        child = os.fork()
        if not child:
            before = screen.getvalue()
            with working("child"):
                time.sleep(0.01)
            os._exit(screen.getvalue() != before)
        assert os.waitpid(child, 0)[1] == 0


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in the kernel of a notebook without widgets."""
    shell = ModuleType("IPython")
    shell.get_ipython = type("Shell", (), {"kernel": object()})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "ipywidgets", None)


def test_a_notebook_shows_the_line_of_a_terminal(hurry: None, notebook: None, monkeypatch: pytest.MonkeyPatch) -> None:
    cell = io.StringIO()
    monkeypatch.setattr("sys.stderr", cell)
    assert used(lambda text: "\r" + text in cell.getvalue()) == [0, 1, 2, 3]
    assert cell.getvalue().endswith(" \r")


def test_estimators_are_silent_unless_asked(hurry: None, notebook: None, monkeypatch: pytest.MonkeyPatch) -> None:
    cell = io.StringIO()
    monkeypatch.setattr("sys.stderr", cell)
    X = np.random.default_rng(0).random((300, 4))
    quick: dict[str, Any] = {"view_columns": [2, 2], "options": {"kept_back": 0.0, "max_iterations": 30}}  # seen
    ct.HeatKernelCoupling(**quick).fit(X)
    assert cell.getvalue() == ""
    ct.HeatKernelCoupling(**quick, verbose=1).fit(X)
    assert "coupling by all pairs" in cell.getvalue()
