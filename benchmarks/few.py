"""Few functions: the problems that were fast before there was a solver for many functions, beside that version.

Versions take turns, each in a process of its own, and the best time counts.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.earlier import earlier, measured, rarely_given
from benchmarks.many import BEFORE

# Data sets, α (None: chosen from the data), couplings in a process, and turns.
_PROBLEMS = (
    ("ring()", 1e6, 7, 3),
    ("circles()", 1e6, 7, 3),
    ("human()", 1e4, 5, 3),
    ("shortcuts(10_000)", None, 2, 3),
    ("shortcuts(100_000)", None, 1, 2),
    ("shortcuts(1_000_000)", None, 1, 1),
)
_QUICK = (("ring()", 1e6, 1, 1),)
# How much slower than before counts as the same.
_SAME = 1.05


def run(*, quick: bool = False) -> dict[str, Any]:
    """Times and costs of every problem, by both versions."""
    with earlier(BEFORE) as package:
        rows = [_compared(package, *problem) for problem in (_QUICK if quick else _PROBLEMS)]
    return {"quick": quick, "before": BEFORE, "rows": rows}


def _compared(package: Path | None, made: str, alpha: float | None, repeats: int, turns: int) -> dict[str, Any]:
    call = f"few.measure({made!r}, {alpha!r}, {repeats})"
    now, before = [], []
    for _ in range(turns):
        now.append(measured(call))
        if package is not None:
            before.append(measured(call, package))
    best = {"now": _best(now), "before": _best(before) if before else None}
    return {"problem": made, "alpha": alpha, **best}


def _best(runs: list[dict[str, Any]]) -> dict[str, Any]:
    return min(runs, key=lambda run: run["seconds"])


def measure(made: str, alpha: float | None, repeats: int) -> None:
    """Couple, and print the least time and the cost as JSON; this runs with either version of the package."""
    from cotherm import datasets
    from cotherm.methods.coupling.couple import couple

    def problem(made: str) -> Any:
        name, _, size = made.rstrip(")").partition("(")
        return getattr(datasets, name)(*([int(size)] if size else []))

    small = problem("shortcuts(1000)" if made.startswith("shortcuts") else made)
    few_steps = rarely_given(couple, max_iterations=20)
    couple(small.graphs, small.functions, small.times, 1e4, **few_steps)  # compiles what is used
    views = problem(made)
    times, strength = ("auto", "auto") if alpha is None else (views.times, alpha)
    results = [couple(views.graphs, views.functions, times, strength) for _ in range(repeats)]
    report = {"seconds": min(result.seconds for result in results), "cost": results[-1].cost}
    sys.stdout.write(json.dumps(report) + "\n")


def table(report: dict[str, Any]) -> str:
    """The report for people."""
    lines = [
        "Few functions",
        f"  {'beside the version of ' + report['before']:<40}{'before':>9}{'now':>9}{'ratio':>8}  cost differs by",
    ]
    for row in report["rows"]:
        now, before = row["now"], row["before"]
        if before is None:
            lines.append(f"  {row['problem']:<40}{'?':>9}{now['seconds']:>9.2f}  (no history of the repository here)")
            continue
        ratio, differs = now["seconds"] / before["seconds"], now["cost"] / before["cost"] - 1.0
        lines.append(
            f"  {row['problem']:<40}{before['seconds']:>9.2f}{now['seconds']:>9.2f}{ratio:>8.2f}  {differs:+.1e}"
            f"{'' if ratio <= _SAME else '  slower'}"
        )
    if report["quick"]:
        lines += ["", "A quick run only shows that all of it works: judge by the full sizes, without --quick."]
    return "\n".join(lines)
