"""Heat kernel coupling (Bronstein & Glashoff 2013): change edge weights so that heat diffuses alike on all graphs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cotherm.engines import Engine, get_engine
from cotherm.graphs.graph import Graph
from cotherm.heat.validation import checked_views
from cotherm.methods.coupling.auto import chosen_times
from cotherm.methods.coupling.continuation import Stage
from cotherm.methods.coupling.memory import CouplingMemory, predicted
from cotherm.methods.coupling.options import Options, checked_precision, checked_times, free_edges
from cotherm.methods.coupling.report import report
from cotherm.methods.coupling.result import Coupling
from cotherm.methods.coupling.search import Step
from cotherm.methods.coupling.solve import solve


def couple(
    graphs: Sequence[Graph],
    functions: Sequence[ArrayLike],
    times: ArrayLike | str = "auto",
    alpha: float | str = "auto",
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
    engine: str | Engine = "cpu",
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
        The paper takes 10⁶.
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
    engine : "cpu", or an object with the methods of :class:`cotherm.engines.Engine`, which runs the array kernels.

    Returns
    -------
    Coupling
        The coupled graphs and how they came about. An interrupt from the keyboard returns the best so far.

    Examples
    --------
    >>> import cotherm as ct
    >>> views = ct.datasets.ring()
    >>> result = ct.couple(views.graphs, views.functions, times=[1, 2, 5, 10], alpha=1e6)
    >>> result.changes()[0].edges("cut").tolist()
    [[0, 69], [0, 68], [1, 69]]
    >>> result = ct.couple(views.graphs, views.functions)  # times and alpha from the data
    >>> result.changes()[0].edges("cut").tolist()
    [[0, 69], [0, 68], [1, 69]]
    """
    began = time.perf_counter()
    options = Options.checked(
        graphs,
        functions,
        times,
        alpha,
        frozen=frozen,
        rigidity=rigidity,
        graph_weights=graph_weights,
        function_weights=function_weights,
        continuation=continuation,
        start=start,
        tolerance=tolerance,
        max_iterations=max_iterations,
        memory_budget=memory,
        precision=precision,
        callback=callback,
        engine=engine,
    )
    solution = solve(options)
    return report(options, solution, began)


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
    given = checked_times(times)
    compared = chosen_times(graphs, columns) if given is None else given
    sizes = [(g.n, len(edges)) for g, edges in zip(graphs, free_edges(frozen, graphs), strict=True)]
    count = int(np.sum(compared > 0.0))
    return predicted(sizes, columns[0].shape[1], count, checked_precision(precision), get_engine("cpu"))
