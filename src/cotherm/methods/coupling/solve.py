"""From checked options to the result: choose times, α and memory, renumber the graphs, search, evaluate anew."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cotherm import limits
from cotherm.arrays import Floats
from cotherm.deadline import TimeUp, until
from cotherm.engines import Engine, processor
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.heat.coupling import all_correlations, coupling_error, coupling_terms, functions_mismatch
from cotherm.heat.times import diffusion_time
from cotherm.memory import words
from cotherm.methods.checkpoint import Checkpoint
from cotherm.methods.coupling.auto import LAST_MOVES, chosen_alpha, chosen_times, times_count, useful_strength
from cotherm.methods.coupling.memory import CouplingMemory, predicted, require_room
from cotherm.methods.coupling.options import Options
from cotherm.methods.coupling.problem import CouplingProblem
from cotherm.methods.coupling.result import Coupling
from cotherm.methods.coupling.search import Found, Search
from cotherm.methods.validation import versions
from cotherm.progress import Meter, shown

log = logging.getLogger("cotherm")


@dataclass(frozen=True, eq=False)
class Solution:
    """New weights of the given graphs' edges, and how they were found.

    ``strength`` is α in units of that of equal weight, where it was chosen.
    """

    weights: Sequence[Floats]
    times: Floats
    alpha: float
    plan: CouplingMemory
    found: Found
    cost: float = np.nan  # with what weights cannot change
    distance: float = 0.0
    mismatch: float = np.nan  # with functions weighted
    strength: float | None = None
    history: Sequence[Mapping[str, Any]] = ()


def solve(options: Options, began: float, plan: CouplingMemory | None = None) -> Solution:
    """Couple, and free what the search needed before returning.

    ``began`` is the reading of ``time.perf_counter`` from which the allowed seconds count; ``plan`` was made before
    where graphs had to be read first.
    """
    deadline = None if options.max_seconds is None else began + options.max_seconds
    checkpoint, callback = options.opened_checkpoint(), _outside_overflow(options.callback)
    with shown_once(options.engine), Meter(limit=options.max_seconds) as meter:
        meter.advance("coupling: preparing")
        plan = _plan(options) if plan is None else plan
        try:
            with until(None if options.engine.is_distributed else deadline):
                times = options.times
                times = chosen_times(options.graphs, options.weighted_functions) if times is None else times
            # If derivatives are only applied, dense algebra runs in our own threads.
            session = options.engine.session(0 if plan.applied else options.largest, plan.added, options.budget)
            with session, _refused_overflow(options.graphs, times):
                # A separate function, so that its memory is free before the session returns it to the system.
                return _searched(options, times, plan, callback, checkpoint, deadline, meter)
        except TimeUp:  # before the first step
            return _as_given(options, plan)


def _as_given(options: Options, plan: CouplingMemory) -> Solution:
    """The solution if time ran out before the search was prepared."""
    times = options.times
    if times is None:
        times = np.array([diffusion_time(LAST_MOVES, *options.graphs, without_edges=np.inf)])
    found = Found(None, np.nan, np.nan, "time limit")
    return Solution([graph.w for graph in options.graphs], times, options.alpha or 1.0, plan, found)


@contextmanager
def shown_once(engine: Engine) -> Iterator[None]:
    """Show progress on one rank only."""
    if engine.ranks.rank:
        with shown(False):
            yield
    else:
        yield


def share_of(engine: Engine, n: int, m: int) -> tuple[int, int]:
    """About how many of ``n`` vertices and ``m`` edges a rank has; all of them if the graph is small."""
    return (n, m) if n <= limits.DENSE else (-(-n // engine.ranks.size), -(-m // engine.ranks.size))


def _plan(options: Options) -> CouplingMemory:
    """Plan memory first, since choosing times takes memory too."""
    choosing = options.times is None
    count = times_count(options.graphs) if options.times is None else int(np.sum(options.times > 0.0))
    q = options.functions[0].shape[1]
    sizes = [share_of(options.engine, *size) for size in options.sizes]
    needs = predicted(sizes, q, count, options.engine, choosing=choosing)
    plan = require_room(needs, options.budget, options.engine)
    log.info("couple: derivatives %s, %s of memory at the peak", plan.derivatives, words(plan.peak))
    return plan


def _searched(
    options: Options,
    times: Floats,
    plan: CouplingMemory,
    callback: Any,
    checkpoint: Checkpoint | None,
    deadline: float | None,
    meter: Meter,
) -> Solution:
    moved = [reordered(g) if isinstance(g, Graph) and g.n > limits.REORDERED else Reordered(g) for g in options.graphs]

    def in_original_order(weights: Sequence[Floats]) -> tuple[Floats, ...]:
        return tuple(one.in_original_order(w) for one, w in zip(moved, weights, strict=True))

    problem = CouplingProblem(
        [one.graph for one in moved],
        [F[one.vertices] for F, one in zip(options.weighted_functions, moved, strict=True)],
        times,
        options.alpha or 1.0,
        free=[one.here(edges) for edges, one in zip(options.free, moved, strict=True)],
        rigidity=options.rigidity,
        graph_weights=options.graph_weights,
        engine=options.engine,
        patterns=options.patterns,
        first_horizon=options.first_horizon,
    )
    strength = None
    if options.alpha is None:
        strength = useful_strength(problem.mismatch) if options.strength is None else options.strength
        with until(None if options.engine.is_distributed else deadline):
            problem = problem.restated(times, chosen_alpha(problem, strength), None)
        options.require_finite(problem.alpha)
    search = Search(
        problem,
        options.routes,
        options.tolerance,
        options.max_iterations,
        None if callback is None else lambda step: callback(replace(step, weights=in_original_order(step.weights))),
        deadline,
        meter,
        checkpoint,
    )
    start = problem.center
    if options.start is not None:
        start = problem.free_part([w[one.edges] for w, one in zip(options.start, moved, strict=True)])
    found = search.run(start)
    return Solution(
        weights=in_original_order(problem.weights_on_host(found.u)),
        times=times,
        alpha=problem.alpha,
        plan=plan,
        found=found,
        cost=found.cost + problem.constant,
        distance=problem.distance(found.u),
        mismatch=problem.mismatch,
        strength=strength if options.strength is None else None,
        history=search.watch.history,
    )


class _CallbackError(Exception):
    """Carries an error of the caller's function past ``_refused_overflow``."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


