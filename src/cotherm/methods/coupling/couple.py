"""Heat kernel coupling (Bronstein & Glashoff 2013): change edge weights so that heat diffuses alike on all graphs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike

from cotherm.engines import Engine, engine_for_views
from cotherm.engines.threads import limited_blas
from cotherm.graphs.graph import Graph
from cotherm.heat.validation import checked_views
from cotherm.methods.coupling.auto import times_count
from cotherm.methods.coupling.memory import CouplingMemory, predicted
from cotherm.methods.coupling.options import RARE, Numbers, Options, checked_times, common_arguments, free_edges
from cotherm.methods.coupling.result import Coupling
from cotherm.methods.coupling.search import Step
from cotherm.methods.coupling.solve import report, solve
from cotherm.methods.validation import are_shards
from cotherm.ranks import together
from cotherm.validation import options_of

if TYPE_CHECKING:
    from cotherm.graphs.sharded.store import ShardedGraph
    from cotherm.methods.coupling.shards import ShardedCoupling


@overload
def couple(
    graphs: Sequence[Graph],
    functions: Sequence[ArrayLike],
    times: ArrayLike | str = "auto",
    alpha: float | str = "auto",
    *,
    frozen: Sequence[Any] | None = None,
    graph_weights: ArrayLike | None = None,
    start: Sequence[Graph] | Coupling | None = None,
    max_seconds: float | None = None,
    callback: Callable[[Step], Any] | None = None,
    engine: str | Engine = "auto",
    checkpoint: str | os.PathLike[str] | None = None,
    options: Mapping[str, Any] | None = None,
) -> Coupling: ...


@overload
def couple(
    graphs: Sequence[str | os.PathLike[str] | ShardedGraph],
    functions: Any,
    times: ArrayLike | str = "auto",
    alpha: float | str = "auto",
    **others: Any,
) -> ShardedCoupling: ...


def couple(  # type: ignore[misc] # other arguments of sharded graphs are checked by name
    graphs: Any,
    functions: Any,
    times: ArrayLike | str = "auto",
    alpha: float | str = "auto",
    *,
    frozen: Sequence[Any] | None = None,
    graph_weights: ArrayLike | None = None,
    start: Any = None,
    max_seconds: float | None = None,
    callback: Callable[[Step], Any] | None = None,
    engine: str | Engine = "auto",
    checkpoint: str | os.PathLike[str] | None = None,
    options: Mapping[str, Any] | None = None,
) -> Coupling | ShardedCoupling:
    r"""Change edge weights as little as possible so that heat diffuses alike on all graphs.

    Minimizes

    .. math::

        \sum_k \rho_k \|L(u_k) - L(w_k)\|_F^2
        + \alpha \sum_t \sum_{k<l} \pi_k \pi_l \|Q_k(t) - Q_l(t)\|_F^2,
        \qquad Q_k(t) = F_k^\top e^{-t L(u_k)} F_k,

    over edge weights :math:`u_k \ge 0`, where :math:`w_k` are the given weights of graph k, :math:`L` is the
    unnormalized Laplacian and the columns of :math:`F_k` are the corresponding functions on graph k. For two graphs
    this is the cost (hkc1) of [1]_. An edge may lose its weight, but the edge sets stay the same.

    Parameters
    ----------
    graphs : sequence of Graph, or of ShardedGraph or path-like
        Two or more graphs of any sizes. The vertices need not correspond. An edge of weight zero may get weight.
        Sharded graphs, or with ``engine="petsc"`` their directories, are coupled in parts, see Notes.
    functions : sequence of array_like of shape (n_k, q)
        Corresponding functions of each graph: column c is the same function on every graph. The scale matters: Q is
        quadratic in F, so multiplying F by 10 is the same as multiplying `alpha` by 10⁴. Smooth bumps let coupling
        find wrong edges, single points do not: see :func:`cotherm.landmark_functions`.
    times : "auto" or array_like of float, default "auto"
        Diffusion times t ≥ 0 at which the graphs are compared. "auto" takes four times evenly spaced in log t, from
        about two moves along edges to the time at which the functions have lost four fifths of their variation; fewer
        times on large graphs, see Notes.
    alpha : "auto" or float, default "auto"
        Weight α of the coupling term. "auto" is 10⁴ times the α at which the two terms of the cost have equal weight,
        and less, down to that of equal weight, where the functions differ at t = 0: see Notes. The value in the paper
        is 10⁶.
    frozen : sequence of {None, bool, array_like}, optional
        Edges that keep their weight, one entry for each graph: None or False for none, True for all edges, a boolean
        mask, or edge numbers.
    graph_weights : array_like of float, optional
        Weight π > 0 of each graph in the coupling term, 1 by default.
    start : sequence of Graph or Coupling, optional
        Weights to start from: graphs with the same edges, or an earlier result. With a start, "auto" continuation
        means "direct".
    max_seconds : float, optional
        Stop after this time with the best weights so far and the status "time limit"; with those that were given where
        it does not suffice to choose times and α. The clock is looked at after every step, and evaluating the result
        comes on top. By default there is no limit.
    callback : callable, optional
        Called with a :class:`cotherm.Step` after every step. If it returns a true value, the search stops.
    engine : {"auto", "cpu", "gpu", "petsc"} or Engine, default "auto"
        What runs the array kernels: the name of an engine, or an object with the methods of
        ``cotherm.engines.Engine``. "auto" is the GPU if functions live on one and CuPy is installed, and the
        processor otherwise. "petsc" spreads the work over the processes that mpiexec has started, all of which call
        this with the same arguments and get the same result.
    checkpoint : path-like, optional
        File for the state of the run, replaced every few seconds, in one step. If the run ends before it has finished,
        for whatever reason, the same call goes on from there, to the same result; see Notes.
    options : dict, optional
        What few need:

        - rigidity: penalty ρ > 0 on changing each graph, 1 by default. Give a graph that you trust more than 1.
        - function_weights: weight ω > 0 of each function, 1 by default. A pair of functions a, b has weight ω_a ω_b.
        - continuation: sequence of easier problems to solve first, because the cost has many poor local minima.
          "direct" solves the problem as it is, "times" starts with short times, "alpha" starts with a small α. "auto",
          the default, tries "times", "alpha", and "direct" or, if several graphs have changed, one graph before the
          others; it keeps the best. On graphs of more than 300 vertices it takes "times".
        - tolerance: stop when the projected gradient, relative to the gradients of the two terms that balance in it,
          is below this; 1e-6 by default.
        - max_iterations: maximum number of steps in all, 10000 by default.
        - memory: memory that the whole process may use at its peak, in bytes or as a string such as "8GiB". "auto",
          the default, is the memory that is free. What needs more is refused; :func:`cotherm.coupling_memory` predicts
          how much that is.

    Returns
    -------
    Coupling
        The coupled graphs, the cost, and how the search ended. On a keyboard interrupt, the best weights so far.

    Raises
    ------
    CothermError
        If an argument cannot be used, or if the problem does not fit into `memory`.

    See Also
    --------
    landmark_functions : Smooth bumps around corresponding vertices.
    label_functions : Indicators of corresponding classes.
    coupling_error : How far heat is from diffusing alike on the graphs.
    coupling_memory : Memory that coupling will need.
    match : Vertex correspondence between the coupled graphs.
    average : One graph from several graphs on the same vertices.

    Notes
    -----
    No weights can reconcile functions that differ at t = 0, because Q(0) = FᵀF does not depend on the weights.
    ``result.mismatch`` measures that difference, relative to the functions. Strong coupling bends the graphs to make up
    for it: "auto" α is s times that of equal weight, where s is the largest number up to 10⁴ with
    √s · mismatch ≤ 0.03, but not below 1. ``result.settings["strength"]`` is s, and the result says so if it is lower.
    Bumps that each graph's own heat makes around landmarks differ if the graphs do. To couple strongly, take the same
    functions on all graphs where vertices correspond, or give `alpha`.

    "auto" times and α do not depend on units: multiplying all weights by c divides the times by c and multiplies α
    by c², and multiplying the functions by c divides α by c⁴. On graphs of more than 5,000 vertices "auto" takes two
    times, the last after about eight moves along edges, and on more than 50,000 vertices that last one alone. Give
    `times` to compare structure on a larger scale. ``result.times`` and ``result.alpha`` are the values used.

    With a `checkpoint`, a call that finds the file of the same call goes on where that one was: after a crash, an
    interrupt, or a stop by `max_seconds`, which counts anew, or by `callback`, which is called once more with the step
    after which the state was stored. On the CPU engine, with as many threads, the result is the same to the last bit
    as without the stop. A finished run leaves its result in the file, and the same call then returns it at once; the
    file is yours to delete. A file of a run with other arguments, or other versions of cotherm, NumPy, SciPy or Numba,
    is refused, and the error names what differs. Writing takes at most a hundredth of the time.

    No process holds a whole sharded graph of more than 2,000 vertices. All processes that mpiexec has started call this
    together, with the same arguments, and get a :class:`cotherm.ShardedCoupling`. `functions` are then, for each graph,
    those on the vertices of this rank's part, which is that of ``graph.part(rank, size)``, or a ``.npy`` file with a
    row for each vertex; or ``{"landmarks": vertices}``, a row for each landmark and a column for each graph, for bumps
    around them; or "labels", for indicators of the classes that all shards hold. `frozen` is about the own edges of
    this rank's part, `start` is the directory of an earlier result, or sharded graphs, and a `callback` gets the
    weights of this rank's edges. Options that only sharded graphs have: ``out``, a directory for a sharded graph for
    each one given, named 0, 1, …, and ``coupling.json``, which appears when everything has been written; ``overwrite``
    replaces it.

    References
    ----------
    .. [1] M. M. Bronstein and K. Glashoff, "Heat kernel coupling for multiple graph analysis", arXiv preprint,
       December 2013.

    Examples
    --------
    A ring and the same ring with a crack. Coupling cuts the edges that cross the crack:

    >>> import cotherm as ct
    >>> views = ct.datasets.ring()
    >>> result = ct.couple(views.graphs, views.functions)
    >>> result.status
    'converged'
    >>> result.changes()[0].edges("cut").tolist()
    [[0, 69], [0, 68], [1, 69]]

    The same with given times and the paper's α:

    >>> result = ct.couple(views.graphs, views.functions, times=[1, 2, 5, 10], alpha=1e6)
    >>> bool(result.coupling.max() < 0.05 * result.coupling_before.max())
    True
    """
    began = time.perf_counter()
    if are_shards(graphs, engine):
        from cotherm.methods.coupling.shards import OF_SHARDS, ShardCoupling, shard_engine

        petsc = shard_engine(engine)
        with together(petsc.ranks):
            rare = options_of(options, {**RARE, **OF_SHARDS})
            common = common_arguments(times, alpha, max_seconds, callback, checkpoint, petsc, rare)
            numbers = Numbers.checked(len(graphs), graph_weights, rare, common)
        return ShardCoupling(graphs, petsc, numbers, rare, began).by_functions(functions, frozen, start)
    engine = engine_for_views(engine, functions)
    with together(engine.ranks):
        rare = options_of(options, RARE)
        views, columns = checked_views(graphs, functions)
        common = common_arguments(times, alpha, max_seconds, callback, checkpoint, engine, rare)
        numbers = Numbers.checked(len(views), graph_weights, rare, common)
        given = Options.of_graphs(numbers, views, columns, frozen, start, rare["function_weights"])
    given.require_equal_ranks()
    with limited_blas(given.largest):  # done once: finding the libraries takes as long as a step of a small problem
        return report(given, solve(given, began), began)


def coupling_memory(
    graphs: Sequence[Graph],
    functions: Sequence[ArrayLike],
    times: ArrayLike | str = "auto",
    *,
    frozen: Sequence[Any] | None = None,
    engine: str | Engine = "auto",
) -> CouplingMemory:
    """Predict the memory that couple needs at its peak, without running it.

    Parameters
    ----------
    graphs : sequence of Graph
        Two or more graphs, as for :func:`cotherm.couple`.
    functions : sequence of array_like of shape (n_k, q)
        Corresponding functions of each graph.
    times : "auto" or array_like of float, default "auto"
        Diffusion times at which the graphs are compared.
    frozen : sequence of {None, bool, array_like}, optional
        Edges that keep their weight, as for :func:`cotherm.couple`.
    engine : {"auto", "cpu", "gpu"} or Engine, default "auto"
        What is to run the coupling, as for :func:`cotherm.couple`. The memory is that where its arrays live.

    Returns
    -------
    CouplingMemory
        Bytes at the peak, and those that the process uses already.

    See Also
    --------
    couple : Run the coupling; its option ``memory`` sets a limit.

    Examples
    --------
    >>> import cotherm as ct
    >>> views = ct.datasets.shortcuts(20_000)
    >>> needs = ct.coupling_memory(views.graphs, views.functions)
    >>> needs.added < 1e9
    True
    """
    graphs, columns = checked_views(graphs, functions)
    given = checked_times(times)
    count = times_count(graphs) if given is None else int(np.sum(given > 0.0))
    sizes = [(g.n, len(edges)) for g, edges in zip(graphs, free_edges(frozen, graphs), strict=True)]
    q = columns[0].shape[1]
    run_by = engine_for_views(engine, functions)
    return predicted(sizes, q, count, run_by, choosing=given is None)
