"""Surgery: contestants return new edge weights; the judge looks at the paper's cost and at edges known to be wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import couple as optimizers
from benchmarks.suite.parts import Contestant, Data, Family, Figure, Library, Limits, Problem
from cotherm.arrays import Floats
from cotherm.datasets import Views, circles, human, ring, shortcuts
from cotherm.engines.threads import limited_blas
from cotherm.graphs.graph import Graph
from cotherm.heat.flow import heat_flow
from cotherm.methods.coupling.couple import couple
from paper.data import man, nus

# An edge is cut below this part of its weight.
CUT = 0.2
_PAPERS_ALPHA = 1e6
# Heat sees less of a short cut the larger the graph is, its square even less: α grows by as much.
_SHORT_CUT_ALPHA = 15.0
# Up to here the judge takes dense exponentials, above heat flow to this tolerance.
_DENSE, _TOLERANCE = 1_000, 1e-11
# Those who improve their answer as long as they may leave time to return it.
_OWN_SHARE = 0.8
# Of the memory, what a coupling may plan for: its forecast is good to a tenth or two.
_PLANNED = 0.85
_WARMUP = 300
# Who couples at other times answers another question: without a truth there is nothing to judge that by.
_SAME_COST = (optimizers.OURS, optimizers.LBFGSB, optimizers.TRUST, optimizers.TORCH)
_SECONDS = {1_000: 60.0, 10_000: 120.0, 100_000: 300.0, 1_000_000: 1_800.0}


class Surgery(NamedTuple):
    """Views and how much their agreement counts."""

    views: Views
    alpha: float


def _short_cuts(n: int, surface: str) -> Surgery:
    return Surgery(shortcuts(n, surface=surface), _SHORT_CUT_ALPHA * n**2)


def _problems(quick: bool) -> Sequence[Problem]:
    limit = 6.0 if quick else 80.0
    first = _papers("circles", 64, lambda _: circles(), limit)
    if quick:
        return [first, _planted("strip", 500, limit)]
    poses = {500: limit, 5_000: 120.0, 52_565: 300.0}
    # Only the strip is seen at its largest, where every run takes minutes.
    return [
        first,
        _papers("ring", 70, lambda _: ring(), limit),
        replace(_papers("nus", 145, lambda data: nus(data=data), limit, "nus/NUS_results.mat"), contestants=_SAME_COST),
        *(_modeled(n, s) for n, s in poses.items() if n <= 5_000),
        *(_scanned(n, s) for n, s in poses.items()),
        *(_planted("strip", n, s) for n, s in _SECONDS.items()),
        *(_planted(surface, n, s) for surface in ("roll", "sphere") for n, s in _SECONDS.items() if n <= 100_000),
    ]


def _papers(
    name: str, n: int, make: Callable[[Data], Views], seconds: float, file: str | None = None, series: str | None = None
) -> Problem:
    """At the paper's α."""
    return Problem(name, series or name, n, lambda data: Surgery(make(data), _PAPERS_ALPHA), _warmup, seconds, file)


def _modeled(n: int, seconds: float) -> Problem:
    return _papers(f"modeled body, {n:,}", n, lambda _: human(n), seconds, series="modeled body")


def _scanned(n: int, seconds: float) -> Problem:
    return _papers(f"man, {n:,}", n, lambda data: man(n, data=data), seconds, "tosca/michael7.off", "man")


def _planted(surface: str, n: int, seconds: float) -> Problem:
    name = f"short cuts, {surface}"
    return Problem(f"{name}, {n:,}", name, n, lambda _: _short_cuts(n, surface), _warmup, seconds)


def _warmup() -> Surgery:
    return _short_cuts(_WARMUP, "strip")


def _coupled(task: Surgery, limits: Limits, *, auto: bool = False) -> Floats:
    """The public verb: at the problem's times and α, or at those it chooses itself."""
    recorder = optimizers.BestWeights(_OWN_SHARE * limits.seconds)
    views = task.views
    options: Any = ("auto", "auto") if auto else (views.times, task.alpha)
    result = couple(
        views.graphs,
        views.functions,
        *options,
        options={"memory": _PLANNED * limits.memory},
        callback=lambda _: recorder.time_is_up,
    )
    return np.concatenate([graph.w for graph in result.graphs])


