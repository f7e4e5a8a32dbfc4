"""What a checkpoint costs: processor time of a coupling with and without one, and the seconds spent on the file.

Both take turns, each in a process of its own. Processor time of equal runs differs by a percent or two, and by more on
a busy machine, which is as much as a checkpoint may cost: the seconds between entering and leaving the code of
checkpoints tell more, and counts of what was copied and written whatever else the machine does.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.earlier import measured

# Kinds of couplings, vertices of each graph, and turns.
_PROBLEMS = (
    ("functions", 100_000, 3),
    ("functions", 1_000_000, 1),
    ("many functions", 20_000, 1),
    ("pairs", 20_000, 1),
)
_QUICK = (("functions", 1_000, 1), ("pairs", 300, 1))


def run(*, quick: bool = False) -> dict[str, Any]:
    """Both ways of every problem."""
    return {"quick": quick, "rows": [_compared(*problem) for problem in (_QUICK if quick else _PROBLEMS)]}


def _compared(kind: str, n: int, turns: int) -> dict[str, Any]:
    without, with_one = [], []
    for _ in range(turns):
        without.append(measured(f"checkpoints.measure({kind!r}, {n}, False)"))
        with_one.append(measured(f"checkpoints.measure({kind!r}, {n}, True)"))
    same = {one["cost"] for one in (*without, *with_one)}
    best = {"without": _best(without), "with": _best(with_one)}
    return {"problem": kind, "n": n, "same": len(same) == 1, **best}


def _best(runs: list[dict[str, Any]]) -> dict[str, Any]:
    return min(runs, key=lambda run: run["processor"])


def _call(kind: str, n: int) -> Callable[[Path | None], Any]:
    import numpy as np

    import cotherm as ct

    if kind == "pairs":
        points = np.random.default_rng(0).random((n, 4))
        noise = np.random.default_rng(1).normal(0.0, 0.02, points.shape)
        graphs = [ct.knn_graph(X, 15) for X in (points, points + noise)]
        return lambda place: ct.couple_pairs(graphs, checkpoint=place)
    views = ct.datasets.shortcuts(n, functions=20) if kind == "many functions" else ct.datasets.shortcuts(n)
    steps = 200 if kind == "many functions" else 2_000
    return lambda place: ct.couple(views.graphs, views.functions, options={"max_iterations": steps}, checkpoint=place)


def measure(kind: str, n: int, kept: bool) -> None:
    """Couple, and print the times as JSON."""
    from cotherm.methods.checkpoint import Checkpoint

    _call(kind, 400 if kind == "pairs" else 1_000)(None)  # compiles what is used
    spent = [0.0]
    counts = {"steps": 0, "copies": 0, "copied": 0, "files": 0}
    _count(Checkpoint, counts)
    for name in ("__init__", "step", "ended", "finished", "flush"):
        setattr(Checkpoint, name, _timed(getattr(Checkpoint, name), spent))
    call = _call(kind, n)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "run.ckpt" if kept else None
        began, before = time.perf_counter(), time.process_time()
        result = call(place)
        processor, seconds = time.process_time() - before, time.perf_counter() - began
        size = place.stat().st_size if place else 0
    edges = sum(graph.m for graph in result.graphs)
    report = {
        "processor": processor,
        "seconds": seconds,
        "spent": spent[0],
        "size": size,
        "cost": result.cost,
        **counts,
    }
    sys.stdout.write(json.dumps({**report, "edges": edges}) + "\n")


def _count(kind: Any, counts: dict[str, int]) -> None:
    """Count steps, copies of the state, their bytes, and files, of all checkpoints from here on."""
    from cotherm.methods.checkpoint import _size

    step, write = kind.step, kind._write

    def counted(kept: Any, name: str, state: Callable[[], Any], *others: Any) -> None:
        def copied() -> Any:
            found = state()
            counts["copies"] += 1
            counts["copied"] += _size(found)
            return found

        counts["steps"] += 1
        step(kept, name, copied, *others)

    def written(kept: Any) -> None:
        counts["files"] += 1
        write(kept)

    kind.step, kind._write = counted, written


def _timed(method: Callable[..., Any], spent: list[float]) -> Callable[..., Any]:
    def called(*arguments: Any, **named: Any) -> Any:
        began, before = time.perf_counter(), spent[0]
        try:
            return method(*arguments, **named)
        finally:
            spent[0] = before + time.perf_counter() - began  # what calls inside have added is in it

    return called


def table(report: dict[str, Any]) -> str:
    """The report for people."""
    lines = [
        "What a checkpoint costs",
        f"  {'':<16}{'vertices':>10}{'edges':>11}{'processor':>12}{'with one':>10}{'seconds':>9}{'on the file':>13}"
        f"{'share':>8}{'copies':>8}{'in MB':>7}{'files':>7}  result",
    ]
    for row in report["rows"]:
        without, kept = row["without"], row["with"]
        lines.append(
            f"  {row['problem']:<16}{row['n']:>10,}{kept['edges']:>11,}{without['processor']:>10.1f} s"
            f"{kept['processor']:>8.1f} s{kept['seconds']:>9.1f}{kept['spent']:>11.2f} s"
            f"{kept['spent'] / kept['seconds']:>8.2%}{kept['copies']:>8}{kept['copied'] / 1e6:>7.0f}{kept['files']:>7}"
            f"  {'the same' if row['same'] else 'ANOTHER'}"
        )
    if report["quick"]:
        lines += ["", "A quick run only shows that all of it works: judge by the full sizes, without --quick."]
    return "\n".join(lines)
