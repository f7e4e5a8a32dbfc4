"""Many functions and many views: against the solver that formed all derivatives, and how time and memory grow.

The functions are the smooth modes of every view. The contestant is this package as it was at an earlier commit, taken
from the repository's history; both start at the graphs as given and take no detour (``continuation="direct"``). Every
coupling runs in a process of its own, after a small one that compiles what it uses.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.earlier import earlier, measured, rarely_given
from benchmarks.suite.parts import Data

# The last commit at which derivatives were always formed.
BEFORE = "f3b7ee5"
# Seconds for the earlier solver.
_PATIENCE = 1_200.0


@dataclass(frozen=True)
class Problem:
    """A coupling: ``data`` is a set of :mod:`benchmarks.pairs.sets`, of which some items and views are taken.

    Of "planted" there are as many views as asked for. The time is ``t``, or that of one move along an edge.
    """

    data: str
    items: int
    views: int
    functions: int
    alpha: float
    t: float | None = None

    def __str__(self) -> str:
        return f"{self.data}, {self.views} × {self.items:,} items, {self.functions} functions, α = {self.alpha:.0e}"


# Each with the factor by which it is to be faster than before.
_DUELS = ((Problem("nus", 145, 2, 50, 1e6, 0.1), 5.0), (Problem("digits", 1_600, 3, 45, 1e4), 15.0))
# Each with the seconds and the bytes that it may take, at a moderate and at a large α.
_LIMITS = tuple(
    (Problem("digits", items, views, functions, alpha), seconds, most)
    for items, views, functions, seconds, most in (
        (210, 5, 50, 20.0, 1e9),
        (2_000, 6, 60, 120.0, np.inf),
        (2_000, 6, 120, 360.0, 8e9),
    )
    for alpha in (1e4, 1e6)
)
_BASE = Problem("planted", 1_000, 2, 32, 1e4)
# What grows, the problems, and the largest exponent.
_SERIES = (
    ("views", [replace(_BASE, views=k, functions=30) for k in (2, 3, 4, 5, 6)], 1.2),
    ("functions", [replace(_BASE, functions=q) for q in (16, 32, 64, 128)], 2.6),
    ("items", [replace(_BASE, items=n) for n in (1_000, 10_000, 100_000)], 1.15),
)
_QUICK_DUELS = ((Problem("planted", 60, 2, 30, 1e3), 1.0),)
_QUICK_SERIES = (("views", [Problem("planted", 60, k, 30, 1e3) for k in (2, 3)], 1.2),)


def run(*, quick: bool = False, data: Data = None, out: Path | None = None) -> dict[str, Any]:
    """Measure the duels, the limits and the growth; with ``out`` a picture of the growth is drawn there."""
    place = None if data is None else os.fspath(data)
    with earlier(BEFORE) as package:
        duels = [_duel(problem, factor, place, package) for problem, factor in (_QUICK_DUELS if quick else _DUELS)]
    limits = [] if quick else [_limited(*case, place) for case in _LIMITS]
    growth = [_grown(*case, place) for case in (_QUICK_SERIES if quick else _SERIES)]
    report = {"quick": quick, "before": BEFORE, "duels": duels, "limits": limits, "growth": growth}
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        _draw(growth, out / "many.png")
    return report


def _duel(problem: Problem, factor: float, data: str | None, package: Path | None) -> dict[str, Any]:
    now = _measured(problem, data)
    before = None if package is None else _measured(problem, data, package)
    return {"problem": str(problem), "target": factor, "now": now, "before": before}


def _limited(problem: Problem, seconds: float, memory: float, data: str | None) -> dict[str, Any]:
    most = None if np.isinf(memory) else memory
    now = _measured(problem, data, patience=seconds)
    return {"problem": str(problem), "seconds": seconds, "memory": most, "now": now}


def _grown(name: str, problems: list[Problem], target: float, data: str | None) -> dict[str, Any]:
    rows = [_measured(problem, data) for problem in problems]
    sizes = [getattr(problem, name) for problem in problems]
    exponent = np.polyfit(np.log(sizes), np.log([row["seconds"] for row in rows]), 1)[0]
    return {
        "of": name,
        "problem": str(problems[0]),
        "sizes": sizes,
        "rows": rows,
        "exponent": float(exponent),
        "target": target,
    }


def _measured(
    problem: Problem, data: str | None, package: Path | None = None, patience: float = _PATIENCE
) -> dict[str, Any]:
    return measured(f"many.measure({json.dumps(asdict(problem))!r}, {data!r}, {patience!r})", package)


def measure(problem: str, data: str | None, patience: float) -> None:
    """Couple, and print what was measured as JSON; this runs with either version of the package."""
    from cotherm import memory
    from cotherm.methods.coupling.couple import couple, coupling_memory

    given = Problem(**json.loads(problem))
    graphs, functions, times = _prepared(given, data)
    forecast = coupling_memory(graphs, functions, times)  # before anything else has taken memory
    small = _prepared(Problem("planted", 250, given.views, given.functions, 1e4), data)
    direct = rarely_given(couple, continuation="direct")
    couple(*small, 1e4, **direct, max_seconds=5.0)  # compiles what is used
    result = couple(graphs, functions, times, given.alpha, **direct, max_seconds=patience)
    report = {
        "seconds": result.seconds,
        "cost": result.cost,
        "steps": len(result.history),
        "status": result.status,
        "memory": memory.peak(),
        "predicted": getattr(forecast, "peak", 0),  # earlier versions have other forecasts
    }
    sys.stdout.write(json.dumps(report) + "\n")


def _prepared(problem: Problem, data: str | None) -> tuple[list[Any], list[Any], list[float]]:
    """Graphs, functions and times."""
    from cotherm.functions import smooth_modes
    from cotherm.heat.times import diffusion_time

    graphs = _graphs(problem, data)
    modes = np.hstack([smooth_modes(graph, problem.functions // len(graphs)) for graph in graphs])
    functions = [modes / np.linalg.norm(modes, axis=0)] * len(graphs)
    return graphs, functions, [diffusion_time(1.0, *graphs) if problem.t is None else problem.t]


def _graphs(problem: Problem, data: str | None) -> list[Any]:
    from benchmarks.pairs.sets import grown, source

    if problem.data == "planted":
        return list(grown(problem.items, np.linspace(0.5, 1.0, problem.views).tolist()).graphs())
    items = source(problem.data).make(data)
    if problem.items == items.n:
        return list(items.graphs())[: problem.views]
    chosen = np.sort(np.random.default_rng(0).permutation(items.n)[: problem.items])
    return list(items.graphs_of([chosen] * len(items.views)))[: problem.views]


def _draw(growth: list[dict[str, Any]], place: Path) -> None:
    """Time and memory over what grows, with the fitted power of the time."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    plain = FuncFormatter(lambda value, _: f"{value:,g}")
    figure = Figure(figsize=(4 * len(growth), 6), layout="constrained")
    grid = figure.subplots(2, len(growth), squeeze=False)
    for (above, below), series in zip(grid.T, growth, strict=True):
        sizes, seconds = series["sizes"], [one["seconds"] for one in series["rows"]]
        fitted = np.exp(np.polyval(np.polyfit(np.log(sizes), np.log(seconds), 1), np.log(sizes)))
        above.plot(sizes, fitted, color="0.7", label=f"{series['of']}$^{{{series['exponent']:.2f}}}$")
        above.plot(sizes, seconds, "o-", color="C0")
        above.legend(frameon=False)
        below.plot(sizes, [one["memory"] / 1e6 for one in series["rows"]], "o-", color="C1")
        for axes, unit in ((above, "seconds"), (below, "MB at the peak")):
            axes.set(xscale="log", yscale="log", xlabel=series["of"], ylabel=unit)
            axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
            axes.xaxis.set_minor_formatter(NullFormatter())
            axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            axes.yaxis.set_major_formatter(plain)
            axes.yaxis.set_minor_formatter(NullFormatter())
        low, high = below.get_ylim()
        below.set_ylim(min(low, 100.0), max(high, 1_000.0))
    figure.savefig(place, dpi=120)


