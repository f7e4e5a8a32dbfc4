"""Heat on one graph, call after call: the first lays it out on the GPU, the next finds it there, the last F as well."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import cotherm as ct
from benchmarks.gpu.kernels import QUICK, SIZE, planted

_Q, _TIME, _REPEATS = 8, 1.0, 5


def run(engine: Any, *, quick: bool) -> dict[str, Any]:
    """Seconds of ``heat_flow``: the median of some calls, and the first."""
    used = planted(QUICK if quick else SIZE).graphs[1]
    # The same numbers in new arrays, of which nothing is on the GPU yet.
    graph, other = (ct.Graph(used.n, used.i, used.j, used.w) for _ in range(2))
    F = np.random.default_rng(0).standard_normal((graph.n, _Q))
    _flow(engine, other, F)  # compiles what is used
    del other
    there, before = engine.asarray(F), engine.device.resident.size
    first, on_host = _flow(engine, graph, F)
    again = float(np.median([_flow(engine, graph, F)[0] for _ in range(_REPEATS)]))
    stays = float(np.median([_flow(engine, graph, there)[0] for _ in range(_REPEATS)]))
    heat = engine.to_numpy(_flow(engine, graph, there)[1])
    return {
        "vertices": graph.n,
        "edges": graph.m,
        "functions": _Q,
        "first": first,
        "again": again,
        "stays": stays,
        "kept": engine.device.resident.size - before,
        "differs": float(np.abs(heat - on_host).max() / np.abs(on_host).max()),
    }


def lines(report: dict[str, Any]) -> list[str]:
    return [
        f"heat_flow, {report['vertices']:,} vertices, {report['edges']:,} edges, {report['functions']} functions, "
        f"one time: {report['first']:.3f} s at first, {report['again']:.3f} s with the graph on the GPU "
        f"({report['kept'] / 1e6:,.0f} MB), {report['stays']:.4f} s with functions and heat there too; "
        f"they differ by {report['differs']:.0e}"
    ]


def _flow(engine: Any, graph: Any, F: Any) -> tuple[float, Any]:
    import cupy

    cupy.cuda.get_current_stream().synchronize()
    began = time.perf_counter()
    heat = ct.heat_flow(graph, F, _TIME, method="chebyshev", engine=engine)
    cupy.cuda.get_current_stream().synchronize()
    return time.perf_counter() - began, heat
