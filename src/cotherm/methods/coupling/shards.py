"""Coupling of graphs that no process holds: all ranks read their parts, couple by the same search, and write.

What differs from whole graphs: where graphs, functions and weights come from, and where the result goes.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm import limits, validation
from cotherm import ranks as processes
from cotherm.arrays import Floats
from cotherm.engines import get_engine
from cotherm.engines.petsc.engine import PetscEngine
from cotherm.errors import CothermError
from cotherm.graphs.sharded.staging import COUPLED, require_free_directory, staged
from cotherm.graphs.sharded.store import GraphPart, ShardedGraph
from cotherm.graphs.sharded.writing import write_weights
from cotherm.heat.chebyshev import chebyshev_flow, require_bound
from cotherm.heat.coupling import coupling_terms
from cotherm.io import atomic
from cotherm.methods.checkpoint import hashed
from cotherm.methods.coupling.auto import chosen_times, large_times, times_count_for
from cotherm.methods.coupling.memory import CouplingMemory, predicted, require_room
from cotherm.methods.coupling.options import RARE, Numbers, Options, free_edges
from cotherm.methods.coupling.result import CouplingOutcome
from cotherm.methods.coupling.search import Step
from cotherm.methods.coupling.shard_pairs import checked_shard_pairs, pair_rows, same_units
from cotherm.methods.coupling.shard_views import (
    ShardView,
    label_rows,
    landmark_rows,
    median_degree,
    read_view,
    start_weights,
)
from cotherm.methods.coupling.solve import judged, share_of, solve
from cotherm.methods.pairs import choice
from cotherm.methods.validation import is_auto, positive
from cotherm.ranks import Ranks, together

# What couple and couple_pairs take for sharded graphs beside their other options.
OF_SHARDS: Mapping[str, Any] = {"out": None, "overwrite": False}
# What couple_pairs takes for them, whose search is that of couple.
PAIRS_OF_SHARDS: Mapping[str, Any] = {
    **OF_SHARDS,
    **RARE,
    "n_modes": "auto",
    "graph_weights": None,
    "frozen": None,
    "start": None,
}
_EXACT = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class ShardedCoupling(CouplingOutcome):
    """Result of coupling sharded graphs, on every rank: its part of the coupled graphs, and what all ranks know.

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
    times, alpha, cost, distance, coupling_before, coupling, mismatch, optimality, seconds : float or array of float
        As for :class:`cotherm.Coupling`.
    status, history, settings, versions : str, tuple or dict
        As there.
    traffic : dict
        What this rank received from others: exchanges of rows with neighbors, sums over all ranks, and their bytes.

    See Also
    --------
    couple, couple_pairs : Return it for sharded graphs.
    Coupling : The result for graphs in memory.
    """

    graphs: tuple[ShardedGraph, ...]
    parts: tuple[GraphPart, ...] = field(repr=False)
    weights: tuple[Floats, ...] = field(repr=False)
    functions: tuple[Floats, ...] = field(repr=False)
    traffic: dict[str, int] = field(repr=False)

    def summary(self) -> dict[str, Any]:
        """Everything but arrays, as it is written beside the graphs.

        Returns
        -------
        dict
            What JSON can hold.
        """
        fields = ("alpha", "cost", "distance", "status", "optimality", "settings", "seconds", "versions")
        return {
            "graphs": [{"name": g.name, "n": g.n, "m": g.m} for g in self.graphs],
            "times": list(self.times),
            "coupling_before": self.coupling_before.tolist(),
            "coupling": self.coupling.tolist(),
            "steps": len(self.history),
            **{name: getattr(self, name) for name in fields},
        }

    def __str__(self) -> str:
        sizes = [f"  {g.name or g.path.name}: {g.n:,} vertices, {g.m:,} edges" for g in self.graphs]
        return "\n".join([*self._first_lines(), "", *sizes, "", *self._coupling_table()])


def shard_engine(engine: object) -> PetscEngine:
    """The distributed engine, which "auto" means here."""
    chosen = get_engine("petsc" if isinstance(engine, str) and engine == "auto" else engine)
    if not isinstance(chosen, PetscEngine):
        raise CothermError("engine", repr(getattr(chosen, "name", chosen)), "'petsc', for sharded graphs")
    return chosen


class ShardCoupling:
    """One coupling of sharded graphs."""

    def __init__(
        self, graphs: Sequence[Any], engine: PetscEngine, numbers: Numbers, rare: Mapping[str, Any], began: float
    ) -> None:
        """``rare`` are the options, ``began`` is the reading of ``time.perf_counter`` at the start."""
        self._engine, self._world, self._numbers, self._rare, self._began = engine, engine.ranks, numbers, rare, began
        for name, text in {**numbers.in_words(), "max_seconds": repr(numbers.max_seconds)}.items():
            processes.require_equal(self._world, name, text)
        with together(self._world):
            if len(graphs) < 2:
                raise CothermError("graphs", "one sharded graph", "two or more")
            self._graphs = [one if isinstance(one, ShardedGraph) else ShardedGraph.open(one) for one in graphs]
            if rare["out"] is not None:
                require_free_directory(rare["out"], overwrite=rare["overwrite"])
                refuse_same_places(rare["out"], self._graphs, numbers.checkpoint)
        processes.require_equal(self._world, "graphs", [_digest(one) for one in self._graphs])
        # The memory that is free before graphs are read, since the forecast includes them.
        self._free, self._in_use = engine.memory()
        self._sizes = [share_of(engine, graph.n, graph.m) for graph in self._graphs]

    def by_functions(self, functions: Any, frozen: Any, start: Any) -> ShardedCoupling:
        """Couple by functions, landmarks or labels."""
        times, choosing = self._numbers.times, self._numbers.times is None
        largest = max(graph.n for graph in self._graphs)
        count = times_count_for(largest) if times is None else int(np.sum(times > 0.0))
        self._plan(1, count, choosing=choosing)  # refuse early what cannot fit
        views = self._read()
        rows = _function_rows(self._world, self._engine, views, functions)
        omega, degree = self._function_weights(rows), median_degree(self._engine, views)
        move = 1.0 / degree if degree > 0.0 else np.inf
        if times is None:
            times = large_times(largest, move)
        if times is None:  # by graphs that are small enough to be read whole
            with together(self._world):
                wholes = [view.sharded.to_graph() for view in views]
            times = chosen_times(wholes, [self._engine.communicator.rows(F * np.sqrt(omega)) for F in rows])
        plan = self._plan(rows[0].shape[1], count, choosing=choosing)
        return self._coupled(views, rows, plan, frozen, start, {"times": times, "first_horizon": move})

    def by_pairs(self, pairs: Any, frozen: Any, start: Any) -> ShardedCoupling:
        """Couple by the smooth modes of all graphs at the items that all have, in the same units."""
        world, engine, modes = self._world, self._engine, self._rare["n_modes"]
        with together(world):
            if not is_auto("n_modes", modes):
                validation.integer("n_modes", modes, least=1, most=limits.MODES)
        processes.require_equal(world, "n_modes", modes)
        times, views = self._numbers.times, self._read()
        found = checked_shard_pairs(world, engine, views, pairs)
        smallest = min(view.sharded.n for view in views)
        modes = choice.modes_for(found.count, smallest) if modes == "auto" else int(modes)
        with together(world):
            if modes > smallest - 1:
                needed = f"at most {smallest - 1}, one less than the smallest graph has vertices"
                raise CothermError("n_modes", str(modes), needed)
        count = 1 if times is None else int(np.sum(times > 0.0))
        plan = self._plan(modes * len(views), count, modes=modes)  # refuse what cannot fit before modes are computed
        views, units, degree = same_units(engine, views)
        rows = pair_rows(world, engine, views, found, modes)
        changed = {
            "times": np.array([1.0 / degree]) if times is None else times,
            "first_horizon": 1.0 / degree,
            "strength": choice.strength_by_own_edges(len(views), found.part(views)),
            # With such functions all routes led to the same minimum, and the direct one in the fewest steps.
            "continuation": "direct" if self._numbers.continuation == "auto" else self._numbers.continuation,
        }
        settings = {"n_modes": modes, "items": found.count, "units": units.tolist()}
        return self._coupled(views, rows, plan, frozen, start, changed, units, {"pairs": found.items}, settings)

    def _read(self) -> list[ShardView]:
        """Read the parts of this rank; from now on they count in the forecast, with what is adjacent on other ranks.

        Of small graphs dense modes and times are computed from the whole.
        """
        views = [read_view(self._world, self._engine, one) for one in self._graphs]
        for k, view in enumerate(views):
            if view.sharded.n > limits.DENSE:
                self._sizes[k] = view.rows + view.pattern.halo.count, max(len(view.part.w), 1)
        return views

    def _plan(self, q: int, count: int, *, choosing: bool = False, modes: int = 0) -> CouplingMemory:
        """Plan for ``q`` functions and ``count`` times; refuses what does not fit, on all ranks."""
        needs = predicted(self._sizes, q, count, self._engine, choosing=choosing, modes=modes)
        needs = replace(needs, in_use=self._in_use)
        return require_room(needs, self._numbers.budget, self._engine, free=self._free)

    def _function_weights(self, rows: Sequence[Floats]) -> Floats:
        with together(self._world):
            return positive("function_weights", self._rare["function_weights"], rows[0].shape[1], "functions")

    def _coupled(
        self,
        views: Sequence[ShardView],
        rows: Sequence[Floats],
        plan: CouplingMemory,
        frozen: Any,
        start: Any,
        changed: Mapping[str, Any],
        units: Floats | None = None,
        compared: Mapping[str, Sequence[NDArray[Any]]] = MappingProxyType({}),
        settings: Mapping[str, Any] = MappingProxyType({}),
    ) -> ShardedCoupling:
        """Couple in the units of the views, with ``changed`` options; a checkpoint compares what is ``compared``."""
        world, engine = self._world, self._engine
        scales = np.ones(len(views)).tolist() if units is None else units.tolist()
        begin = start_weights(world, views, start)
        with together(world):
            free = free_edges(frozen, [view.graph for view in views])
        omega = self._function_weights(rows)
        arrays = {**compared, "functions": rows, "function_weights": [omega], "free": free, "start": begin or []}
        options = Options(
            **{**vars(self._numbers), "callback": _in_units(self._numbers.callback, scales), **changed},
            graphs=[view.graph for view in views],  # type: ignore[misc]
            functions=list(rows),
            function_weights=omega,
            free=free,
            start=None if begin is None else [w / scale for w, scale in zip(begin, scales, strict=True)],
            patterns=[view.pattern for view in views],
            fingerprint=self._fingerprint(arrays),
        )
        solution = solve(options, self._began, plan)
        before, after = (
            self._correlations(options, views, weights) for weights in ([v.graph.w for v in views], solution.weights)
        )
        errors = np.sqrt(coupling_terms(before, np.ones(len(views))))
        size = max(float(world.sum(np.sum(omega * F**2))) for F in rows)
        more = {"memory": plan.derivatives, "forecast": plan.added, "ranks": world.size, **settings}
        result = ShardedCoupling(
            graphs=tuple(self._graphs),
            parts=tuple(view.part for view in views),
            weights=tuple(w * one for w, one in zip(solution.weights, scales, strict=True)),
            functions=tuple(rows),
            mismatch=solution.mismatch,
            **judged(options, solution, errors, after, size, more),
            seconds=time.perf_counter() - self._began,
            traffic=asdict(engine.communicator.traffic),
        )
        return result if self._rare["out"] is None else self._written(result)

    def _fingerprint(self, arrays: Mapping[str, Sequence[NDArray[Any]]]) -> dict[str, str]:
        """What a checkpoint compares: digests of all ranks' parts."""
        found = {"method": "shards", **{f"graphs[{k}]": f"sha256:{_digest(one)}" for k, one in enumerate(self._graphs)}}
        for name, some in arrays.items():
            for k, x in enumerate(some):
                told = "".join(self._world.gather(hashed(x)))
                found[f"{name}[{k}]"] = hashed(np.frombuffer(told.encode(), np.uint8))
        return found

    def _correlations(self, options: Options, views: Sequence[ShardView], weights: Sequence[Floats]) -> Floats:
        """Q(t) of every graph, (graphs, times, q, q), at some weights."""
        engine, found = self._engine, []
        for view, F, w in zip(views, options.functions, weights, strict=True):
            matrix = require_bound(engine.laplacian(view.pattern, engine.edge_rows(view.pattern, w)))
            half = chebyshev_flow(matrix, engine.vertex_rows(view.pattern, F), 0.5 * np.asarray(options.times), _EXACT)
            Q = engine.to_numpy(half.transpose(0, 2, 1) @ half)
            found.append(0.5 * (Q + Q.transpose(0, 2, 1)))
        return np.array(found)

    def _written(self, result: ShardedCoupling) -> ShardedCoupling:
        """The coupled graphs and the summary, in one step."""
        world, out = self._world, self._rare["out"]
        with staged(world, out, overwrite=self._rare["overwrite"]) as folder:
            for k, (graph, part, u) in enumerate(zip(result.graphs, result.parts, result.weights, strict=True)):
                write_weights(world, folder / str(k), graph, part, u)
            with together(world):
                if world.rank == 0:
                    content = json.dumps(result.summary(), indent=1).encode()
                    atomic.save(folder / COUPLED, content, overwrite=False)
        with together(world):
            return replace(
                result, graphs=tuple(ShardedGraph.open(Path(out) / str(k)) for k in range(len(result.graphs)))
            )