def table(report: dict[str, Any]) -> str:
    """The report for people."""
    lines = ["Many functions and many views", *_duel_lines(report)]
    if report["limits"]:
        lines += ["", f"  {'within limits':<58}{'seconds':>9}{'limit':>7}{'MB':>8}{'forecast':>10}{'limit':>8}  status"]
    for case in report["limits"]:
        now, most = case["now"], "" if case["memory"] is None else f"{case['memory'] / 1e6:,.0f}"
        lines.append(
            f"  {case['problem']:<58}{now['seconds']:>9.1f}{case['seconds']:>7.0f}{now['memory'] / 1e6:>8,.0f}"
            f"{now['predicted'] / 1e6:>10,.0f}{most:>8}  {now['status']}"
        )
    for series in report["growth"]:
        lines += ["", f"  growth with {series['of']}, from {series['problem']}"]
        lines += [f"  {series['of']:>12}{'seconds':>10}{'steps':>7}{'MB':>8}{'forecast':>10}"]
        for size, row in zip(series["sizes"], series["rows"], strict=True):
            lines.append(
                f"  {size:>12,}{row['seconds']:>10.1f}{row['steps']:>7}{row['memory'] / 1e6:>8,.0f}"
                f"{row['predicted'] / 1e6:>10,.0f}"
            )
        lines.append(f"  time grows to the power of {series['exponent']:.2f} (target: at most {series['target']})")
    if report["quick"]:
        lines += ["", "A quick run only shows that all of it works: judge by the full sizes, without --quick."]
    return "\n".join(lines)


def _duel_lines(report: dict[str, Any]) -> list[str]:
    lines = [
        f"  {'beside the solver of ' + report['before']:<58}{'before':>9}{'now':>9}{'ratio':>8}{'target':>8}"
        "  cost differs by"
    ]
    for duel in report["duels"]:
        now, before = duel["now"], duel["before"]
        if before is None:
            lines.append(f"  {duel['problem']:<58}{'?':>9}{now['seconds']:>9.1f}  (no history of the repository here)")
            continue
        differs = now["cost"] / before["cost"] - 1.0
        lines.append(
            f"  {duel['problem']:<58}{before['seconds']:>9.1f}{now['seconds']:>9.1f}"
            f"{before['seconds'] / now['seconds']:>8.1f}{duel['target']:>8.0f}  {differs:+.1e} ({before['status']})"
        )
    return lines
