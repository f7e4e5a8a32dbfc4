"""A step of the heat recurrence and the gradient of the coupling term, beside stock libraries on the same chip."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.gpu.peers import by_numba, by_triton
from cotherm.datasets.shortcuts import shortcuts
from cotherm.graphs.graph import Graph
from cotherm.methods.coupling.problem import CouplingProblem
from cotherm.methods.coupling.solve import reordered

SIZE, QUICK = 1_000_000, 20_000
GRADIENT, QUICK_GRADIENT = 100_000, 2_000
_Q, _DEGREE = 8, 59

# Large ones take long to make, and are used more than once.
planted = cache(shortcuts)


def versions() -> dict[str, str]:
    import cupy

    return {"cupy": cupy.__version__, "torch": "not installed" if _torch() is None else _torch().__version__}


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        return None
    return torch if torch.cuda.is_available() else None


def seconds(call: Callable[[], object], repeats: int = 15) -> float:
    """The median by events on the device, after two calls that are not counted."""
    import cupy

    call()
    call()
    found = []
    for _ in range(repeats):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        call()
        end.record()
        end.synchronize()
        found.append(1e-3 * cupy.cuda.get_elapsed_time(begin, end))
    return float(np.median(found))


def ceilings(*, quick: bool) -> dict[str, float]:
    """Bytes a second of a copy, read and written, and operations a second of matrix products."""
    import cupy

    x = cupy.random.random(2**22 if quick else 2**28)
    y = cupy.empty_like(x)
    copy = 2 * x.nbytes / seconds(lambda: cupy.copyto(y, x))
    n = 1_024 if quick else 8_192
    A = cupy.random.random((n, n))
    B = A.astype(np.float32)
    return {
        "copy": copy,
        "dgemm": 2 * n**3 / seconds(lambda: A @ A, 5),
        "sgemm": 2 * n**3 / seconds(lambda: B @ B, 5),
    }


def steps(engine: Any, limits: dict[str, float], *, quick: bool) -> dict[str, Any]:
    """Σ_k c_k T_k(X) F per step, of a lattice, and of nearest neighbors, renumbered and as the points came."""
    n = QUICK if quick else SIZE
    graph = planted(n).graphs[1]
    graphs = {"lattice": _lattice(n), "neighbors, renumbered": reordered(graph).graph, "neighbors, as they came": graph}
    rows = [_steps(engine, name, g, limits["copy"]) for name, g in graphs.items()]
    return {"vertices": n, "functions": _Q, "rows": rows}


def _lattice(n: int) -> Graph:
    """About n points in four times as many rows as columns, each joined to the ten nearest, with random weights."""
    width = round((n / 4) ** 0.5)
    number = np.arange(width * (n // width)).reshape(-1, width)
    heads, tails = [], []
    for down, right in ((0, 1), (0, 2), (1, -1), (1, 0), (1, 1)):
        first, last = max(0, -right), width - max(0, right)
        heads.append(number[: len(number) - down, first:last].ravel())
        tails.append(number[down:, first + right : last + right].ravel())
    i, j = np.concatenate(heads), np.concatenate(tails)
    order = np.lexsort((j, i))
    return Graph(number.size, i[order], j[order], np.random.default_rng(0).random(len(i)))


def _steps(engine: Any, order: str, graph: Any, copy: float) -> dict[str, Any]:
    import cupy

    n, q = graph.n, _Q
    pattern = engine.pattern(n, graph.i, graph.j)
    L = engine.laplacian(pattern, engine.asarray(graph.w))
    F, c = cupy.random.standard_normal((n, q)), np.random.default_rng().standard_normal((_DEGREE + 1, 1))
    # Each step reads the matrix and two blocks and writes one; the sums are visited every third step.
    block, matrix = 8 * n * q, 12 * len(pattern.columns) + 4 * n
    needed = matrix + 3 * block + (2 * ((_DEGREE + 1) // 3) - 1) * block / _DEGREE
    own = seconds(lambda: engine.chebyshev_sums(L, F, c, L.bound)) / _DEGREE
    expected = engine.chebyshev_sums(L, F, c, L.bound)[:, 0]
    nonzeros = len(pattern.columns)
    row = {"order": order, "nonzeros": nonzeros, "seconds": own, "bytes": needed, "of_copy": needed / own / copy}
    for name, peer in (("cupy", _by_cupy), ("torch", _by_torch), ("numba", by_numba), ("triton", by_triton)):
        call = peer(L, F, c)
        if call is not None:
            row[name] = seconds(call, 5) / _DEGREE
            row[f"{name}_differs"] = float(abs(cupy.asarray(call()) - expected).max() / abs(expected).max())
    return row


def _by_cupy(L: Any, F: Any, c: Any) -> Callable[[], Any]:
    """The recurrence by CuPy's sparse products."""
    import cupyx.scipy.sparse as sp

    n = L.n
    W = sp.csr_matrix((L.weights, L.pattern.columns, L.pattern.offsets), shape=(n, n))
    X = (2.0 / L.bound) * (sp.diags(L.degrees) - W) - sp.identity(n)
    X = X.tocsr()
    return lambda: _recurrence(lambda x: X @ x, F, c)


