"""Runs that are ended at any step and go on from their checkpoint end as those that were not, to the last bit."""

from __future__ import annotations

import logging
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cotherm as ct
from cotherm.io import state_file
from cotherm.methods import checkpoint
from cotherm.methods.pairs import descent
from tests.engines.numpy_engine import NumpyEngine
from tests.problems import cloud, nested

Run = Callable[..., ct.Coupling]


class EndedError(Exception):
    """What ends a run in these tests."""


@pytest.fixture(autouse=True)
def after_every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkpoint after every step, however long it takes."""
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)
    monkeypatch.setattr(checkpoint, "_RATIO", 0.0)


def by_landmarks(graphs: list[ct.Graph], count: int, **options: Any) -> Run:
    random = np.random.default_rng(0)
    functions = [ct.landmark_functions(g, random.choice(g.n, count, replace=False)) for g in graphs]
    return lambda **more: ct.couple(graphs, functions, **nested(**options, **more))


def of_views(views: Any, **options: Any) -> Run:
    return lambda **more: ct.couple(views.graphs, views.functions, **nested(**options, **more))


def pairs(**options: Any) -> Run:
    graphs = ct.datasets.ambiguous().graphs
    return lambda **more: ct.couple_pairs(graphs, **nested(**options, **more))


# Each run is ended so many times.
PARTS = 6
# Both kinds of descents, all routes, systems that are solved by factors and by iterations.
RUNS: dict[str, Callable[[], Run]] = {
    "ring": lambda: of_views(ct.datasets.ring()),
    "circles": lambda: of_views(ct.datasets.circles()),
    "warm starts": lambda: of_views(ct.datasets.shortcuts(600), max_iterations=20),
    "by alpha": lambda: of_views(ct.datasets.shortcuts(400), continuation="alpha", max_iterations=20),
    "many functions": lambda: by_landmarks([cloud(60, s) for s in (0, 1)], 40, times=[1.0, 3.0], continuation="times"),
    "many functions of large views": lambda: by_landmarks(
        [cloud(400, s) for s in (0, 1)], 40, times=[1.0, 3.0], max_iterations=45
    ),
    "many functions of three views": lambda: by_landmarks(
        [cloud(50, s) for s in (0, 1, 2)], 28, times=[1.0, 3.0], continuation="times"
    ),
    "three views": lambda: by_landmarks([cloud(30, s) for s in (0, 1, 2)], 3, times=[1.0, 3.0]),
    "a start": lambda: of_views(
        ct.datasets.ring(), start=[g.with_weights(0.9 * g.w) for g in ct.datasets.ring().graphs]
    ),
    "arrays that live with an engine": lambda: of_views(
        ct.datasets.ring(30), engine=NumpyEngine(), continuation="times", max_iterations=25
    ),
    "many functions with an engine": lambda: by_landmarks(
        [cloud(40, s) for s in (0, 1)],
        40,
        times=[1.0, 3.0],
        engine=NumpyEngine(),
        continuation="times",
        max_iterations=40,
    ),
    "pairs": pairs,
    "pairs without borrowing": lambda: pairs(borrow=0.0, kept_back=0.0),
}


def require_same(one: ct.Coupling, other: ct.Coupling) -> None:
    for a, b in zip(one.graphs, other.graphs, strict=True):
        assert np.array_equal(a.w, b.w)
    assert [one.cost, one.distance, one.optimality, one.alpha] == [
        other.cost,
        other.distance,
        other.optimality,
        other.alpha,
    ]
    assert (one.status, one.times, one.history) == (other.status, other.times, other.history)
    assert one.pairs is None or one.pairs.agreement == other.pairs.agreement  # type: ignore[union-attr]


class Ending:
    """Ends a run after so many steps, of trial couplings too, which callbacks do not see."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.steps, self.last = 0, 0
        report = descent._Search._report

        def counted(search: Any, *given: Any) -> None:
            self(None)
            report(search, *given)

        monkeypatch.setattr(descent._Search, "_report", counted)

    def after(self, last: int) -> Ending:
        self.steps, self.last = 0, last
        return self

    def __call__(self, _: object) -> None:
        self.steps += 1
        if self.steps == self.last:
            raise EndedError


