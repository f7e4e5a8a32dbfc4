"""Any graph file into shards, in a stream: the graph itself is never in memory, however large it is."""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from cotherm import limits, validation
from cotherm.arrays import Indices, Ints
from cotherm.errors import CothermError, CothermWarning, within
from cotherm.graphs.files import read_graph
from cotherm.graphs.graph import Graph
from cotherm.graphs.sharded import merging, vertex_rows
from cotherm.graphs.sharded.assembly import Files, assemble, dealt
from cotherm.graphs.sharded.buckets import EDGE, Buckets, shard_of
from cotherm.graphs.sharded.curve import curve_order
from cotherm.graphs.sharded.header import EXTRAS, MOST_SHARDS
from cotherm.graphs.sharded.partition import Partition, partitioned, partitioner
from cotherm.graphs.sharded.ranges import EndCounts
from cotherm.graphs.sharded.sources import EdgeSource, MemoryRows, Records, Rows, of_graph, of_npz
from cotherm.graphs.sharded.staging import OVERWRITE, staged
from cotherm.graphs.sharded.store import ShardedGraph
from cotherm.graphs.sharded.text_edges import NamedVerticesError, edge_list_form, matrix_form, spilled
from cotherm.graphs.validation import checked_name
from cotherm.io import array_file, atomic
from cotherm.io.kinds import PACKED, TEXT, suffix_of
from cotherm.progress import track
from cotherm.ranks import ONE, Ranks, require_equal, together

_EDGES_AT_ONCE = 2**18
MATRICES = (".mtx", ".mtx.gz")
STREAMED = (".npz", *TEXT, *PACKED, *MATRICES)
READ_WHOLE = (".graphml",)
# The folder within the new directory for unfinished shards and their input.
_SCRATCH = "scratch"


