"""The checked arguments of couplings: those of all, and those of :func:`cotherm.couple`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cotherm import limits, memory, validation
from cotherm.arrays import Floats
from cotherm.engines import Engine
from cotherm.engines.interface import Pattern
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.methods.checkpoint import Checkpoint, checked_place, fingerprint_of_graphs, hashed
from cotherm.methods.coupling.continuation import HELD, ROUTES
from cotherm.methods.coupling.result import Coupling
from cotherm.methods.coupling.search import Step
from cotherm.methods.validation import is_auto, positive
from cotherm.ranks import require_equal_content

Edges = NDArray[np.intp]

# What few need, with the defaults.
RARE: Mapping[str, Any] = {
    "rigidity": None,
    "function_weights": None,
    "continuation": "auto",
    "tolerance": 1e-6,
    "max_iterations": 10_000,
    "memory": "auto",
}
_LARGEST_SQUARE = 1e70
_LARGEST_COST = 1e140
# Bounds on the largest weight for which squares and their sums keep full precision.
_WEIGHTS = (1e-152, 1e100)


def common_arguments(
    times: ArrayLike | str,
    alpha: float | str,
    max_seconds: float | None,
    callback: Callable[[Step], Any] | None,
    checkpoint: str | os.PathLike[str] | None,
    engine: Engine,
    rare: Mapping[str, Any],
) -> dict[str, Any]:
    """Those of every coupling, checked."""
    if callback is not None and not callable(callback):
        raise CothermError("callback", validation.describe(callback), "a function of one argument, or None")
    if max_seconds is not None:
        max_seconds = validation.real("max_seconds", max_seconds, positive=True)
    return {
        "times": checked_times(times),
        "alpha": None if is_auto("alpha", alpha) else validation.real("alpha", alpha, positive=True),
        "tolerance": validation.real("tolerance", rare["tolerance"], positive=True),
        "max_iterations": validation.integer("max_iterations", rare["max_iterations"], least=1),
        "max_seconds": max_seconds,
        "callback": callback,
        "checkpoint": None if checkpoint is None else checked_place(checkpoint),
        "engine": engine,
    }


@dataclass(frozen=True, eq=False, kw_only=True)
class Arguments:
    """What every coupling takes; None is "auto"."""

    # What decides about the result, and is told in its settings.
    told: ClassVar[Sequence[str]]

    times: Floats | None
    alpha: float | None
    tolerance: float
    max_iterations: int
    max_seconds: float | None
    callback: Callable[[Step], Any] | None
    checkpoint: Path | None
    engine: Engine

    def settings(self) -> dict[str, Any]:
        """What a result says about them."""
        return {**{name: _in_short(getattr(self, name)) for name in self.told}, "max_seconds": self.max_seconds}

    def in_words(self) -> dict[str, str]:
        """What decides about the result, by name: it is compared between ranks, and with a checkpoint."""
        values = {name: _in_short(getattr(self, name)) for name in self.told}
        return {name: value if isinstance(value, str) else repr(value) for name, value in values.items()}

    def given(self) -> dict[str, str]:
        """The same with the graphs and all else, in words and digests."""
        raise NotImplementedError

    def opened_checkpoint(self) -> Checkpoint | None:
        """The checkpoint of this run, with what the file holds already."""
        if self.checkpoint is None:
            return None
        return Checkpoint(self.checkpoint, self.given(), self.engine, self.engine.ranks)


def _in_short(value: Any) -> Any:
    if value is None:
        return "auto"
    return value.tolist() if isinstance(value, np.ndarray) else value


@dataclass(frozen=True, eq=False, kw_only=True)
class Numbers(Arguments):
    """Beside the graphs and what is given for them."""

    told: ClassVar = ("times", "alpha", "graph_weights", "rigidity", "continuation", "tolerance", "max_iterations")

    rigidity: Floats
    graph_weights: Floats
    continuation: str
    budget: int | None

    @classmethod
    def checked(
        cls, count: int, graph_weights: ArrayLike | None, rare: Mapping[str, Any], common: Mapping[str, Any]
    ) -> Numbers:
        """Those for ``count`` graphs; ``common`` are those of every coupling."""
        budget = rare["memory"]
        return cls(
            **common,
            rigidity=positive("rigidity", rare["rigidity"], count, "graphs"),
            graph_weights=positive("graph_weights", graph_weights, count, "graphs"),
            continuation=validation.choice("continuation", rare["continuation"], ("auto", *ROUTES)),
            budget=None if isinstance(budget, str) and budget == "auto" else memory.amount("memory", budget),
        )

    def in_words(self) -> dict[str, str]:
        return {**super().in_words(), "memory": "auto" if self.budget is None else repr(self.budget)}


@dataclass(frozen=True, eq=False, kw_only=True)
class Options(Numbers):
    """All of them, and the graphs, of which several ranks may each have a part.

    ``patterns`` and ``first_horizon`` belong to graphs in parts, and so does ``fingerprint``, what a checkpoint
    compares in place of graphs and functions. ``strength``, α in units of that of equal weight, is None where it
    depends on how the functions differ.
    """

    graphs: list[Graph]
    functions: list[Floats]
    function_weights: Floats
    free: list[Edges]
    start: list[Floats] | None
    patterns: Sequence[Pattern] | None = None
    first_horizon: float | None = None
    fingerprint: Mapping[str, str] | None = None
    strength: float | None = None

    @classmethod
    def of_graphs(
        cls,
        numbers: Numbers,
        graphs: list[Graph],
        columns: list[Floats],
        frozen: Sequence[Any] | None,
        start: Sequence[Graph] | Coupling | None,
        function_weights: ArrayLike | None,
    ) -> Options:
        """Check what is given for whole graphs."""
        checked = cls(
            **vars(numbers),
            graphs=graphs,
            functions=columns,
            function_weights=positive("function_weights", function_weights, columns[0].shape[1], "functions"),
            free=free_edges(frozen, graphs),
            start=_start_weights(start, graphs),
        )
        require_squares(graphs)
        checked.require_finite(checked.alpha or 1.0)
        return checked

    @property
    def routes(self) -> Sequence[str]:
        """Names of the routes to follow."""
        if self.continuation != "auto":
            return [self.continuation]
        if self.start is not None:
            return ["direct"]
        return ("times", "alpha", HELD) if self.largest <= limits.ALL_ROUTES else ["times"]

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

    def given(self) -> dict[str, str]:
        arrays = self.fingerprint or {
            "method": "couple",
            **fingerprint_of_graphs(self.graphs),
            **{f"functions[{k}]": hashed(F) for k, F in enumerate(self.functions)},
            "frozen": hashed(*self.free),
            "function_weights": hashed(self.function_weights),
            "start": "none" if self.start is None else hashed(*self.start),
        }
        return {**arrays, **self.in_words(), "engine": self.engine.name}

    def require_equal_ranks(self) -> None:
        """Require the same arguments on all ranks."""
        if self.engine.is_distributed:
            for name, text in {**self.given(), "max_seconds": repr(self.max_seconds)}.items():
                require_equal_content(self.engine.ranks, name, text)

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


def free_edges(frozen: Sequence[Any] | None, graphs: Sequence[Any]) -> list[Edges]:
    """Edges whose weights may change, of graphs or of parts of them."""
    if frozen is None:
        return [np.arange(g.m) for g in graphs]
    if isinstance(frozen, str | np.ndarray) or not isinstance(frozen, Sequence) or len(frozen) != len(graphs):
        raise CothermError(
            "frozen",
            validation.describe(frozen),
            f"a list with None, True, a mask or edge numbers for each of {len(graphs)} graphs",
        )
    return [_free_of(f"frozen[{k}]", fixed, g) for k, (fixed, g) in enumerate(zip(frozen, graphs, strict=True))]


def _free_of(argument: str, frozen: Any, graph: Any) -> Edges:
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


def _start_weights(start: Sequence[Graph] | Coupling | None, graphs: list[Graph]) -> list[Floats] | None:
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
