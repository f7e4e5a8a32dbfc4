"""One contestant on one problem, in a process of its own: the judge starts it, reads its events, and may kill it.

Events are lines of JSON on the standard output; what contestants print goes to the standard error.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import signal
import sys
import time
import warnings
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any, TextIO

from benchmarks.suite.parts import FAILED, OUT_OF_MEMORY, Contestant, Family, Limits, Problem

# The warm-up problem need not be solved well.
_WARM_SECONDS = 1.0


def main() -> None:
    """Do the task that stands on the standard input."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    task = json.loads(sys.stdin.readline())
    Thread(target=_end_with_the_judge, daemon=True).start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the others' own dependencies; the judge sees what comes of it
            _run(task, channel)
    except MemoryError:
        _send(channel, "ended", status=OUT_OF_MEMORY, reason="")
    except Exception as error:  # a contestant's failure is a result
        _send(channel, "ended", status=FAILED, reason=first_line(error))


def _end_with_the_judge() -> None:
    """The judge has the other end of the standard input: when that is closed, nobody waits for a result."""
    sys.stdin.read()
    with suppress(AttributeError, ProcessLookupError):
        os.killpg(0, signal.SIGKILL)


def _run(task: dict[str, Any], channel: TextIO) -> None:
    family: Family = import_module(task["module"]).FAMILY
    problem = family.problem(task["problem"], task["quick"])
    contestant = next(one for one in family.contestants if one.name == task["contestant"])
    limits = Limits(task["seconds"], task["memory"])
    instance, prepared = _prepared(problem, contestant, limits, task["data"])
    before = _fresh_peak()
    _send(channel, "solving")
    start = time.perf_counter()
    answer = contestant.solve(prepared, limits)
    seconds = time.perf_counter() - start
    after = _status("VmHWM")
    memory = None if before is None or after is None else max(0, after - before)
    _send(channel, "solved", seconds=seconds, memory=memory)
    moved = None if contestant.bytes_moved is None else contestant.bytes_moved(prepared)
    _send(channel, "judged", figures=dict(family.judge(instance, answer)), bytes_moved=moved)


def _prepared(problem: Problem, contestant: Contestant, limits: Limits, data: str | None) -> tuple[Any, Any]:
    """The problem, and what the contestant gets of it, after the warm-up problem is solved."""
    contestant.solve(contestant.prepare(problem.warmup()), replace(limits, seconds=_WARM_SECONDS))
    instance = problem.make(data)
    return instance, contestant.prepare(instance)


def _send(channel: TextIO, event: str, **facts: Any) -> None:
    channel.write(json.dumps({"event": event, **facts}) + "\n")
    channel.flush()


def first_line(error: BaseException) -> str:
    """What went wrong, for a table."""
    text = str(error).strip()
    return f"{type(error).__name__}: {text.splitlines()[0]}" if text else type(error).__name__


def _fresh_peak() -> int | None:
    """Bytes in use now, from which the peak is counted; None where the system does not say."""
    gc.collect()
    with suppress(OSError, AttributeError):  # memory freed but kept for later would hide what solving takes
        ctypes.CDLL(None).malloc_trim(0)
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return _status("VmRSS")


def _status(name: str) -> int | None:
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith(f"{name}:")), None)


if __name__ == "__main__":
    main()
