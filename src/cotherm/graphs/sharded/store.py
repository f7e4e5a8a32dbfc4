"""A sharded graph on disk: ``header.json`` and Parquet files, of which each process reads its part.

Vertices 0, …, n − 1 are cut into contiguous ranges, one for each shard. The files of shard 3 are

================================  ==========================================================================
``edges/part-00003.parquet``      i, j, w of the edges whose lower end i is in its range, i < j, sorted by (i, j)
``mirrors/part-00003.parquet``    i, j of the edges from earlier shards into its range, and e, their numbers
``vertices/part-00003.parquet``   x0, x1, …, labels, vertex_names, original: rows of its vertices, if there are any
================================  ==========================================================================

All shards one after the other give the order of all edges, in which e counts. A new version is needed whenever an old
reader would misread a new directory.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cotherm import validation
from cotherm.arrays import Floats, Indices, Ints
from cotherm.errors import CothermError, within
from cotherm.graphs.graph import MOST_VERTICES, Graph
from cotherm.graphs.validation import read_only
from cotherm.io import array_file, atomic
from cotherm.io.atomic import readable

FORMAT = "cotherm sharded graph"
VERSION = 1
FILE = "header.json"
MOST_SHARDS = 65_536
# Possible data of vertices. ``original`` holds their numbers before reordering.
EXTRAS = ("coordinates", "labels", "vertex_names", "original")
ORDERS = ("given", "cells", "partition")
COLUMNS = {"edges": {"i": "int32", "j": "int32", "w": "double"}, "mirrors": {"i": "int32", "j": "int32", "e": "int64"}}

_FIELDS = {"format", "version", "n", "m", "name", "order", "extras", "starts", "edges", "mirrors", "files", "crc32"}
_LONGEST_NAME = 10**5
# Edges read together: reading beyond a part takes at most the memory of these.
_EDGES_AT_ONCE = 2**20
# The excess of work that a process may have if parts of a graph then stay whole.
_UNEVEN = 0.05
_DAMAGED = "The directory is damaged: make it again."


@dataclass(frozen=True)
class Header:
    """The content of ``header.json``. ``files`` holds the bytes and the CRC-32 of every file."""

    n: int
    m: int
    starts: Ints
    edges: Ints
    mirrors: Ints
    files: dict[str, tuple[int, int]] = field(repr=False)
    name: str | None = None
    order: str = "given"
    extras: tuple[str, ...] = ()


def file_name(what: str, shard: int) -> str:
    """The file of a shard with its ``what``: edges, mirrors or vertices."""
    return f"{what}/part-{shard:05d}.parquet"


def render(header: Header) -> bytes:
    """The content of ``header.json``."""
    if len(header.name or "") > _LONGEST_NAME:
        raise CothermError("name", f"{len(header.name or '')} characters", f"at most {_LONGEST_NAME}, in a file")
    lists = {key: getattr(header, key).tolist() for key in ("starts", "edges", "mirrors")}
    fields: dict[str, Any] = {"format": FORMAT, "version": VERSION, **vars(header), **lists}
    fields |= {"extras": list(header.extras), "files": {name: [*header.files[name]] for name in sorted(header.files)}}
    return (json.dumps({**fields, "crc32": _checksum(fields)}) + "\n").encode("ascii")


def parse(data: bytes) -> Header:
    """The header in the content of a file; errors name its fields."""
    needed = f'a JSON object with "format": "{FORMAT}"'
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError):
        raise CothermError("content", "no JSON", needed, _DAMAGED) from None
    if not isinstance(fields, dict) or fields.get("format") != FORMAT:
        raise CothermError("content", "another kind of JSON", needed)
    if validation.integer("version", fields.get("version"), least=1) > VERSION:
        given = f"version {fields['version']} of the format"
        raise CothermError("version", given, f"version {VERSION}", "A newer cotherm wrote it: update.")
    if set(fields) != _FIELDS or fields.pop("crc32") != _checksum(fields):
        raise CothermError("content", "fields that do not fit their checksum", "a header as written", _DAMAGED)
    with suppress(TypeError, ValueError, AttributeError):  # fields of other types
        fields |= {key: np.array(fields[key]) for key in ("starts", "edges", "mirrors")}
        fields["files"] = {name: (size, crc) for name, (size, crc) in fields["files"].items()}
        fields["extras"] = tuple(fields["extras"])
        header = Header(**{key: value for key, value in fields.items() if key not in ("format", "version")})
        if _is_consistent(header):
            return header
    raise CothermError("content", "fields that contradict each other", "a header as written", _DAMAGED)


def _is_consistent(header: Header) -> bool:
    counts = (header.starts, header.edges, header.mirrors)
    shards = len(header.edges)
    folders = (*COLUMNS, *(["vertices"] if header.extras else []))
    return bool(
        type(header.n) is int
        and 1 <= header.n <= MOST_VERTICES
        and isinstance(header.name, str | None)
        and all(one.ndim == 1 and one.dtype.kind == "i" and np.all(one >= 0) for one in counts)
        and 1 <= shards <= MOST_SHARDS
        and (len(header.starts), len(header.mirrors)) == (shards + 1, shards)
        and (header.starts[0], header.starts[-1]) == (0, header.n)
        and np.all(np.diff(header.starts) >= 0)
        and type(header.m) is int
        and sum(header.edges.tolist()) == header.m >= sum(header.mirrors.tolist())
        and list(header.extras) == [one for one in EXTRAS if one in header.extras]
        and header.order in ORDERS
        and (header.order != "given") == ("original" in header.extras)
        and set(header.files) == {file_name(one, shard) for one in folders for shard in range(shards)}
        and all(type(one) is int and one >= 0 for pair in header.files.values() for one in pair)
    )


def _checksum(fields: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(fields, sort_keys=True).encode())


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
    mirror_e : ndarray of int64
        Their numbers in the order of all edges, ascending. Their weights are those of the part that owns them.
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
    number of processes may read it, each its own range; it need not be the number of shards. The edges are a Parquet
    dataset with the columns i, j and w, which Spark, DuckDB and Dask read as well.

    Examples
    --------
    >>> import cotherm as ct
    >>> import tempfile, pathlib
    >>> g = ct.Graph(4, [0, 1, 2], [1, 2, 3], [1.0, 2.0, 3.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sharded = ct.shard_graph(g, pathlib.Path(folder) / "path.shards", parts=2)
    ...     part = sharded.part(1, 2)
    ...     part.start, part.stop, part.w.tolist(), part.mirror_i.tolist()
    (2, 4, [3.0], [1])
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
        needed = "the directory of a sharded graph"
        if not place.is_dir():
            given = "no such directory" if not place.exists() else "a file"
            raise CothermError(str(place), given, needed, "`cotherm shard` makes one.")
        if not (place / FILE).is_file():
            raise CothermError(str(place), f"no {FILE} in it", f"{needed}, complete")
        with within(place / FILE):
            header = parse(atomic.load(place / FILE))
        for name, (size, _) in header.files.items():
            try:
                found = (place / name).stat().st_size
            except OSError:
                raise CothermError(str(place / name), "missing", "all files of the shards", _DAMAGED) from None
            if found != size:
                raise CothermError(str(place / name), f"{found} bytes", f"{size} bytes, as written", _DAMAGED)
        return cls(place, header)

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
        return len(self.header.edges)

    @property
    def starts(self) -> Ints:
        """First vertex of every shard, and n: shard s has the vertices starts[s], …, starts[s + 1] − 1."""
        return self.header.starts

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

    def vertex_ranges(self, size: int) -> Ints:
        """Cut the vertices into contiguous ranges with about equal numbers of vertices and ends of edges together.

        Parameters
        ----------
        size : int
            Number of ranges, one for each process. Some are empty where there are more of them than vertices.

        Returns
        -------
        ndarray of int of shape (size + 1,)
            Range r holds the vertices ranges[r], …, ranges[r + 1] − 1.
        """
        size = validation.integer("size", size, least=1)
        work = np.diff(self.starts) + self.header.edges + self.header.mirrors
        return even_cuts(work, self.starts, size, whole=self.header.order == "partition")

    def part(self, rank: int, size: int | None = None, *, ranges: ArrayLike | None = None) -> GraphPart:
        """Read the part of one process.

        Parameters
        ----------
        rank : int
            Number of the process, from 0.
        size : int, optional
            Number of processes. The ranges are then those of :meth:`vertex_ranges`.
        ranges : array_like of int of shape (size + 1,), optional
            Ranges of vertices of all processes, in place of `size`.

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
        first, own, mirrors = self._edges(start, stop)
        extras = {extra: self.read_vertices(extra, start, stop) for extra in self.header.extras}
        return GraphPart(start, stop, first, *map(read_only, own), *map(read_only, mirrors), **extras)

    def read_vertices(self, extra: str, start: int, stop: int) -> NDArray[Any]:
        """Read coordinates, labels, vertex_names or original numbers of some vertices.

        Parameters
        ----------
        extra : str
            Which of them.
        start, stop : int
            The vertices start, …, stop − 1.

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
            found = self._vertices(shard, extra)
            rows.append(found[min(max(start - low, 0), high - low) : max(min(stop, high) - low, 0)])
        return np.concatenate(rows)

    def verify(self) -> None:
        """Read everything, and refuse a graph of which any part is missing, damaged or wrong.

        Raises
        ------
        CothermError
            The first thing that is wrong.
        """
        cut = 0
        for shard in range(self.shards):
            part = self.part(shard, ranges=self.starts)
            cut += int(np.count_nonzero(part.j >= part.stop))
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
        extras = {extra: getattr(part, extra) for extra in EXTRAS if extra != "original"}
        return Graph(self.n, part.i, part.j, part.w, **extras, name=self.name)

    def _shards_of(self, start: int, stop: int) -> list[int]:
        """The shards with vertices in a range."""
        return np.flatnonzero((self.starts[:-1] < stop) & (self.starts[1:] > start)).tolist()

    def _edges(self, start: int, stop: int) -> tuple[int, list[Any], list[Any]]:
        """The number of the first own edge of a range, own edges, and mirrors by their numbers."""
        # Of an empty range the shard around it tells how many edges come before.
        shards = self._shards_of(start, max(stop, start + 1))
        first_edges = np.concatenate([[0], np.cumsum(self.header.edges)])
        first = int(first_edges[shards[0]]) if shards else self.m
        own, mirrors = [_empty("edges")], [_empty("mirrors")]
        for shard in shards:
            number = int(first_edges[shard])
            for i, j, w in self._columns("edges", shard):
                low, high = np.searchsorted(i, (start, stop)).tolist()
                first += low if shard == shards[0] else 0
                own.append([one[low:high].copy() for one in (i, j, w)])
                # Those that end in a later shard are among the mirrors there.
                into = np.flatnonzero((i < start) & (j >= start) & (j < min(stop, self.starts[shard + 1])))
                mirrors.append([i[into], j[into], number + into])
                number += len(i)
            for i, j, e in self._columns("mirrors", shard, int(first_edges[shard])):
                into = np.flatnonzero((i < start) & (j >= start) & (j < stop))
                mirrors.append([i[into], j[into], e[into]])
        found = _joined(mirrors)
        order = np.argsort(found[2], kind="stable")
        return first, _joined(own), [one[order] for one in found]

    def _columns(self, what: str, shard: int, first: int = 0) -> Iterator[list[Any]]:
        """The edges of a shard, or its mirrors, whose numbers are below ``first``: some rows at a time, checked."""
        low, high = self.starts[shard : shard + 2]
        rows, done, last = int(getattr(self.header, what)[shard]), 0, -1
        with self._opened(what, shard) as file:
            if {one.name: str(one.type) for one in file.schema_arrow} != COLUMNS[what]:
                self._refuse(what, shard, "other columns", f"the columns {', '.join(COLUMNS[what])}, as written")
            for batch in filter(len, file.iter_batches(_EDGES_AT_ONCE)):
                i, j, value = (one.to_numpy() for one in batch.columns)  # raises where a value is missing
                if what == "edges":
                    key = i.astype(np.int64) * self.n + j
                    good = (low <= i) & (i < high) & (i < j) & (j < self.n) & (value >= 0.0) & (value < np.inf)
                else:
                    key, good = value, (i >= 0) & (i < low) & (low <= j) & (j < high) & (value < first)
                if not good.all() or key[0] <= last or np.any(np.diff(key) <= 0):
                    self._refuse(what, shard, "other edges", "those of the shard, sorted, with finite weights >= 0")
                last, done = int(key[-1]), done + len(i)
                yield [i, j, value]
        if done != rows:
            self._refuse(what, shard, f"{done} rows", f"{rows}, as the header says")

    def _vertices(self, shard: int, extra: str) -> NDArray[Any]:
        """Rows of all vertices of a shard."""
        rows = int(self.starts[shard + 1] - self.starts[shard])
        with self._opened("vertices", shard) as file:
            names = [extra]
            if extra == "coordinates":
                names = [f"x{k}" for k in range(len(file.schema_arrow)) if f"x{k}" in file.schema_arrow.names]
            found = file.read(names).columns
            columns = [one.to_numpy() for one in found if not one.null_count]
        if not columns or len(columns) < len(found):
            self._refuse("vertices", shard, f"no {extra}, or missing ones", f"a row for each of {rows} vertices")
        values = np.column_stack(columns) if extra == "coordinates" else columns[0]
        values = values.astype(str) if values.dtype.kind == "O" else values
        kinds = {"coordinates": "f", "original": "i"}.get(extra, "biuU")
        if len(values) != rows or values.dtype.kind not in kinds:
            given = f"{extra} of shape {values.shape} and dtype {values.dtype}"
            self._refuse("vertices", shard, given, f"a row for each of {rows} vertices")
        return values

    @contextmanager
    def _opened(self, what: str, shard: int) -> Iterator[Any]:
        """A file of a shard whose checksum is as the header says."""
        import pyarrow.parquet

        name = file_name(what, shard)
        if array_file.checksum(self.path / name) != self.header.files[name]:
            self._refuse(what, shard, "content that does not fit its checksum", "the file as written")
        with (
            readable(self.path / name, "the file as written", "pyarrow", _DAMAGED),
            pyarrow.parquet.ParquetFile(self.path / name) as file,
        ):
            yield file

    def _refuse(self, what: str, shard: int, given: str, needed: str) -> NoReturn:
        raise CothermError(str(self.path / file_name(what, shard)), given, needed, _DAMAGED)


def _empty(what: str) -> list[Any]:
    return [np.empty(0, {"double": "float64"}.get(kind, kind)) for kind in COLUMNS[what].values()]


def _joined(blocks: list[list[Any]]) -> list[Any]:
    """Blocks of columns, one after the other; the pieces of a column are freed with it."""
    return [np.concatenate([block.pop(0) for block in blocks]) for _ in range(len(blocks[0]))]


def _checked_ranges(ranges: ArrayLike | None, n: int) -> Ints:
    array = validation.indices("ranges", () if ranges is None else ranges, below=n + 1)
    if len(array) < 2 or array[0] != 0 or array[-1] != n or np.any(np.diff(array) < 0):
        raise CothermError("ranges", validation.describe(ranges), f"ascending numbers from 0 to {n}")
    return array


def even_cuts(work: Ints, starts: Ints, parts: int, *, whole: bool = False) -> Ints:
    """Cut what starts at ``starts`` into parts of equal work, assumed to be spread evenly between these.

    With ``whole`` at one of these, if that is near enough.
    """
    ends = np.concatenate([[0.0], np.cumsum(work.astype(np.float64))])
    aims = ends[-1] * np.arange(parts + 1) / parts
    if whole:
        after = np.clip(np.searchsorted(ends, aims), 1, len(ends) - 1)
        near = np.where(aims - ends[after - 1] < ends[after] - aims, ends[after - 1], ends[after])
        aims = np.where(np.abs(near - aims) <= _UNEVEN * aims[-1] / parts, near, aims)
    cuts = np.rint(np.interp(aims, ends, starts.astype(np.float64))).astype(np.int64)
    cuts[0], cuts[-1] = 0, starts[-1]
    return cuts
