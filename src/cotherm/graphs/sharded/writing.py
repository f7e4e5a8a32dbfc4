"""Shards from edges in any order: sorted into a file of each shard, then sorted and merged within it, by all ranks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cotherm import memory, validation
from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError
from cotherm.graphs.sharded.staging import SCRATCH
from cotherm.graphs.sharded.store import COLUMNS, EXTRAS, FILE, GraphPart, Header, ShardedGraph, file_name, render
from cotherm.io import array_file, atomic
from cotherm.progress import track
from cotherm.ranks import Ranks, together

Records = NDArray[Any]
# An edge on its way to its shard, i < j.
EDGE = np.dtype([("i", "<i4"), ("j", "<i4"), ("w", "<f8")])
# A mirror: ``e`` is the number of the edge, at first within the shard that owns it.
_MIRROR = np.dtype([("i", "<i4"), ("j", "<i4"), ("e", "<i8")])
# Bytes held in memory, over all buckets, before they are written.
_WAITING = 2**22
# Rows read together where some of them are chosen.
_ROWS_AT_ONCE = 2**18
# Rows of a row group, which is read as a whole.
_ROWS_TOGETHER = 2**20
# Bytes in memory for every byte of the records of a shard, while they are sorted: the records, their keys, the order,
# and the sorted records, then columns of these.
_WHILE_SORTED = 3.5


class Buckets:
    """Files of records, one for each shard and each rank that adds to them, so that none stays in memory.

    The records of a rank come back in the order in which it added them, those of the ranks one after the other.
    """

    def __init__(self, folder: Path, name: str, starts: Ints, dtype: np.dtype[Any], ranks: Ranks) -> None:
        self._folder, self._name, self.starts, self._dtype, self._ranks = folder, name, starts, dtype, ranks
        self._waiting: list[tuple[Ints, Records]] = []
        self._bytes = 0

    def add(self, vertices: NDArray[Any], records: Records) -> None:
        """Put record r into the bucket of the shard of vertices[r]; ``flush`` when all are added."""
        shard = np.searchsorted(self.starts, vertices, side="right") - 1  # empty shards own no vertex
        self._waiting.append((shard, records))
        self._bytes += records.nbytes + shard.nbytes
        if self._bytes >= _WAITING:
            self.flush()

    def flush(self) -> None:
        """Write what is still in memory, before others read."""
        if not self._waiting:
            return
        shard, records = (np.concatenate(some) for some in zip(*self._waiting, strict=True))
        self._waiting, self._bytes = [], 0
        order = np.argsort(shard, kind="stable")
        records, cuts = records[order], np.searchsorted(shard, np.arange(len(self.starts)), sorter=order)
        for s in np.flatnonzero(np.diff(cuts)).tolist():
            place = self._places(s)[self._ranks.rank]
            with atomic.writing(place), place.open("ab") as file:
                file.write(array_file.octets(records[cuts[s] : cuts[s + 1]]))

    def count(self, shard: int) -> int:
        """How many records of all ranks a shard has."""
        return sum(one.stat().st_size for one in self._places(shard) if one.exists()) // self._dtype.itemsize

    def take(self, shard: int) -> Records:
        """The records of a shard from all ranks; their files are removed."""
        records, at = np.empty(self.count(shard), self._dtype), 0
        for found in self.pieces(shard):
            records[at : at + len(found)] = found
            at += len(found)
        return records

    def pieces(self, shard: int, *, keep: bool = False) -> Iterator[Records]:
        """The same, some at a time; with ``keep`` the files stay."""
        for place in filter(Path.exists, self._places(shard)):
            with place.open("rb") as file:
                while len(found := np.fromfile(file, self._dtype, max(1, _WAITING // self._dtype.itemsize))):
                    yield found
            if not keep:
                place.unlink()

    def _places(self, shard: int) -> list[Path]:
        return [self._folder / f"{self._name}-{shard:05d}-{rank:05d}.bin" for rank in range(self._ranks.size)]


class ShardWriter:
    """All shards of a graph in a folder that ``staged`` gave, by all ranks together."""

    def __init__(self, ranks: Ranks, folder: Path, starts: Ints) -> None:
        self._ranks, self._folder, self.starts = ranks, folder, starts
        self.edges = Buckets(folder / SCRATCH, "edges", starts, EDGE, ranks)

    def add(self, records: Records) -> None:
        """Some edges of this rank."""
        self.edges.add(records["i"], records)

    def finish(
        self,
        merge: Callable[[Records], Records],
        extras: Mapping[str, Any],
        original: Callable[[int, int], Ints] | None = None,
        *,
        name: str | None = None,
        order: str = "given",
    ) -> None:
        """Sort, merge and write: ``merge`` makes one record for each edge of sorted ones.

        ``extras`` are files of rows of the vertices, whose numbers there ``original`` gives for a range if they differ.
        """
        ranks, starts = self._ranks, self.starts
        mine = dealt(len(starts) - 1, ranks)
        cut = Buckets(self._folder / SCRATCH, "cut", starts, _MIRROR, ranks)
        owned, mirrors = (np.zeros(len(starts) - 1, dtype=np.int64) for _ in range(2))
        files: dict[str, tuple[int, int]] = {}
        with together(ranks):
            self.edges.flush()
        with together(ranks):
            for shard in track(mine, total=len(mine), label="shards"):
                own = merge(self._sorted(shard))
                owned[shard] = len(own)
                files |= save(self._folder, "edges", shard, _columns(own))
                away = np.flatnonzero(own["j"] >= starts[shard + 1])
                records = np.empty(len(away), _MIRROR)
                records["i"], records["j"], records["e"] = own["i"][away], own["j"][away], away
                cut.add(records["j"], records)
                del own, away, records  # before the next shard is sorted
            cut.flush()
        owned = ranks.sum(owned)
        first = np.concatenate([[0], np.cumsum(owned)])
        with together(ranks):
            for shard in mine:
                found = cut.take(shard)  # in order: ranks, and each rank, go through shards in order
                mirrors[shard] = len(found)
                found["e"] += first[np.searchsorted(starts, found["i"], side="right") - 1]
                files |= save(self._folder, "mirrors", shard, _columns(found))
                start, stop = starts[shard : shard + 2].tolist()
                rows: dict[str, NDArray[Any]] = {}
                if original is not None:
                    rows["original"] = chosen = original(start, stop)
                    rows |= {extra: taken(file, chosen) for extra, file in extras.items()}
                else:
                    rows |= {extra: file.read(start, stop) for extra, file in extras.items()}
                if rows:
                    files |= save(self._folder, "vertices", shard, rows)
        present = tuple(one for one in EXTRAS if one in extras or (one == "original" and original is not None))
        n, m, mirrors = int(starts[-1]), int(first[-1]), ranks.sum(mirrors)
        _write_header(ranks, self._folder, Header(n, m, starts, owned, mirrors, files, name, order, present))

    def _sorted(self, shard: int) -> Records:
        """The records of a shard sorted by (i, j), those of the same edge as they came."""
        count, free = self.edges.count(shard), memory.available()
        needed = _WHILE_SORTED * count * EDGE.itemsize
        if free is not None and needed > free:
            raise CothermError(
                "parts",
                f"{len(self.starts) - 1}, of which shard {shard} has {count:,} edges",
                f"shards that fit {memory.words(free)} of memory; this one takes {memory.words(needed)}",
                "Ask for more parts.",
            )
        records = self.edges.take(shard)
        key = records["i"].astype(np.int64)
        key *= int(self.starts[-1])
        key += records["j"]
        return records[np.argsort(key, kind="stable")]


def edges(i: NDArray[Any], j: NDArray[Any], w: Floats) -> Records:
    """Records of edges, whichever end comes first."""
    found = np.empty(len(i), EDGE)
    found["i"], found["j"], found["w"] = np.minimum(i, j), np.maximum(i, j), w + 0.0  # −0.0 becomes 0.0
    return found


def dealt(shards: int, ranks: Ranks) -> range:
    """The shards that this rank writes: a contiguous range of them."""
    return range(shards * ranks.rank // ranks.size, shards * (ranks.rank + 1) // ranks.size)


def repeated(records: Records) -> NDArray[np.bool_]:
    """Whether a sorted record is of the same edge as the one before it."""
    again = np.zeros(len(records), dtype=np.bool_)
    again[1:] = (records["i"][1:] == records["i"][:-1]) & (records["j"][1:] == records["j"][:-1])
    return again


def save(folder: Path, what: str, shard: int, columns: Mapping[str, NDArray[Any]]) -> dict[str, tuple[int, int]]:
    """A new Parquet file of a shard, which is on the disk when this returns: its name, bytes and CRC-32."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {name: columns[name] for name in (*COLUMNS.get(what, ()), *EXTRAS) if name in columns}
    arrays = {name: np.ascontiguousarray(column) for name, column in columns.items() if column.ndim == 1}
    if "coordinates" in columns:
        arrays = {f"x{k}": x for k, x in enumerate(np.ascontiguousarray(columns["coordinates"].T))} | arrays
    place = folder / file_name(what, shard)
    with atomic.writing(place):
        place.parent.mkdir(exist_ok=True)
        with place.open("xb") as file:
            pq.write_table(pa.table(arrays), file, row_group_size=_ROWS_TOGETHER)
            file.flush()
            atomic.synchronize(file.fileno())
    return {file_name(what, shard): array_file.checksum(place)}