def _outside_overflow(callback: Callable[[Any], Any] | None) -> Callable[[Any], Any] | None:
    """The caller's function, under the caller's own settings for overflow, its errors left alone."""
    if callback is None:
        return None
    settings: Any = np.geterr()

    def call(step: Any) -> Any:
        try:
            with np.errstate(**settings):
                return callback(step)
        except (FloatingPointError, np.linalg.LinAlgError) as error:
            raise _CallbackError(error) from error

    return call


@contextmanager
def _refused_overflow(graphs: Sequence[Graph], times: Floats) -> Iterator[None]:
    """Refuse weights and times with which numbers overflow."""
    try:
        with np.errstate(over="raise", divide="raise", invalid="raise"):
            yield
    except _CallbackError as carried:
        raise carried.error from carried.error.__cause__
    except (FloatingPointError, np.linalg.LinAlgError):
        live = np.concatenate([g.w[g.w > 0.0] for g in graphs])
        raise CothermError(
            "graphs",
            f"weights from {live.min(initial=np.inf):.1e} to {live.max(initial=0.0):.1e} with times up to "
            f"{times.max():.1e}, at which numbers overflow",
            "weights and times of more ordinary sizes",
            "Set weights to zero that no heat crosses in any time of interest, or shorten times.",
        ) from None


Edges = NDArray[np.intp]


