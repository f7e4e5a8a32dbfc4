"""A graph from edges read line by line, so that a bad one is named by its line."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError
from cotherm.graphs.formats.text import Lines
from cotherm.graphs.graph import Graph


def graph(lines: Lines, n: int, ends: Ints, w: Floats, name: str | None) -> Graph:
    """The graph with one edge per line; ``ends`` is (m, 2), within [0, n)."""
    i, j = ends[:, 0], ends[:, 1]
    lines.refuse_where(i == j, "two different ends for every edge", "Drop the self-loops; they carry no heat.")
    # NaN fails the comparison.
    lines.refuse_where(~((w >= 0) & (w < np.inf)), "a finite weight >= 0")
    _refuse_repeats(lines, n, i, j)
    return Graph(n, i, j, w, name=name)


def _refuse_repeats(lines: Lines, n: int, i: Ints, j: Ints) -> None:
    order, again = repeats(np.minimum(i, j) * n + np.maximum(i, j))
    if len(again):
        first, second = order[again[0]], order[again[0] + 1]
        raise CothermError(
            f"line {lines.numbers[second]}",
            f"{lines.rows[second]!r} joins the same two vertices as line {lines.numbers[first]}",
            "every pair of vertices at most once",
            "Add up or choose among the repeated weights first.",
        )


def repeats(key: Ints) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """An order that sorts the keys stably, and the places in it where the next key is the same."""
    order = np.argsort(key, kind="stable")
    return order, np.flatnonzero(np.diff(key[order]) == 0)
