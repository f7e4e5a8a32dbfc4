"""Any graph file into shards; edge lists of numbers in a stream, so that they are never in memory."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cotherm import limits, memory, validation
from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError, CothermWarning, within
from cotherm.graphs.files import read_graph
from cotherm.graphs.formats import edge_list
from cotherm.graphs.graph import MOST_VERTICES, Graph
from cotherm.graphs.sharded.number_text import NotPlainError, head_of, number_rows
from cotherm.graphs.sharded.partition import Partition, partitioned, partitioner
from cotherm.graphs.sharded.staging import SCRATCH, staged
from cotherm.graphs.sharded.store import EXTRAS, MOST_SHARDS, ShardedGraph
from cotherm.graphs.sharded.writing import EDGE, Records, ShardWriter, repeated
from cotherm.graphs.validation import checked_name
from cotherm.io import array_file, atomic
from cotherm.io.atomic import unpack
from cotherm.io.kinds import PACKED, TEXT, suffix_of
from cotherm.io.text import utf8
from cotherm.progress import track, working
from cotherm.ranks import ONE, Ranks, require_equal, together

_EDGES_AT_ONCE = 2**18
_WHOLE = (".npz", ".mtx", ".graphml")
# Where to cut the vertices is found from counts in at most this many bins.
_BINS = 2**16


def shard_graph(
    source: str | os.PathLike[str] | Graph,
    path: str | os.PathLike[str],
    parts: int | None = None,
    *,
    order: str = "given",
    name: str | None = None,
    overwrite: bool = False,
    ranks: Ranks = ONE,
) -> ShardedGraph:
    """Write a graph as shards, which processes read in part.

    Parameters
    ----------
    source : str, path-like or Graph
        The graph, or its file. An edge list of numbers (``.csv``, ``.tsv``, ``.txt``, also ``.gz``) is read in a
        stream; an edge list between names, or with comments among the edges, and ``.npz``, ``.mtx`` and ``.graphml``
        files are read whole first.
    path : str or path-like
        The directory to make, by convention with the suffix ``.shards``.
    parts : int, optional
        Number of shards. By default shards have about eight million edges each, and there is at least one for each
        rank. Any number of processes may read the result.
    order : {"given", "partition"}, default "given"
        Numbers of the vertices. With "partition" each shard is a part that PETSc's graph partitioner finds (ParMETIS
        or PT-Scotch; where PETSc has neither, the order is as given, with a warning): few edges then join different
        shards.
    name : str, optional
        Name of the graph. By default that in the file, else the name of the file.
    overwrite : bool, default False
        Whether to replace an existing directory, if cotherm wrote it.
    ranks : Ranks, optional
        The processes that do this together, see :func:`cotherm.ranks.world`. By default this one alone.

    Returns
    -------
    ShardedGraph
        The graph, opened.

    Raises
    ------
    CothermError
        If the file does not hold a graph; the message names the place in it. If the directory exists, or the disk
        is full: then nothing is left behind.

    See Also
    --------
    ShardedGraph : What can be read of it.
    shard_knn_graph : Nearest neighbors of points, as shards.

    Notes
    -----
    Memory of a streamed edge list: the edges of one shard at a time while they are sorted, about 56 bytes each, and
    some hundred megabytes. With ``order="partition"``, 24 bytes a vertex and, divided by the number of ranks, some 100
    bytes an edge. Disk: up to 48 bytes an edge until it is done, then 16 to 32.

    Edges are stored sorted by (i, j). The order of those of a :class:`Graph` is not kept.

    Examples
    --------
    >>> import cotherm as ct
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     source = pathlib.Path(folder) / "ring.csv"
    ...     ct.write_graph(ct.Graph(3, [0, 1, 0], [1, 2, 2], [1.0, 1.0, 1.0]), source)
    ...     sharded = ct.shard_graph(source, pathlib.Path(folder) / "ring.shards", parts=2)
    ...     sharded.n, sharded.m, sharded.shards
    (3, 3, 2)
    """
    order = validation.choice("order", order, ("given", "partition"))
    if parts is not None:
        parts = validation.integer("parts", parts, least=1, most=MOST_SHARDS)
    name = checked_name(name)
    given = source if isinstance(source, Graph) else atomic.as_path(source)
    require_equal(ranks, "source", None if isinstance(given, Graph) else str(given))
    require_equal(ranks, "parts", (parts, order, str(path)))
    with staged(ranks, path, overwrite=overwrite) as folder:
        edges = _of_graph(given) if isinstance(given, Graph) else _of_file(ranks, given, folder / SCRATCH)
        _write(ranks, edges, folder, parts, order, name or edges.name or _stem(given))
    return ShardedGraph.open(path)


class _Source(NamedTuple):
    """n vertices, m edges, and a way to read a stretch of these as records."""

    n: int
    m: int
    name: str | None
    where: str
    read: Callable[[int, int], Records]
    extras: dict[str, NDArray[Any]]


def _of_graph(graph: Graph, where: str = "source") -> _Source:
    """The edges of a graph in memory."""

    def read(start: int, stop: int) -> Records:
        part = slice(start, stop)
        return _records(graph.i[part], graph.j[part], graph.w[part])

    extras = {one: getattr(graph, one) for one in EXTRAS if getattr(graph, one, None) is not None}
    return _Source(graph.n, graph.m, graph.name, where, read, extras)


def _of_file(ranks: Ranks, path: Path, scratch: Path) -> _Source:
    """The edges in a file, ready to be read by all ranks; one of them parses text."""
    suffix = suffix_of(path)
    sizes: tuple[int, int, str | None] | None = None
    why = ""
    with together(ranks):
        if suffix not in (*TEXT, *PACKED, *_WHOLE):
            raise CothermError(str(path), f"suffix {suffix!r}", f"one of {', '.join((*TEXT, *PACKED, *_WHOLE))}")
        if suffix not in _WHOLE and ranks.rank == 0:
            try:
                sizes = _parsed(path, scratch / "edges.bin")
            except NotPlainError as error:
                why = str(error)
    sizes, why = ranks.share((sizes, why))
    if sizes is None:
        graph: Graph | None = None
        with together(ranks):
            graph = read_graph(path) if suffix in _WHOLE else _whole_text(path, why)
        assert graph is not None
        return _of_graph(graph, str(path))

    def read(start: int, stop: int) -> Records:
        return np.fromfile(scratch / "edges.bin", EDGE, stop - start, offset=start * EDGE.itemsize)

    n, m, name = sizes
    return _Source(n, m, name, str(path), read, {})


def _parsed(path: Path, place: Path) -> tuple[int, int, str | None]:
    """Write all edges of an edge list as records; numbers of vertices and edges, and the name.

    Whatever is wrong raises NotPlainError: the reader of whole files then says what and where, or can read it.
    """
    head = head_of(path)
    try:
        form = edge_list.form_of(utf8(head))
    except CothermError as error:
        raise NotPlainError(str(error)) from None
    if form.named:
        raise NotPlainError("names of vertices")
    n = MOST_VERTICES if form.header is None else form.header.n
    m, largest = 0, -1
    with working(f"reading {path.name}"), atomic.writing(place), place.open("xb") as file:
        for rows in number_rows(path, form.columns, form.mark, form.lines):
            i, j, w = rows[:, 0], rows[:, 1], rows[:, 2] if form.columns == 3 else np.ones(len(rows))
            good = (rows[:, :2] == np.floor(rows[:, :2])).all(axis=1) & (np.minimum(i, j) >= 0) & (np.maximum(i, j) < n)
            good &= (i != j) & (w >= 0) & (w < np.inf)
            if not good.all():
                k = int(np.argmin(good))
                raise NotPlainError(f"row {m + k}, from {i[k]:g} to {j[k]:g} of weight {w[k]:g}")
            found = _records(i, j, w)
            file.write(array_file.octets(found))
            m, largest = m + len(found), max(largest, int(found["j"].max(initial=-1)))
    if form.header is not None:
        # A compressed file that is cut short has been refused.
        if m != form.header.m or not (path.suffix.lower() == ".gz" or _ends_its_last_line(path)):
            raise NotPlainError(f"{m} edges, of {form.header.m} in the header")
        return n, m, form.header.name
    if not m:
        raise NotPlainError("no edges")
    edge_list.require_proportion(str(path), largest + 1, m, edge_list.ADVICE)
    return largest + 1, m, None


def _ends_its_last_line(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) in b"\r\n"


def _whole_text(path: Path, why: str) -> Graph:
    """An edge list that is not plain: between names, with comments, or wrong."""
    size, free = path.stat().st_size, memory.available()
    if free is not None and size > free:
        needed = "two vertex numbers and perhaps a weight >= 0 in every line, in a file larger than memory"
        raise CothermError(str(path), why, needed, "Clean it first.")
    with within(path):
        return edge_list.parse(unpack(path) if path.suffix.lower() == ".gz" else atomic.load(path))


def _records(i: NDArray[Any], j: NDArray[Any], w: Floats) -> Records:
    found = np.empty(len(i), EDGE)
    found["i"], found["j"], found["w"] = np.minimum(i, j), np.maximum(i, j), w + 0.0  # −0.0 becomes 0.0
    return found


def _write(ranks: Ranks, edges: _Source, folder: Path, parts: int | None, order: str, name: str | None) -> None:
    """All shards, from edges that can be read."""
    shards = parts or max(ranks.size, -(-edges.m // limits.SHARD_EDGES))
    found = _partition(ranks, edges, shards, folder / SCRATCH) if order == "partition" else None
    number: NDArray[np.int32] | None = None
    if found is not None:
        number = np.empty(edges.n, dtype=np.int32)
        number[found.sequence] = np.arange(edges.n, dtype=np.int32)
    starts = _ranges(ranks, edges, shards) if found is None else found.starts
    writer = ShardWriter(ranks, folder, starts)
    with together(ranks):
        for block in _blocks(ranks, edges, label="edges to shards"):
            writer.add(block if number is None else _records(number[block["i"]], number[block["j"]], block["w"]))

    def rows(start: int, stop: int) -> dict[str, NDArray[Any]]:
        if found is None:
            return {extra: values[start:stop] for extra, values in edges.extras.items()}
        chosen = found.sequence[start:stop]
        return {**{extra: values[chosen] for extra, values in edges.extras.items()}, "original": chosen}

    def each_once(records: Records) -> Records:
        again = repeated(records)
        if again.any():
            i, j, _ = records[int(np.argmax(again))]
            raise CothermError(
                edges.where,
                f"vertices {i} and {j} joined more than once ({int(again.sum())} repeated edges in this shard)",
                "every pair of vertices at most once",
                "Add up or choose among the repeated weights first.",
            )
        return records

    writer.finish(each_once, rows, name=name, order="given" if found is None else "partition")


def _partition(ranks: Ranks, edges: _Source, shards: int, scratch: Path) -> Partition | None:
    """Parts joined by few edges; None if PETSc has no partitioner."""
    with together(ranks):
        name = partitioner()
    if name is None:
        if ranks.rank == 0:
            told = "order 'partition': this PETSc has neither ParMETIS nor PT-Scotch; the order is 'given' instead"
            warnings.warn(told, CothermWarning, stacklevel=4)
        return None
    return partitioned(ranks, edges.n, lambda: _blocks(ranks, edges, label="edges to parts"), shards, name, scratch)


def _ranges(ranks: Ranks, edges: _Source, shards: int) -> Ints:
    """Cut the vertices into ranges with about equally many vertices and ends of edges, from a pass over all edges."""
    width = -(-edges.n // _BINS)
    counts, total = np.zeros(-(-edges.n // width), dtype=np.int64), 0.0
    with together(ranks):
        for block in _blocks(ranks, edges, label="ends of edges"):
            for end in ("i", "j"):
                counts += np.bincount(block[end] // width, minlength=len(counts))
            total += float(block["w"].sum())
    counts = np.sum(ranks.gather(counts), axis=0)
    everything = sum(ranks.gather(total))
    with together(ranks):
        if not everything <= np.finfo(np.float64).max / 4:
            raise CothermError(
                edges.where, "weights whose sum overflows", "weights that can be added up", "Rescale them."
            )
    # Work is assumed to be spread evenly within a bin.
    bins = np.minimum(np.arange(len(counts) + 1) * width, edges.n)
    work = np.concatenate([[0.0], np.cumsum(counts + np.diff(bins), dtype=np.float64)])
    cuts = np.rint(np.interp(work[-1] * np.arange(shards + 1) / shards, work, bins.astype(np.float64))).astype(np.int64)
    cuts[0], cuts[-1] = 0, edges.n
    return cuts


def _blocks(ranks: Ranks, edges: _Source, *, label: str) -> Iterator[Records]:
    """The records of this rank, some at a time."""
    first, last = (edges.m * (ranks.rank + k) // ranks.size for k in (0, 1))
    starts = range(first, last, _EDGES_AT_ONCE)
    for start in track(starts, total=len(starts), label=label):
        yield edges.read(start, min(start + _EDGES_AT_ONCE, last))


def _stem(given: Graph | Path) -> str | None:
    if isinstance(given, Graph):
        return given.name
    return given.name[: len(given.name) - len(suffix_of(given))] or None
