"""Heat kernel coupling (Bronstein & Glashoff 2013): the least change of edge weights that lets heat flow alike."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cotherm import memory as memory_of
from cotherm import validation
from cotherm.arrays import Floats
from cotherm.engines.malloc import kept_memory
from cotherm.engines.threads import limited_blas
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.heat.coupling import all_correlations, checked_views, coupling_error, coupling_terms
from cotherm.methods.coupling.auto import chosen_alpha, chosen_times
from cotherm.methods.coupling.continuation import Stage
from cotherm.methods.coupling.memory import CouplingMemory, chosen, predicted
from cotherm.methods.coupling.options import (
    checked_alpha,
    free_edges,
    is_auto,
    outside_overflow,
    refused_overflow,
    require_finite,
    require_squares,
    routes_of,
    start_weights,
)
from cotherm.methods.coupling.problem import CouplingProblem
from cotherm.methods.coupling.reordering import Near
from cotherm.methods.coupling.result import Coupling
from cotherm.methods.coupling.search import Search, Step
from cotherm.methods.validation import positive, versions

Edges = NDArray[np.intp]

log = logging.getLogger("cotherm")

# Relative error of the heat by which answers are judged.
_EXACT = 1e-12
# Costs of the search that are further off, relative to the functions, led it astray.
_NOISE = 1e-8


def couple(
    graphs: Sequence[Graph],
    functions: Sequence[ArrayLike],
    times: ArrayLike | str = "auto",
    alpha: float | str | None = None,
    *,
    frozen: Sequence[Any] | None = None,
    rigidity: ArrayLike | None = None,
    graph_weights: ArrayLike | None = None,
    function_weights: ArrayLike | None = None,
    continuation: str | Sequence[Stage] = "auto",
    start: Sequence[Graph] | Coupling | None = None,
    tolerance: float = 1e-6,
    max_iterations: int = 2_000,
    memory: str | float = "auto",
    precision: str = "float64",
    callback: Callable[[Step], Any] | None = None,
) -> Coupling:
    """Couple two or more graphs: new edge weights u ≥ 0, as near the old as can be, with which heat flows alike on all.

    Minimizes Σ_k ρ_k ‖L(u_k) − L(w_k)‖_F² + α Σ_t Σ_{k<l} π_k π_l ‖Q_k(t) − Q_l(t)‖_F², Q_k(t) = F_kᵀ e^{−tL(u_k)} F_k:
    for two graphs the paper's cost (hkc1). Edges may lose their weight, never their place: the graphs keep their edge
    sets.

    Parameters
    ----------
    graphs : two or more graphs, of any sizes; no correspondence of vertices is needed. An edge of weight zero may be
        switched on.
    functions : for each graph its corresponding functions (n_k, q); column c is the same function seen on every graph.
        Smooth bumps lead to surgery, bare points do not: see :func:`cotherm.landmark_functions`. Their size counts: Q
        grows with the square of F, so F times 10 is α times 10⁴.
    times : when heat is compared, one or more times t ≥ 0 of e^{−tL}; or "auto", four times from when heat has made
        two moves along edges to when the functions have lost four fifths of their variation.
    alpha : α, how much coupling counts against distance; or "auto", 10⁴ times the α at which they weigh alike, which
        depends neither on the unit of the weights nor on the size of the functions.
        :mod:`cotherm.methods.coupling.auto` says exactly; the answer's ``times`` and ``alpha`` are what was chosen.
        By default the paper's 10⁶; where a graph has more than 2,000 vertices, on which that says ever less, what
        "auto" gives if it is more.
    frozen : for each graph which edges keep their weight: None, True for all, a mask or edge numbers.
    rigidity : ρ, for each graph how dear its changes are; a trusted view gets more than 1.
    graph_weights : π, for each graph how much its agreement with the others counts.
    function_weights : for each function how much it counts: a pair of functions a, b counts ω_a ω_b.
    continuation : "auto", or one of "direct", "times", "alpha" (the guide on the method says what they do), or a list
        of :class:`cotherm.Stage` to pass before the problem itself. "auto" tries all three on graphs of up to 300
        vertices, keeping the best answer, and "times" on larger ones.
    start : weights to start from: graphs with the same edges, or an earlier answer. "auto" is then "direct".
    tolerance : for the projected gradient relative to the gradients that balance in it.
    max_iterations : steps in all.
    memory : how much the whole process may take at its peak, in bytes or as "8GiB"; "auto" is what the machine has
        free. Derivatives are kept in memory if they fit, else computed anew whenever needed or read from a temporary
        file; :func:`cotherm.coupling_memory` says beforehand. What cannot fit is refused at once.
    precision : "float64", or "float32" to keep derivatives in half the memory: heat, cost and weights stay float64, and
        the answer changes in its seventh digit or so.
    callback : called with a :class:`Step` after every step; a true answer stops the search.

    Returns
    -------
    Coupling
        The coupled graphs and how they came about. An interrupt from the keyboard returns the best so far.

    Examples
    --------
    >>> import cotherm as ct
    >>> views = ct.datasets.ring()
    >>> result = ct.couple(views.graphs, views.functions, times=[1, 2, 5, 10])
    >>> result.changes()[0].edges("cut").tolist()
    [[0, 69], [0, 68], [1, 69]]
    >>> result = ct.couple(views.graphs, views.functions, times="auto", alpha="auto")
    >>> result.changes()[0].edges("cut").tolist()
    [[0, 69], [0, 68], [1, 69]]
    """
    began = time.perf_counter()
    graphs, columns = checked_views(graphs, functions)
    given_times = None if is_auto("times", times) else validation.times("times", times)
    given_alpha, least_alpha = checked_alpha(alpha, max(g.n for g in graphs))
    free = free_edges(frozen, graphs)
    rho, pi = (
        positive(name, x, len(graphs), "graphs")
        for name, x in (("rigidity", rigidity), ("graph_weights", graph_weights))
    )
    omega = positive("function_weights", function_weights, columns[0].shape[1], "functions")
    tolerance = validation.real("tolerance", tolerance, positive=True)
    max_iterations = validation.integer("max_iterations", max_iterations, least=1)
    budget = None if isinstance(memory, str) and memory == "auto" else memory_of.amount("memory", memory)
    precision = validation.choice("precision", precision, ("float64", "float32"))
    first = start_weights(start, graphs)
    routes = routes_of(continuation, graphs, warm=first is not None)
    if callback is not None and not callable(callback):
        raise CothermError("callback", validation.describe(callback), "a function of one argument, or None")
    callback = outside_overflow(callback)
    scaled = [F * np.sqrt(omega) for F in columns]
    require_squares(graphs)
    require_finite(scaled, float(pi.sum()) ** 2 * (given_alpha or 1.0))
    moments = chosen_times(graphs, scaled) if given_times is None else given_times
    sizes = [(g.n, len(edges)) for g, edges in zip(graphs, free, strict=True)]
    needs = predicted(sizes, columns[0].shape[1], int(np.sum(moments > 0.0)), precision)
    storage, peak = chosen(needs, budget, precision)
    log.info("couple: derivatives %s as %s, %s of memory at the peak", storage.way, precision, memory_of.words(peak))

    def solved() -> _Solved:
        # In a function of its own: what it takes is given up when it ends, before memory goes back to the system.
        near = Near(graphs)
        problem = CouplingProblem(
            near.graphs,
            near.functions(scaled),
            moments,
            given_alpha or 1.0,
            free=near.edges(free),
            rigidity=rho,
            importance=pi,
            storage=storage,
        )
        if given_alpha is None:
            problem = problem.restated(moments, max(least_alpha, chosen_alpha(problem)), None)
            require_finite(scaled, float(pi.sum()) ** 2 * problem.alpha)
        search = Search(problem, routes, tolerance, max_iterations, near.told(callback))
        begin = problem.center if first is None else problem.free_part(near.weights(first))
        found = search.run(begin)
        return _Solved(
            weights=near.in_original_order(problem.weights(found.u)),
            alpha=problem.alpha,
            cost=found.cost + problem.constant,
            distance=problem.distance(found.u),
            optimality=found.optimality,
            status=found.status,
            history=tuple(search.history),
        )

    with (
        limited_blas(max(g.n for g in graphs)),
        kept_memory(peak - needs.held),
        refused_overflow(graphs, moments),
    ):
        answer = solved()
    coupled = tuple(g.with_weights(u) for g, u in zip(graphs, answer.weights, strict=True))
    # Judged anew, and both from the same numbers: cost and coupling cannot contradict each other.
    Q = all_correlations(coupled, columns, moments, _EXACT)
    apart = coupling_terms(Q * np.sqrt(np.outer(omega, omega)), pi)
    cost = answer.distance + answer.alpha * float(apart.sum())
    noise = np.sqrt(answer.alpha) * float(pi.sum()) * _NOISE * max(float(np.sum(F**2)) for F in scaled)
    misled = not abs(np.sqrt(answer.cost) - np.sqrt(cost)) <= noise + _NOISE * np.sqrt(cost)
    return Coupling(
        graphs=coupled,
        originals=tuple(graphs),
        functions=tuple(columns),
        times=tuple(moments.tolist()),
        alpha=answer.alpha,
        cost=cost,
        distance=answer.distance,
        coupling_before=coupling_error(graphs, columns, moments),
        coupling=np.sqrt(coupling_terms(Q, np.ones(len(graphs)))),
        mismatch=_mismatch(columns),
        status="stalled" if misled and answer.status == "converged" else answer.status,
        optimality=answer.optimality,
        history=answer.history,
        settings={
            "times": "auto" if given_times is None else moments.tolist(),
            "alpha": alpha if alpha is None or isinstance(alpha, str) else given_alpha,
            "rigidity": rho.tolist(),
            "graph_weights": pi.tolist(),
            "function_weights": omega.tolist(),
            "frozen": [g.m - len(edges) for g, edges in zip(graphs, free, strict=True)],
            "continuation": continuation
            if isinstance(continuation, str)
            else [asdict(stage) for stage in continuation],
            "warm_start": first is not None,
            "tolerance": tolerance,
            "max_iterations": max_iterations,
            "memory": {"derivatives": storage.way, "precision": precision, "peak": peak},
        },
        versions=versions(),
        seconds=time.perf_counter() - began,
    )


def coupling_memory(
    graphs: Sequence[Graph],
    functions: Sequence[ArrayLike],
    times: ArrayLike | str = "auto",
    *,
    frozen: Sequence[Any] | None = None,
    precision: str = "float64",
) -> CouplingMemory:
    """How much memory :func:`couple` would take at its peak with the same arguments, without running it.

    Examples
    --------
    >>> import cotherm as ct
    >>> views = ct.datasets.shortcuts(20_000)
    >>> needs = ct.coupling_memory(views.graphs, views.functions)
    >>> needs.streamed < needs.stored < 1e9
    True
    """
    graphs, columns = checked_views(graphs, functions)
    moments = chosen_times(graphs, columns) if is_auto("times", times) else validation.times("times", times)
    free = free_edges(frozen, graphs)
    precision = validation.choice("precision", precision, ("float64", "float32"))
    sizes = [(g.n, len(edges)) for g, edges in zip(graphs, free, strict=True)]
    return predicted(sizes, columns[0].shape[1], int(np.sum(moments > 0.0)), precision)


class _Solved(NamedTuple):
    """An answer, without what it took to find it; weights are those of the given graphs' edges."""

    weights: Sequence[Floats]
    alpha: float
    cost: float
    distance: float
    optimality: float
    status: str
    history: tuple[Any, ...]


def _mismatch(columns: list[Floats]) -> float:
    """The root mean square of ‖F_kᵀF_k − F_lᵀF_l‖ over all pairs, relative to that of ‖F_kᵀF_k‖."""
    Q = np.array([F.T @ F for F in columns])
    size = np.sum(Q**2) / len(Q)
    pairs = len(Q) * (len(Q) - 1) / 2
    return float(np.sqrt(len(Q) * np.sum((Q - Q.mean(axis=0)) ** 2) / pairs / size)) if size > 0.0 else 0.0
