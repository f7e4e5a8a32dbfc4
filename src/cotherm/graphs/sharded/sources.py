"""Where the edges of a sharded graph come from: files of which any stretch of edges can be read, and checks of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Ints
from cotherm.errors import CothermError
from cotherm.graphs.formats import header, npz
from cotherm.graphs.graph import Graph
from cotherm.graphs.sharded.buckets import EDGE
from cotherm.io import archive
from cotherm.io.array_file import ArrayFile
from cotherm.io.text import LONGEST_HEADER, excerpt

Records = NDArray[Any]


class Rows(Protocol):
    """An array of which some rows can be read: a file, or one in memory."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Its shape."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Its type."""

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Some rows."""


@dataclass(frozen=True)
class MemoryRows:
    """An array in memory."""

    values: NDArray[Any]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.values.dtype

    def read(self, start: int, stop: int) -> NDArray[Any]:
        return self.values[start:stop]


@dataclass(frozen=True)
class EdgeSource:
    """n vertices, m entries, and a way to read some of these as checked records (``buckets.EDGE``).

    ``place`` names an entry by its position. ``twice``: every edge is there from both sides, as in a matrix.
    """

    n: int
    m: int
    read: Callable[[int, int], Records]
    place: Callable[[int], str]
    name: str | None = None
    twice: bool = False
    extras: dict[str, Rows] = field(default_factory=dict)


def records(
    i: NDArray[Any], j: NDArray[Any], w: NDArray[Any], position: Ints, place: Callable[[int], str], n: int
) -> Records:
    """Checked records of edges, lower end first; those of a matrix below the diagonal keep ~position."""
    for bad, needed, advice in (
        ((i < 0) | (i >= n) | (j < 0) | (j >= n), f"vertex numbers from 0 to {n - 1}", ""),
        (i == j, "two different ends for every edge", "Drop the self-loops; they carry no heat."),
        (~((w >= 0) & (w < np.inf)), "a finite weight >= 0", ""),  # NaN fails the comparison
    ):
        if bad.any():
            e = int(np.argmax(bad))
            given = f"an edge between {i[e]} and {j[e]} of weight {w[e]}"
            raise CothermError(place(int(position[e])), given, needed, advice)
    found = np.empty(len(i), EDGE)
    found["i"], found["j"] = np.minimum(i, j), np.maximum(i, j)
    found["w"] = w + 0.0  # −0.0 becomes 0.0
    found["position"] = position
    return found


def of_graph(graph: Graph) -> EdgeSource:
    """The edges of a graph in memory."""

    def place(position: int) -> str:
        return f"edge {position}"

    def read(start: int, stop: int) -> Records:
        part = slice(start, stop)
        return records(graph.i[part], graph.j[part], graph.w[part], np.arange(start, stop), place, graph.n)

    extras: dict[str, Rows] = {one: MemoryRows(getattr(graph, one)) for one in header.extras(graph)}
    return EdgeSource(graph.n, graph.m, read, place, graph.name, extras=extras)


def of_npz(path: Path) -> EdgeSource:
    """The edges in a ``.npz`` file of write_graph, read where they are in it."""
    arrays = archive.located(path, npz.require_fields)
    present = [one for one in header.EXTRAS if one in arrays]
    head = npz.header_of(_header_text(arrays["header"]), present)
    ends = {"i": arrays["i"], "j": arrays["j"]}
    for name, kinds in (("i", "iu"), ("j", "iu"), ("w", "f")):
        if arrays[name].shape != (head.m,) or arrays[name].dtype.kind not in kinds:
            given = f"shape {arrays[name].shape} and dtype {arrays[name].dtype}"
            raise CothermError(f"{path}: {name}", given, f"{head.m} numbers, one for each edge")

    def place(position: int) -> str:
        return f"{path}: edge {position}"

    def read(start: int, stop: int) -> Records:
        i, j = (array.read(start, stop).astype(np.int64) for array in ends.values())
        w = arrays["w"].read(start, stop).astype(np.float64)
        return records(i, j, w, np.arange(start, stop), place, head.n)

    extras: dict[str, Rows] = {one: arrays[one] for one in present}
    return EdgeSource(head.n, head.m, read, place, head.name, extras=extras)


def _header_text(file: ArrayFile) -> str:
    """The text in an array of one string."""
    if file.dtype.kind != "U" or file.shape != () or file.dtype.itemsize > 4 * LONGEST_HEADER:
        raise CothermError(f"{file.path}: header", f"dtype {excerpt(str(file.dtype))}", "a text")
    return str(file.read_all().item())
