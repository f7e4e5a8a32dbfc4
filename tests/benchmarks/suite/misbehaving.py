"""A family whose contestants behave in every way that the judge must survive; problems are numbers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.suite.parts import Contestant, Data, Family, Figure, Library, Limits, Problem

# Where a contestant leaves the number of a process it started.
CHILD = "COTHERM_TEST_CHILD"
MB = 1_000_000

_calls = 0


def _problems(quick: bool) -> Sequence[Problem]:
    sizes = (10, 100, 1_000) if quick else (10,)
    # Largest first: the runner must put them in order.
    return [
        *(_of(n) for n in reversed(sizes)),
        Problem("of data", "data", 5, _of_data, lambda: 1, 5.0, file="nowhere/to-be-found.csv", contestants=("good",)),
        Problem("never made", "broken", 7, _never, lambda: 1, 5.0, contestants=("good",)),
    ]


def _of(n: int) -> Problem:
    return Problem(f"number {n}", "numbers", n, lambda _: n, lambda: 1, 2.0, contestants=("good", "sleeps", "missing"))


def _of_data(_: Data) -> int:
    return 5


def _never(_: Data) -> int:
    raise RuntimeError("no such problem\nand more that is not shown")


def _good(n: int, _: Limits) -> int:
    sys.stdout.write("contestants may print\n")
    return n


def _sleeps(n: int, _: Limits) -> int:
    if n >= 100:
        time.sleep(60.0)
    return n


def _sleeps_with_child(n: int, _: Limits) -> int:
    if n > 1:
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        Path(os.environ[CHILD]).write_text(str(child.pid), encoding="ascii")
        time.sleep(60.0)
    return n


def _grows(n: int, _: Limits) -> int:
    held = []
    while n > 1:
        held.append(np.ones(10 * MB // 8))
        time.sleep(0.005)
    return len(held)


def _holds(n: int, _: Limits) -> int:
    """50 MB for a moment, which are gone when it ends."""
    return n if n == 1 else int(n * np.ones(50 * MB // 8)[0])


def _raises(_: int, __: Limits) -> int:
    raise ValueError("not today\nor ever")


def _dies(n: int, _: Limits) -> int:
    if n > 1:
        os.kill(os.getpid(), signal.SIGABRT)
    return n


def _no_room(_: int, __: Limits) -> int:
    raise MemoryError


def _counts(_: int, __: Limits) -> int:
    global _calls  # noqa: PLW0603
    _calls += 1
    return _calls


def _judge(n: int, answer: Any) -> Mapping[str, float | None]:
    return {"answer": float(answer), "off": abs(float(answer) - n)}


FAMILY = Family(
    name="misbehaving",
    description="Numbers to be handed in again.",
    problems=_problems,
    contestants=(
        Contestant("good", _good, bytes_moved=lambda n: 1e3 * n),
        Contestant("sleeps", _sleeps),
        Contestant("sleeps with a child", _sleeps_with_child),
        Contestant("grows", _grows),
        Contestant("holds", _holds, prepare=lambda n: n),
        Contestant("raises", _raises),
        Contestant("dies", _dies),
        Contestant("no room", _no_room),
        Contestant("counts", _counts),
        Contestant("missing", _good, needs=Library("no_such_library", "pip install no-such-library")),
    ),
    figures=(Figure("answer", "higher"), Figure("off", "lower", ".1f")),
    judge=_judge,
)