def refuse_same_places(out: Any, graphs: Sequence[ShardedGraph], checkpoint: Path | None) -> None:
    """Refuse a result that would replace a graph, or the checkpoint, which is deleted after it is written."""
    place = atomic.as_path(out)
    for k, graph in enumerate(graphs):
        if atomic.same_place(graph.path, place):
            raise CothermError("out", f"{place}, which is graphs[{k}]", "another name")
    if checkpoint is not None and any(
        atomic.same_place(one, place) for one in (checkpoint, *atomic.real_path(checkpoint).parents)
    ):
        raise CothermError("checkpoint", f"{checkpoint}, which is out or in it", "another place")


def _digest(graph: ShardedGraph) -> str:
    """A digest of the header, which has the checksums of all files."""
    return hashlib.sha256((graph.path / "header.json").read_bytes()).hexdigest()[:16]


def _in_units(callback: Callable[[Step], Any] | None, units: Sequence[float]) -> Callable[[Step], Any] | None:
    """The callback, for steps whose weights are those of scaled graphs."""
    if callback is None:
        return None
    return lambda step: callback(
        replace(step, weights=tuple(w * unit for w, unit in zip(step.weights, units, strict=True)))
    )


def _function_rows(ranks: Ranks, engine: PetscEngine, views: Sequence[ShardView], functions: Any) -> list[Floats]:
    """Rows of this rank's part of every graph."""
    by_landmarks = isinstance(functions, Mapping)
    kind = "landmarks" if by_landmarks else functions if isinstance(functions, str) else "arrays"
    processes.require_equal(ranks, "functions", kind)
    if by_landmarks:
        with together(ranks):
            table = _checked_landmarks(functions, views)
        processes.require_equal(ranks, "landmarks", table.tolist())
        return [landmark_rows(engine, view, table[:, k]) for k, view in enumerate(views)]
    if isinstance(functions, str) and functions == "labels":
        return label_rows(ranks, engine, views)
    with together(ranks):
        if isinstance(functions, str | np.ndarray) or not hasattr(functions, "__len__") or len(functions) != len(views):
            needed = f'one array or .npy file for each of {len(views)} graphs, "labels", or {{"landmarks": vertices}}'
            raise CothermError("functions", validation.describe(functions), needed)
        rows = [_rows(f"functions[{k}]", one, view) for k, (one, view) in enumerate(zip(functions, views, strict=True))]
    widths = ranks.gather([F.shape[1] for F in rows])
    with together(ranks):
        if any(set(one) != {widths[0][0]} for one in widths) or not widths[0][0]:
            raise CothermError("functions", f"{widths} functions", "the same number on every graph, at least one")
    return rows


