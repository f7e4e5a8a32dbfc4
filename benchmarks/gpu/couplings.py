"""Whole couplings on the GPU: few functions on up to ten million vertices, many on thousands, and small problems."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

import cotherm as ct
from benchmarks.gpu import two_cores as two
from benchmarks.gpu.kernels import planted
from benchmarks.many import Problem, _prepared
from cotherm.engines import get_engine
from cotherm.errors import CothermError
from paper.data import nus

SIZES, QUICK = (100_000, 1_000_000, 10_000_000), (2_000,)
# An edge is cut below this part of its weight.
_CUT = 0.2
# Seconds from which on a small problem is run but once.
_LONG = 2.0
_MANY = (
    Problem("digits", 2_000, 6, 120, 1e4),
    Problem("digits", 2_000, 6, 120, 1e6),
    Problem("planted", 20_000, 2, 64, 1e4),
)
_QUICK_MANY = (Problem("planted", 250, 3, 30, 1e4),)


def compared(*, quick: bool) -> tuple[list[Problem], list[int]]:
    """The problems with many functions, and the numbers of vertices with few, that are also run on two cores."""
    return (list(_QUICK_MANY), list(QUICK)) if quick else (list(_MANY[:2]), [1_000_000])


def preparations(*, quick: bool, data: Any) -> list[Callable[[], object]]:
    """What takes long to make and is not timed: the largest graphs, and those with many functions."""

    def with_many_functions() -> None:
        for problem in _problems(quick=quick):
            with suppress(CothermError):  # the data are not here, which is said later
                _made(problem, data)

    return [partial(planted, sizes(quick=quick)[-1]), with_many_functions]


def _problems(*, quick: bool) -> tuple[Problem, ...]:
    return _QUICK_MANY if quick else _MANY


@cache
def _prepared_once(problem: Problem, data: Any) -> tuple[list[Any], list[Any], list[float]]:
    return _prepared(problem, data)


def _made(problem: Problem, data: Any) -> tuple[list[Any], list[Any], list[float]]:
    """Graphs, functions and times, which do not depend on α."""
    return _prepared_once(replace(problem, alpha=_MANY[0].alpha), data)


def sizes(*, quick: bool) -> tuple[int, ...]:
    """Numbers of vertices with few functions, the largest last."""
    return QUICK if quick else SIZES


def run(engine: Any, *, quick: bool, data: Any, until: float) -> dict[str, Any]:
    """Seconds of couplings, and what they found; with few functions none is begun after ``until``."""
    import cupy

    pool = cupy.get_default_memory_pool()
    report: dict[str, Any] = {
        "few": [_said(_short_cuts(engine, n, pool, until)) for n in sizes(quick=quick)],
        "many": [_said(_many(engine, problem, data, pool)) for problem in _problems(quick=quick)],
        "small": [_said(_small(*case)) for case in _small_cases(data)],
        "transport": _transport(engine, quick=quick),
    }
    return {**report, "memory": max(row.get("memory", 0) for row in (*report["many"], *report["few"]))}


class _Peak:
    """The most memory that CuPy has taken for arrays, used or kept for reuse, as looked at every few milliseconds."""

    def __init__(self, pool: Any) -> None:
        self._pool, self._ended = pool, threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> _Peak:
        # What is kept of other graphs gives way where memory lacks: here it would only be counted.
        resident = get_engine("gpu").device.resident  # type: ignore[attr-defined]
        while resident.drop_oldest():
            pass
        self._pool.free_all_blocks()
        self.bytes = self._pool.total_bytes()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(0.005):
            self.bytes = max(self.bytes, self._pool.total_bytes())


def _said(row: dict[str, Any]) -> dict[str, Any]:
    """Progress goes where results do not."""
    sys.stderr.write(f"{json.dumps(row)}\n")
    return row


def lines(report: dict[str, Any], two_cores: dict[str, Any]) -> list[str]:
    found = [
        "couplings, planted short cuts, strip, q = 6, k = 10",
        f"  {'vertices':>12}{'edges':>13}{'seconds':>9}{'on two cores':>21}{'GB':>7}{'predicted':>11}{'recall':>8}"
        f"{'precision':>11}  status",
    ]
    for row in report["few"]:
        if "failed" in row:
            found.append(f"  {row['vertices']:>12,}  {row['failed']}")
            continue
        found.append(
            f"  {row['vertices']:>12,}{row['edges']:>13,}{row['seconds']:>9.1f}"
            f"{_ratio(row, two_cores.get(two.few(row['vertices']))):>21}{row['memory'] / 1e9:>7.1f}"
            f"{row['predicted'] / 1e9:>11.1f}{row['recall']:>8.2f}{row['precision']:>11.2f}  {row['status']}"
        )
    found += [
        "couplings with many functions",
        f"  {'problem':<52}{'seconds':>9}{'on two cores':>21}{'steps':>7}{'GB':>7}{'predicted':>11}  status",
    ]
    for row in report["many"]:
        if "failed" in row:
            found.append(f"  {row['problem']:<52}  {row['failed']}")
            continue
        found.append(
            f"  {row['problem']:<52}{row['seconds']:>9.1f}{_ratio(row, two_cores.get(row['problem'])):>21}"
            f"{row['steps']:>7}{row['memory'] / 1e9:>7.1f}{row['predicted'] / 1e9:>11.1f}  {row['status']}"
        )
    found += ["small problems, seconds", f"  {'problem':<24}{'cpu':>8}{'gpu':>8}  what engine='gpu' ran on"]
    found += [f"  {r['problem']:<24}{r['cpu']:>8.3f}{r['gpu']:>8.3f}  {r['engine']}" for r in report["small"]]
    return [*found, f"fused Gromov-Wasserstein of POT on the GPU: {report['transport']}"]


def _ratio(row: dict[str, Any], other: dict[str, Any] | None) -> str:
    """Seconds on two cores, how many times as long that is, and by how much the costs differ."""
    if other is None:
        return "-"
    if "more_than" in other:
        return f"> {other['more_than']:.0f} (> {other['more_than'] / row['seconds']:.0f} ×)"
    return f"{other['seconds']:.0f} ({other['seconds'] / row['seconds']:.0f} ×)"


def _short_cuts(engine: Any, n: int, pool: Any, until: float) -> dict[str, Any]:
    if time.perf_counter() > until:
        return {"vertices": n, "failed": "not measured: too late to end within ten minutes"}
    views = planted(n)
    if n <= 1_000_000:
        ct.couple(views.graphs, views.functions, engine=engine, options={"max_iterations": 3})  # compiles what is used
    needs = ct.coupling_memory(views.graphs, views.functions, engine=engine)
    try:
        with _Peak(pool) as peak:
            began = time.perf_counter()
            result = ct.couple(views.graphs, views.functions, engine=engine)
            took = time.perf_counter() - began
    except CothermError as error:
        return {"vertices": n, "failed": str(error)}
    cut = np.concatenate([a.w < _CUT * b.w for a, b in zip(result.graphs, views.graphs, strict=True)])
    wrong = np.concatenate(views.wrong or ())
    return {
        "vertices": n,
        "edges": sum(g.m for g in views.graphs),
        "seconds": took,
        "memory": peak.bytes,
        "predicted": needs.in_use + needs.added,
        "recall": float((cut & wrong).sum() / wrong.sum()),
        "precision": float((cut & wrong).sum() / max(1, cut.sum())),
        "status": result.status,
        "cost": result.cost,
    }


def _many(engine: Any, problem: Problem, data: Any, pool: Any) -> dict[str, Any]:
    try:
        graphs, functions, times = _made(problem, data)
    except CothermError as error:
        return {"problem": str(problem), "failed": f"no data ({error.argument})"}
    how: dict[str, Any] = {"engine": engine, "options": {"continuation": "direct"}}
    ct.couple(graphs, functions, times, problem.alpha, max_seconds=20.0, **how)  # compiles what is used
    needs = ct.coupling_memory(graphs, functions, times, engine=engine)
    with _Peak(pool) as peak:
        result = ct.couple(graphs, functions, times, problem.alpha, max_seconds=120.0, **how)
    return {
        "problem": str(problem),
        "seconds": result.seconds,
        "steps": len(result.history),
        "status": result.status,
        "cost": result.cost,
        "memory": peak.bytes,
        "predicted": needs.in_use + needs.added,
    }


def _small_cases(data: Any) -> Iterator[tuple[str, Any, float]]:
    yield "Ring", ct.datasets.ring(), 1e6
    try:
        yield "NUS", nus(data=data), 1e6
    except CothermError:  # the data are not here
        return


def _small(name: str, views: Any, alpha: float) -> dict[str, Any]:
    row: dict[str, Any] = {"problem": name}
    for engine in ("cpu", "gpu"):
        results: list[Any] = []
        while not results or (len(results) < 3 and results[0].seconds < _LONG):
            results.append(ct.couple(views.graphs, views.functions, views.times, alpha, engine=engine))
        row[engine] = min(result.seconds for result in results)
        row["engine"] = results[0].settings["engine"]
    return row


def _transport(engine: Any, *, quick: bool) -> str:
    """Correspondence, not coupling: the nearest thing that another library does on a GPU."""
    try:
        import ot
        import torch
    except ImportError as error:
        return f"not measured, {error.name} is not installed"
    views = ct.datasets.shortcuts(200 if quick else 2_000)
    matrices = [torch.as_tensor(g.adjacency().toarray(), device="cuda") for g in views.graphs]
    cost = torch.cdist(*(torch.as_tensor(F, device="cuda") for F in views.functions))
    share = torch.full((len(cost),), 1.0 / len(cost), dtype=torch.float64, device="cuda")
    took = []
    for _ in range(2):  # the first loads what is used
        began = time.perf_counter()
        ot.gromov.fused_gromov_wasserstein(cost, *matrices, share, share, alpha=0.5)
        torch.cuda.synchronize()
        took.append(time.perf_counter() - began)
    ours = [ct.couple(views.graphs, views.functions, engine=engine).seconds for _ in range(2)]
    return (
        f"{took[-1]:.2f} s for two graphs of {len(cost):,} vertices, dense (a correspondence, no weights); "
        f"to couple them takes {ours[-1]:.2f} s"
    )