def _by_torch(L: Any, F: Any, c: Any) -> Callable[[], Any] | None:
    """The same by PyTorch's."""
    torch = _torch()
    if torch is None:
        return None
    import cupyx.scipy.sparse as sp

    n = L.n
    W = sp.csr_matrix((L.weights, L.pattern.columns, L.pattern.offsets), shape=(n, n))
    X = ((2.0 / L.bound) * (sp.diags(L.degrees) - W) - sp.identity(n)).tocsr()
    parts = (torch.as_tensor(part, device="cuda") for part in (X.indptr, X.indices, X.data))
    matrix = torch.sparse_csr_tensor(*parts, size=(n, n), check_invariants=False)
    start = torch.as_tensor(F, device="cuda")
    return lambda: _recurrence(lambda x: matrix @ x, start, c)


def _recurrence(product: Callable[[Any], Any], F: Any, c: Any) -> Any:
    before, now = F, product(F)
    total = float(c[0, 0]) * before + float(c[1, 0]) * now
    for k in range(2, len(c)):
        before, now = now, 2.0 * product(now) - before
        total += float(c[k, 0]) * now
    return total


def gradient(engine: Any, *, quick: bool) -> dict[str, Any]:
    """The cost of a coupling and its gradient by all edge weights, ours and by PyTorch's automatic derivatives."""
    views = planted(QUICK_GRADIENT if quick else GRADIENT)
    times = np.array(views.times[:1])
    ones = np.ones(2)
    problem = CouplingProblem(
        views.graphs,
        views.functions,
        times,
        1.0,
        free=[np.arange(g.m) for g in views.graphs],
        rigidity=ones,
        graph_weights=ones,
        engine=engine,
    )
    u = problem.center * engine.asarray(1.0 + 0.1 * np.random.default_rng(0).random(len(problem.center)))
    row = {"vertices": views.graphs[0].n, "edges": len(u), "seconds": seconds(lambda: problem.cost_and_gradient(u), 7)}
    torch = _torch()
    if torch is not None:
        call = _by_autograd(torch, problem, u)
        row["torch"] = seconds(call, 3)
        ours, theirs = problem.cost_and_gradient(u)[1], engine.asarray(call())
        row["differs"] = float(abs(ours - theirs).max() / abs(theirs).max())
    return row