def shard_graph(
    source: str | os.PathLike[str] | Graph,
    path: str | os.PathLike[str],
    parts: int | None = None,
    *,
    order: str = "given",
    name: str | None = None,
    overwrite: bool = False,
    advice: str = OVERWRITE,
    ranks: Ranks = ONE,
) -> ShardedGraph:
    """Write a graph as shards, which processes read in part.

    Parameters
    ----------
    source : str, path-like or Graph
        The graph: a ``.npz`` file of :func:`cotherm.write_graph`, an edge list (``.csv``, ``.tsv``, ``.txt``, also
        ``.gz``) or a Matrix Market file (``.mtx``, also ``.gz``). These are read in a stream. A ``.graphml`` file and
        an edge list between names are read whole first.
    path : str or path-like
        The directory to make, by convention with the suffix ``.shards``.
    parts : int, optional
        Number of shards. By default shards have about eight million edges each, and there is at least one for each
        rank. Any number of processes may read the result.
    order : {"given", "curve", "partition"}, default "given"
        Numbers of the vertices. "curve" renumbers them along a space-filling curve through their coordinates, which
        they must have: few edges then join different shards. "partition" needs no coordinates: each shard is a part
        that PETSc's graph partitioner finds (ParMETIS or PT-Scotch; where PETSc has neither, the order is "curve" or
        "given", with a warning).
    name : str, optional
        Name of the graph. By default that in the file, else the name of the file.
    overwrite : bool, default False
        Whether to replace an existing directory, if cotherm wrote it.
    advice : str, optional
        What to do about a directory that exists, in the message that refuses it.
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
    Memory: the records of one shard at a time while they are sorted, about 84 bytes an edge, and some hundred
    megabytes. With ``order="curve"``, 24 bytes a vertex, and with names of vertices 16 bytes a vertex. With
    ``order="partition"``, 24 bytes a vertex and, divided by the number of ranks, some 100 bytes an edge. Disk: up to
    64 bytes an edge until it is done, then 16 to 40.

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
    order = validation.choice("order", order, ("given", "curve", "partition"))
    if parts is not None:
        parts = validation.integer("parts", parts, least=1, most=MOST_SHARDS)
    name = checked_name(name)
    given = source if isinstance(source, Graph) else atomic.as_path(source)
    if not isinstance(given, Graph):
        require_equal(ranks, "source", str(given))
    require_equal(ranks, "parts", (parts, order, str(path)))
    with staged(ranks, path, overwrite=overwrite, advice=advice) as folder:
        scratch = folder / _SCRATCH
        with together(ranks):
            if ranks.rank == 0:
                scratch.mkdir()
        edges = _source(ranks, given, scratch)
        _write(ranks, edges, folder, scratch, parts, order, name or edges.name or _stem(given))
        with together(ranks):
            if ranks.rank == 0:
                shutil.rmtree(scratch)
    return ShardedGraph.open(path)


def _source(ranks: Ranks, given: Graph | Path, scratch: Path) -> EdgeSource:
    """The edges, ready to be read by all ranks."""
    if isinstance(given, Graph):
        return of_graph(given)
    suffix = suffix_of(given)
    opened: EdgeSource | None = None
    if suffix in (".npz", *READ_WHOLE):
        with together(ranks), within(given):
            opened = of_npz(given) if suffix == ".npz" else of_graph(read_graph(given))
        assert opened is not None
        return opened
    with together(ranks):
        if suffix not in STREAMED:
            raise CothermError(str(given), f"suffix {suffix!r}", f"one of {', '.join((*STREAMED, *READ_WHOLE))}")
    # One rank parses text; the others read the records it writes.
    form = matrix_form if suffix in MATRICES else edge_list_form
    whole = False
    with together(ranks), within(given):
        if ranks.rank == 0:
            try:
                opened = spilled(given, scratch, form)
            except NamedVerticesError:
                whole = True
    if ranks.share(whole):
        with together(ranks), within(given):
            _require_plain(given)
            opened = of_graph(read_graph(given))
        assert opened is not None
        return opened
    sizes = ranks.share(None if opened is None else (opened.n, opened.m, opened.name, opened.twice))
    return opened or _spilled_elsewhere(given, scratch, *sizes)


def _spilled_elsewhere(path: Path, scratch: Path, n: int, m: int, name: str | None, twice: bool) -> EdgeSource:
    """The records that another rank has parsed."""

    def place(position: int) -> str:
        return f"{path}: line {position if position >= 0 else ~position}"

    def read(start: int, stop: int) -> Records:
        return np.fromfile(scratch / "edges.bin", EDGE, stop - start, offset=start * EDGE.itemsize)

    return EdgeSource(n, m, read, place, name, twice)


def _require_plain(path: Path) -> None:
    """Refuse edge lists between names that are packed or .txt: names are read only from whole .csv or .tsv files."""
    if suffix_of(path) in PACKED or path.suffix.lower() == ".txt":
        raise CothermError(
            str(path),
            "an edge list between names",
            "numbers, or names in a .csv or .tsv file",
            "Unpack or rename it first.",
        )


def _write(
    ranks: Ranks, edges: EdgeSource, folder: Path, scratch: Path, parts: int | None, order: str, name: str | None
) -> None:
    """All shards, from edges that can be read."""
    with together(ranks):
        for extra, rows in edges.extras.items():
            if ranks.rank == 0:
                vertex_rows.check(extra, rows, edges.n)
    extras: dict[str, Rows] = dict(edges.extras)
    shards = parts or max(ranks.size, -(-edges.m // limits.SHARD_EDGES))
    found: Partition | None = None
    if order == "partition":
        order, found = _partition(ranks, edges, shards, scratch)
    sequence = _sequence(ranks, edges, scratch) if order == "curve" else None if found is None else found.sequence
    if sequence is not None:
        extras["original"] = MemoryRows(np.arange(edges.n))
    number = None if sequence is None else _inverse(sequence)
    starts = _ranges(ranks, edges, shards, number)
    starts = starts if found is None else found.starts
    buckets = Buckets(scratch, "edges", shards, EDGE, ranks.rank)
    with together(ranks):
        for block in _blocks(ranks, edges, number, label="edges to shards"):
            buckets.add(shard_of(starts, block["i"]), block)
    files: Files = {}
    with together(ranks):
        for shard in dealt(shards, ranks):
            for extra, rows in extras.items():
                span = slice(int(starts[shard]), int(starts[shard + 1]))
                files |= vertex_rows.write(folder, shard, extra, rows, span, sequence)
    merge = merging.both_sides(edges.place) if edges.twice else merging.each_once(edges.place)
    assemble(ranks, folder, scratch, buckets, starts, merge, files, name=name, order=order, extras=_sorted(extras))


def _sorted(extras: dict[str, Rows]) -> tuple[str, ...]:
    return tuple(extra for extra in EXTRAS if extra in extras)


def _sequence(ranks: Ranks, edges: EdgeSource, scratch: Path) -> Ints:
    """The vertices in the order of the curve, computed by one rank."""
    place = scratch / "sequence.npy"
    with together(ranks):
        if "coordinates" not in edges.extras:
            raise CothermError(
                "order",
                "'curve' for a graph without coordinates",
                "coordinates of the vertices, or 'given'",
                "Only .npz and .graphml files hold coordinates.",
            )
        if ranks.rank == 0:
            array_file.save(place, curve_order(edges.extras["coordinates"]))
    return array_file.describe(place).read()


def _inverse(sequence: Ints) -> Indices:
    number = np.empty(len(sequence), dtype=np.int32)
    number[sequence] = np.arange(len(sequence), dtype=np.int32)
    return number


def _partition(ranks: Ranks, edges: EdgeSource, shards: int, scratch: Path) -> tuple[str, Partition | None]:
    """Parts joined by few edges, and the name of the order: another order if PETSc has no partitioner."""
    with together(ranks):
        name = partitioner()
    if name is None:
        order = "curve" if "coordinates" in edges.extras else "given"
        if ranks.rank == 0:
            told = f"order 'partition': this PETSc has neither ParMETIS nor PT-Scotch; the order is {order!r} instead"
            warnings.warn(told, CothermWarning, stacklevel=4)
        return order, None

    def blocks() -> Iterator[Records]:
        return _blocks(ranks, edges, None, label="edges to parts")

    return "partition", partitioned(ranks, edges.n, blocks, shards, name, scratch)


def _ranges(ranks: Ranks, edges: EdgeSource, shards: int, number: Indices | None) -> Ints:
    """Where to cut the vertices, from a pass over all edges."""
    counts = EndCounts(edges.n)
    total = 0.0
    with together(ranks):
        for block in _blocks(ranks, edges, number, label="ends of edges"):
            counts.add(block["i"])
            counts.add(block["j"])
            total += float(block["w"].sum())
    counts.counts = np.sum(ranks.gather(counts.counts), axis=0)
    everything = sum(ranks.gather(total))
    with together(ranks):
        if not everything <= np.finfo(np.float64).max / 4:
            given = "weights whose sum overflows"
            raise CothermError(edges.place(0), given, "weights that can be added up", "Rescale them.")
    return counts.ranges(shards)


def _blocks(ranks: Ranks, edges: EdgeSource, number: Indices | None, *, label: str) -> Iterator[Records]:
    """The records of this rank, some at a time, by the new numbers of vertices."""
    first, last = (edges.m * (ranks.rank + k) // ranks.size for k in (0, 1))
    starts = range(first, last, _EDGES_AT_ONCE)
    for start in track(starts, total=len(starts), label=label):
        block = edges.read(start, min(start + _EDGES_AT_ONCE, last))
        if number is not None:
            i, j = number[block["i"]], number[block["j"]]
            block["i"], block["j"] = np.minimum(i, j), np.maximum(i, j)
        yield block


def _stem(given: Graph | Path) -> str | None:
    if isinstance(given, Graph):
        return given.name
    return given.name[: len(given.name) - len(suffix_of(given))] or None
