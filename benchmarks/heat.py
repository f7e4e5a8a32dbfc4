"""e^{−tL}F on a large unordered kNN graph: ours against SciPy's expm_multiply and a plain Chebyshev series in SciPy."""

from __future__ import annotations

import platform
import time
import tracemalloc
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import scipy
import scipy.sparse as sp
from scipy.sparse.linalg import expm_multiply

from cotherm.arrays import Floats
from cotherm.graphs.build import knn_graph
from cotherm.graphs.graph import Graph
from cotherm.heat.chebyshev import engine_laplacian, exponential_coefficients
from cotherm.heat.flow import heat_flow

Contestant = Callable[[Graph, Floats, float], Floats]

OURS, SCIPY, PLAIN = "cotherm heat_flow", "SciPy expm_multiply", "plain Chebyshev in SciPy"
_COLUMNS = 8
_SPANS = (10.0, 100.0, 1000.0)  # t·λ_max
TOLERANCE = 1e-8


def run(*, quick: bool = False) -> dict[str, Any]:
    """Measure everything; the report holds the figures and, for each claim, whether it held."""
    sizes = (2_000, 20_000, 200_000) if quick else (20_000, 200_000, 2_000_000)
    graph = problem(sizes[1])
    _compile()
    comparisons = [_compare(graph, span) for span in _SPANS]
    scaling = [_growth(n) for n in sizes]
    memory = _memory(graph)
    return {
        "benchmark": "heat",
        "quick": quick,
        "machine": {
            "processors": _processors(),
            "system": platform.platform(),
            "python": platform.python_version(),
        },
        "versions": {"numpy": np.__version__, "scipy": scipy.__version__},
        "graph": {"n": graph.n, "nonzeros": 2 * graph.m + graph.n, "columns": _COLUMNS},
        "comparisons": comparisons,
        "scaling": scaling,
        "memory": memory,
        "claims": _claims(comparisons, scaling, memory, judged=not quick),
    }


def problem(n: int) -> Graph:
    """Random points in a cube, nine nearest neighbors, Gaussian weights: vertices in no useful order."""
    points = np.random.default_rng(0).random((n, 3))
    return knn_graph(points, 9, scale="median")


def functions(n: int) -> Floats:
    """The block of initial heat."""
    return np.random.default_rng(1).random((n, _COLUMNS))


def ours(graph: Graph, F: Floats, t: float) -> Floats:
    """The public verb with its default tolerance; ordering the vertices is part of the call."""
    return heat_flow(graph, F, [t], tolerance=TOLERANCE)[0]


def scipy_expm_multiply(graph: Graph, F: Floats, t: float) -> Floats:
    """SciPy's own, with the Laplacian made beforehand in its favor."""
    return np.asarray(expm_multiply(-t * _laplacian(graph), F))


def plain_chebyshev(graph: Graph, F: Floats, t: float, tail: float = 0.8 * TOLERANCE) -> Floats:
    """The same series with the same spectral bound and as many terms, as one would write it with SciPy's product."""
    L, bound = _laplacian(graph), _bound(graph)
    c = exponential_coefficients(np.array([t]), bound, np.array([tail]))[:, 0]
    previous, current = F, (2.0 / bound) * (L @ F) - F
    total = c[0] * previous + c[1] * current
    for ck in c[2:]:
        previous, current = current, (4.0 / bound) * (L @ current) - 2.0 * current - previous
        total += ck * current
    return total


_prepared: list[tuple[Graph, sp.csr_array, float]] = []


def prepare(graph: Graph) -> tuple[sp.csr_array, float]:
    """What the SciPy contestants are given for free, made once per graph: L, and a spectral bound."""
    if not _prepared or _prepared[0][0] is not graph:
        _prepared[:] = [(graph, graph.laplacian(), engine_laplacian(graph).bound)]
    return _prepared[0][1:]


def _laplacian(graph: Graph) -> sp.csr_array:
    return prepare(graph)[0]


def _bound(graph: Graph) -> float:
    return prepare(graph)[1]


def _compare(graph: Graph, span: float) -> dict[str, Any]:
    """All contestants at one t·λ_max, judged by SciPy's answer."""
    t = span / _bound(graph)
    F = functions(graph.n)
    # SciPy's answer, good to rounding, judges the others; it is nobody's series.
    seconds, truth = _best_of(1, lambda: scipy_expm_multiply(graph, F, t))
    rows = [
        _measure(OURS, ours, graph, F, t, truth, 5),
        _measure(PLAIN, plain_chebyshev, graph, F, t, truth, 3),
        {"name": SCIPY, "seconds": seconds, "relative_error": 0.0, "repeats": 1},
    ]
    fastest = rows[0]["seconds"]
    for row in rows:
        row["times_slower"] = row["seconds"] / fastest
    return {"t_lambda": span, "contestants": rows}


