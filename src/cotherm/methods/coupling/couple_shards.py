"""Coupling of graphs that no process holds: all ranks read their parts, couple by the same search, and write."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cotherm import limits, memory, validation
from cotherm import ranks as processes
from cotherm.arrays import Floats
from cotherm.engines import get_engine
from cotherm.engines.petsc.engine import PetscEngine
from cotherm.errors import CothermError
from cotherm.graphs.sharded.staging import COUPLED, require_free_directory, staged, write_file
from cotherm.graphs.sharded.store import GraphPart, ShardedGraph
from cotherm.graphs.sharded.weights import write_weights
from cotherm.heat.chebyshev import chebyshev_flow, require_bound
from cotherm.heat.coupling import coupling_terms
from cotherm.io import atomic
from cotherm.methods.checkpoint import Checkpoint, checked_place, hashed
from cotherm.methods.coupling.auto import (
    LAST_MOVES,
    chosen_alpha,
    chosen_times,
    fewer_times,
    times_count_for,
    useful_strength,
)
from cotherm.methods.coupling.memory import MemoryPlan, planned, predicted
from cotherm.methods.coupling.options import checked_precision, checked_seconds, checked_times, routes_of
from cotherm.methods.coupling.problem import CouplingProblem
from cotherm.methods.coupling.search import Found, Search, Step
from cotherm.methods.coupling.shard_pairs import ShardPairs, checked_shard_pairs, pair_rows, same_units
from cotherm.methods.coupling.shard_views import (
    ShardView,
    free_edges,
    label_rows,
    landmark_rows,
    median_degree,
    read_view,
    start_weights,
)
from cotherm.methods.coupling.solve import share_of, shown_once
from cotherm.methods.pairs import choice
from cotherm.methods.validation import is_auto, positive, versions
from cotherm.progress import Meter
from cotherm.ranks import Ranks, together

_EXACT = 1e-12


@dataclass(frozen=True, eq=False)
class ShardedCoupling:
    """Result of couple_shards, on every rank: its part of the coupled graphs, the cost and how the search ended.

    Attributes
    ----------
    graphs : tuple of ShardedGraph
        The coupled graphs, where they were written; else those that were given.
    parts : tuple of GraphPart
        This rank's parts of the given graphs.
    weights : tuple of ndarray
        New weights of the own edges of these parts.
    functions : tuple of ndarray
        The functions on the vertices of these parts.
    times : tuple of float
        Diffusion times used.
    alpha : float
        Weight α used.
    cost : float
        Final cost: distance + α · Σ coupling².
    distance : float
        Its first term.
    coupling_before, coupling : ndarray of shape (len(times),)
        Coupling error at each time, before and after.
    status : str
        How the search ended, as in :class:`cotherm.Coupling`.
    optimality : float
        Relative projected gradient at the end.
    history : tuple of dict
        A row for every step.
    settings : dict
        The arguments as understood.
    seconds : float
        Time that it took.
    traffic : dict
        What this rank received from others: exchanges of rows with neighbors, sums over all ranks, and their bytes.

    See Also
    --------
    couple_shards : Returns it.
    Coupling : The result for graphs in memory.
    """

    graphs: tuple[ShardedGraph, ...]
    parts: tuple[GraphPart, ...] = field(repr=False)
    weights: tuple[Floats, ...] = field(repr=False)
    functions: tuple[Floats, ...] = field(repr=False)
    times: tuple[float, ...]
    alpha: float
    cost: float
    distance: float
    coupling_before: Floats
    coupling: Floats
    status: str
    optimality: float
    history: tuple[dict[str, Any], ...] = field(repr=False)
    settings: dict[str, Any] = field(repr=False)
    seconds: float
    traffic: dict[str, int] = field(repr=False)

    def summary(self) -> dict[str, Any]:
        """Everything but arrays, as it is written beside the graphs.

        Returns
        -------
        dict
            What JSON can hold.
        """
        return {
            "graphs": [{"name": g.name, "n": g.n, "m": g.m} for g in self.graphs],
            "times": list(self.times),
            "alpha": self.alpha,
            "cost": self.cost,
            "distance": self.distance,
            "coupling_before": self.coupling_before.tolist(),
            "coupling": self.coupling.tolist(),
            "status": self.status,
            "optimality": self.optimality,
            "steps": len(self.history),
            "settings": self.settings,
            "seconds": self.seconds,
            "versions": versions(),
        }


def couple_shards(
    graphs: Sequence[str | os.PathLike[str] | ShardedGraph],
    out: str | os.PathLike[str] | None = None,
    *,
    landmarks: ArrayLike | None = None,
    labels: bool = False,
    functions: Sequence[Any] | None = None,
    pairs: ArrayLike | Sequence[ArrayLike] | str | None = None,
    n_modes: int | str = "auto",
    times: ArrayLike | str = "auto",
    alpha: float | str = "auto",
    frozen: Sequence[Any] | None = None,
    rigidity: ArrayLike | None = None,
    graph_weights: ArrayLike | None = None,
    function_weights: ArrayLike | None = None,
    continuation: str = "auto",
    start: Sequence[str | os.PathLike[str] | ShardedGraph] | str | os.PathLike[str] | None = None,
    tolerance: float = 1e-6,
    max_iterations: int = 2_000,
    max_seconds: float | None = None,
    memory: str | float = "auto",
    precision: str = "float64",
    callback: Callable[[Step], Any] | None = None,
    overwrite: bool = False,
    engine: Any = "petsc",
    checkpoint: str | os.PathLike[str] | None = None,
) -> ShardedCoupling:
    """Couple sharded graphs, each rank holding a part of them, as :func:`cotherm.couple` does in memory.

    All processes that mpiexec has started call this together, with the same arguments. No process holds a whole graph
    of more than 2,000 vertices.

    Parameters
    ----------
    graphs : sequence of path-like or ShardedGraph
        Two or more sharded graphs, or their directories.
    out : path-like, optional
        Directory for the result: a sharded graph for each one given, named 0, 1, …, and ``coupling.json``. It appears
        when everything has been written.
    landmarks : array_like of int of shape (k, n_graphs), optional
        Vertices that correspond; the functions are bumps around them.
    labels : bool, default False
        Whether to couple by the labels that the shards hold; the functions are indicators of the classes that all
        graphs have.
    functions : sequence of array_like or path-like, optional
        For each graph the functions on the vertices of this rank's part, which is that of ``graph.part(rank, size)``,
        or a .npy file with a row for each vertex.
    pairs : "same", "names", sequence of array_like, or array_like of int of shape (items, graphs), optional
        Which vertices are the same item, as for :func:`cotherm.couple_pairs`. Vertices have the numbers that they had
        before shards were put in another order. Items must be in all graphs, or, of two graphs, may be in one only.
    n_modes : int or "auto", default "auto"
        For `pairs`: number of smooth modes of every graph. "auto": one for every six items, at most 24.
    times : "auto" or array_like of float, default "auto"
        As for :func:`cotherm.couple`, like everything up to `precision`. With `pairs`, "auto" is one move along edges.
    alpha : "auto" or float, default "auto"
        Weight of the coupling term. With `pairs`, "auto" is that of :func:`cotherm.couple_pairs` without borrowing: 50
        times the number of graphs, in units of the α at which both terms have equal weight. Else as for
        :func:`cotherm.couple`, less for functions that differ at t = 0.
    frozen : sequence of {None, bool, array_like}, optional
        Edges that keep their weight, one entry for each graph: None or False for none, True for all edges, or a mask
        or numbers of the own edges of this rank's part.
    rigidity : array_like of float, optional
        Penalty on changing each graph.
    graph_weights : array_like of float, optional
        Weight of each graph in the coupling term.
    function_weights : array_like of float, optional
        Weight of each function.
    continuation : {"auto", "direct", "times", "alpha"}, default "auto"
        Sequence of easier problems to solve first. With `pairs`, "auto" is "direct".
    start : path-like or sequence of path-like or ShardedGraph, optional
        Weights to start from: the directory of an earlier result, or sharded graphs with the same edges. With a start,
        "auto" continuation means "direct".
    tolerance : float, default 1e-6
        Relative projected gradient at which to stop.
    max_iterations : int, default 2000
        Maximum number of steps.
    max_seconds : float, optional
        Stop after this time with the best so far.
    memory : "auto", float or str, default "auto"
        Memory that each process may use.
    precision : {"float64", "float32"}, default "float64"
        Precision of stored derivatives.
    callback : callable, optional
        Called on every rank with a :class:`cotherm.Step` after every step, whose weights are those of the own edges of
        this rank's part (of graphs of up to 2,000 vertices, of all edges). If it returns a true value on some rank,
        the search stops.
    overwrite : bool, default False
        Whether to replace an existing `out`.
    engine : "petsc" or Engine, default "petsc"
        The distributed engine, or one for a communicator of your own.
    checkpoint : path-like, optional
        File for the state of the run, from which the same call on as many processes goes on, as for
        :func:`cotherm.couple`. Each process but the first writes its part into two files beside it, by turns: all
        need to see the same directory.

    Returns
    -------
    ShardedCoupling
        This rank's part of the result.

    Raises
    ------
    CothermError
        On every rank, if an argument cannot be used or differs between ranks, or if a shard is missing or damaged.

    See Also
    --------
    couple : Couple graphs in memory.
    couple_pairs : Couple graphs in memory by pairs.
    shard_graph : Make a sharded graph.

    Notes
    -----
    With `pairs` the functions are the smooth modes of all graphs at the items, the same columns on every graph, and
    zero at other vertices. Graphs are first scaled to the same median degree, and scaled back at the end; times, α and
    the cost refer to the scaled graphs. Unlike :func:`cotherm.couple_pairs` this borrows no weight, keeps no pairs back
    to measure agreement, and always couples. With three graphs or more all have all functions, where couple_pairs has
    functions of its own for every two graphs.

    Examples
    --------
    In a program that ``mpiexec -n 4 python program.py`` starts::

        result = ct.couple_shards(["a.shards", "b.shards"], "coupled", landmarks=[[0, 0], [17, 18]])
    """
    began = time.perf_counter()
    chosen = get_engine(engine)
    if not isinstance(chosen, PetscEngine):
        raise CothermError("engine", repr(getattr(chosen, "name", chosen)), "'petsc'")
    world = processes.of(chosen.communicator.comm)
    given = _checked(locals())
    _require_equal(world, given)
    with together(world):
        opened = [one if isinstance(one, ShardedGraph) else ShardedGraph.open(one) for one in graphs]
        if out is not None:
            require_free_directory(out, overwrite=overwrite)
            _refuse_same_places(out, opened, checkpoint)
    processes.require_equal(world, "graphs", [_digest(one) for one in opened])
    room = _Room(chosen, opened, given)
    room.plan(1)  # refuse what cannot fit before anything is read
    views = [read_view(world, chosen, one) for one in opened]
    room.count(views)
    sources = {"landmarks": landmarks, "labels": labels or None, "functions": functions, "pairs": pairs}
    _require_one_source(world, sources)
    paired = None if pairs is None else _paired(world, chosen, views, pairs, given, room)
    views = views if paired is None else paired.views
    rows = _functions(world, chosen, views, landmarks, labels, functions) if paired is None else paired.rows
    with together(world):
        omega = positive("function_weights", function_weights, rows[0].shape[1], "functions")
    processes.require_equal(world, "function_weights", omega.tolist())
    free, begin = free_edges(world, chosen, views, frozen), start_weights(world, chosen, views, start)
    kept: Checkpoint | None = None
    if checkpoint is not None:
        arrays: dict[str, Sequence[NDArray[Any]]] = {"pairs": [] if paired is None else paired.pairs.items}
        arrays |= {"functions": rows, "function_weights": [omega], "free": free}
        kept = _opened(checkpoint, world, chosen, opened, {**arrays, "start": begin or []}, given)
    with shown_once(chosen), Meter(limit=given.max_seconds) as meter:
        meter.advance("coupling: preparing")
        plan = room.plan(rows[0].shape[1])
        run = _Run(world, chosen, views, rows, omega, given, plan, began, kept, paired)
        result = run.result(meter, free, begin, callback)
    return result if out is None else _written(world, result, out, overwrite=overwrite)


def _refuse_same_places(
    out: str | os.PathLike[str], graphs: Sequence[ShardedGraph], checkpoint: str | os.PathLike[str] | None
) -> None:
    """Refuse a result that would replace a graph, or the checkpoint, which is deleted after it is written."""
    place = atomic.as_path(out)
    for k, graph in enumerate(graphs):
        if atomic.same_place(graph.path, place):
            raise CothermError("out", f"{place}, which is graphs[{k}]", "another name")
    if checkpoint is not None:
        kept = checked_place(checkpoint)
        if any(atomic.same_place(one, place) for one in (kept, *atomic.real_path(kept).parents)):
            raise CothermError("checkpoint", f"{kept}, which is out or in it", "another place")


def _opened(
    checkpoint: str | os.PathLike[str],
    world: Ranks,
    engine: PetscEngine,
    graphs: Sequence[ShardedGraph],
    arrays: dict[str, Sequence[NDArray[Any]]],
    given: _Given,
) -> Checkpoint:
    """The checkpoint of this run, with what the file holds already; what is given must be the same on all ranks."""
    with together(world):
        place = checked_place(checkpoint)
    digests = {
        f"{name}[{k}]": world.gather(hashed(array)) for name, some in arrays.items() for k, array in enumerate(some)
    }
    limits_of_time = ("max_seconds",)
    arguments = {
        "method": "couple_shards",
        **{f"graphs[{k}]": f"sha256:{_digest(one)}" for k, one in enumerate(graphs)},
        **{name: hashed(*map(_letters, parts)) for name, parts in digests.items()},
        **{name: repr(value) for name, value in asdict(given).items() if name not in limits_of_time},
        "engine": engine.name,
    }
    return Checkpoint(place, arguments, engine, world)


def _letters(text: str) -> NDArray[np.uint8]:
    return np.frombuffer(text.encode(), dtype=np.uint8)


@dataclass(frozen=True)
class _Given:
    """Checked arguments that are numbers."""

    count: int
    by_pairs: bool
    n_modes: int | None
    times: tuple[float, ...] | None
    alpha: float | None
    rigidity: tuple[float, ...]
    graph_weights: tuple[float, ...]
    continuation: str
    tolerance: float
    max_iterations: int
    max_seconds: float | None
    budget: int | None
    precision: str


def _checked(given: dict[str, Any]) -> _Given:
    graphs = given["graphs"]
    if isinstance(graphs, str | os.PathLike) or not isinstance(graphs, Sequence) or len(graphs) < 2:
        raise CothermError("graphs", validation.describe(graphs), "a list of two or more sharded graphs")
    times, alpha, budget = checked_times(given["times"]), given["alpha"], given["memory"]
    continuation = validation.choice("continuation", given["continuation"], ("auto", "direct", "times", "alpha"))
    by_pairs, modes = given["pairs"] is not None, given["n_modes"]
    if not by_pairs and not is_auto("n_modes", modes):
        raise CothermError("n_modes", validation.describe(modes), '"auto" where graphs are not coupled by pairs')
    return _Given(
        count=len(graphs),
        by_pairs=by_pairs,
        n_modes=None if is_auto("n_modes", modes) else validation.integer("n_modes", modes, least=1, most=limits.MODES),
        times=None if times is None else tuple(times.tolist()),
        alpha=None if is_auto("alpha", alpha) else validation.real("alpha", alpha, positive=True),
        rigidity=tuple(positive("rigidity", given["rigidity"], len(graphs), "graphs").tolist()),
        graph_weights=tuple(positive("graph_weights", given["graph_weights"], len(graphs), "graphs").tolist()),
        continuation=continuation,
        tolerance=validation.real("tolerance", given["tolerance"], positive=True),
        max_iterations=validation.integer("max_iterations", given["max_iterations"], least=1),
        max_seconds=checked_seconds(given["max_seconds"]),
        budget=None if isinstance(budget, str) and budget == "auto" else memory.amount("memory", budget),
        precision=checked_precision(given["precision"]),
    )


def _require_equal(world: Ranks, given: _Given) -> None:
    for name, value in asdict(given).items():
        processes.require_equal(world, "memory" if name == "budget" else name, value)


def _digest(graph: ShardedGraph) -> str:
    """A digest of the header, which has the checksums of all files."""
    return hashlib.sha256((graph.path / "header.json").read_bytes()).hexdigest()[:16]


def _require_one_source(world: Ranks, sources: dict[str, Any]) -> None:
    named = [name for name, one in sources.items() if one is not None]
    processes.require_equal(world, "functions", named)
    with together(world):
        if len(named) != 1:
            taken = ", ".join(named) or "none of them"
            raise CothermError("functions", taken, "one of landmarks, labels, functions and pairs")


@dataclass(frozen=True, eq=False)
class _Paired:
    """Graphs in the same units, of the median degree ``degree``, their items, and the functions made of these."""

    views: list[ShardView]
    units: Floats
    degree: float
    pairs: ShardPairs
    n_modes: int
    rows: list[Floats]

    @property
    def strength(self) -> float:
        """The strength: α in units of the one of equal weight."""
        return choice.strength_by_own_edges(len(self.views), self.pairs.part(self.views))

    @property
    def settings(self) -> dict[str, Any]:
        return {"n_modes": self.n_modes, "items": self.pairs.count, "units": self.units.tolist()}


def _paired(
    world: Ranks, engine: PetscEngine, views: Sequence[ShardView], pairs: Any, given: _Given, room: _Room
) -> _Paired:
    found = checked_shard_pairs(world, engine, views, pairs)
    smallest = min(view.sharded.n for view in views)
    n_modes = choice.modes_for(found.count, smallest) if given.n_modes is None else given.n_modes
    with together(world):
        if n_modes > smallest - 1:
            needed = f"at most {smallest - 1}, one less than the smallest graph has vertices"
            raise CothermError("n_modes", str(n_modes), needed)
    room.plan(n_modes * len(views))  # refuse what cannot fit before modes are computed
    scaled, units, degree = same_units(engine, views)
    return _Paired(scaled, units, degree, found, n_modes, pair_rows(world, engine, scaled, found, n_modes))


def _functions(
    world: Ranks, engine: PetscEngine, views: Sequence[ShardView], landmarks: Any, labels: bool, functions: Any
) -> list[Floats]:
    """Rows of this rank's part of every graph."""
    if landmarks is not None:
        with together(world):
            table = _checked_landmarks(landmarks, views)
        processes.require_equal(world, "landmarks", table.tolist())
        return [landmark_rows(engine, view, table[:, k]) for k, view in enumerate(views)]
    if labels:
        return label_rows(world, engine, views)[0]
    with together(world):
        if isinstance(functions, str | np.ndarray) or len(functions) != len(views):
            raise CothermError("functions", validation.describe(functions), f"one for each of {len(views)} graphs")
        rows = [_rows(f"functions[{k}]", one, view) for k, (one, view) in enumerate(zip(functions, views, strict=True))]
    widths = world.gather([F.shape[1] for F in rows])
    with together(world):
        if any(set(one) != {widths[0][0]} for one in widths) or not widths[0][0]:
            raise CothermError("functions", f"{widths} functions", "the same number on every graph, at least one")
    return rows


