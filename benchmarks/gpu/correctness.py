"""The GPU engine against the engine for the processor: kernel by kernel, and coupling by coupling."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import cotherm as ct
from cotherm.engines import default_engine
from cotherm.engines.gpu.engine import GpuEngine
from cotherm.errors import CothermError
from paper.data import man, nus

CPU = default_engine()


def run(engine: Any, *, quick: bool, data: Any) -> dict[str, Any]:
    """Errors of every kernel, relative to the largest number of its result, and of couplings."""
    everything = GpuEngine(engine.device, smallest=0)  # also small problems
    kernels: dict[str, float] = {}
    for name, expected, found, again in _results(everything, 600 if quick else 5_000):
        error = float(np.abs(found - expected).max() / np.abs(expected).max())
        kernels[name] = max(kernels.get(name, 0.0), error if np.array_equal(found, again) else np.inf)
    return {
        "kernels": kernels,
        "couplings": [_coupled(everything, *case) for case in _cases(quick, data)],
        "verbs": [_verb(everything, *case) for case in _verbs(quick)],
    }


def lines(report: dict[str, Any]) -> list[str]:
    worst = max(report["kernels"].items(), key=lambda item: item[1])
    found = [
        f"right first: {len(report['kernels'])} kernels, largest error {worst[1]:.1e} ({worst[0]}); "
        "twice the same, bit for bit",
        f"  {'coupling, against the processor':<40}{'cost differs by':>16}{'weights by':>12}  same cuts, run to run",
    ]
    for row in report["couplings"]:
        same = f"{'yes' if row['same'] else 'NO'}, {'equal' if row['repeats'] else 'DIFFERENT'}"
        found.append(f"  {row['problem']:<40}{row['cost']:>16.1e}{row['weights']:>12.1e}  {same}")
    found.append(f"  {'other functions, against the processor':<40}{'differ by':>16}{'':12}  run to run")
    for row in report["verbs"]:
        found.append(f"  {row['verb']:<40}{row['differs']:>16.1e}{'':12}  {'equal' if row['repeats'] else 'DIFFERENT'}")
    return found


def _results(gpu: Any, n: int) -> Iterator[tuple[str, Any, Any, Any]]:
    """For every kernel its name, what the processor says, and what the GPU says, twice; new numbers every time."""
    rng = np.random.default_rng()
    i, j = _edges(n, rng)
    w, free = rng.random(len(i)), rng.random(len(i)) < 0.7

    def both(name: str, call: Any) -> tuple[str, Any, Any, Any]:
        once, twice = (gpu.to_numpy(call(gpu)) for _ in range(2))
        return name, np.asarray(call(CPU)), once, twice

    def laplacian(engine: Any) -> Any:
        return engine.laplacian(engine.pattern(n, i, j), engine.asarray(w))

    bound = laplacian(CPU).bound
    yield both("bound", lambda e: np.array([laplacian(e).bound]))
    for q in (1, 3, 6, 8, 40):
        F, c = rng.standard_normal((n, q)), rng.standard_normal((31, 3))
        yield both("heat", lambda e, F=F, c=c: e.chebyshev_sums(laplacian(e), e.asarray(F), c, bound))
        yield both("column sums", lambda e, F=F: np.array(e.column_sums(e.asarray(F))))
        yield both("systems", lambda e, F=F: _solved(e, n, i, j, free, F))
        seed = int(rng.integers(2**31))
        yield both("products at edges", lambda e, q=q, s=seed: _edge_products(e, n, i, j, q, s))
        x, S = rng.standard_normal((n, 5, q)), rng.standard_normal((q, q))
        S, v, weights = S + S.T, rng.standard_normal(len(i)), rng.standard_normal(5)
        yield both("forms at edges", lambda e, x=x, S=S, u=weights: _forms(e, n, i, j, x, S, u))
        yield both("forms of L", lambda e, x=x, v=v, u=weights: _laplacian_forms(e, n, i, j, v, x, u))
    d, E = rng.standard_normal(len(i)), rng.standard_normal((len(i), 7))
    yield both("sums at vertices", lambda e: e.sums_at_vertices(e.pattern(n, i, j), e.asarray(d)))
    yield both("sums at edges", lambda e: e.sums_at_edges(e.pattern(n, i, j), e.asarray(w[:n])))
    yield both("rows at vertices", lambda e: _added(e, n, i, j, E))
    A = E.T @ E
    yield both("Cholesky", lambda e: e.cholesky_solver(e.asarray(A))(e.asarray(np.ascontiguousarray(E[:5].T))))


def _edges(n: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Random ones, and a vertex with many neighbors."""
    a, b = rng.integers(0, n, (2, 8 * n))
    a[: n // 3] = 0
    low, high = np.minimum(a, b), np.maximum(a, b)
    keys = np.unique((low * n + high)[low < high])
    return keys // n, keys % n


def _solved(e: Any, n: int, i: Any, j: Any, free: Any, Y: Any) -> Any:
    return e.signless_solver(e.pattern(n, i, j), e.asarray(free))(e.asarray(Y), 1e-12, None)


def _edge_products(e: Any, n: int, i: Any, j: Any, q: int, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    x, weights, scale = rng.standard_normal((n, 5, q)), rng.standard_normal(3), rng.random(q * (q + 1) // 2)
    p, out = e.pattern(n, i, j), e.asarray(np.zeros((len(i), len(scale) + 2)))
    e.edge_products(e.asarray(x), p.i, p.j, weights, 1, scale, out, 2)
    return out


def _forms(e: Any, n: int, i: Any, j: Any, x: Any, S: Any, weights: Any) -> Any:
    p = e.pattern(n, i, j)
    y = e.asarray(x)
    return e.edge_inner_products(y, np.tensordot(y, e.asarray(S), 1), p.i, p.j, weights)


def _laplacian_forms(e: Any, n: int, i: Any, j: Any, v: Any, x: Any, weights: Any) -> Any:
    return e.laplacian_forms(e.pattern(n, i, j), e.asarray(v), e.asarray(x), weights)


def _added(e: Any, n: int, i: Any, j: Any, E: Any) -> Any:
    p, out = e.pattern(n, i, j), e.asarray(np.ones((n, E.shape[1])))
    e.add_at_vertices(e.asarray(E), p.i, p.j, out)
    return out


def _cases(quick: bool, data: Any) -> Iterator[tuple[str, Any]]:
    """Names and views."""
    yield "Ring", ct.datasets.ring()
    yield "Circles", ct.datasets.circles()
    if quick:
        return
    yield "body, 500 points, modeled", ct.datasets.human(500)
    yield "short cuts, 2,000 vertices", ct.datasets.shortcuts(2_000)
    yield "short cuts, 10,000 vertices", ct.datasets.shortcuts(10_000)
    measured: dict[str, Callable[[], Any]] = {
        "images and tags (NUS)": lambda: nus(data=data),
        "body, 500 points, scanned": lambda: man(500, data=data),
    }
    for name, read in measured.items():
        try:
            yield name, read()
        except CothermError:  # the data are not here
            continue


def _coupled(gpu: Any, name: str, views: Any) -> dict[str, Any]:
    given = (views.graphs, views.functions, views.times)
    cpu, once, twice = (ct.couple(*given, engine=engine) for engine in (CPU, gpu, gpu))
    pairs = list(zip(once.graphs, cpu.graphs, strict=True))
    return {
        "problem": name,
        "cost": abs(once.cost / cpu.cost - 1.0),
        "weights": max(float(np.abs(a.w - b.w).max() / b.w.max()) for a, b in pairs),
        "same": [c.counts() for c in once.changes()] == [c.counts() for c in cpu.changes()],
        "repeats": all(np.array_equal(a.w, b.w) for a, b in zip(once.graphs, twice.graphs, strict=True)),
    }


def _verbs(quick: bool) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    """Names, and calls with an engine that return numbers to compare."""
    n = 600 if quick else 6_000
    views = ct.datasets.shortcuts(n)
    graph, F = views.graphs[0], views.functions[0]
    some = np.random.default_rng(0).choice(graph.n, 50, replace=False)
    yield "heat_flow", lambda e: ct.heat_flow(graph, F, [0.1, 1.0, 10.0], method="chebyshev", engine=e)
    for method in ("sketch", "local"):
        given: dict[str, Any] = {"sources": some, "nearest": 10, "method": method}
        yield f"diffusion_distance, nearest, {method}", partial(_nearest, graph, given)
    yield "diffusion_distance, all pairs", lambda e: ct.diffusion_distance(graph, 0.5, sources=some, engine=e)
    small = ct.datasets.shortcuts(400)
    yield "coupled_bases", lambda e: _cost(ct.coupled_bases(views.graphs, views.functions, 6, engine=e))
    yield (
        "couple_pairs",
        lambda e: _cost(ct.couple_pairs(small.graphs, options={"n_modes": 4, "max_iterations": 20}, engine=e)),
    )


def _nearest(graph: Any, given: dict[str, Any], engine: Any) -> Any:
    nearest: Any = ct.diffusion_distance(graph, 0.5, **given, engine=engine)
    return nearest.distances


def _cost(result: Any) -> Any:
    return np.array([result.cost])


def _weights(result: Any) -> Any:
    return np.concatenate([graph.w for graph in result.graphs])


def _verb(gpu: Any, name: str, call: Callable[[Any], Any]) -> dict[str, Any]:
    cpu, once, twice = (call(engine) for engine in (CPU, gpu, gpu))
    differs = float(np.abs(once - cpu).max() / np.abs(cpu).max())
    return {"verb": name, "differs": differs, "repeats": bool(np.array_equal(once, twice))}
