"""Shards from buckets of edges: each is sorted, merged and written by one rank, then its mirrors, then the header."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm import memory
from cotherm.arrays import Ints
from cotherm.errors import CothermError
from cotherm.graphs.sharded import header as headers
from cotherm.graphs.sharded.buckets import Buckets, shard_of
from cotherm.graphs.sharded.header import MIRROR, OWN, Header, file_name
from cotherm.graphs.sharded.merging import Merge, in_order
from cotherm.graphs.sharded.staging import write_file
from cotherm.io import array_file
from cotherm.progress import track
from cotherm.ranks import Ranks, together

# A mirror of an edge before it is stored: ``e`` is the number of the edge within the shard that owns it.
CUT = np.dtype([("i", "<i4"), ("j", "<i4"), ("w", "<f8"), ("e", "<i8")])
# Bytes in memory for every byte of the records of a shard, while they are sorted: the records, their keys, the order
# and the sorted records.
_WHILE_SORTED = 3.5

Files = dict[str, tuple[int, int]]


def assemble(
    ranks: Ranks,
    folder: Path,
    scratch: Path,
    edges: Buckets,
    starts: Ints,
    merge: Merge,
    files: Files,
    *,
    name: str | None = None,
    order: str = "given",
    extras: tuple[str, ...] = (),
) -> Header:
    """Write all shards of a graph into a folder, from edges that all ranks have put into buckets.

    ``files`` are those that this rank has written already, with the extras. All ranks call this together.
    """
    n, shards = int(starts[-1]), len(starts) - 1
    mine = dealt(shards, ranks)
    cut = Buckets(scratch, "cut", shards, CUT, ranks.rank)
    counts: dict[int, int] = {}
    with together(ranks):
        edges.flush()
    with together(ranks):
        for shard in track(mine, total=len(mine), label="shards"):
            _require_memory(edges, shard, ranks.size, shards)
            own = merge(in_order(edges.take(shard, ranks.size), n))
            counts[shard] = len(own)
            for array in OWN:
                files |= _saved(folder, shard, array, own[array].astype(OWN[array]))
            _emit_cut(cut, own, starts, shard)
        cut.flush()
    edge_counts = _collected(ranks, counts, shards)
    first = np.concatenate([[0], np.cumsum(edge_counts)])
    with together(ranks):
        for shard in mine:
            mirrors = cut.take(shard, ranks.size)  # in order: ranks, and each rank, go through shards in order
            counts[shard] = len(mirrors)
            mirrors["e"] += first[shard_of(starts, mirrors["i"])]
            for array, dtype in MIRROR.items():
                files |= _saved(folder, shard, array, mirrors[array.removeprefix("mirror_")].astype(dtype))
    mirror_counts = _collected(ranks, counts, shards)
    everything: Files = {}
    for some in ranks.gather(files):
        everything |= some
    header = Header(n, int(first[-1]), starts, edge_counts, mirror_counts, everything, name, order, extras)
    with together(ranks):
        if ranks.rank == 0:
            write_file(folder / headers.FILE, headers.render(header))
    return header


def dealt(shards: int, ranks: Ranks) -> range:
    """The shards that this rank writes: a contiguous range of them."""
    return range(shards * ranks.rank // ranks.size, shards * (ranks.rank + 1) // ranks.size)


def _emit_cut(buckets: Buckets, own: NDArray[Any], starts: Ints, shard: int) -> None:
    """Copy edges that end in a later shard there, too."""
    away = np.flatnonzero(own["j"] >= starts[shard + 1])
    records = np.empty(len(away), CUT)
    for name in ("i", "j", "w"):
        records[name] = own[name][away]
    records["e"] = away
    buckets.add(shard_of(starts, records["j"]), records)


def _saved(folder: Path, shard: int, array: str, values: NDArray[Any]) -> Files:
    name = file_name(shard, array)
    return {name: array_file.save(folder / name, values)}


def _collected(ranks: Ranks, counts: dict[int, int], shards: int) -> Ints:
    """Collect one count for each shard from the ranks that know it."""
    known: dict[int, int] = {}
    for some in ranks.gather(counts):
        known |= some
    return np.array([known[shard] for shard in range(shards)], dtype=np.int64)


def _require_memory(edges: Buckets, shard: int, ranks: int, shards: int) -> None:
    """Refuse a shard that memory cannot hold while it is sorted."""
    count, free = edges.count(shard, ranks), memory.available()
    needed = _WHILE_SORTED * count * edges.record_bytes
    if free is not None and needed > free:
        raise CothermError(
            "parts",
            f"{shards}, of which shard {shard} has {count:,} edges",
            f"shards that fit {memory.words(free)} of memory; this one takes {memory.words(needed)}",
            "Ask for more parts.",
        )