def _checked_landmarks(landmarks: Any, views: Sequence[ShardView]) -> NDArray[np.intp]:
    table = np.atleast_2d(validation.as_array("landmarks", landmarks))
    if table.ndim != 2 or table.shape[1] != len(views) or not len(table):
        raise CothermError("landmarks", f"shape {table.shape}", f"a row for each landmark, {len(views)} columns")
    columns = [
        validation.indices(f"landmarks[:, {k}]", table[:, k], below=view.sharded.n) for k, view in enumerate(views)
    ]
    return np.column_stack(columns)


def _rows(argument: str, given: Any, view: ShardView) -> Floats:
    if isinstance(given, str | os.PathLike):
        return _rows_of_file(Path(given), view)
    return validation.functions(argument, given, view.rows)


def _rows_of_file(path: Path, view: ShardView) -> Floats:
    """The rows of this rank in a .npy file with one row for each vertex, in the graph's original order."""
    try:
        table = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise CothermError(str(path), str(error), "a .npy file of numbers") from None
    if table.ndim != 2 or len(table) != view.sharded.n:
        raise CothermError(str(path), f"shape {table.shape}", f"a row for each of {view.sharded.n} vertices")
    rows = table[view.part.start : view.part.stop] if view.part.original is None else table[view.part.original]
    return validation.functions(str(path), np.array(rows), view.rows)


