"""Vertices with names, which errors about their edges use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from cotherm import validation
from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError, known_as
from cotherm.graphs.graph import Graph
from cotherm.interop.validation import Names, refuse_loops, refuse_negative, refuse_repeats


def named_graph(argument: str, names: Names, ends: Ints, w: Floats, *, made_up: bool = False, **more: Any) -> Graph:
    """The graph with edges ``ends`` (m, 2), numbers of names; ``argument`` is what the caller gave.

    Names that were ``made_up`` are for messages only.
    """
    if not len(names):
        raise CothermError(argument, "no vertices", "at least one vertex")
    low, high = ends.min(axis=1), ends.max(axis=1)
    refuse_loops(argument, names, low, high)
    refuse_repeats(argument, names, low, high)
    refuse_negative(names, low, high, w)
    with known_as("w", "weight"), known_as("vertex_names", argument):
        kept = None if made_up else kept_names(names)
        return Graph(len(names), ends[:, 0], ends[:, 1], w, vertex_names=kept, **more)


def kept_names(names: Names) -> list[Any]:
    """The names as a graph can hold them: all integers, or all strings, by repr for other objects."""
    if all(
        isinstance(name, int | np.integer) and not isinstance(name, bool) and abs(int(name)) < 2**63 for name in names
    ):
        return [int(name) for name in names]
    texts = [name if isinstance(name, str) and name else repr(name) for name in names]
    return texts if len(set(texts)) == len(texts) else [repr(name) for name in names]


def ends_of(pairs: Iterable[tuple[int, int]]) -> Ints:
    """Pairs of numbers as an array (m, 2), also for m = 0."""
    return np.array(list(pairs), dtype=np.int64).reshape(-1, 2)


def weights_of(values: Sequence[Any], edges: Names, attribute: str) -> Floats:
    """The weights, all 1 if no edge has one; None means an edge without weight."""
    if all(value is None for value in values):
        return np.ones(len(values))
    absent = [edge for edge, value in zip(edges, values, strict=True) if value is None]
    if absent:
        raise CothermError(
            "weight",
            f"no {attribute!r} on edge {validation.describe(absent[0])} ({len(absent)} of {len(values)} edges)",
            "a weight on every edge",
            "Name the attribute that holds it; weight=None gives every edge the weight 1.",
        )
    return validation.numeric("weight", validation.as_array("weight", values) if values else np.zeros(0), ndim=(1,))


def vertex_values(argument: str, attribute: str, values: Sequence[Any], names: Names) -> list[Any] | None:
    """The values of all vertices; None if no vertex has one, and an error if only some have."""
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
