"""The same couplings by the engine for the processor, on two cores of the same machine each.

They run in processes of their own, beside what the GPU does, which has the other cores for its host. What has not ended
in time is ended, and counts as longer than that.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.child import environment
from benchmarks.many import Problem, _prepared

# Cores that are left for the host of the GPU, at least.
_HOST = 4


def few(n: int) -> str:
    """The name of the coupling of short cuts."""
    return f"short cuts, {n:,} vertices"


class TwoCores:
    """Couplings under way, by name."""

    def __init__(self, many: list[Problem], vertices: list[int], data: Any) -> None:
        self._processes: dict[str, subprocess.Popen[str]] = {}
        calls = {
            str(problem): f"many({json.dumps(asdict(problem))!r}, {data and os.fspath(data)!r})" for problem in many
        }
        calls |= {few(n): f"short_cuts({n})" for n in vertices}
        cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        self.missing = "" if len(cores) >= 2 * len(calls) + _HOST else f"{2 * len(calls) + _HOST} processors"
        if self.missing:
            return
        for k, (name, call) in enumerate(calls.items()):
            own = set(cores[2 * k : 2 * k + 2])
            code = f"import os; os.sched_setaffinity(0, {own}); from benchmarks.gpu import two_cores; two_cores.{call}"
            command = [sys.executable, "-c", code]
            self._processes[name] = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment())
        rest = cores[2 * len(calls) :]
        for thread in Path("/proc/self/task").iterdir():
            os.sched_setaffinity(int(thread.name), rest)

    def results(self, seconds: float) -> dict[str, dict[str, Any]]:
        """Of all that end within so many seconds; the others are ended."""
        deadline, found = time.monotonic() + seconds, {}
        for name, process in self._processes.items():
            try:
                output, _ = process.communicate(timeout=max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                output, _ = process.communicate()
            said = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
            if len(said) == 2:
                found[name] = said[1]
            elif said and process.returncode < 0:
                found[name] = {"more_than": time.time() - said[0]["began"]}
        return found


def many(problem: str, data: str | None) -> None:
    """Couple with many functions, after a small problem that compiles what is used."""
    from cotherm.methods.coupling.couple import couple

    given = Problem(**json.loads(problem))
    small = _prepared(Problem("planted", 250, given.views, given.functions, 1e4), data)
    couple(*small, 1e4, options={"continuation": "direct"}, max_seconds=5.0)
    graphs, functions, times = _prepared(given, data)
    _say(began=time.time())
    result = couple(graphs, functions, times, given.alpha, options={"continuation": "direct"})
    _say(seconds=result.seconds, cost=result.cost, status=result.status)


def short_cuts(n: int) -> None:
    """Couple planted short cuts."""
    import cotherm as ct

    small, views = ct.datasets.shortcuts(min(n, 5_000)), ct.datasets.shortcuts(n)
    ct.couple(small.graphs, small.functions, max_seconds=5.0)
    _say(began=time.time())
    result = ct.couple(views.graphs, views.functions)
    _say(seconds=result.seconds, cost=result.cost, status=result.status)


def _say(**values: Any) -> None:
    sys.stdout.write(f"{json.dumps(values)}\n")
    sys.stdout.flush()