def _by_autograd(torch: Any, problem: Any, u: Any) -> Callable[[], Any]:
    """The same series to the same tolerance, derivatives by PyTorch; products by sums over edges.

    Through a sparse product PyTorch would make the derivative by the matrix dense.
    """
    from cotherm.heat.chebyshev import exponential_coefficients

    parts = []
    for graph, F in zip(problem.graphs, problem.functions, strict=True):
        bound = 2.4 * float(graph.degrees.max())
        c = exponential_coefficients(0.5 * problem.times, bound, np.array([1e-12]))[:, 0]
        tensors = (torch.as_tensor(x, device="cuda") for x in (graph.i.astype(np.int64), graph.j.astype(np.int64), F))
        parts.append((*tensors, bound, c))
    cuts, center = problem.cuts, torch.as_tensor(problem.center, device="cuda")

    def correlation(w: Any, i: Any, j: Any, F: Any, bound: float, c: Any) -> Any:
        def product(x: Any) -> Any:
            flow = w[:, None] * (x[i] - x[j])
            Lx = torch.zeros_like(x).index_add(0, i, flow).index_add(0, j, -flow)
            return (2.0 / bound) * Lx - x

        before, now = F, product(F)
        half = float(c[0]) * before + float(c[1]) * now
        for coefficient in c[2:]:
            before, now = now, 2.0 * product(now) - before
            half = half + float(coefficient) * now
        return half.T @ half

    def distance(d: Any, i: Any, j: Any, n: int) -> Any:
        at_vertices = torch.zeros(n, dtype=d.dtype, device="cuda").index_add(0, i, d).index_add(0, j, d)
        return (at_vertices**2).sum() + 2.0 * (d**2).sum()

    def call() -> Any:
        v = torch.as_tensor(u, device="cuda").clone().requires_grad_()
        weights = [v[lo:hi] for lo, hi in pairwise(cuts)]
        Q = [correlation(w, *part) for w, part in zip(weights, parts, strict=True)]
        cost = ((Q[0] - Q[1]) ** 2).sum()
        for w, (lo, hi), (i, j, F, *_) in zip(weights, pairwise(cuts), parts, strict=True):
            cost = cost + distance(w - center[lo:hi], i, j, len(F))
        cost.backward()
        return v.grad

    return call


def lines(steps: dict[str, Any], gradient: dict[str, Any]) -> list[str]:
    found = [
        f"a step of the heat recurrence, {steps['vertices']:,} vertices, {steps['functions']} functions, float64",
        f"  {'graph':<24}{'nonzeros':>12}{'ours, ms':>10}{'GB/s':>8}{'of copy':>9}{'CuPy, ms':>10}{'PyTorch, ms':>13}"
        f"{'best / ours':>13}",
    ]
    for row in steps["rows"]:
        stock = [row[name] for name in ("cupy", "torch") if name in row]
        found.append(
            f"  {row['order']:<24}{row['nonzeros']:>12,}{1e3 * row['seconds']:>10.3f}"
            f"{row['bytes'] / row['seconds'] / 1e9:>8,.0f}{row['of_copy']:>9.0%}{1e3 * row.get('cupy', np.nan):>10.3f}"
            f"{1e3 * row.get('torch', np.nan):>13.3f}{min(stock, default=np.nan) / row['seconds']:>13.1f}"
        )
    found += [
        "  the same fused step, a plain kernel in other languages, ms",
        f"  {'graph':<24}{'ours, CUDA C++':>16}{'Numba':>10}{'Triton':>10}",
    ]
    found += [
        f"  {row['order']:<24}{1e3 * row['seconds']:>16.3f}{1e3 * row.get('numba', np.nan):>10.3f}"
        f"{1e3 * row.get('triton', np.nan):>10.3f}"
        for row in steps["rows"]
    ]
    ours, theirs = gradient["seconds"], gradient.get("torch", np.nan)
    found += [
        f"cost and gradient, two graphs of {gradient['vertices']:,} vertices, {gradient['edges']:,} weights: "
        f"{1e3 * ours:.1f} ms; by PyTorch's automatic derivatives {1e3 * theirs:.1f} ms ({theirs / ours:.1f} times); "
        f"they differ by {gradient.get('differs', np.nan):.0e}",
    ]
    return found