class Reordered(NamedTuple):
    """A renumbered graph: vertex v was ``vertices[v]`` of the original graph, edge e was ``edges[e]``.

    Small graphs, for which it gains nothing, and parts of graphs keep their numbers.
    """

    graph: Graph
    vertices: NDArray[np.intp] | slice = slice(None)
    edges: NDArray[np.intp] | slice = slice(None)

    def here(self, edges: Edges) -> Edges:
        """Edges of the original graph by their numbers in this one, ascending."""
        mask = np.zeros(self.graph.m, dtype=bool)
        mask[edges] = True
        return np.flatnonzero(mask[self.edges])

    def in_original_order(self, w: Floats) -> Floats:
        """Values on the edges of this graph, in the order of the original's edges."""
        out = np.empty_like(w)
        out[self.edges] = w
        return out


def reordered(graph: Graph) -> Reordered:
    """Vertices by breadth-first search, edges by their ends; coordinates, labels and name are dropped."""
    order = processor().reordered_laplacian(graph.n, graph.i, graph.j, graph.w).order
    rank = np.empty(graph.n, dtype=np.int32)
    rank[order] = np.arange(graph.n, dtype=np.int32)
    a, b = rank[graph.i], rank[graph.j]
    low, high = np.minimum(a, b), np.maximum(a, b)
    edges = np.argsort(low.astype(np.int64) * graph.n + high)
    return Reordered(Graph(graph.n, low[edges], high[edges], graph.w[edges]), order.astype(np.intp), edges)


# Relative error of the heat that judges solutions.
_EXACT = 1e-12
# How far off the search's cost may be, relative to the functions.
_NOISE = 1e-8


def report(options: Options, solution: Solution, began: float) -> Coupling:
    """Cost and coupling are computed from the same numbers, so that they cannot contradict each other.

    ``began`` is the reading of ``time.perf_counter`` at the start.
    """
    columns, times, engine = options.functions, solution.times, options.engine
    coupled = tuple(g.with_weights(u) for g, u in zip(options.graphs, solution.weights, strict=True))
    before = coupling_error(options.graphs, columns, times, engine=engine)
    Q = all_correlations(coupled, columns, times, _EXACT, engine)
    size = max(float(np.sum(F**2)) for F in options.weighted_functions)
    more = {
        "frozen": [g.m - len(edges) for g, edges in zip(options.graphs, options.free, strict=True)],
        "memory": {"derivatives": solution.plan.derivatives, "peak": solution.plan.peak},
    }
    return Coupling(
        graphs=coupled,
        originals=tuple(options.graphs),
        functions=tuple(columns),
        mismatch=functions_mismatch(columns),
        **judged(options, solution, before, Q, size, more),
        seconds=time.perf_counter() - began,
    )


def judged(
    options: Options, solution: Solution, before: Floats, Q: Floats, size: float, more: Mapping[str, Any]
) -> dict[str, Any]:
    """What every result says of a solution, with ``more`` settings.

    ``before`` are the errors of the graphs as given, ``Q`` the correlations of the coupled ones, computed anew;
    ``size`` is that of the functions.
    """
    omega, alpha = options.function_weights, solution.alpha
    weighted = Q * np.sqrt(np.outer(omega, omega))
    cost = solution.distance + alpha * float(coupling_terms(weighted, options.graph_weights).sum())
    # The search was misled if its cost differs from the true one by more than rounding.
    noise = np.sqrt(alpha) * float(options.graph_weights.sum()) * _NOISE * size + _NOISE * np.sqrt(cost)
    misled = solution.found.status == "converged" and not abs(np.sqrt(solution.cost) - np.sqrt(cost)) <= noise
    return {
        "times": tuple(solution.times.tolist()),
        "alpha": alpha,
        "cost": cost,
        "distance": solution.distance,
        "coupling_before": before,
        "coupling": np.sqrt(coupling_terms(Q, np.ones(len(Q)))),
        "status": "stalled" if misled else solution.found.status,
        "optimality": solution.found.optimality,
        "history": tuple(solution.history),
        "settings": {
            **options.settings(),
            **({} if solution.strength is None else {"strength": solution.strength}),
            "function_weights": omega.tolist(),
            "warm_start": options.start is not None,
            "engine": options.engine.name,
            **more,
        },
        "versions": versions(),
    }
