"""Whole couplings on the GPU: few functions on up to ten million vertices, many on thousands, and small problems."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import cotherm as ct
from benchmarks.many import Problem, _prepared
from cotherm.errors import CothermError

SIZES, QUICK = (100_000, 1_000_000, 10_000_000), (2_000,)
# An edge is cut below this part of its weight.
_CUT = 0.2
_MANY = (
    Problem("digits", 2_000, 6, 120, 1e4),
    Problem("digits", 2_000, 6, 120, 1e6),
    Problem("planted", 2_000, 6, 120, 1e4),
    Problem("planted", 20_000, 2, 64, 1e4),
)
_QUICK_MANY = (Problem("planted", 250, 3, 30, 1e4),)


def run(engine: Any, *, quick: bool, data: Any) -> dict[str, Any]:
    """Seconds of couplings, and what they found."""
    import cupy

    pool = cupy.get_default_memory_pool()
    peak = [0]
    report = {
        "many": [_said(_many(engine, problem, data, pool, peak)) for problem in (_QUICK_MANY if quick else _MANY)],
        "small": [_said(_small(*case)) for case in _small_cases(data)],
        "transport": _transport(quick=quick),
        "few": [_said(_short_cuts(engine, n, pool, peak)) for n in (QUICK if quick else SIZES)],
    }
    return {**report, "memory": peak[0]}


def _said(row: dict[str, Any]) -> dict[str, Any]:
    """Progress goes where results do not."""
    sys.stderr.write(f"{json.dumps(row)}\n")
    return row


def lines(report: dict[str, Any]) -> list[str]:
    found = [
        "couplings, planted short cuts, strip, q = 6, k = 10",
        f"  {'vertices':>12}{'edges':>13}{'seconds':>9}{'GB':>7}{'predicted':>11}{'recall':>8}{'precision':>11}"
        "  status",
    ]
    for row in report["few"]:
        if "failed" in row:
            found.append(f"  {row['vertices']:>12,}  {row['failed']}")
            continue
        found.append(
            f"  {row['vertices']:>12,}{row['edges']:>13,}{row['seconds']:>9.1f}{row['memory'] / 1e9:>7.1f}"
            f"{row['predicted'] / 1e9:>11.1f}{row['recall']:>8.2f}{row['precision']:>11.2f}  {row['status']}"
        )
    found += ["couplings with many functions", f"  {'problem':<58}{'seconds':>9}{'steps':>7}{'GB':>7}  status"]
    for row in report["many"]:
        if "failed" in row:
            found.append(f"  {row['problem']:<58}  {row['failed']}")
            continue
        found.append(
            f"  {row['problem']:<58}{row['seconds']:>9.1f}{row['steps']:>7}{row['memory'] / 1e9:>7.1f}  {row['status']}"
        )
    found += ["small problems, seconds", f"  {'problem':<24}{'cpu':>8}{'gpu':>8}  what engine='gpu' ran on"]
    found += [f"  {r['problem']:<24}{r['cpu']:>8.3f}{r['gpu']:>8.3f}  {r['engine']}" for r in report["small"]]
    return [*found, f"fused Gromov-Wasserstein of POT on the GPU: {report['transport']}"]


def _short_cuts(engine: Any, n: int, pool: Any, peak: list[int]) -> dict[str, Any]:
    views = ct.datasets.shortcuts(n)
    if n <= 1_000_000:
        ct.couple(views.graphs, views.functions, engine=engine, max_iterations=3)  # compiles what is used
    pool.free_all_blocks()
    began = time.perf_counter()
    try:
        result = ct.couple(views.graphs, views.functions, engine=engine)
    except CothermError as error:
        return {"vertices": n, "failed": str(error)}
    took = time.perf_counter() - began
    peak[0] = max(peak[0], pool.total_bytes())
    cut = np.concatenate([a.w < _CUT * b.w for a, b in zip(result.graphs, views.graphs, strict=True)])
    wrong = np.concatenate(views.wrong or ())
    return {
        "vertices": n,
        "edges": sum(g.m for g in views.graphs),
        "seconds": took,
        "memory": pool.total_bytes(),
        "predicted": result.settings["memory"]["peak"],
        "recall": float((cut & wrong).sum() / wrong.sum()),
        "precision": float((cut & wrong).sum() / max(1, cut.sum())),
        "status": result.status,
        "cost": result.cost,
    }


def _many(engine: Any, problem: Problem, data: Any, pool: Any, peak: list[int]) -> dict[str, Any]:
    try:
        graphs, functions, times = _prepared(problem, data)
    except CothermError as error:
        return {"problem": str(problem), "failed": f"no data ({error.argument})"}
    options: dict[str, Any] = {"continuation": "direct", "engine": engine}
    ct.couple(graphs, functions, times, problem.alpha, max_iterations=60, max_seconds=5.0, **options)
    pool.free_all_blocks()
    result = ct.couple(graphs, functions, times, problem.alpha, max_seconds=120.0, **options)
    peak[0] = max(peak[0], pool.total_bytes())
    return {
        "problem": str(problem),
        "seconds": result.seconds,
        "steps": len(result.history),
        "status": result.status,
        "cost": result.cost,
        "memory": pool.total_bytes(),
    }


def _small_cases(data: Any) -> Iterator[tuple[str, Any, float]]:
    yield "Ring", ct.datasets.ring(), 1e6
    try:
        yield "NUS", ct.datasets.nus(data=data), 1e6
    except CothermError:  # the data are not here
        return


def _small(name: str, views: Any, alpha: float) -> dict[str, Any]:
    row: dict[str, Any] = {"problem": name}
    for engine in ("cpu", "gpu"):
        results = [ct.couple(views.graphs, views.functions, views.times, alpha, engine=engine) for _ in range(3)]
        row[engine] = min(result.seconds for result in results)
        row["engine"] = results[0].settings.get("engine_notice", results[0].settings["engine"])
    return row


def _transport(*, quick: bool) -> str:
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
    began = time.perf_counter()
    ot.gromov.fused_gromov_wasserstein(cost, *matrices, share, share, alpha=0.5)
    return f"{time.perf_counter() - began:.1f} s for {len(cost):,} vertices (a correspondence, no weights)"
