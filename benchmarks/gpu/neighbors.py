"""Nearest neighbors on the GPU: the same as the processor's exact search, and how long both take on this machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import cotherm as ct
from cotherm.engines.gpu.engine import GpuEngine

# Points: compared with the processor first, then timed on both, then on the GPU alone.
CHECKED, BOTH, ALONE = 5_000, 50_000, 200_000
QUICK_CHECKED, QUICK_BOTH, QUICK_ALONE = 1_000, 2_000, 4_000
_DIMENSIONS, _K = 64, 25


def run(engine: Any, *, quick: bool) -> dict[str, Any]:
    everything = GpuEngine(engine.device, smallest=0)  # also few points
    checked, both, alone = (QUICK_CHECKED, QUICK_BOTH, QUICK_ALONE) if quick else (CHECKED, BOTH, ALONE)
    return {
        "dimensions": _DIMENSIONS,
        "neighbors": _K,
        "checked": _checked(everything, checked),
        "rows": [_timed(everything, both, "cpu"), _timed(everything, alone)],
    }


def lines(report: dict[str, Any]) -> list[str]:
    row = report["checked"]
    same = "the same neighbors" if row["same"] else "OTHER NEIGHBORS"
    found = [
        f"knn_graph, {report['dimensions']} dimensions, k = {report['neighbors']}; of {row['points']:,} points {same} "
        f"as by the processor, distances differ by {row['differs']:.1e}",
        f"  {'points':>10}{'gpu, s':>9}{'search alone':>14}{'cpu, s':>9}  same graph",
    ]
    for row in report["rows"]:
        cpu, equal = ("-", "-") if row["cpu"] is None else (f"{row['cpu']:.2f}", "yes" if row["same"] else "NO")
        found.append(f"  {row['points']:>10,}{row['gpu']:>9.2f}{row['search']:>14.2f}{cpu:>9}  {equal}")
    return found


def _points(n: int) -> Any:
    """Around a few hundred centers, so that some neighbors are much nearer than others."""
    rng = np.random.default_rng(n)
    centers = 3.0 * rng.standard_normal((max(1, n // 500), _DIMENSIONS))
    return centers[rng.integers(0, len(centers), n)] + rng.standard_normal((n, _DIMENSIONS))


def _checked(engine: Any, n: int) -> dict[str, Any]:
    X = _points(n)
    gpu, cpu = (ct.nearest_neighbors(X, _K, search="exact", engine=e) for e in (engine, "cpu"))
    return {
        "points": n,
        "same": bool(np.array_equal(gpu.indices, cpu.indices)),
        "differs": float((np.abs(gpu.distances - cpu.distances) / cpu.distances).max()),
    }


def _timed(engine: Any, n: int, cpu: str | None = None) -> dict[str, Any]:
    X = _points(n)
    found, graph = _seconds(lambda: ct.knn_graph(X, _K, search="exact", engine=engine))
    row: dict[str, Any] = {"points": n, "gpu": found, "cpu": None}
    row["search"], _ = _seconds(lambda: ct.nearest_neighbors(X, _K, search="exact", engine=engine))
    if cpu is not None:
        row["cpu"], other = _seconds(lambda: ct.knn_graph(X, _K, search="exact", engine=cpu))
        row["same"] = bool(np.array_equal(graph.edges, other.edges))
    return row


def _seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    """By the clock: results are on the host when a call returns."""
    began = time.perf_counter()
    result = call()
    return time.perf_counter() - began, result
