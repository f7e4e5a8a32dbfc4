"""Records on their way to shards: each is appended to a file of its shard, so that none stays in memory.

The records of a rank come back in the order in which it added them, those of the ranks one after the other.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Ints
from cotherm.io import atomic
from cotherm.io.array_file import octets

# An edge, and where in its file it was: a line, or a number. Of a matrix the entries below the diagonal have ~position.
EDGE = np.dtype([("i", "<i4"), ("j", "<i4"), ("w", "<f8"), ("position", "<i8")])
# Bytes held in memory, over all buckets, before they are written.
_WAITING = 2**23


class Buckets:
    """Files of records in a folder, one for each shard and each rank that adds to them."""

    def __init__(self, folder: Path, name: str, shards: int, dtype: np.dtype[Any], rank: int = 0) -> None:
        self._folder, self._name, self._shards, self._dtype, self._rank = folder, name, shards, dtype, rank
        self._waiting: list[tuple[Ints, NDArray[Any]]] = []
        self._bytes = 0

    @property
    def record_bytes(self) -> int:
        """Bytes of a record."""
        return self._dtype.itemsize

    def add(self, shard: Ints, records: NDArray[Any]) -> None:
        """Put record r into the bucket of shard[r]."""
        self._waiting.append((shard, records))
        self._bytes += records.nbytes + shard.nbytes
        if self._bytes >= _WAITING:
            self.flush()

    def flush(self) -> None:
        """Write what is still in memory, before others read."""
        if not self._waiting:
            return
        shard = np.concatenate([one for one, _ in self._waiting])
        records = np.concatenate([one for _, one in self._waiting])
        self._waiting, self._bytes = [], 0
        order = np.argsort(shard, kind="stable")
        records, cuts = records[order], np.searchsorted(shard, np.arange(self._shards + 1), sorter=order)
        for s in np.flatnonzero(np.diff(cuts)):
            place = self._place(int(s), self._rank)
            with atomic.writing(place), place.open("ab") as file:
                file.write(octets(records[cuts[s] : cuts[s + 1]]))

    def count(self, shard: int, ranks: int) -> int:
        """How many records of all ranks a shard has."""
        places = [self._place(shard, rank) for rank in range(ranks)]
        return sum(place.stat().st_size for place in places if place.exists()) // self._dtype.itemsize

    def take(self, shard: int, ranks: int) -> NDArray[Any]:
        """The records of a shard from all ranks; their files are removed."""
        records, at = np.empty(self.count(shard, ranks), self._dtype), 0
        for rank in range(ranks):
            place = self._place(shard, rank)
            if place.exists():
                found = np.fromfile(place, self._dtype)
                records[at : at + len(found)] = found
                at += len(found)
                place.unlink()
        return records

    def _place(self, shard: int, rank: int) -> Path:
        return self._folder / f"{self._name}-{shard:05d}-{rank:05d}.bin"


def shard_of(starts: Ints, vertices: NDArray[Any]) -> Ints:
    """The shard that owns each vertex; empty shards own none."""
    return np.searchsorted(starts, vertices, side="right") - 1