@pytest.mark.parametrize("name", list(RUNS))
def test_ended_and_taken_up_again_and_again(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, ending, place = RUNS[name](), Ending(monkeypatch), tmp_path / "run.ckpt"
    watched = {} if "pairs" in name else {"callback": ending}
    expected = run(**watched)
    apart, ended, found = ending.steps // PARTS + 1, 0, None
    while found is None and ended <= PARTS:  # one that does not get on would never end
        try:
            ending.after(apart + 1)  # each call sees the last step of the one before it once more
            found = run(checkpoint=place, **watched)
        except EndedError:
            ended += 1
    assert found is not None
    assert PARTS - 2 <= ended <= PARTS
    require_same(found, expected)
    ending.after(1)  # a step would end it: there is none
    require_same(run(checkpoint=place, **watched), expected)


def test_after_every_single_step(tmp_path: Path) -> None:
    run, place = of_views(ct.datasets.ring(), continuation="times"), tmp_path / "run.ckpt"
    expected, seen = run(), 0

    def end(_: ct.Step) -> None:
        nonlocal seen
        seen += 1
        if seen == 2:
            raise EndedError

    for _ in range(2 * len(expected.history)):
        seen = 0
        try:
            found = run(checkpoint=place, callback=end)
            break
        except EndedError:
            pass
    require_same(found, expected)


def test_a_limit_of_time_goes_on_later(tmp_path: Path) -> None:
    run, place = of_views(ct.datasets.ring()), tmp_path / "run.ckpt"
    expected = run()
    assert run(checkpoint=place, max_seconds=1e-6).status == "time limit"
    short = run(checkpoint=place, max_seconds=1e-6)
    assert short.status == "time limit"
    stopped = run(checkpoint=place, callback=lambda step: step.iteration == 3)
    assert stopped.status == "interrupted"
    require_same(run(checkpoint=place), expected)


def test_pairs_that_time_cuts_short_go_on_later(tmp_path: Path) -> None:
    run, place = pairs(), tmp_path / "run.ckpt"
    expected = run()
    assert run(checkpoint=place, max_seconds=1e-6).status == "time limit"
    require_same(run(checkpoint=place), expected)


def test_what_a_file_does_not_belong_to_is_refused_by_name(tmp_path: Path) -> None:
    views, place = ct.datasets.ring(), tmp_path / "run.ckpt"
    first, second = views.graphs
    ct.couple(views.graphs, views.functions, times=[1.0], alpha=1e4, checkpoint=place, options={"max_iterations": 5})
    before = place.read_bytes()
    others: dict[str, tuple[Any, Any, dict[str, Any]]] = {
        "other weights of graphs[1]": ([first, second.with_weights(2.0 * second.w)], views.functions, {}),
        "edges of graphs[0]: 70 vertices": ([ct.Graph(70, [0], [1], [1.0]), second], views.functions, {}),
        "other functions[1]": (views.graphs, [views.functions[0], 2.0 * views.functions[1]], {}),
        "times: [1.0] there, [2.0] here": (views.graphs, views.functions, {"times": [2.0]}),
        "alpha: 10000.0 there, auto here": (views.graphs, views.functions, {"alpha": "auto"}),
        "max_iterations: 5 there, 6 here": (views.graphs, views.functions, {"max_iterations": 6}),
        "other frozen": (views.graphs, views.functions, {"frozen": [True, None]}),
        "rigidity: [1.0, 1.0] there, [1.0, 2.0] here": (views.graphs, views.functions, {"rigidity": [1.0, 2.0]}),
        "continuation: ": (views.graphs, views.functions, {"continuation": "direct"}),
        "other start": (views.graphs, views.functions, {"start": views.graphs, "continuation": "times"}),
    }
    for difference, (graphs, functions, options) in others.items():
        given = {"times": [1.0], "alpha": 1e4, "max_iterations": 5, **options}
        with pytest.raises(ct.CothermError) as refused:
            ct.couple(graphs, functions, checkpoint=place, **nested(**given))
        assert difference in str(refused.value), difference
        assert str(place) in str(refused.value)
    with pytest.raises(ct.CothermError, match=r"method: couple there, couple_pairs here"):
        ct.couple_pairs(views.graphs, checkpoint=place)
    assert place.read_bytes() == before


def test_files_that_are_no_checkpoint_are_never_replaced(tmp_path: Path) -> None:
    views, place = ct.datasets.ring(), tmp_path / "precious.csv"
    place.write_text("1,2,3\n")
    with pytest.raises(ct.CothermError, match="not a checkpoint"):
        ct.couple(views.graphs, views.functions, checkpoint=place)
    assert place.read_text() == "1,2,3\n"
    with pytest.raises(ct.CothermError, match="a directory"):
        ct.couple(views.graphs, views.functions, checkpoint=tmp_path)
    with pytest.raises(ct.CothermError, match="no directory"):
        ct.couple(views.graphs, views.functions, checkpoint=tmp_path / "none" / "run.ckpt")
    with pytest.raises(ct.CothermError, match="checkpoint: 5"):
        ct.couple(views.graphs, views.functions, checkpoint=5)  # type: ignore[arg-type]


def test_damage_anywhere_is_seen(tmp_path: Path) -> None:
    views, place = ct.datasets.ring(), tmp_path / "run.ckpt"
    run = of_views(views, max_iterations=8)
    run(checkpoint=place)
    whole, random = place.read_bytes(), np.random.default_rng(0)
    for _ in range(60):
        damaged = bytearray(whole)
        at = int(random.integers(len(whole)))
        damaged[at] ^= int(random.integers(1, 256))
        place.write_bytes(damaged)
        with pytest.raises(ct.CothermError):
            run(checkpoint=place)
    for length in random.integers(1, len(whole), size=20):
        place.write_bytes(whole[:length])
        with pytest.raises(ct.CothermError, match=r"checkpoint|empty"):
            run(checkpoint=place)


def test_other_versions_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place, run = tmp_path / "run.ckpt", of_views(ct.datasets.ring(), max_iterations=3)
    run(checkpoint=place)
    monkeypatch.setattr(checkpoint, "versions", lambda: {"scipy": "0.1", "numpy": np.__version__})
    with pytest.raises(ct.CothermError, match=r"version of scipy: \S+ there, 0.1 here"):
        run(checkpoint=place)
    monkeypatch.setattr(checkpoint, "VERSION", checkpoint.VERSION + 1)
    with pytest.raises(ct.CothermError, match="of version 1; needed: one of version 2"):
        run(checkpoint=place)


def test_a_disk_that_fails_on_the_way_does_not_end_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    run, folder = of_views(ct.datasets.ring()), tmp_path / "disk"
    folder.mkdir()
    expected, steps = run(), 0

    def lose(_: ct.Step) -> None:
        nonlocal steps
        steps += 1
        if steps == 20:
            shutil.rmtree(folder)

    with caplog.at_level(logging.WARNING, logger="cotherm"):
        require_same(run(checkpoint=folder / "run.ckpt", callback=lose), expected)
    assert "no directory" in caplog.text
    assert "The run goes on" in caplog.text


def test_writing_takes_a_hundredth_of_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    written: list[float] = []
    clock = [0.0]
    monkeypatch.setattr("cotherm.methods.checkpoint.time.perf_counter", lambda: clock[0])

    def slow(*_: object, **__: object) -> None:
        written.append(clock[0])
        clock[0] += 2.0

    kept = checkpoint.Checkpoint(tmp_path / "run.ckpt", {}, ct.engines.get_engine("cpu"))
    monkeypatch.setattr("cotherm.methods.checkpoint.atomic.save", slow)
    for _ in range(10_000):
        clock[0] += 0.1
        kept.step("one", lambda: {"u": np.zeros(3)}, dict)
    assert written[0] <= 5.2
    assert 2.0 * len(written) <= 0.02 * clock[0]
    assert len(written) >= 4


@pytest.mark.parametrize("seconds", [0.0001, 0.01, 1.0])
def test_copies_of_states_take_a_hundredth_of_the_time(
    seconds: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(checkpoint, "EVERY", np.inf)  # no file is due
    clock, copies = [0.0], 0
    monkeypatch.setattr("cotherm.methods.checkpoint.time.perf_counter", lambda: clock[0])

    def copied() -> dict[str, Any]:
        nonlocal copies
        copies += 1
        clock[0] += seconds
        return {}

    kept = checkpoint.Checkpoint(tmp_path / "run.ckpt", {}, ct.engines.get_engine("cpu"))
    for _ in range(1_000):
        clock[0] += 0.1
        kept.step("one", copied, dict)
    assert seconds * (copies - 1) <= 0.01 * clock[0]
    assert copies >= min(1_000, 0.009 * clock[0] / seconds)


STATES = [
    {"a": 1, "b": [1.5, None, "text", True], "c": {"d": np.arange(6.0).reshape(2, 3)}},
    {
        "mask": np.array([True, False, True] * 5),
        "none": np.zeros((0, 3)),
        "small": np.array([1.0, np.nan], dtype=np.float32),
    },
    {"numbers": [float("inf"), -0.0, 1e-308, 0.1], "ints": np.arange(3, dtype=np.int32)},
]


@pytest.mark.parametrize("state", STATES)
def test_states_come_back(state: dict[str, Any]) -> None:
    found = state_file.parse(b"".join(map(bytes, state_file.pieces(state))))
    assert repr(found) == repr(state)


# Runs couple with a checkpoint after every step, and prints its result.
PROGRAM = """
import sys
import cotherm as ct
from cotherm.methods import checkpoint
checkpoint.EVERY = checkpoint._RATIO = 0.0
views = ct.datasets.ring()
print("begun", flush=True)
result = ct.couple(views.graphs, views.functions, checkpoint=sys.argv[1])
print(result.cost.hex(), [g.w.tobytes().hex() for g in result.graphs])
"""


def test_killed_at_random_moments(tmp_path: Path) -> None:
    random, place = np.random.default_rng(0), tmp_path / "run.ckpt"
    command = [sys.executable, "-c", PROGRAM]
    whole = subprocess.run([*command, str(tmp_path / "other.ckpt")], capture_output=True, text=True, check=True)
    killed = 0
    for _ in range(8):
        with subprocess.Popen([*command, str(place)], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "begun\n"
            time.sleep(float(random.random()))
            process.send_signal(signal.SIGKILL)
            out = process.stdout.read()
        killed += process.returncode == -signal.SIGKILL
        if process.returncode == 0:
            break
    else:
        out = subprocess.run([*command, str(place)], capture_output=True, text=True, check=True).stdout
        out = out.removeprefix("begun\n")
    assert "begun\n" + out == whole.stdout
    assert killed >= 1
    # What a killed process was writing has a name of its own, and is all that is left.
    assert all(one.name.startswith(".cotherm-") or one.suffix == ".ckpt" for one in tmp_path.iterdir())
