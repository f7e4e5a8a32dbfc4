"""How often each route of ``couple`` ends in the best minimum known: many variants of the paper's Ring.

Rings with other weights, bumps in other places and of other widths, narrow ones far from the seam among them: hard
cases, on which every route alone fails at times. The best minimum known is the lowest of all routes and of a descent
from the seam already cut.
"""

from __future__ import annotations

import platform
import time
from itertools import product
from typing import Any

import numpy as np

from cotherm.graphs.build import knn_graph
from cotherm.graphs.graph import Graph
from cotherm.methods.coupling.couple import couple
from cotherm.progress import track

_TIMES = (1.0, 2.0, 5.0, 10.0)
_CENTERS = ((0.06, 0.38, 0.7), (0.1, 0.5, 0.9), (1 / 6, 0.5, 5 / 6), (0.2, 0.5, 0.8), (0.15, 0.4, 0.6))
_WIDTHS = (0.03, 0.04, 0.08)
_SPACINGS = (1.5, 2.0, 3.0, None)  # scale of the weights in units of the spacing; None: all weights 1
_NEAR = 1.01
_ALPHA = 1e6
_ROUTES: dict[str, Any] = {
    "auto": "auto",
    "direct": "direct",
    "times": "times",
    "alpha": "alpha",
}


def run(*, quick: bool = False) -> dict[str, Any]:
    """Costs and seconds of every route on every ring."""
    cases = list(product(_SPACINGS, _CENTERS, _WIDTHS))[:: 12 if quick else 1]
    _timed(*cases[0])  # compiles and loads what is used
    rows = [_timed(*case) for case in track(cases, total=len(cases), label="rings")]
    costs = [{name: cost for name, (cost, _) in row.items()} for row in rows]
    best = [min(row.values()) for row in costs]
    found = {name: sum(row[name] <= _NEAR * low for row, low in zip(costs, best, strict=True)) for name in _ROUTES}
    either = sum(min(row["times"], row["alpha"]) <= _NEAR * low for row, low in zip(costs, best, strict=True))
    return {
        "benchmark": "routes",
        "quick": quick,
        "python": platform.python_version(),
        "rings": len(cases),
        "found": found | {"times or alpha": either},
        "seconds": {name: sum(row[name][1] for row in rows) for name in rows[0]},
        "costs": costs,
    }


def _timed(spacings: float | None, centers: tuple[float, ...], width: float) -> dict[str, tuple[float, float]]:
    """Cost and seconds of every route."""
    graphs, bumps = _ring(spacings, centers, width)

    def coupled(**how: Any) -> tuple[float, float]:
        began = time.perf_counter()
        cost = couple(graphs, [bumps, bumps], _TIMES, _ALPHA, **how).cost
        return cost, time.perf_counter() - began

    seam = np.abs(graphs[0].i - graphs[0].j) > graphs[0].n // 2
    cut = [graphs[0].with_weights(np.where(seam, 0.0, graphs[0].w)), graphs[1]]
    results = {name: coupled(options={"continuation": path}) for name, path in _ROUTES.items()}
    return results | {"from the cut": coupled(start=cut)}


def _ring(spacings: float | None, centers: tuple[float, ...], width: float, n: int = 70) -> tuple[list[Graph], Any]:
    graphs = []
    for angles in (2 * np.pi * np.arange(n) / n, 0.25 + (2 * np.pi - 0.5) * np.arange(n) / (n - 1)):
        points = np.column_stack([np.cos(angles), np.sin(angles)])
        scale = None if spacings is None else spacings * 2.0 * np.sin(0.5 * (angles[1] - angles[0]))
        graphs.append(knn_graph(points, 4, scale=scale))
    bumps = np.exp(-(((np.arange(n)[:, np.newaxis] - n * np.array(centers)) / (width * n)) ** 2))
    return graphs, bumps


def table(report: dict[str, Any]) -> str:
    """The report for people."""
    lines = [f"The best minimum known, within 1 %, on {report['rings']} variants of the Ring:", ""]
    seconds = {name: f"{value:>10.1f} s in all" for name, value in report["seconds"].items()}
    lines += [f"  {name:<24}{count:>4}{seconds.get(name, '')}" for name, count in report["found"].items()]
    return "\n".join(lines)