def _checked_landmarks(functions: Mapping[str, Any], views: Sequence[ShardView]) -> NDArray[np.intp]:
    if set(functions) != {"landmarks"}:
        raise CothermError("functions", f"a dict of {', '.join(map(str, functions))}", '{"landmarks": vertices}')
    table = np.atleast_2d(validation.as_array("landmarks", functions["landmarks"]))
    if table.ndim != 2 or table.shape[1] != len(views) or not len(table):
        raise CothermError("landmarks", f"shape {table.shape}", f"a row for each landmark, {len(views)} columns")
    columns = [
        validation.indices(f"landmarks[:, {k}]", table[:, k], below=view.sharded.n) for k, view in enumerate(views)
    ]
    return np.column_stack(columns)


def _rows(argument: str, given: Any, view: ShardView) -> Floats:
    """The rows of this rank, or those of them in a .npy file with a row for each vertex as the graph was given."""
    if not isinstance(given, str | os.PathLike):
        return validation.functions(argument, given, view.rows)
    path = Path(given)
    try:
        table = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise CothermError(str(path), str(error), "a .npy file of numbers") from None
    if table.ndim != 2 or len(table) != view.sharded.n:
        raise CothermError(str(path), f"shape {table.shape}", f"a row for each of {view.sharded.n} vertices")
    rows = table[view.part.start : view.part.stop] if view.part.original is None else table[view.part.original]
    return validation.functions(str(path), np.array(rows), view.rows)