def taken(rows: Any, chosen: Ints) -> NDArray[Any]:
    """Chosen rows, read in passes over nearby ones: the file is read forward, block by block."""
    by_place = np.argsort(chosen, kind="stable")
    place = chosen[by_place]
    values, at = np.empty((len(chosen), *rows.shape[1:]), rows.read(0, 0).dtype), 0
    while at < len(place):
        begin = int(place[at])
        end = min(begin + _ROWS_AT_ONCE, rows.shape[0])
        stop = int(np.searchsorted(place, end))
        values[by_place[at:stop]] = rows.read(begin, end)[place[at:stop] - begin]
        at = stop
    return values


def write_weights(
    ranks: Ranks, folder: Path, graph: ShardedGraph, part: GraphPart, u: ArrayLike, *, name: str | None = None
) -> ShardedGraph:
    """Write a graph with other weights into a new folder, within one that ``staged`` gave, or that folder itself.

    ``u`` are the weights of the own edges of this rank's part, in their order; the parts of all ranks must be all
    vertices, in order, and are the shards of the result. All ranks call this together.
    """
    told = ranks.gather((part.start, part.stop, len(part.w), len(part.mirror_e)))
    starts, stops, edges, mirrors = (np.array(one, dtype=np.int64) for one in zip(*told, strict=True))
    with together(ranks):
        if not np.array_equal(np.append(starts, graph.n), np.append(0, stops)) or int(edges.sum()) != graph.m:
            given = f"vertices {starts.tolist()} to {stops.tolist()}"
            raise CothermError("part", given, "parts that follow each other, from rank to rank, to the last vertex")
        w = validation.numeric("u", u, ndim=(1,))
        if len(w) != len(part.w):
            raise CothermError("u", f"{len(w)} weights", f"one for each own edge, {len(part.w)}")
        if len(w) and w.min() < 0.0:
            where = int(np.argmin(w))
            raise CothermError("u", f"{w[where]} on the edge ({part.i[where]}, {part.j[where]})", "weights >= 0")
        if ranks.rank == 0:
            with atomic.writing(folder):
                folder.mkdir(exist_ok=True)
    with together(ranks):
        files = save(folder, "edges", ranks.rank, {"i": part.i, "j": part.j, "w": w + 0.0})
        ends: dict[str, NDArray[Any]] = {"i": part.mirror_i, "j": part.mirror_j, "e": part.mirror_e}
        files |= save(folder, "mirrors", ranks.rank, ends)
        if graph.header.extras:
            rows: dict[str, Any] = {one: getattr(part, one) for one in graph.header.extras}
            files |= save(folder, "vertices", ranks.rank, rows)
    cuts, name = np.append(starts, graph.n), graph.name if name is None else name
    header = replace(graph.header, starts=cuts, edges=edges, mirrors=mirrors, files=files, name=name)
    return ShardedGraph(folder, _write_header(ranks, folder, header))


def _write_header(ranks: Ranks, folder: Path, header: Header) -> Header:
    """The header of a graph, of which this rank has written ``header.files``."""
    header = replace(header, files={name: told for some in ranks.gather(header.files) for name, told in some.items()})
    with together(ranks):
        if ranks.rank == 0:
            atomic.save(folder / FILE, render(header), overwrite=False)
    return header


def _columns(records: Records) -> dict[str, NDArray[Any]]:
    return {name: records[name] for name in records.dtype.names or ()}
