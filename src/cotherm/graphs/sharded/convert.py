"""Any graph file into shards; edge lists of numbers in a stream, so that they are never in memory."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cotherm import limits, memory, validation
from cotherm.arrays import Ints
from cotherm.errors import CothermError, CothermWarning, within
from cotherm.graphs.files import read_graph
from cotherm.graphs.formats import edge_list
from cotherm.graphs.graph import MOST_VERTICES, Graph
from cotherm.graphs.sharded.number_text import head_of, number_rows
from cotherm.graphs.sharded.partition import partitioned, partitioner
from cotherm.graphs.sharded.staging import SCRATCH, staged
from cotherm.graphs.sharded.store import EXTRAS, MOST_SHARDS, ShardedGraph, even_cuts
from cotherm.graphs.sharded.writing import EDGE, Records, ShardWriter, dealt, repeated
from cotherm.graphs.sharded.writing import edges as as_records
from cotherm.graphs.validation import EACH_ONCE, checked_name
from cotherm.io import array_file, atomic
from cotherm.io.array_file import ArrayFile
from cotherm.io.atomic import unpack
from cotherm.io.kinds import PACKED, TEXT, stem_of, suffix_of
from cotherm.io.text import utf8
from cotherm.progress import track, working
from cotherm.ranks import ONE, Ranks, SharedError, from_first, require_equal, together

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
        edges = from_first(ranks, lambda: _opened(given, folder / SCRATCH))
        name = name or edges.name or (None if isinstance(given, Graph) else stem_of(given))
        _write(ranks, edges, folder, parts, order, name)
    return ShardedGraph.open(path)


class _Source(NamedTuple):
    """A graph whose m edges are records in a file, and whose rows of vertices are files too."""

    n: int
    m: int
    name: str | None
    where: str
    edges: Path
    extras: dict[str, ArrayFile]

    def read(self, start: int, stop: int) -> Records:
        return np.fromfile(self.edges, EDGE, stop - start, offset=start * EDGE.itemsize)


def _opened(given: Graph | Path, scratch: Path) -> _Source:
    """A graph, or the one in a file, ready to be read by all ranks."""
    place = scratch / "edges.bin"
    where = "source" if isinstance(given, Graph) else str(given)
    if isinstance(given, Graph):
        graph = given
    elif (suffix := suffix_of(given)) in _WHOLE:
        graph = read_graph(given)
    elif suffix not in (*TEXT, *PACKED):
        raise CothermError(where, f"suffix {suffix!r}", f"one of {', '.join((*TEXT, *PACKED, *_WHOLE))}")
    else:
        try:
            return _Source(*_parsed(given, place), where, place, {})
        except CothermError as error:
            if error.argument == str(place):  # the disk, not the text
                raise
            place.unlink(missing_ok=True)
            graph = _whole_text(given, error.given)
    with atomic.writing(place), place.open("xb") as file:
        for start in range(0, graph.m, _EDGES_AT_ONCE):
            some = slice(start, start + _EDGES_AT_ONCE)
            file.write(array_file.octets(as_records(graph.i[some], graph.j[some], graph.w[some])))
    extras = {one: scratch / f"{one}.npy" for one in EXTRAS if getattr(graph, one, None) is not None}
    for one, path in extras.items():
        array_file.save(path, getattr(graph, one))
    files = {one: array_file.describe(path) for one, path in extras.items()}
    return _Source(graph.n, graph.m, graph.name, where, place, files)


def _parsed(path: Path, place: Path) -> tuple[int, int, str | None]:
    """Write all edges of an edge list as records; numbers of vertices and edges, and the name.

    Whatever is wrong is a CothermError: the reader of whole files then says what and where, or can read it.
    """
    form = edge_list.form_of(utf8(head_of(path)))
    if form.named:
        raise CothermError(str(path), "names of vertices", "numbers")
    n = MOST_VERTICES if form.header is None else form.header.n
    m, largest = 0, -1
    with working(f"reading {path.name}"), atomic.writing(place), place.open("xb") as file:
        for rows in number_rows(path, form.columns, form.mark, form.lines):
            i, j, w = rows[:, 0], rows[:, 1], rows[:, 2] if form.columns == 3 else np.ones(len(rows))
            good = (rows[:, :2] == np.floor(rows[:, :2])).all(axis=1) & (np.minimum(i, j) >= 0) & (np.maximum(i, j) < n)
            good &= (i != j) & (w >= 0) & (w < np.inf)
            if not good.all():
                k = int(np.argmin(good))
                given = f"row {m + k}, from {i[k]:g} to {j[k]:g} of weight {w[k]:g}"
                raise CothermError(str(path), given, "an edge")
            found = as_records(i, j, w)
            file.write(array_file.octets(found))
            m, largest = m + len(found), max(largest, int(found["j"].max(initial=-1)))
    if form.header is not None:
        # A compressed file that is cut short has been refused.
        if m != form.header.m or not (path.suffix.lower() == ".gz" or _ends_its_last_line(path)):
            raise CothermError(str(path), f"{m} edges", f"{form.header.m}, as in the header")
        return n, m, form.header.name
    if not m:
        raise CothermError(str(path), "no edges", "an edge")
    edge_list.require_proportion(str(path), largest + 1, m, edge_list.ADVICE)
    return largest + 1, m, None


def _ends_its_last_line(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) in b"\r\n"


def _whole_text(path: Path, why: str) -> Graph:
    """An edge list that is not plain: between names, with comments, or wrong."""
    atomic.load(path, most=1)  # refuses what is no file with content
    size, free = path.stat().st_size, memory.available()
    if free is not None and size > free:
        needed = "two vertex numbers and perhaps a weight >= 0 in every line, in a file larger than memory"
        raise CothermError(str(path), why, needed, "Clean it first.")
    with within(path):
        return edge_list.parse(unpack(path) if path.suffix.lower() == ".gz" else atomic.load(path))


def _write(ranks: Ranks, edges: _Source, folder: Path, parts: int | None, order: str, name: str | None) -> None:
    """All shards, from edges that can be read."""
    shards = parts or max(ranks.size, -(-edges.m // limits.SHARD_EDGES))
    by: str | None = None
    with together(ranks):
        by = partitioner() if order == "partition" else None
    if order == "partition" and by is None and ranks.rank == 0:
        told = "order 'partition': this PETSc has neither ParMETIS nor PT-Scotch; the order is 'given' instead"
        warnings.warn(told, CothermWarning, stacklevel=3)
    sequence: Ints | None = None
    if by is None:
        starts = _ranges(ranks, edges, shards)
    else:
        blocks = partial(_blocks, ranks, edges, label="edges to parts")
        sequence, starts = partitioned(ranks, edges.n, blocks, shards, by, folder / SCRATCH)
    number = None if sequence is None else np.argsort(sequence).astype(np.int32)
    writer = ShardWriter(ranks, folder, starts)
    with together(ranks):
        for block in _blocks(ranks, edges, label="edges to shards"):
            writer.add(block if number is None else as_records(number[block["i"]], number[block["j"]], block["w"]))

    def each_once(records: Records) -> Records:
        again = repeated(records)
        if again.any():
            i, j, _ = records[int(np.argmax(again))]
            given = f"vertices {i} and {j} joined more than once ({int(again.sum())} repeated edges in this shard)"
            raise CothermError(edges.where, given, EACH_ONCE, "Add up or choose among the repeated weights first.")
        return records

    order = "given" if sequence is None else "partition"
    original = None if sequence is None else lambda start, stop: sequence[start:stop]
    writer.finish(each_once, edges.extras, original, name=name, order=order)


def _ranges(ranks: Ranks, edges: _Source, shards: int) -> Ints:
    """Cut the vertices into ranges with about equally many vertices and ends of edges, from a pass over all edges."""
    width = -(-edges.n // _BINS)
    counts, total = np.zeros(-(-edges.n // width), dtype=np.int64), 0.0
    with together(ranks):
        for block in _blocks(ranks, edges, label="ends of edges"):
            for end in ("i", "j"):
                counts += np.bincount(block[end] // width, minlength=len(counts))
            total += float(block["w"].sum())
    counts, total = ranks.sum(counts), ranks.sum(total)
    if not total <= np.finfo(np.float64).max / 4:  # on all ranks
        raise SharedError(edges.where, "weights whose sum overflows", "weights that can be added up", "Rescale them.")
    bins = np.minimum(np.arange(len(counts) + 1) * width, edges.n)
    return even_cuts(counts + np.diff(bins), bins, shards)


def _blocks(ranks: Ranks, edges: _Source, *, label: str) -> Iterator[Records]:
    """The records of this rank, some at a time."""
    mine = dealt(edges.m, ranks)
    starts = mine[::_EDGES_AT_ONCE]
    for start in track(starts, total=len(starts), label=label):
        yield edges.read(start, min(start + _EDGES_AT_ONCE, mine.stop))
