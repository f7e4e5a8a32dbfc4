"""A sharded graph on disk, of which each process reads its part: a range of vertices and all edges that touch it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cotherm import validation
from cotherm.arrays import Floats, Indices, Ints
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.graphs.sharded import header as headers
from cotherm.graphs.sharded.header import MIRROR, OWN, file_name
from cotherm.graphs.validation import read_only
from cotherm.io import array_file, atomic
from cotherm.io.array_file import ArrayFile

# Edges read together: reading beyond a part takes at most the memory of these.
_EDGES_AT_ONCE = 2**20

# The excess of work that a process may have if parts of a graph then stay whole.
_UNEVEN = 0.05
_DAMAGED = "The shard is damaged: make the directory again."


@dataclass(frozen=True)
class GraphPart:
    """A contiguous range of the vertices of a sharded graph, and all edges that touch it.

    Attributes
    ----------
    start, stop : int
        The vertices start, …, stop − 1.
    first_edge : int
        Number of the first own edge in the order of all edges of the graph; own edge e is number first_edge + e.
    i, j : ndarray of int32
        Ends of the own edges, i < j, whose lower end i is in the range; sorted by (i, j).
    w : ndarray of float64
        Their weights.
    mirror_i, mirror_j : ndarray of int32
        Ends of the other edges that touch the range: i < start ≤ j < stop.
    mirror_w : ndarray of float64
        Their weights.
    mirror_e : ndarray of int64
        Their numbers in the order of all edges, ascending.
    coordinates, labels, vertex_names, original : ndarray or None
        Rows of the vertices, where the graph has them. ``original`` are the numbers of the vertices before they were
        put in another order.

    See Also
    --------
    ShardedGraph.part : Read one.
    """

    start: int
    stop: int
    first_edge: int
    i: Indices
    j: Indices
    w: Floats
    mirror_i: Indices
    mirror_j: Indices
    mirror_w: Floats
    mirror_e: Ints
    coordinates: Floats | None = None
    labels: NDArray[Any] | None = None
    vertex_names: NDArray[Any] | None = None
    original: Ints | None = None


@dataclass(frozen=True)
class ShardedGraph:
    """A graph in a directory of shards, which no process need hold.

    Attributes
    ----------
    path : Path
        The directory.
    header : object
        What its ``header.json`` says.

    See Also
    --------
    shard_graph : Make one from a file.
    Graph : A graph in memory.

    Notes
    -----
    Vertices are cut into contiguous ranges, one for each shard, and the edges are sorted by (i, j) with i < j. Any
    number of processes may read it, each its own range; it need not be the number of shards.

    Examples
    --------
    >>> import cotherm as ct
    >>> import tempfile, pathlib
    >>> g = ct.Graph(4, [0, 1, 2], [1, 2, 3], [1.0, 2.0, 3.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sharded = ct.shard_graph(g, pathlib.Path(folder) / "path.shards", parts=2)
    ...     part = sharded.part(1, 2)
    ...     part.start, part.stop, part.w.tolist(), part.mirror_w.tolist()
    (2, 4, [3.0], [2.0])
    """

    path: Path
    header: Any = field(repr=False)  # a Header, which is not public

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> ShardedGraph:
        """Open a sharded graph: its header is read, and its files must be there with the right sizes.

        Parameters
        ----------
        path : str or path-like
            The directory.

        Returns
        -------
        ShardedGraph
            The graph.

        Raises
        ------
        CothermError
            If the directory is not a sharded graph, was written by a newer version, or lacks a file or part of one.
        """
        place = atomic.as_path(path)
        graph = cls(place, headers.read(place))
        graph._require_files()
        return graph

    @property
    def n(self) -> int:
        """Number of vertices."""
        return self.header.n

    @property
    def m(self) -> int:
        """Number of edges."""
        return self.header.m

    @property
    def name(self) -> str | None:
        """Name of the graph."""
        return self.header.name

    @property
    def shards(self) -> int:
        """Number of shards."""
        return self.header.shards

    @property
    def starts(self) -> Ints:
        """First vertex of every shard, and n: shard s has the vertices starts[s], …, starts[s + 1] − 1."""
        return self.header.starts

    @property
    def first_edges(self) -> Ints:
        """Number of the first edge of every shard in the order of all edges, and m."""
        return np.concatenate([[0], np.cumsum(self.header.edges)])

    def has(self, extra: str) -> bool:
        """Tell whether the graph has coordinates, labels, vertex_names or original numbers of vertices.

        Parameters
        ----------
        extra : str
            One of these names.

        Returns
        -------
        bool
            Whether it does.
        """
        return extra in self.header.extras

    def vertex_ranges(self, size: int, *, balance: str = "edges") -> Ints:
        """Cut the vertices into contiguous ranges, one for each process.

        Parameters
        ----------
        size : int
            Number of ranges. Some are empty where there are more of them than vertices.
        balance : {"edges", "vertices"}, default "edges"
            What is to be about equal in all: vertices and ends of edges together, as far as the sizes of shards tell,
            or vertices.

        Returns
        -------
        ndarray of int of shape (size + 1,)
            Range r holds the vertices ranges[r], …, ranges[r + 1] − 1.
        """
        size = validation.integer("size", size, least=1)
        balance = validation.choice("balance", balance, ("edges", "vertices"))
        if balance == "vertices":
            more = np.minimum(np.arange(size + 1), self.n % size)
            return np.arange(size + 1) * (self.n // size) + more
        work = np.diff(self.starts) + self.header.edges + self.header.mirrors
        total = np.concatenate([[0.0], np.cumsum(work.astype(np.float64))])
        aims = total[-1] * np.arange(size + 1) / size
        if self.header.order == "partition":
            aims = _at_parts(aims, total)
        # Work is assumed to be spread evenly within a shard.
        ranges = np.rint(np.interp(aims, total, self.starts.astype(np.float64))).astype(np.int64)
        ranges[0], ranges[-1] = 0, self.n
        return ranges

    def part(
        self, rank: int, size: int | None = None, *, ranges: ArrayLike | None = None, verify: bool = True
    ) -> GraphPart:
        """Read the part of one process.

        Parameters
        ----------
        rank : int
            Number of the process, from 0.
        size : int, optional
            Number of processes. The ranges are then those of :meth:`vertex_ranges`.
        ranges : array_like of int of shape (size + 1,), optional
            Ranges of vertices of all processes, in place of `size`.
        verify : bool, default True
            Whether to compare the checksums of the files that are read.

        Returns
        -------
        GraphPart
            The vertices and all edges that touch them.

        Raises
        ------
        CothermError
            If a shard is missing or damaged.
        """
        if (size is None) == (ranges is None):
            raise CothermError("size", "both or neither of size and ranges", "one of them")
        cuts = self.vertex_ranges(size) if size is not None else _checked_ranges(ranges, self.n)
        rank = validation.integer("rank", rank, least=0, most=len(cuts) - 2)
        start, stop = int(cuts[rank]), int(cuts[rank + 1])
        own, mirror, first = self._edges(start, stop, verify)
        extras = {extra: self.read_vertices(extra, start, stop, verify=verify) for extra in self.header.extras}
        return GraphPart(start, stop, first, *map(read_only, own), *map(read_only, mirror), **extras)

    def edge_range(self, start: int, stop: int) -> tuple[int, int]:
        """Return the numbers of the first edge that a range of vertices owns, and of the first behind them.

        Parameters
        ----------
        start, stop : int
            The vertices start, …, stop − 1.

        Returns
        -------
        tuple of int
            Both numbers, in the order of all edges.
        """
        return self._edge_number(start), self._edge_number(stop)

    def read_vertices(self, extra: str, start: int, stop: int, *, verify: bool = True) -> NDArray[Any]:
        """Read coordinates, labels, vertex_names or original numbers of some vertices.

        Parameters
        ----------
        extra : str
            Which of them.
        start, stop : int
            The vertices start, …, stop − 1.
        verify : bool, default True
            Whether to compare the checksums of the files that are read.

        Returns
        -------
        ndarray
            Their rows.
        """
        if not self.has(extra):
            raise CothermError(str(self.path), f"no {extra}", "a sharded graph that has them")
        if not 0 <= start <= stop <= self.n:
            raise CothermError("start, stop", f"{start} and {stop}", f"a range of the {self.n} vertices")
        rows = []
        for shard in self._shards_of(start, stop) or [0]:
            low, high = self.starts[shard : shard + 2].tolist()
            file = self.array(shard, extra)
            if verify:
                self.verify_file(shard, extra)
            rows.append(file.read(min(max(start - low, 0), high - low), max(min(stop, high) - low, 0)))
        return np.concatenate(rows)

    def array(self, shard: int, array: str) -> Any:
        """The file of one array of a shard, of which rows can be read.

        Parameters
        ----------
        shard : int
            Number of the shard, from 0.
        array : str
            Such as "i", "mirror_e" or "labels".

        Returns
        -------
        object
            Where the array is; its ``shape``, ``dtype`` and ``read(start, stop)`` are those of rows.
        """
        file = array_file.describe(self.path / file_name(shard, array))
        self._require_layout(shard, array, file)
        return file

    def verify_file(self, shard: int, array: str) -> None:
        """Compare the checksum of the file of an array with that in the header.

        Parameters
        ----------
        shard : int
            Number of the shard, from 0.
        array : str
            Such as "i", "mirror_e" or "labels".

        Raises
        ------
        CothermError
            If they differ.
        """
        name = file_name(shard, array)
        if array_file.checksum(self.path / name) != self.header.files[name]:
            raise CothermError(
                str(self.path / name), "content that does not fit its checksum", "the file as written", _DAMAGED
            )

    def verify(self) -> None:
        """Read everything, and refuse a graph of which any part is missing, damaged or wrong.

        Raises
        ------
        CothermError
            The first thing that is wrong.
        """
        cut = 0
        for shard in range(self.shards):
            for array in (*OWN, *MIRROR, *self.header.extras):
                self.verify_file(shard, array)
            stop = self.starts[shard + 1]
            for _, _, j, _ in self.own_blocks(shard):
                cut += int(np.count_nonzero(j >= stop))
            for _ in self.mirror_blocks(shard):
                pass
            for extra in self.header.extras:
                self.array(shard, extra)
        if cut != int(self.header.mirrors.sum()):
            given = f"{int(self.header.mirrors.sum())} mirrors of {cut} edges between shards"
            raise CothermError(str(self.path), given, "one mirror for each", _DAMAGED)

    def to_graph(self) -> Graph:
        """Read the whole graph into memory.

        Returns
        -------
        Graph
            The graph, with its edges sorted by (i, j). Vertices that were put in another order stay in it.
        """
        part = self.part(0, 1)
        return Graph(
            self.n,
            part.i,
            part.j,
            part.w,
            coordinates=part.coordinates,
            labels=part.labels,
            vertex_names=part.vertex_names,
            name=self.name,
        )

    def own_blocks(self, shard: int) -> Iterator[tuple[int, Indices, Indices, Floats]]:
        """The own edges of a shard, some at a time, checked: the number of the first within the shard, and i, j, w.

        Parameters
        ----------
        shard : int
            Number of the shard, from 0.

        Yields
        ------
        tuple
            Where the edges begin, and their ends and weights.
        """
        files = [self.array(shard, array) for array in OWN]
        low, high = self.starts[shard : shard + 2]
        last = -1
        for at in range(0, int(self.header.edges[shard]), _EDGES_AT_ONCE):
            i, j, w = (file.read(at, min(at + _EDGES_AT_ONCE, file.shape[0])) for file in files)
            key = i.astype(np.int64) * self.n + j
            good = np.all((low <= i) & (i < high) & (i < j) & (j < self.n)) and np.all((w >= 0.0) & (w < np.inf))
            if not good or key[0] <= last or np.any(np.diff(key) <= 0):
                self._refuse(shard, "i", "edges i < j within the shard's range, sorted, with finite weights >= 0")
            last = int(key[-1])
            yield at, i, j, w

    def mirror_blocks(self, shard: int) -> Iterator[tuple[Indices, Indices, Floats, Ints]]:
        """The mirrors of a shard, some at a time, checked: i, j, w and numbers of edges.

        Parameters
        ----------
        shard : int
            Number of the shard, from 0.

        Yields
        ------
        tuple
            Ends, weights and numbers of some of them.
        """
        files = [self.array(shard, array) for array in MIRROR]
        low, high = self.starts[shard : shard + 2]
        first, last = int(self.first_edges[shard]), -1
        for at in range(0, int(self.header.mirrors[shard]), _EDGES_AT_ONCE):
            i, j, w, e = (file.read(at, min(at + _EDGES_AT_ONCE, file.shape[0])) for file in files)
            good = np.all((i >= 0) & (i < low) & (low <= j) & (j < high)) and np.all((w >= 0.0) & (w < np.inf))
            if not good or e[0] <= last or e[-1] >= first or np.any(np.diff(e) <= 0):
                self._refuse(shard, "mirror_i", "edges from earlier shards to this one, sorted, with weights >= 0")
            last = int(e[-1])
            yield i, j, w, e

    def _refuse(self, shard: int, array: str, needed: str) -> None:
        raise CothermError(str(self.path / file_name(shard, array)), "other edges", needed, _DAMAGED)

    def _require_files(self) -> None:
        for name, (size, _) in self.header.files.items():
            try:
                found = (self.path / name).stat().st_size
            except OSError:
                raise CothermError(str(self.path / name), "missing", "all files of the shards", _DAMAGED) from None
            if found != size:
                raise CothermError(str(self.path / name), f"{found} bytes", f"{size} bytes, as written", _DAMAGED)

    def _require_layout(self, shard: int, array: str, file: ArrayFile) -> None:
        """Require the shape and the type of an array that the header implies."""
        if array in OWN:
            good = file.shape == (int(self.header.edges[shard]),) and file.dtype == OWN[array]
        elif array in MIRROR:
            good = file.shape == (int(self.header.mirrors[shard]),) and file.dtype == MIRROR[array]
        else:
            count = int(self.starts[shard + 1] - self.starts[shard])
            kinds = {"coordinates": "f", "original": "i"}.get(array, "biuU")
            width = 2 if array == "coordinates" else 1
            good = file.shape[0] == count and len(file.shape) == width and file.dtype.kind in kinds
        if not good:
            given = f"an array of shape {file.shape} and dtype {file.dtype}"
            raise CothermError(str(file.path), given, "as many numbers as the header says", _DAMAGED)

    def _shards_of(self, start: int, stop: int) -> list[int]:
        """The shards with vertices in a range; empty for an empty range."""
        if start >= stop:
            return []
        return np.flatnonzero((self.starts[:-1] < stop) & (self.starts[1:] > start)).tolist()

    def _edge_number(self, vertex: int) -> int:
        """How many edges have their lower end before a vertex."""
        if not 0 <= vertex <= self.n:
            raise CothermError("start, stop", f"{vertex}", f"a vertex, or {self.n} for the end")
        shards = self._shards_of(vertex, vertex + 1)
        if not shards or self.starts[shards[0]] == vertex:
            return self.m if not shards else int(self.first_edges[shards[0]])
        file, first = self.array(shards[0], "i"), int(self.first_edges[shards[0]])
        low, high = 0, file.shape[0]
        while low < high:  # bisection, a number at a time
            middle = (low + high) // 2
            if file.read(middle, middle + 1)[0] < vertex:
                low = middle + 1
            else:
                high = middle
        return first + low

    def _edges(self, start: int, stop: int, verify: bool) -> tuple[list[Any], list[Any], int]:
        """Own edges and mirrors of a range, and the number of the first own one."""
        shards = self._shards_of(start, stop)
        if verify:
            for shard in shards:
                for array in (*OWN, *MIRROR):
                    self.verify_file(shard, array)
        first, last = self.edge_range(start, stop) if shards else (self._edge_number(start),) * 2
        own = [np.empty(last - first, dtype) for dtype in OWN.values()]  # joining pieces would take it twice
        mirror: list[list[Any]] = []
        done = 0
        for shard in shards:
            for at, i, j, w in self.own_blocks(shard):
                inside = slice(*np.searchsorted(i, (start, stop)).tolist())
                count = inside.stop - inside.start
                if done + count > last - first:
                    self._refuse(shard, "i", "edges that are sorted")
                part = slice(done, done + count)
                own[0][part], own[1][part], own[2][part] = i[inside], j[inside], w[inside]
                done += count
                # Those that end in a later shard are among the mirrors there.
                into = np.flatnonzero((i < start) & (j >= start) & (j < min(stop, self.starts[shard + 1])))
                mirror.append([i[into], j[into], w[into], self.first_edges[shard] + at + into])
            for i, j, w, e in self.mirror_blocks(shard):
                into = np.flatnonzero((i < start) & (j >= start) & (j < stop))
                mirror.append([i[into], j[into], w[into], e[into]])
        return own, _in_order(mirror), first


def _in_order(blocks: list[list[Any]]) -> list[Any]:
    """Blocks of mirrors, one after the other, by the numbers of edges."""
    joined = [
        np.concatenate([np.empty(0, dtype), *(block[c] for block in blocks)]).astype(dtype, copy=False)
        for c, dtype in enumerate(MIRROR.values())
    ]
    order = np.argsort(joined[3], kind="stable")
    return [array[order] for array in joined]


def _checked_ranges(ranges: ArrayLike | None, n: int) -> Ints:
    array = validation.indices("ranges", () if ranges is None else ranges, below=n + 1)
    if len(array) < 2 or array[0] != 0 or array[-1] != n or np.any(np.diff(array) < 0):
        raise CothermError("ranges", validation.describe(ranges), f"ascending numbers from 0 to {n}")
    return array


def _at_parts(aims: Floats, ends: Floats) -> Floats:
    """Where to cut work that lies in parts joined by few edges: at the end of a part, if that is near enough."""
    after = np.clip(np.searchsorted(ends, aims), 1, len(ends) - 1)
    before = after - 1
    near = np.where(aims - ends[before] < ends[after] - aims, ends[before], ends[after])
    return np.where(np.abs(near - aims) <= _UNEVEN * aims[-1] / (len(aims) - 1), near, aims)