class _Room:
    """The memory free before graphs are read, since the forecast includes them."""

    def __init__(self, engine: PetscEngine, graphs: Sequence[ShardedGraph], given: _Given) -> None:
        self._engine, self._given = engine, given
        self._free, self._in_use = engine.available_memory(), engine.memory_in_use()
        self._sizes = [share_of(engine, graph.n, graph.m) for graph in graphs]
        self._largest = max(graph.n for graph in graphs)

    def count(self, views: Sequence[ShardView]) -> None:
        """From now on, count this rank's vertices and edges, and adjacent vertices of other ranks.

        In no good order of the vertices both are more than its share.
        """
        self._sizes = [
            size if view.is_whole else (view.rows + view.pattern.halo.count, max(len(view.part.w), 1))
            for size, view in zip(self._sizes, views, strict=True)
        ]

    def plan(self, q: int) -> MemoryPlan:
        """Plan for ``q`` functions and making those of pairs; refuses what does not fit, on all ranks."""
        given, engine = self._given, self._engine
        choosing = given.times is None and not given.by_pairs
        count = 1 if given.by_pairs else times_count_for(self._largest)
        count = count if given.times is None else int(np.sum(np.array(given.times) > 0.0))
        modes = q // given.count if given.by_pairs else 0
        needs = predicted(self._sizes, q, count, given.precision, engine, choosing=choosing, modes=modes)
        needs = replace(needs, in_use=self._in_use)
        return planned(needs, given.budget, given.precision, engine, free=self._free)


