"""A graph from edges read line by line, so that a bad one is named by its line."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats, Indices, Ints
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.io.text import LineReader, excerpt

# Where the number of vertices is not given, a graph may have at most this many, or this many for every edge.
_FEW_VERTICES = 10**6
_VERTICES_PER_EDGE = 100


def graph(rows: LineReader, n: int, ends: Indices, w: Floats, name: str | None) -> Graph:
    """The graph with one edge per line; ``ends`` is (m, 2), within [0, n)."""
    i, j = ends[:, 0], ends[:, 1]
    rows.refuse_where(i == j, "two different ends for every edge", "Drop the self-loops; they carry no heat.")
    # NaN fails the comparison.
    rows.refuse_where(~((w >= 0) & (w < np.inf)), "a finite weight >= 0")
    _refuse_repeats(rows, n, i, j)
    return Graph(n, i, j, w, name=name)


def require_proportion(where: str, n: int, m: int, advice: str) -> None:
    """Refuse a number of vertices out of all proportion to the edges, since later steps need memory for each vertex.

    Such a file is nearly always one that numbers its vertices otherwise. Where it is meant, a header of our own says
    how many vertices there are.
    """
    if n > max(_FEW_VERTICES, _VERTICES_PER_EDGE * m):
        raise CothermError(
            where,
            f"{n} vertices and {m} edges",
            f"at most {_FEW_VERTICES} vertices, or {_VERTICES_PER_EDGE} for every edge",
            advice,
        )


def repeat(key: Ints) -> tuple[int, int] | None:
    """The first two places of the smallest key that occurs more than once; the keys are sorted in place."""
    original = key.copy()
    key.sort()
    again = key[1:] == key[:-1]
    if not again.any():
        return None
    same = original == key[np.argmax(again)]
    first = int(np.argmax(same))
    return first, first + 1 + int(np.argmax(same[first + 1 :]))


def keys(n: int, low: NDArray[np.int32], high: NDArray[np.int32]) -> Ints:
    """low · n + high, which tells pairs apart."""
    key = low.astype(np.int64)
    key *= n
    key += high
    return key


def _refuse_repeats(rows: LineReader, n: int, i: Indices, j: Indices) -> None:
    found = repeat(keys(n, np.minimum(i, j), np.maximum(i, j)))
    if found is not None:
        first, second = (rows.find(k) for k in found)
        raise CothermError(
            f"line {second.numbers[0]}",
            f"{excerpt(second.rows[0])} joins the same two vertices as line {first.numbers[0]}",
            "every pair of vertices at most once",
            "Add up or choose among the repeated weights first.",
        )
