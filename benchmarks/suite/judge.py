"""The judge of one contestant on one problem: starts its process, limits its time and memory, returns the row."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from benchmarks.child import environment
from benchmarks.suite.parts import (
    FAILED,
    NOT_INSTALLED,
    OK,
    OUT_OF_MEMORY,
    OUT_OF_TIME,
    Contestant,
    Data,
    Family,
    Limits,
    Problem,
    Row,
)

_POLL = 0.02
# What is not measured must end as well: making the problem, solving the warm-up problem, and judging.
_UNMEASURED = 1_200.0
_PHASES = {"solving": "solving", "solved": "judging"}


def judged(
    module: str, family: Family, problem: Problem, contestant: Contestant, limits: Limits, *, quick: bool, data: Data
) -> Row:
    """Run one contestant on one problem. ``module`` holds the family, for the other process to find it there."""
    if contestant.needs is not None and find_spec(contestant.needs.module) is None:
        return Row.of(family, problem, contestant, NOT_INSTALLED, reason=contestant.needs.install)
    task = {
        "module": module,
        "problem": problem.name,
        "contestant": contestant.name,
        "seconds": limits.seconds,
        "memory": limits.memory,
        "quick": quick,
        "data": None if data is None else os.fspath(data),
    }
    return Row.of(family, problem, contestant, limit_seconds=limits.seconds, **_supervised(task, limits))


def _supervised(task: dict[str, Any], limits: Limits) -> dict[str, Any]:
    """What the process sent before it ended or was killed."""
    found: dict[str, Any] = {"status": FAILED, "reason": ""}
    phase, since = "making", time.monotonic()
    with _started(task) as (process, events, stderr):
        while True:
            try:
                event = events.get(timeout=_POLL)
            except Empty:
                event = {}
            if event is None:
                process.wait()
                return (
                    found
                    if found["status"] == OK or found["reason"]
                    else found | {"reason": _exit_reason(process, stderr)}
                )
            found |= _row_fields(event)
            if event.get("event") == "ended":
                return found
            if event.get("event") in _PHASES:
                phase, since = _PHASES[event["event"]], time.monotonic()
            over = _exceeded(process.pid, phase, time.monotonic() - since, limits)
            if over is not None:
                return found | over


def _row_fields(event: dict[str, Any]) -> dict[str, Any]:
    """The part of a row that an event brings."""
    match event.get("event"):
        case "solved":
            return {"seconds": event["seconds"], "memory": event["memory"]}
        case "judged":
            return {"status": OK, "figures": event["figures"], "bytes_moved": event["bytes_moved"]}
        case "ended":
            return {"status": event["status"], "reason": event["reason"]}
    return {}


def _exceeded(pid: int, phase: str, spent: float, limits: Limits) -> dict[str, Any] | None:
    """The status of a process that exceeds a limit, else None."""
    if resident(pid) > limits.memory:
        return {"status": OUT_OF_MEMORY, "reason": "" if phase == "solving" else f"while {phase}"}
    if phase == "solving":
        return {"status": OUT_OF_TIME, "reason": ""} if spent > limits.seconds else None
    return {"status": FAILED, "reason": f"{phase} took over {_UNMEASURED:g} s"} if spent > _UNMEASURED else None


def resident(pid: int) -> float:
    """Bytes a process holds in memory; 0 where the system does not say, and memory is not limited there."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    except (OSError, IndexError):
        return 0.0
    return float(pages * os.sysconf("SC_PAGE_SIZE"))


@contextmanager
def _started(task: dict[str, Any]) -> Iterator[tuple[subprocess.Popen[str], SimpleQueue[Any], Any]]:
    """The process, its events as they come, None after the last, and its standard error; killed at the end."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.suite.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            encoding="utf-8",
            env=environment(),
            start_new_session=True,  # killed with all processes it may have started
        )
        assert process.stdin is not None
        assert process.stdout is not None
        events: SimpleQueue[Any] = SimpleQueue()
        reader = Thread(target=_read, args=(process.stdout, events), daemon=True)
        reader.start()
        try:
            with suppress(BrokenPipeError):  # it died at once; that is seen below
                process.stdin.write(json.dumps(task) + "\n")
                process.stdin.flush()
            yield process, events, stderr
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            reader.join()
            process.stdout.close()
            with suppress(BrokenPipeError):
                process.stdin.close()


def _read(lines: Any, events: SimpleQueue[Any]) -> None:
    for line in lines:
        events.put(json.loads(line))
    events.put(None)


def _exit_reason(process: subprocess.Popen[str], stderr: Any) -> str:
    """Why a process ended that sent no result."""
    stderr.seek(0)
    last = [line.strip() for line in stderr.read().splitlines() if line.strip()][-1:]
    code = process.returncode
    end = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
    return ", ".join(["the process ended", end, *last])