class _Run:
    """One coupling."""

    def __init__(
        self,
        world: Ranks,
        engine: PetscEngine,
        views: Sequence[ShardView],
        rows: Sequence[Floats],
        omega: Floats,
        given: _Given,
        plan: MemoryPlan,
        began: float,
        checkpoint: Checkpoint | None = None,
        paired: _Paired | None = None,
    ) -> None:
        self._checkpoint, self._paired = checkpoint, paired
        # How α was chosen.
        self._chosen: dict[str, float] = {}
        # The divisors of the graphs' weights.
        self._units = np.ones(len(views)) if paired is None else paired.units
        self._world, self._engine, self._views, self._rows, self._omega = world, engine, views, rows, omega
        self._given, self.plan, self._began = given, plan, began
        self._functions = [view.functions(engine, F) for view, F in zip(views, rows, strict=True)]
        degree = median_degree(engine, views)
        self._move = 1.0 / degree if degree > 0.0 else np.inf
        self._times = self._chosen_times() if given.times is None else np.array(given.times)

    def result(
        self,
        meter: Meter,
        free: Sequence[NDArray[np.intp]],
        start: Sequence[Floats] | None,
        callback: Callable[[Step], Any] | None,
    ) -> ShardedCoupling:
        given, engine = self._given, self._engine
        with engine.session(max(view.graph.n for view in self._views), self.plan.added):
            problem, found, history = self._searched(meter, free, start, callback)
            weights = problem.weights(found.u)
        before, after = (self._correlations(w) for w in ([self._given_weights(v) for v in self._views], weights))
        ones, importance = np.ones(len(self._views)), np.array(given.graph_weights)
        distance = problem.distance(found.u)
        weighted = after * np.sqrt(np.outer(self._omega, self._omega))
        views = list(zip(self._views, weights, strict=True))
        return ShardedCoupling(
            graphs=tuple(view.sharded for view in self._views),
            parts=tuple(view.part for view in self._views),
            weights=tuple(
                v.own_weights(engine.edges_to_numpy(v.pattern, w)) * unit
                for (v, w), unit in zip(views, self._units.tolist(), strict=True)
            ),
            functions=tuple(self._rows),
            times=tuple(self._times.tolist()),
            alpha=problem.alpha,
            cost=distance + problem.alpha * float(coupling_terms(weighted, importance).sum()),
            distance=distance,
            coupling_before=np.sqrt(coupling_terms(before, ones)),
            coupling=np.sqrt(coupling_terms(after, ones)),
            status=found.status,
            optimality=found.optimality,
            history=history,
            settings={
                **asdict(given),
                **({} if self._paired is None else self._paired.settings),
                **self._chosen,
                "function_weights": self._omega.tolist(),
                "started": start is not None,
                "memory": self.plan.description,
                "forecast": self.plan.added,  # bytes of a rank, beyond what it had
                "ranks": self._world.size,
                "engine": "petsc",
            },
            seconds=time.perf_counter() - self._began,
            traffic=asdict(engine.communicator.traffic),
        )

    def _searched(
        self,
        meter: Meter,
        free: Sequence[NDArray[np.intp]],
        start: Sequence[Floats] | None,
        callback: Callable[[Step], Any] | None,
    ) -> tuple[CouplingProblem, Found, tuple[dict[str, Any], ...]]:
        given, graphs = self._given, [view.graph for view in self._views]
        problem = CouplingProblem(
            graphs,  # type: ignore[arg-type]
            self._functions if np.all(self._omega == 1.0) else [F * np.sqrt(self._omega) for F in self._functions],
            self._times,
            given.alpha or 1.0,
            free=free,
            rigidity=np.array(given.rigidity),
            graph_weights=np.array(given.graph_weights),
            plan=self.plan,
            engine=self._engine,
            patterns=[view.pattern for view in self._views],
            first_horizon=self._move,
        )
        if given.alpha is None:
            paired = self._paired
            strength = useful_strength(problem.mismatch) if paired is None else paired.strength
            if paired is None:
                self._chosen = {"mismatch": problem.mismatch, "strength": strength}
            problem = problem.restated(self._times, chosen_alpha(problem, strength), None)
        deadline = None if given.max_seconds is None else self._began + given.max_seconds
        # With the functions of pairs all routes led to the same minimum, and the direct one in the fewest steps.
        warm = start is not None or self._paired is not None
        routes = routes_of(given.continuation, graphs, warm=warm)  # type: ignore[arg-type]
        search = Search(
            problem,
            routes,
            given.tolerance,
            given.max_iterations,
            None if callback is None else self._in_given_units(callback),
            deadline,
            meter,
            self._checkpoint,
        )
        begin = problem.center
        if start is not None:
            begin = problem.free_part([w / unit for w, unit in zip(start, self._units.tolist(), strict=True)])
        return problem, search.run(begin), tuple(search.history)

    def _in_given_units(self, callback: Callable[[Step], Any]) -> Callable[[Step], Any]:
        """Wrap the callback for steps whose weights are those of scaled graphs."""

        def called(step: Step) -> Any:
            weights = zip(step.weights, self._units.tolist(), strict=True)
            return callback(replace(step, weights=tuple(w * unit for w, unit in weights)))

        return called

    @property
    def _largest(self) -> int:
        return max(view.sharded.n for view in self._views)

    def _chosen_times(self) -> Floats:
        """As :func:`cotherm.methods.coupling.auto.chosen_times`, for which small graphs are needed whole."""
        if self._paired is not None:
            return np.array([1.0 / self._paired.degree])
        if not np.isfinite(self._move):
            return np.ones(1)
        if self._largest > limits.ONE_TIME:
            return np.array([LAST_MOVES * self._move])
        if self._largest > limits.FEWER_TIMES:
            return fewer_times(self._move)
        with together(self._world):
            wholes = [view.sharded.to_graph() for view in self._views]
        weighted = [F * np.sqrt(self._omega) for F in self._rows]
        return chosen_times(wholes, [self._engine.communicator.rows(F) for F in weighted])

    def _given_weights(self, view: ShardView) -> Any:
        return self._engine.edge_rows(view.pattern, view.graph.w)

    def _correlations(self, weights: Sequence[Any]) -> Floats:
        """Q(t) of every graph, (graphs, times, q, q), at some weights."""
        engine, found = self._engine, []
        for view, F, w in zip(self._views, self._functions, weights, strict=True):
            matrix = require_bound(engine.laplacian(view.pattern, w))
            half = chebyshev_flow(matrix, engine.vertex_rows(view.pattern, F), 0.5 * self._times, _EXACT)
            Q = engine.to_numpy(half.transpose(0, 2, 1) @ half)
            found.append(0.5 * (Q + Q.transpose(0, 2, 1)))
        return np.array(found)


def _written(world: Ranks, result: ShardedCoupling, out: Any, *, overwrite: bool) -> ShardedCoupling:
    """The coupled graphs and the summary, in one step."""
    with staged(world, out, overwrite=overwrite) as folder:
        for k, (graph, part, u) in enumerate(zip(result.graphs, result.parts, result.weights, strict=True)):
            write_weights(world, folder / str(k), graph, part, u)
        with together(world):
            if world.rank == 0:
                write_file(folder / COUPLED, json.dumps(result.summary(), indent=1).encode())
    with together(world):
        graphs = tuple(ShardedGraph.open(Path(out) / str(k)) for k in range(len(result.graphs)))
    values = {name: getattr(result, name) for name in result.__dataclass_fields__}
    return ShardedCoupling(**{**values, "graphs": graphs})