def _measure(
    name: str, contestant: Contestant, graph: Graph, F: Floats, t: float, truth: Floats, repeats: int
) -> dict[str, Any]:
    seconds, answer = _best_of(repeats, lambda: contestant(graph, F, t))
    error = float(np.linalg.norm(answer - truth) / np.linalg.norm(truth))
    return {"name": name, "seconds": seconds, "relative_error": error, "repeats": repeats}


def _growth(n: int) -> dict[str, Any]:
    graph = problem(n)
    F = functions(n)
    t = 100.0 / engine_laplacian(graph).bound
    return {"n": n, "t_lambda": 100.0, "seconds": _best_of(3, lambda: ours(graph, F, t))[0]}


def _memory(graph: Graph) -> dict[str, Any]:
    """Peak of what NumPy allocates during a call, result included, beside the sizes of F and of the graph."""
    F = functions(graph.n)
    t = 100.0 / _bound(graph)
    tracemalloc.start()
    ours(graph, F, t)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    L = _laplacian(graph)
    size = L.data.nbytes + L.indices.nbytes + L.indptr.nbytes
    return {"peak_bytes": peak, "block_bytes": F.nbytes, "graph_bytes": size}


def _best_of(repeats: int, call: Callable[[], Any]) -> tuple[float, Any]:
    best, answer = np.inf, None
    for _ in range(repeats):
        start = time.perf_counter()
        answer = call()
        best = min(best, time.perf_counter() - start)
    return best, answer


def _claims(
    comparisons: list[Any], scaling: list[Any], memory: dict[str, Any], *, judged: bool
) -> list[dict[str, Any]]:
    """Each target with what was measured; targets are for the full size, and a quick run is not judged by them."""

    def ratio(span: float, name: str) -> float:
        rows = next(d["contestants"] for d in comparisons if d["t_lambda"] == span)
        return float(next(r["times_slower"] for r in rows if r["name"] == name))

    growth = max(b["seconds"] / a["seconds"] for a, b in pairwise(scaling))
    error = max(r["relative_error"] for d in comparisons for r in d["contestants"] if r["name"] == OURS)
    inputs = memory["block_bytes"] + memory["graph_bytes"]
    figures = [
        ("error relative to the result", error, "<=", TOLERANCE),
        ("faster than expm_multiply at tλ = 100", ratio(100.0, SCIPY), ">=", 15.0),
        ("faster than expm_multiply at tλ = 1000", ratio(1000.0, SCIPY), ">=", 30.0),
        ("faster than plain Chebyshev, worst of three", min(ratio(s, PLAIN) for s in _SPANS), ">=", 3.0),
        ("time for ten times the graph, worst of two", growth, "<=", 11.0),
        ("peak memory over that of F and the graph", memory["peak_bytes"] / inputs, "<=", 3.0),
    ]
    return [
        {
            "claim": text,
            "measured": value,
            "needed": f"{sign} {limit:g}",
            "holds": _holds(value, sign, limit) if judged else None,
        }
        for text, value, sign, limit in figures
    ]


def _holds(value: float, sign: str, limit: float) -> bool:
    return value <= limit if sign == "<=" else value >= limit


def _compile() -> None:
    """Compilation happens once per installation and is not what is measured."""
    graph = problem(2_000)
    ours(graph, functions(graph.n), 1.0)


def _processors() -> int:
    import numba

    return int(numba.config.NUMBA_NUM_THREADS)


def table(report: dict[str, Any]) -> str:
    """The report for people."""
    g = report["graph"]
    lines = [
        f"Heat flow e^(-tL)F: n = {g['n']:,}, {g['nonzeros']:,} nonzeros, {g['columns']} functions, "
        f"{report['machine']['processors']} processors",
        "",
        f"{'tλ_max':>7}  {'contestant':<26}{'seconds':>9}{'times ours':>12}{'error':>10}",
    ]
    for comparison in report["comparisons"]:
        for row in comparison["contestants"]:
            lines.append(
                f"{comparison['t_lambda']:7g}  {row['name']:<26}{row['seconds']:9.3f}{row['times_slower']:12.1f}"
                f"{row['relative_error']:10.1e}"
            )
    lines += ["", f"{'n':>10}{'seconds':>10}   (tλ_max = 100, ordering included)"]
    lines += [f"{row['n']:10,}{row['seconds']:10.3f}" for row in report["scaling"]]
    m = report["memory"]
    lines += [
        "",
        f"memory: peak {m['peak_bytes'] / 1e6:.1f} MB, block F {m['block_bytes'] / 1e6:.1f} MB, "
        f"graph {m['graph_bytes'] / 1e6:.1f} MB",
        "",
    ]
    verdicts = {True: "holds", False: "DOES NOT HOLD", None: "at full size"}
    for c in report["claims"]:
        lines.append(f"{c['claim']:<48}{c['measured']:10.3g}  needed {c['needed']:<9} {verdicts[c['holds']]}")
    if report["quick"]:
        lines += ["", "A quick run is too small to judge by: the targets are for the full size, without --quick."]
    return "\n".join(lines)
