"""Coordinates, labels and names of vertices on their way to shards: checked some at a time, and put in order."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Ints
from cotherm.errors import CothermError
from cotherm.graphs.sharded.assembly import Files
from cotherm.graphs.sharded.header import file_name
from cotherm.graphs.sharded.sources import Rows
from cotherm.io import array_file

_AT_ONCE = 2**18
_KINDS = {"coordinates": "f", "labels": "biuU", "vertex_names": "biuU"}


def check(extra: str, rows: Rows, n: int) -> None:
    """Require one row for each vertex, finite coordinates, and unique names."""
    width = 2 if extra == "coordinates" else 1
    if rows.shape[:1] != (n,) or len(rows.shape) != width or 0 in rows.shape or rows.dtype.kind not in _KINDS[extra]:
        given = f"an array of shape {rows.shape} and dtype {rows.dtype}"
        raise CothermError(extra, given, f"a row for each of {n} vertices")
    if extra == "coordinates":
        for start, block in _blocks(rows):
            bad = ~np.isfinite(block).all(axis=1)
            if bad.any():
                where = int(np.argmax(bad))
                raise CothermError(extra, f"{block[where].tolist()} of vertex {start + where}", "finite numbers")
    if extra == "vertex_names":
        _require_different(rows)


def write(folder: Path, shard: int, extra: str, rows: Rows, span: slice, order: Ints | None) -> Files:
    """The rows of the vertices of a shard; ``order`` holds the numbers that all vertices have in ``rows``."""
    return write_some(folder, shard, extra, rows, span, None if order is None else order[span])


def write_some(folder: Path, shard: int, extra: str, rows: Rows, span: slice, chosen: Ints | None) -> Files:
    """The same; ``chosen`` are the numbers that the vertices of the shard have in ``rows``."""
    values = rows.read(span.start, span.stop) if chosen is None else taken(rows, chosen)
    return save(folder, shard, extra, values.astype("<f8") if extra == "coordinates" else values)


def save(folder: Path, shard: int, extra: str, values: NDArray[Any]) -> Files:
    """A file of one shard."""
    name = file_name(shard, extra)
    return {name: array_file.save(folder / name, values.astype(values.dtype.newbyteorder("<")))}


def taken(rows: Rows, chosen: Ints) -> NDArray[Any]:
    """Chosen rows, read in passes over nearby ones: the file is read forward, block by block."""
    values = np.empty((len(chosen), *rows.shape[1:]), rows.dtype)
    by_place = np.argsort(chosen, kind="stable")
    place = chosen[by_place]
    at = 0
    while at < len(place):
        begin = int(place[at])
        end = min(begin + _AT_ONCE, rows.shape[0])
        stop = int(np.searchsorted(place, end))
        values[by_place[at:stop]] = rows.read(begin, end)[place[at:stop] - begin]
        at = stop
    return values


def _require_different(rows: Rows) -> None:
    """Compare names by hashes of 8 bytes each; if two are equal, compare the names themselves."""
    n = rows.shape[0]
    hashes = np.empty(n, dtype=np.uint64)
    for start, block in _blocks(rows):
        if block.dtype.kind == "U" and np.any(block == ""):
            raise CothermError("vertex_names", "an empty name", "a name for every vertex")
        hashes[start : start + len(block)] = _hashed(block)
    order = np.argsort(hashes, kind="stable")
    again = np.flatnonzero(hashes[order][1:] == hashes[order][:-1])
    for k in again.tolist():
        first, second = (rows.read(int(v), int(v) + 1)[0] for v in order[k : k + 2])
        if first == second:
            raise CothermError(
                "vertex_names", f"the name {first.item()!r} more than once", "a name of its own for each"
            )


def _hashed(block: NDArray[Any]) -> NDArray[np.uint64]:
    if block.dtype.kind != "U":
        return block.astype(np.int64).view(np.uint64)
    codes = np.ascontiguousarray(block).astype(block.dtype.newbyteorder("=")).view(np.uint32).reshape(len(block), -1)
    factors = np.random.default_rng(0).integers(1, 2**63, codes.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    hashed = np.zeros(len(block), dtype=np.uint64)
    for column, factor in zip(codes.T, factors, strict=True):
        hashed += (column.astype(np.uint64) + np.uint64(1)) * factor
    return hashed


def _blocks(rows: Rows) -> Iterator[tuple[int, NDArray[Any]]]:
    for start in range(0, rows.shape[0], _AT_ONCE):
        yield start, rows.read(start, min(start + _AT_ONCE, rows.shape[0]))