def _by(optimizer: Callable[[Any, optimizers.Recorder], None]) -> Callable[[Any, Limits], Floats]:
    """An optimizer that is given our cost and gradient, or makes its own."""

    def solve(problem: Any, limits: Limits) -> Floats:
        recorder = optimizers.BestWeights(_OWN_SHARE * limits.seconds)
        with limited_blas(max(graph.n for graph in problem.graphs)):
            optimizer(problem, recorder)
        return problem.center if recorder.weights is None else recorder.weights

    return solve


def _problem_of(task: Surgery) -> Any:
    return optimizers.coupling_problem(task.views, task.alpha)


def judge(task: Surgery, weights: Floats) -> Mapping[str, float | None]:
    """The paper's cost, and how well the wrong edges were found: those cut, among both graphs."""
    u = np.maximum(np.asarray(weights, dtype=np.float64), 0.0)
    small = max(graph.n for graph in task.views.graphs) <= _DENSE
    total = optimizers.judged_cost(task.views, u, task.alpha) if small else cost(task.views, u, task.alpha)
    return {"cost": total, **_found(task.views, u)}


def cost(views: Views, u: Floats, alpha: float) -> float:
    """Σ_k ‖L(u_k) − L(w_k)‖² + α Σ_t ‖Q₁(t) − Q₂(t)‖², Q from heat flow: for graphs of any size."""
    total, Q = 0.0, []
    for graph, F, weights in zip(views.graphs, views.functions, _by_graph(views.graphs, u), strict=True):
        d = weights - graph.w
        at_vertices = np.bincount(graph.i, d, graph.n) + np.bincount(graph.j, d, graph.n)
        total += float(at_vertices @ at_vertices + 2.0 * d @ d)
        heat = heat_flow(Graph(graph.n, graph.i, graph.j, weights), F, views.times, tolerance=_TOLERANCE)
        Q.append([F.T @ warm for warm in heat])
    return total + alpha * sum(float(np.sum((a - b) ** 2)) for a, b in zip(*Q, strict=True))


def _by_graph(graphs: Sequence[Graph], u: Floats) -> list[Floats]:
    return np.split(u, np.cumsum([graph.m for graph in graphs])[:-1])


def _found(views: Views, u: Floats) -> dict[str, float | None]:
    if views.wrong is None:
        return {"recall": None, "precision": None, "wrong weight left": None}
    w = np.concatenate([graph.w for graph in views.graphs])
    wrong: NDArray[np.bool_] = np.concatenate(views.wrong)
    cut = u < CUT * w
    both = int(np.sum(cut & wrong))
    return {
        "recall": both / int(wrong.sum()),
        "precision": both / int(cut.sum()) if cut.any() else None,
        "wrong weight left": float(u[wrong].sum() / w[wrong].sum()),
    }


FAMILY = Family(
    name="surgery",
    description="Two graphs, corresponding functions; edge weights that cost little and make heat agree. Some edges "
    f"are known to be wrong: an edge below {CUT:.0%} of its weight counts as cut. The optimizers are given our cost "
    "and gradient; all return the best they have when four fifths of their time are over.",
    problems=_problems,
    contestants=(
        Contestant(optimizers.OURS, _coupled),
        Contestant(f"{optimizers.OURS}, auto", lambda task, seconds: _coupled(task, seconds, auto=True)),
        Contestant(optimizers.LBFGSB, _by(optimizers.lbfgsb), prepare=_problem_of),
        Contestant(optimizers.TRUST, _by(optimizers.trust_constr), prepare=_problem_of),
        Contestant(
            optimizers.TORCH,
            _by(optimizers.torch_autograd),
            needs=Library("torch", "pip install torch, in the build that suits the machine"),
            prepare=_problem_of,
        ),
    ),
    figures=(
        Figure("cost", "lower", ".6g"),
        Figure("recall", "higher", ".2f"),
        Figure("precision", "higher", ".2f"),
        Figure("wrong weight left", "lower", ".2%"),
    ),
    judge=judge,
)
