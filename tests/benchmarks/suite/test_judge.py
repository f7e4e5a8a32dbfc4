"""The judge keeps limits and survives every contestant."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.suite import judge
from benchmarks.suite.parts import Limits, Row
from tests.benchmarks.suite import misbehaving

_MODULE = "tests.benchmarks.suite.misbehaving"
_LIMITS = Limits(seconds=20.0, memory=1e9)


def _judged(contestant: str, limits: Limits = _LIMITS, problem: str = "number 10") -> Row:
    family = misbehaving.FAMILY
    chosen = next(one for one in family.contestants if one.name == contestant)
    asked = next(one for one in family.problems(False) if one.name == problem)
    return judge.judged(_MODULE, family, asked, chosen, limits, quick=False, data=None)


def test_a_good_answer_is_judged() -> None:
    row = _judged("good")
    assert (row.status, row.reason, row.size, row.series) == ("ok", "", 10, "numbers")
    assert row.figures == {"answer": 10.0, "off": 0.0}
    assert row.bytes_moved == 1e4
    assert row.seconds is not None
    assert row.memory is not None


@pytest.mark.parametrize(
    ("contestant", "limits", "status", "reason"),
    [
        ("sleeps with a child", Limits(0.3, 1e9), "out of time", ""),
        ("grows", Limits(60.0, 3e8), "out of memory", ""),
        ("no room", _LIMITS, "out of memory", ""),
        ("raises", _LIMITS, "failed", "ValueError: not today"),
        ("dies", _LIMITS, "failed", "SIGABRT"),
        ("missing", _LIMITS, "not installed", "pip install no-such-library"),
    ],
)
def test_whatever_goes_wrong_is_recorded(
    contestant: str, limits: Limits, status: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    child = tmp_path / "child"
    monkeypatch.setenv(misbehaving.CHILD, str(child))
    row = _judged(contestant, limits)
    assert row.status == status
    assert reason in row.reason
    assert not row.figures
    if child.exists():
        assert _gone(int(child.read_text()))


def _gone(pid: int) -> bool:
    """Dead, or dead and waiting for whoever inherits it to notice."""
    for _ in range(100):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


def test_a_problem_that_cannot_be_made_is_a_failure() -> None:
    row = _judged("good", problem="never made")
    assert (row.status, row.reason) == ("failed", "RuntimeError: no such problem")


def test_a_tiny_problem_is_solved_before_the_clock_starts() -> None:
    assert _judged("counts").figures["answer"] == 2.0


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peaks are counted from Linux's own figures")
def test_memory_is_that_of_solving() -> None:
    memory = _judged("holds").memory
    assert memory is not None
    assert 49 * misbehaving.MB < memory < 80 * misbehaving.MB


def test_problems_must_be_made_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "_UNMEASURED", 0.0)
    row = _judged("good")
    assert row.status == "failed"
    assert row.reason.startswith("making took over")


def test_nothing_runs_on_when_the_judge_is_killed(tmp_path: Path) -> None:
    child = tmp_path / "child"
    code = "from tests.benchmarks.suite.test_judge import _judged; _judged('sleeps with a child')"
    environment = {**os.environ, misbehaving.CHILD: str(child), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen([sys.executable, "-c", code], env=environment) as parent:
        while not (child.exists() and child.read_text()):
            assert parent.poll() is None
            time.sleep(0.02)
        parent.kill()
    assert _gone(int(child.read_text()))


def test_memory_of_a_process() -> None:
    assert judge.resident(os.getpid()) > 1e6
    assert judge.resident(2**30) == 0.0
