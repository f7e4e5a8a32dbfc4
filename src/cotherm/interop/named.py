"""Vertices with names, which errors about their edges use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cotherm import validation
from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError, known_as
from cotherm.graphs.graph import Graph

Names = Sequence[Any]


def require_keys(**keys: Any) -> None:
    """Require hashable objects, which can name attributes or columns."""
    for argument, value in keys.items():
        try:
            hash(value)
        except TypeError:
            needed = "the name of an attribute or a column"
            raise CothermError(argument, validation.describe(value), needed) from None


def all_or_none(argument: str, attribute: Any, values: list[Any], owners: list[Any], needed: str) -> Any:
    """The values; None if the attribute is None or nothing has it, and an error if only some have."""
    absent = [owner for owner, value in zip(owners, values, strict=True) if value is None]
    if attribute is None or len(absent) == len(values):
        return None
    if absent:
        given = f"no {str(attribute)!r} at {validation.describe(absent[0])} ({len(absent)} of {len(values)})"
        raise CothermError(argument, given, needed)
    return values


def named_graph(argument: str, names: Names, ends: Ints, w: Floats, *, made_up: bool = False, **more: Any) -> Graph:
    """The graph with edges ``ends`` (m, 2), numbers of names; ``argument`` is what the caller gave.

    Names that were ``made_up`` are for messages only.
    """
    if not len(names):
        raise CothermError(argument, "no vertices", "at least one vertex")
    low, high = ends.min(axis=1), ends.max(axis=1)
    _, edge, count = np.unique(low * len(names) + high, return_inverse=True, return_counts=True)
    for wrong, what, where, needed, advice in (
        (low == high, "an edge", argument, "two different ends for every edge", "Drop the self-loops."),
        (count[edge] > 1, "edges", argument, "every pair of vertices at most once", "Add up or choose among them."),
        (w < 0.0, "a negative weight", "weight", "weights >= 0", ""),
    ):
        if wrong.any():
            e = int(np.argmin(w) if where == "weight" else np.argmax(wrong))
            amount = {"edges": f"{count[edge[e]]} edges", "a negative weight": f"{w[e]:g}"}.get(what, what)
            given = f"{amount} between {names[low[e]]!r} and {names[high[e]]!r} ({wrong.sum()} such edge(s))"
            raise CothermError(where, given, needed, advice)
    with known_as("w", "weight"), known_as("vertex_names", argument):
        kept = None if made_up else _kept_names(names)
        return Graph(len(names), ends[:, 0], ends[:, 1], w, vertex_names=kept, **more)


def _kept_names(names: Names) -> list[Any]:
    """The names as a graph can hold them: all integers, or all strings, by repr for other objects."""
    if all(isinstance(name, int | np.integer) and not isinstance(name, bool) for name in names):
        numbers = [int(name) for name in names]
        if max(map(abs, numbers)) < 2**63:
            return numbers
    texts = [name if isinstance(name, str) and name else repr(name) for name in names]
    return texts if len(set(texts)) == len(texts) else [repr(name) for name in names]
