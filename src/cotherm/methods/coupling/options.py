"""What :func:`cotherm.couple` asks of its arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.methods.coupling.continuation import ROUTES, Stage
from cotherm.methods.coupling.result import Coupling

Edges = NDArray[np.intp]

# Up to this many vertices in every graph the paper's α does.
_SMALL, _PAPERS_ALPHA = 2_000, 1e6
# Up to this many vertices in every graph all routes are tried; above, the one that is best alone.
_ALL_ROUTES = 300
_LARGEST_SQUARE = 1e70
_LARGEST_COST = 1e140
# Largest weights whose squares, and their sums, are numbers with all their digits.
_WEIGHTS = (1e-152, 1e100)


def checked_alpha(alpha: float | str | None, largest: int) -> tuple[float | None, float]:
    """α where it is a number, or None and the least it may be."""
    if alpha is None:
        return (_PAPERS_ALPHA, 0.0) if largest <= _SMALL else (None, _PAPERS_ALPHA)
    return (None, 0.0) if is_auto("alpha", alpha) else (validation.real("alpha", alpha, positive=True), 0.0)


def is_auto(argument: str, value: Any) -> bool:
    if isinstance(value, str) and value != "auto":
        raise CothermError(argument, validation.describe(value), 'numbers, or "auto"')
    return isinstance(value, str)


def free_edges(frozen: Sequence[Any] | None, graphs: list[Graph]) -> list[Edges]:
    if frozen is None:
        return [np.arange(g.m) for g in graphs]
    if isinstance(frozen, str | np.ndarray) or not isinstance(frozen, Sequence) or len(frozen) != len(graphs):
        raise CothermError(
            "frozen",
            validation.describe(frozen),
            f"a list with None, True, a mask or edge numbers for each of {len(graphs)} graphs",
        )
    return [_free_of(f"frozen[{k}]", held, g) for k, (held, g) in enumerate(zip(frozen, graphs, strict=True))]


def _free_of(argument: str, held: Any, graph: Graph) -> Edges:
    if held is None or held is False:
        return np.arange(graph.m)
    if held is True:
        return np.arange(0)
    array = validation.as_array(argument, held)
    if array.dtype == np.bool_:
        if array.shape != (graph.m,):
            raise CothermError(argument, f"a mask of shape {array.shape}", f"one truth value per edge, {graph.m}")
        return np.flatnonzero(~array)
    return np.setdiff1d(np.arange(graph.m), validation.indices(argument, held, below=graph.m))


def routes_of(
    continuation: str | Sequence[Stage], graphs: list[Graph], *, warm: bool
) -> list[tuple[str, list[Stage] | None]]:
    """Names, with the stages where the caller gave them."""
    if isinstance(continuation, str):
        path = validation.choice("continuation", continuation, ("auto", *ROUTES))
        if path != "auto":
            return [(continuation, None)]
        if warm:
            return [("direct", None)]
        names = ROUTES if max(g.n for g in graphs) <= _ALL_ROUTES else ("times",)
        return [(name, None) for name in names]
    needed = f"one of {('auto', *ROUTES)}, or a list of cotherm.Stage"
    if not isinstance(continuation, Sequence):
        raise CothermError("continuation", validation.describe(continuation), needed)
    stages = []
    for k, stage in enumerate(continuation):
        if not isinstance(stage, Stage):
            raise CothermError(f"continuation[{k}]", validation.describe(stage), needed)
        moments = validation.times(f"continuation[{k}].times", stage.times)
        alpha = validation.real(f"continuation[{k}].alpha", stage.alpha, positive=True)
        if not isinstance(stage.robust, bool):
            raise CothermError(f"continuation[{k}].robust", validation.describe(stage.robust), "True or False")
        stages.append(Stage(tuple(moments.tolist()), alpha, stage.robust))
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
    """‖L(u) − L(w)‖² must be a number, and more than nothing."""
    largest = max(float(g.w.max(initial=0.0)) for g in graphs)
    if largest > 0.0 and not _WEIGHTS[0] <= largest <= _WEIGHTS[1]:
        needed = f"a largest weight of {_WEIGHTS[0]:.0e} to {_WEIGHTS[1]:.0e}, whose square is a number"
        raise CothermError(
            "graphs", f"weights up to {largest:.1e}", needed, "Rescale them: weights times c are times divided by c."
        )


class _CallbackError(Exception):
    """Carries an error of the caller's own function past ``refused_overflow``."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


def outside_overflow(callback: Callable[[Any], Any] | None) -> Callable[[Any], Any] | None:
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
def refused_overflow(graphs: Sequence[Graph], times: Floats) -> Iterator[None]:
    """Numbers that overflow on the way are no answer."""
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


def require_finite(columns: list[Floats], alpha: float) -> None:
    """α‖Q‖² and its square must be numbers; say whether F or α is what makes them overflow."""
    with np.errstate(over="ignore"):
        size = max(float(np.sum(F**2)) for F in columns)
    if not size < _LARGEST_SQUARE:
        raise CothermError(
            "functions", f"a sum of squares of {size:.1e}", f"less than {_LARGEST_SQUARE:.0e}", "Rescale them."
        )
    if not alpha * size**2 < _LARGEST_COST:
        raise CothermError("alpha", f"{alpha:.1e} with functions this large", f"α‖F‖⁴ below {_LARGEST_COST:.0e}")
