"""Vertices with names: what is wrong with their edges is said in those names."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cotherm import validation
from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError, known_as
from cotherm.graphs.graph import Graph

Names = Sequence[Any]


def named_graph(argument: str, names: Names, ends: Ints, w: Floats, **more: Any) -> Graph:
    """The graph with edges ``ends`` (m, 2), numbers of names; ``argument`` is what the caller gave."""
    if not len(names):
        raise CothermError(argument, "no vertices", "at least one vertex")
    low, high = ends.min(axis=1), ends.max(axis=1)
    _refuse_loops(argument, names, low, high)
    _refuse_repeats(argument, names, low, high)
    _refuse_negative(names, low, high, w)
    with known_as("w", "weight"):
        return Graph(len(names), ends[:, 0], ends[:, 1], w, **more)


def ends_of(pairs: Iterable[tuple[int, int]]) -> Ints:
    """Pairs of numbers as an array (m, 2), also where there are none."""
    return np.array(list(pairs), dtype=np.int64).reshape(-1, 2)


def weights_of(values: Sequence[Any], edges: Names, attribute: str) -> Floats:
    """The weights, where every edge has one; None stands for one that has not."""
    absent = [edge for edge, value in zip(edges, values, strict=True) if value is None]
    if absent:
        raise CothermError(
            "weight",
            f"no {attribute!r} on edge {validation.describe(absent[0])} ({len(absent)} of {len(values)} edges)",
            "a weight on every edge",
            "Name the attribute that holds it; weight=None gives every edge the weight 1.",
        )
    return validation.numeric("weight", np.array(values) if values else np.zeros(0), ndim=(1,))


def vertex_values(argument: str, attribute: str, values: Sequence[Any], names: Names) -> list[Any] | None:
    """What every vertex has, or None where none has; an error where only some have."""
    absent = [name for name, value in zip(names, values, strict=True) if value is None]
    if len(absent) == len(values):
        return None
    if absent:
        raise CothermError(
            argument,
            f"no {attribute!r} at vertex {validation.describe(absent[0])} ({len(absent)} of {len(values)} vertices)",
            "one at every vertex, or at none",
            f"{argument}=None leaves them out.",
        )
    return list(values)


def checked_names(names: Iterable[Hashable] | ArrayLike | None, n: int) -> list[Any]:
    """n different names; by default the numbers from 0."""
    if names is None:
        return list(range(n))
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise CothermError("names", validation.describe(names), f"{n} names, one per vertex")
    given = [name.item() if isinstance(name, np.generic) else name for name in names]
    if len(given) != n:
        raise CothermError("names", f"{len(given)} names", f"one per vertex, {n}")
    try:
        different = len(set(given))
    except TypeError:
        raise CothermError("names", "a name that cannot be hashed", "names such as strings or numbers") from None
    if different != n:
        raise CothermError("names", f"{different} different names", f"{n}, a name of its own for every vertex")
    return given


def _refuse_loops(argument: str, names: Names, low: Ints, high: Ints) -> None:
    loops = np.flatnonzero(low == high)
    if len(loops):
        raise CothermError(
            argument,
            f"an edge from {names[low[loops[0]]]!r} to itself ({len(loops)} such edge(s))",
            "two different ends for every edge",
            "Drop the self-loops; they carry no heat.",
        )


def _refuse_repeats(argument: str, names: Names, low: Ints, high: Ints) -> None:
    pair, count = np.unique(low * len(names) + high, return_counts=True)
    repeated = np.flatnonzero(count > 1)
    if len(repeated):
        a, b = divmod(int(pair[repeated[0]]), len(names))
        raise CothermError(
            argument,
            f"{count[repeated[0]]} edges between {names[a]!r} and {names[b]!r} ({len(repeated)} such pair(s))",
            "every pair of vertices at most once",
            "Add up or choose among the repeated weights first.",
        )


def _refuse_negative(names: Names, low: Ints, high: Ints, w: Floats) -> None:
    if len(w) and w.min() < 0.0:
        e = int(np.argmin(w))
        raise CothermError(
            "weight",
            f"{w[e]:g} between {names[low[e]]!r} and {names[high[e]]!r} ({int(np.sum(w < 0.0))} negative weight(s))",
            "weights >= 0",
        )
