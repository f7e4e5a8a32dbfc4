"""The arguments of :func:`cotherm.couple`, checked."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cotherm import limits, memory, validation
from cotherm.arrays import Floats
from cotherm.engines import Engine
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.heat.validation import checked_views
from cotherm.methods.checkpoint import Checkpoint, checked_place, fingerprint_of_graphs, hashed, ranks_of
from cotherm.methods.coupling.continuation import HELD, ROUTES, Stage
from cotherm.methods.coupling.result import Coupling
from cotherm.methods.coupling.search import Step
from cotherm.methods.validation import is_auto, options_of, positive

Edges = NDArray[np.intp]
Route = tuple[str, list[Stage] | None]

# What few need, with the defaults.
RARE: Mapping[str, Any] = {
    "rigidity": None,
    "function_weights": None,
    "continuation": "auto",
    "tolerance": 1e-6,
    "max_iterations": 2_000,
    "memory": "auto",
    "precision": "float64",
}
_LARGEST_SQUARE = 1e70
_LARGEST_COST = 1e140
# Bounds on the largest weight for which squares and their sums keep full precision.
_WEIGHTS = (1e-152, 1e100)


@dataclass(frozen=True, eq=False)
class Options:
    """Checked arguments; ``times``, ``alpha`` and ``budget`` are None for "auto"."""

    graphs: list[Graph]
    functions: list[Floats]
    times: Floats | None
    alpha: float | None
    free: list[Edges]
    rigidity: Floats
    graph_weights: Floats
    function_weights: Floats
    continuation: str | Sequence[Stage]
    routes: list[Route]
    start: list[Floats] | None
    tolerance: float
    max_iterations: int
    max_seconds: float | None
    budget: int | None
    precision: str
    callback: Callable[[Step], Any] | None
    engine: Engine
    checkpoint: Path | None

    @classmethod
    def checked(
        cls,
        graphs: Sequence[Graph],
        functions: Sequence[ArrayLike],
        times: ArrayLike | str,
        alpha: float | str,
        *,
        frozen: Sequence[Any] | None,
        graph_weights: ArrayLike | None,
        start: Sequence[Graph] | Coupling | None,
        max_seconds: float | None,
        callback: Callable[[Step], Any] | None,
        engine: Engine,
        checkpoint: str | os.PathLike[str] | None,
        options: Mapping[str, Any] | None,
    ) -> Options:
        """Check the arguments of couple."""
        rare = options_of(options, RARE)
        graphs, columns = checked_views(graphs, functions)
        begin = start_weights(start, graphs)
        checked = cls(
            graphs=graphs,
            functions=columns,
            times=checked_times(times),
            alpha=None if is_auto("alpha", alpha) else validation.real("alpha", alpha, positive=True),
            free=free_edges(frozen, graphs),
            rigidity=positive("rigidity", rare["rigidity"], len(graphs), "graphs"),
            graph_weights=positive("graph_weights", graph_weights, len(graphs), "graphs"),
            function_weights=positive("function_weights", rare["function_weights"], columns[0].shape[1], "functions"),
            tolerance=validation.real("tolerance", rare["tolerance"], positive=True),
            max_iterations=validation.integer("max_iterations", rare["max_iterations"], least=1),
            max_seconds=checked_seconds(max_seconds),
            budget=checked_budget(rare["memory"]),
            precision=checked_precision(rare["precision"]),
            start=begin,
            continuation=rare["continuation"],
            routes=routes_of(rare["continuation"], graphs, warm=begin is not None),
            callback=checked_callback(callback),
            engine=engine,
            checkpoint=None if checkpoint is None else checked_place(checkpoint),
        )
        require_squares(graphs)
        checked.require_finite(checked.alpha or 1.0)
        return checked

    @property
    def weighted_functions(self) -> list[Floats]:
        """The functions times the roots of their weights, so that Q contains the weights of all pairs."""
        return [F * np.sqrt(self.function_weights) for F in self.functions]

    @property
    def largest(self) -> int:
        """The number of vertices of the largest graph."""
        return max(g.n for g in self.graphs)

    @property
    def sizes(self) -> list[tuple[int, int]]:
        """Vertices and free edges of every graph."""
        return [(g.n, len(edges)) for g, edges in zip(self.graphs, self.free, strict=True)]

    def require_equal_ranks(self) -> None:
        """Require the same arguments on all ranks."""
        same = self.engine.require_equal
        same("graphs", *(array for g in self.graphs for array in (np.array(g.n), g.i, g.j, g.w)))
        same("functions", *self.functions)
        same("times", "auto" if self.times is None else self.times)
        same("alpha", "auto" if self.alpha is None else self.alpha)
        same("frozen", *self.free)
        same("rigidity", self.rigidity)
        same("graph_weights", self.graph_weights)
        same("function_weights", self.function_weights)
        same("continuation", repr(self.continuation))
        same("start", *([] if self.start is None else self.start))
        same("tolerance", self.tolerance)
        same("max_iterations", self.max_iterations)
        same("max_seconds", repr(self.max_seconds))
        same("memory", repr(self.budget))
        same("precision", self.precision)

    def opened_checkpoint(self) -> Checkpoint | None:
        """The checkpoint of this run, with what the file holds already."""
        if self.checkpoint is None:
            return None
        given = {
            "method": "couple",
            **fingerprint_of_graphs(self.graphs),
            **{f"functions[{k}]": hashed(F) for k, F in enumerate(self.functions)},
            "times": "auto" if self.times is None else repr(self.times.tolist()),
            "alpha": "auto" if self.alpha is None else repr(self.alpha),
            "frozen": hashed(*self.free),
            "rigidity": repr(self.rigidity.tolist()),
            "graph_weights": repr(self.graph_weights.tolist()),
            "function_weights": hashed(self.function_weights),
            "continuation": repr(self.routes),
            "start": "none" if self.start is None else hashed(*self.start),
            "tolerance": repr(self.tolerance),
            "max_iterations": repr(self.max_iterations),
            "memory": "auto" if self.budget is None else repr(self.budget),
            "precision": self.precision,
            "engine": self.engine.name,
        }
        return Checkpoint(self.checkpoint, given, self.engine, ranks_of(self.engine))

    def require_finite(self, alpha: float) -> None:
        """α‖Q‖² and its square must be finite; say whether F or α makes them overflow."""
        alpha *= float(self.graph_weights.sum()) ** 2
        with np.errstate(over="ignore"):
            size = max(float(np.sum(F**2)) for F in self.weighted_functions)
        if not size < _LARGEST_SQUARE:
            raise CothermError(
                "functions", f"a sum of squares of {size:.1e}", f"less than {_LARGEST_SQUARE:.0e}", "Rescale them."
            )
        if not alpha * size**2 < _LARGEST_COST:
            raise CothermError("alpha", f"{alpha:.1e} with functions this large", f"α‖F‖⁴ below {_LARGEST_COST:.0e}")


def checked_times(times: ArrayLike | str) -> Floats | None:
    """The times, or None for "auto"."""
    return None if is_auto("times", times) else validation.times("times", times)


def checked_precision(precision: str) -> str:
    return validation.choice("precision", precision, ("float64", "float32"))


def checked_budget(budget: Any) -> int | None:
    """The bytes of memory that may be used; None for "auto", those that are free."""
    return None if isinstance(budget, str) and budget == "auto" else memory.amount("memory", budget)


def checked_callback(callback: Any) -> Callable[[Step], Any] | None:
    if callback is not None and not callable(callback):
        raise CothermError("callback", validation.describe(callback), "a function of one argument, or None")
    return callback


def checked_seconds(max_seconds: object) -> float | None:
    """The seconds that a search may take; None for any number."""
    return None if max_seconds is None else validation.real("max_seconds", max_seconds, positive=True)


def free_edges(frozen: Sequence[Any] | None, graphs: list[Graph]) -> list[Edges]:
    if frozen is None:
        return [np.arange(g.m) for g in graphs]
    if isinstance(frozen, str | np.ndarray) or not isinstance(frozen, Sequence) or len(frozen) != len(graphs):
        raise CothermError(
            "frozen",
            validation.describe(frozen),
            f"a list with None, True, a mask or edge numbers for each of {len(graphs)} graphs",
        )
    return [_free_of(f"frozen[{k}]", fixed, g) for k, (fixed, g) in enumerate(zip(frozen, graphs, strict=True))]


def _free_of(argument: str, frozen: Any, graph: Graph) -> Edges:
    if frozen is None or frozen is False:
        return np.arange(graph.m)
    if frozen is True:
        return np.arange(0)
    array = validation.as_array(argument, frozen)
    if array.dtype == np.bool_:
        if array.shape != (graph.m,):
            raise CothermError(argument, f"a mask of shape {array.shape}", f"one truth value per edge, {graph.m}")
        return np.flatnonzero(~array)
    return np.setdiff1d(np.arange(graph.m), validation.indices(argument, frozen, below=graph.m))


def routes_of(continuation: str | Sequence[Stage], graphs: list[Graph], *, warm: bool) -> list[Route]:
    """Names of routes, with the stages if the caller gave them."""
    if isinstance(continuation, str):
        continuation = validation.choice("continuation", continuation, ("auto", *ROUTES))
        if continuation != "auto":
            return [(continuation, None)]
        if warm:
            return [("direct", None)]
        names = ("times", "alpha", HELD) if max(g.n for g in graphs) <= limits.ALL_ROUTES else ("times",)
        return [(name, None) for name in names]
    needed = f"one of {('auto', *ROUTES)}, or a list of cotherm.Stage"
    if not isinstance(continuation, Sequence):
        raise CothermError("continuation", validation.describe(continuation), needed)
    stages = []
    for k, stage in enumerate(continuation):
        if not isinstance(stage, Stage):
            raise CothermError(f"continuation[{k}]", validation.describe(stage), needed)
        times = validation.times(f"continuation[{k}].times", stage.times)
        alpha = validation.real(f"continuation[{k}].alpha", stage.alpha, positive=True)
        if not isinstance(stage.robust, bool):
            raise CothermError(f"continuation[{k}].robust", validation.describe(stage.robust), "True or False")
        stages.append(Stage(tuple(times.tolist()), alpha, stage.robust))
    return [("given", stages)]


def start_weights(start: Sequence[Graph] | Coupling | None, graphs: list[Graph]) -> list[Floats] | None:
    if start is None:
        return None
    given = start.graphs if isinstance(start, Coupling) else start
    needed = f"{len(graphs)} graphs with the same edges as graphs, or a Coupling of them"
    if not isinstance(given, Sequence) or len(given) != len(graphs):
        raise CothermError("start", validation.describe(start), needed)
    for k, (new, old) in enumerate(zip(given, graphs, strict=True)):
        if not isinstance(new, Graph):
            raise CothermError(f"start[{k}]", validation.describe(new), "a cotherm.Graph")
        if new.n != old.n or not (np.array_equal(new.i, old.i) and np.array_equal(new.j, old.j)):
            raise CothermError(f"start[{k}]", f"other edges than graphs[{k}]", needed)
    return [g.w for g in given]


def require_squares(graphs: Sequence[Graph]) -> None:
    """‖L(u) − L(w)‖² must be finite and not vanish."""
    largest = max(float(g.w.max(initial=0.0)) for g in graphs)
    if largest > 0.0 and not _WEIGHTS[0] <= largest <= _WEIGHTS[1]:
        needed = f"a largest weight of {_WEIGHTS[0]:.0e} to {_WEIGHTS[1]:.0e}, whose square is a number"
        raise CothermError(
            "graphs", f"weights up to {largest:.1e}", needed, "Rescale them: weights times c are times divided by c."
        )
