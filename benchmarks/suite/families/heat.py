"""Heat flow e^{−tL}F on growing graphs: contestants return the warm functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from benchmarks import heat as benchmark
from benchmarks.suite.parts import Contestant, Family, Figure, Library, Limits, Problem
from cotherm.arrays import Floats
from cotherm.graphs.graph import Graph
from cotherm.heat.chebyshev import exponential_coefficients

_SPAN = 100.0  # t·λ_max
_WARMUP = 2_500
_JUDGES_TAIL = 1e-14
# What fits the processors' caches is not fetched from memory at every step: below, bytes moved say nothing.
_IN_CACHE = 64e6


class Flow(NamedTuple):
    graph: Graph
    F: Floats
    t: float
    bound: float  # of the spectrum


class Filter(NamedTuple):
    """What PyGSP gets: a filter that is ready, and the order that is needed."""

    heat: Any
    order: int
    flow: Flow


def _make(n: int) -> Flow:
    graph = benchmark.problem(n)
    bound = benchmark.prepare(graph)[1]
    return Flow(graph, benchmark.functions(n), _SPAN / bound, bound)


def _problems(quick: bool) -> Sequence[Problem]:
    sizes = (3_000, 20_000) if quick else (10_000, 100_000, 1_000_000)
    series = f"e^(-tL)F, tλ = {_SPAN:g}"
    return [_of(series, n, 20.0 if quick else 180.0) for n in sizes]


def _of(series: str, n: int, seconds: float) -> Problem:
    return Problem(f"{series}, {n:,}", series, n, lambda _: _make(n), lambda: _make(_WARMUP), seconds)


def _ours(task: Flow, _: Limits) -> Floats:
    return benchmark.ours(task.graph, task.F, task.t)


def _expm_multiply(task: Flow, _: Limits) -> Floats:
    return benchmark.scipy_expm_multiply(task.graph, task.F, task.t)


def _plain(task: Flow, _: Limits) -> Floats:
    return benchmark.plain_chebyshev(task.graph, task.F, task.t)


def _with_matrix(task: Flow) -> Flow:
    """The Laplacian in SciPy's form is given for free."""
    benchmark.prepare(task.graph)
    return task


def _filter(task: Flow) -> Filter:
    """PyGSP's heat filter e^{−sλ/λ_max} with s = tλ_max, and an order whose remainder is below the tolerance."""
    from pygsp import filters, graphs

    graph = graphs.Graph(sp.csr_matrix(task.graph.adjacency()))
    graph.compute_laplacian("combinatorial")
    graph.estimate_lmax()
    # Its coefficients are sums over as many points as there are terms, which doubles the remainder.
    order = _terms(task.t, float(graph.lmax), 0.4 * benchmark.TOLERANCE)
    return Filter(filters.Heat(graph, task.t * float(graph.lmax)), order, task)


def _filtered(given: Filter, _: Limits) -> Floats:
    return np.asarray(given.heat.filter(given.flow.F, method="chebyshev", order=given.order))


def _terms(t: float, bound: float, tail: float = 0.8 * benchmark.TOLERANCE) -> int:
    """How many steps the series takes."""
    return len(exponential_coefficients(np.array([t]), bound, np.array([tail]))) - 1


def least_bytes(task: Flow, terms: int) -> float | None:
    """Bytes that a Chebyshev recurrence must move, whoever writes it: at every step W by rows and three blocks.

    An entry of W takes 12 bytes, a row 16 more for its place and its degree; of the blocks one is read and one read and
    written. The sum is not counted.
    """
    n, q = task.F.shape
    matrix = 12.0 * 2 * task.graph.m + 16.0 * n
    blocks = 3.0 * 8 * n * q
    return terms * (matrix + blocks) if matrix + blocks > _IN_CACHE else None


def _series_bytes(task: Flow) -> float | None:
    return least_bytes(task, _terms(task.t, task.bound))


def _filter_bytes(given: Filter) -> float | None:
    return least_bytes(given.flow, given.order)


def judge(task: Flow, warm: Floats) -> Mapping[str, float | None]:
    """‖x − x*‖/‖x*‖, x* a series in SciPy with all its terms down to rounding."""
    truth = benchmark.plain_chebyshev(task.graph, task.F, task.t, tail=_JUDGES_TAIL)
    return {"error": float(np.linalg.norm(warm - truth) / np.linalg.norm(truth))}


FAMILY = Family(
    name="heat",
    description="e^{−tL}F for 8 functions on a kNN graph of random points in a cube, error at most 1e-8. Ordering the "
    "vertices is part of our call; SciPy is given the Laplacian and, for the plain series, our bound and number of "
    "terms; PyGSP its graph, its λ_max, and as many terms as it needs.",
    problems=_problems,
    contestants=(
        Contestant(benchmark.OURS, _ours, bytes_moved=_series_bytes),
        Contestant(benchmark.PLAIN, _plain, prepare=_with_matrix, bytes_moved=_series_bytes),
        Contestant(benchmark.SCIPY, _expm_multiply, prepare=_with_matrix),
        Contestant(
            "PyGSP heat filter",
            _filtered,
            needs=Library("pygsp", "pip install PyGSP"),
            prepare=_filter,
            bytes_moved=_filter_bytes,
        ),
    ),
    figures=(Figure("error", "lower", ".1e"),),
    judge=judge,
)
