"""Heat kernel coupling (Bronstein & Glashoff 2013): the least change of edge weights that lets heat flow alike."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cotherm import checks
from cotherm import memory as memory_of
from cotherm.arrays import Floats
from cotherm.engines.threads import limited_blas
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.graphs.locality import Localized, localized, unchanged
from cotherm.heat.coupling import checked_views, coupling_error
from cotherm.methods.coupling.auto import chosen_alpha, chosen_times
from cotherm.methods.coupling.memory import CouplingMemory, chosen, predicted
from cotherm.methods.coupling.path import ROUTES, Stage
from cotherm.methods.coupling.problem import CouplingProblem
from cotherm.methods.coupling.result import Coupling
from cotherm.methods.coupling.search import Search, Step
from cotherm.methods.doors import positive, versions

Edges = NDArray[np.intp]

log = logging.getLogger("cotherm")

# Up to this many vertices a graph is in the processor's caches, whatever its numbers, and the paper's α does.
_LOCAL_ALREADY, _PAPERS_ALPHA = 2_000, 1e6
# Up to this many vertices in every graph all routes are tried; above, the one that is best alone.
_ALL_ROUTES = 300
_LARGEST_SQUARE = 1e70
_LARGEST_COST = 1e140


def couple(
    graphs: Sequence[Graph],
    functions: Sequence[ArrayLike],
    times: ArrayLike | str = "auto",
    alpha: float | str | None = None,
    *,
    frozen: Sequence[Any] | None = None,
    rigidity: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    function_weights: ArrayLike | None = None,
    path: str | Sequence[Stage] = "auto",
    start: Sequence[Graph] | Coupling | None = None,
    tolerance: float = 1e-6,
    max_iterations: int = 2_000,
    memory: str | float = "auto",
    precision: str = "float64",
    callback: Callable[[Step], Any] | None = None,
) -> Coupling:
    """Couple two or more graphs: new edge weights u ≥ 0, as near the old as can be, with which heat flows alike on all.

    Minimises Σ_k ρ_k ‖L(u_k) − L(w_k)‖_F² + α Σ_t Σ_{k<l} π_k π_l ‖Q_k(t) − Q_l(t)‖_F², Q_k(t) = F_kᵀ e^{−tL(u_k)} F_k:
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
    weights : π, for each graph how much its agreement with the others counts.
    function_weights : for each function how much it counts: a pair of functions a, b counts ω_a ω_b.
    path : "auto", or one of "straight", "times", "alpha" (the guide on the method says what they do), or a list of
        :class:`cotherm.Stage` to pass before the problem itself. "auto" tries all three on graphs of up to 300
        vertices, keeping the best answer, and "times" on larger ones.
    start : weights to start from: graphs with the same edges, or an earlier answer. "auto" is then "straight".
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
    given_times = None if _is_auto("times", times) else checks.times("times", times)
    given_alpha, least_alpha = _alpha(alpha, max(g.n for g in graphs))
    free = _free_edges(frozen, graphs)
    rho, pi = (positive(name, x, len(graphs), "graphs") for name, x in (("rigidity", rigidity), ("weights", weights)))
    omega = positive("function_weights", function_weights, columns[0].shape[1], "functions")
    tolerance = checks.real("tolerance", tolerance, positive=True)
    max_iterations = checks.integer("max_iterations", max_iterations, least=1)
    budget = None if isinstance(memory, str) and memory == "auto" else memory_of.amount("memory", memory)
    precision = checks.choice("precision", precision, ("float64", "float32"))
    first = _start(start, graphs)
    routes = _routes(path, graphs, warm=first is not None)
    if callback is not None and not callable(callback):
        raise CothermError("callback", checks.describe(callback), "a function of one argument, or None")
    scaled = [F * np.sqrt(omega) for F in columns]
    _require_finite(scaled, float(pi.sum()) ** 2 * (given_alpha or 1.0))
    moments = chosen_times(graphs, scaled) if given_times is None else given_times
    sizes = [(g.n, len(edges)) for g, edges in zip(graphs, free, strict=True)]
    needs = predicted(sizes, columns[0].shape[1], int(np.sum(moments > 0.0)), precision)
    storage, peak = chosen(needs, budget, precision)
    log.info("couple: derivatives %s as %s, %s of memory at the peak", storage.way, precision, memory_of.words(peak))

    near = [localized(g) if g.n > _LOCAL_ALREADY else unchanged(g) for g in graphs]
    scaled = [F[g.vertices] for F, g in zip(scaled, near, strict=True)]
    free = [_renumbered(edges, g) for edges, g in zip(free, near, strict=True)]
    problem = CouplingProblem(
        [g.graph for g in near],
        scaled,
        moments,
        given_alpha or 1.0,
        free=free,
        rigidity=rho,
        importance=pi,
        storage=storage,
    )
    with limited_blas(max(g.n for g in graphs)):
        if given_alpha is None:
            problem = problem.restated(moments, max(least_alpha, chosen_alpha(problem)), None)
            _require_finite(scaled, float(pi.sum()) ** 2 * problem.alpha)
        search = Search(problem, routes, tolerance, max_iterations, _told(callback, near))
        found = search.run(problem.centre if first is None else _free_part(first, near, free))
    weights_found = _given_back(problem.weights(found.u), near)
    coupled = tuple(g.with_weights(u) for g, u in zip(graphs, weights_found, strict=True))
    return Coupling(
        graphs=coupled,
        originals=tuple(graphs),
        functions=tuple(columns),
        times=tuple(moments.tolist()),
        alpha=problem.alpha,
        cost=found.cost + problem.constant,
        distance=problem.distance(found.u),
        coupling_before=coupling_error(graphs, columns, moments),
        coupling=coupling_error(coupled, columns, moments),
        mismatch=_mismatch(columns),
        status=found.status,
        optimality=found.optimality,
        history=tuple(search.history),
        settings={
            "times": "auto" if given_times is None else moments.tolist(),
            "alpha": alpha if alpha is None or isinstance(alpha, str) else given_alpha,
            "rigidity": rho.tolist(),
            "weights": pi.tolist(),
            "function_weights": omega.tolist(),
            "frozen": [g.m - len(edges) for g, edges in zip(graphs, free, strict=True)],
            "path": path if isinstance(path, str) else [asdict(stage) for stage in path],
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
    moments = chosen_times(graphs, columns) if _is_auto("times", times) else checks.times("times", times)
    free = _free_edges(frozen, graphs)
    precision = checks.choice("precision", precision, ("float64", "float32"))
    sizes = [(g.n, len(edges)) for g, edges in zip(graphs, free, strict=True)]
    return predicted(sizes, columns[0].shape[1], int(np.sum(moments > 0.0)), precision)


def _alpha(alpha: float | str | None, largest: int) -> tuple[float | None, float]:
    """α where it is a number, or None and the least it may be."""
    if alpha is None:
        return (_PAPERS_ALPHA, 0.0) if largest <= _LOCAL_ALREADY else (None, _PAPERS_ALPHA)
    return (None, 0.0) if _is_auto("alpha", alpha) else (checks.real("alpha", alpha, positive=True), 0.0)


def _is_auto(argument: str, value: Any) -> bool:
    if isinstance(value, str) and value != "auto":
        raise CothermError(argument, checks.describe(value), 'numbers, or "auto"')
    return isinstance(value, str)


def _free_edges(frozen: Sequence[Any] | None, graphs: list[Graph]) -> list[Edges]:
    if frozen is None:
        return [np.arange(g.m) for g in graphs]
    if isinstance(frozen, str | np.ndarray) or not isinstance(frozen, Sequence) or len(frozen) != len(graphs):
        raise CothermError(
            "frozen",
            checks.describe(frozen),
            f"a list with None, True, a mask or edge numbers for each of {len(graphs)} graphs",
        )
    return [_free_of(f"frozen[{k}]", held, g) for k, (held, g) in enumerate(zip(frozen, graphs, strict=True))]


def _free_of(argument: str, held: Any, graph: Graph) -> Edges:
    if held is None or held is False:
        return np.arange(graph.m)
    if held is True:
        return np.arange(0)
    array = checks.as_array(argument, held)
    if array.dtype == np.bool_:
        if array.shape != (graph.m,):
            raise CothermError(argument, f"a mask of shape {array.shape}", f"one truth value per edge, {graph.m}")
        return np.flatnonzero(~array)
    return np.setdiff1d(np.arange(graph.m), checks.indices(argument, held, below=graph.m))


def _routes(path: str | Sequence[Stage], graphs: list[Graph], *, warm: bool) -> list[tuple[str, list[Stage] | None]]:
    """Names, with the stages where the caller gave them."""
    if isinstance(path, str):
        path = checks.choice("path", path, ("auto", *ROUTES))
        if path != "auto":
            return [(path, None)]
        if warm:
            return [("straight", None)]
        names = ROUTES if max(g.n for g in graphs) <= _ALL_ROUTES else ("times",)
        return [(name, None) for name in names]
    needed = f"one of {('auto', *ROUTES)}, or a list of cotherm.Stage"
    if not isinstance(path, Sequence):
        raise CothermError("path", checks.describe(path), needed)
    stages = []
    for k, stage in enumerate(path):
        if not isinstance(stage, Stage):
            raise CothermError(f"path[{k}]", checks.describe(stage), needed)
        moments = checks.times(f"path[{k}].times", stage.times)
        alpha = checks.real(f"path[{k}].alpha", stage.alpha, positive=True)
        if not isinstance(stage.robust, bool):
            raise CothermError(f"path[{k}].robust", checks.describe(stage.robust), "True or False")
        stages.append(Stage(tuple(moments.tolist()), alpha, stage.robust))
    return [("given", stages)]


def _start(start: Sequence[Graph] | Coupling | None, graphs: list[Graph]) -> list[Floats] | None:
    if start is None:
        return None
    given = start.graphs if isinstance(start, Coupling) else start
    needed = f"{len(graphs)} graphs with the same edges as graphs, or a Coupling of them"
    if not isinstance(given, Sequence) or len(given) != len(graphs):
        raise CothermError("start", checks.describe(start), needed)
    for k, (new, old) in enumerate(zip(given, graphs, strict=True)):
        if not isinstance(new, Graph):
            raise CothermError(f"start[{k}]", checks.describe(new), "a cotherm.Graph")
        if new.n != old.n or not (np.array_equal(new.i, old.i) and np.array_equal(new.j, old.j)):
            raise CothermError(f"start[{k}]", f"other edges than graphs[{k}]", needed)
    return [g.w for g in given]


def _free_part(weights: list[Floats], near: list[Localized], free: list[Edges]) -> Floats:
    return np.concatenate([w[g.edges][edges] for w, g, edges in zip(weights, near, free, strict=True)])


def _renumbered(edges: Edges, graph: Localized) -> Edges:
    """The edges of the given graph by their numbers in this one, ascending."""
    mask = np.zeros(graph.graph.m, dtype=bool)
    mask[edges] = True
    return np.flatnonzero(mask[graph.edges])


def _given_back(weights: Sequence[Floats], near: list[Localized]) -> tuple[Floats, ...]:
    return tuple(g.given_back(w) for w, g in zip(weights, near, strict=True))


def _told(callback: Callable[[Step], Any] | None, near: list[Localized]) -> Callable[[Step], Any] | None:
    """The callback, told weights by the caller's numbers."""
    if callback is None:
        return None
    return lambda step: callback(replace(step, weights=_given_back(step.weights, near)))


def _require_finite(columns: list[Floats], alpha: float) -> None:
    """α‖Q‖² and its square must be numbers; say whether F or α is what makes them overflow."""
    with np.errstate(over="ignore"):
        size = max(float(np.sum(F**2)) for F in columns)
    if not size < _LARGEST_SQUARE:
        raise CothermError(
            "functions", f"a sum of squares of {size:.1e}", f"less than {_LARGEST_SQUARE:.0e}", "Rescale them."
        )
    if not alpha * size**2 < _LARGEST_COST:
        raise CothermError("alpha", f"{alpha:.1e} with functions this large", f"α‖F‖⁴ below {_LARGEST_COST:.0e}")


def _mismatch(columns: list[Floats]) -> float:
    """The root mean square of ‖F_kᵀF_k − F_lᵀF_l‖ over all pairs, relative to that of ‖F_kᵀF_k‖."""
    Q = np.array([F.T @ F for F in columns])
    size = np.sum(Q**2) / len(Q)
    pairs = len(Q) * (len(Q) - 1) / 2
    return float(np.sqrt(len(Q) * np.sum((Q - Q.mean(axis=0)) ** 2) / pairs / size)) if size > 0.0 else 0.0
