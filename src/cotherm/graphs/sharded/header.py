"""``header.json`` of a sharded graph: sizes, vertex ranges and checksums; checked before a shard is believed.

A sharded graph is a directory. Vertices 0, …, n − 1 are cut into contiguous ranges, one for each shard. A shard owns
the edges whose lower end i it owns, i < j, sorted by (i, j): all shards one after the other give the one order of all
edges. An edge whose upper end belongs to a later shard is there a second time, as a mirror, with its number in that
order. So each shard holds all edges that touch its vertices. The files of shard 3 are

======================  =====================================================================
``00003.i.npy``         lower ends of its own edges, int32
``00003.j.npy``         upper ends, int32
``00003.w.npy``         weights, float64
``00003.mirror_i.npy``  the same three for its mirrors, sorted by (i, j)
``00003.mirror_e.npy``  their numbers in the order of all edges, int64
``00003.labels.npy``    rows of its vertices; so ``coordinates``, ``vertex_names`` and ``original``
======================  =====================================================================

A new version is needed whenever an old reader would misread a new directory.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from cotherm import validation
from cotherm.arrays import Ints
from cotherm.errors import CothermError, within
from cotherm.graphs.graph import MOST_VERTICES

FORMAT = "cotherm sharded graph"
VERSION = 1
FILE = "header.json"
MOST_SHARDS = 65_536

# Possible data of a shard's vertices. ``original`` holds their numbers before reordering.
EXTRAS = ("coordinates", "labels", "vertex_names", "original")
ORDERS = ("given", "curve", "cells", "partition")

OWN: dict[str, np.dtype[Any]] = {"i": np.dtype("<i4"), "j": np.dtype("<i4"), "w": np.dtype("<f8")}
MIRROR: dict[str, np.dtype[Any]] = {
    "mirror_i": np.dtype("<i4"),
    "mirror_j": np.dtype("<i4"),
    "mirror_w": np.dtype("<f8"),
    "mirror_e": np.dtype("<i8"),
}

_FIELDS = {"format", "version", "n", "m", "name", "order", "extras", "starts", "edges", "mirrors", "files", "crc32"}
_LONGEST_NAME = 10**5
# Even with the most shards, a header is not longer than this.
_LONGEST = 2**27
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

    @property
    def shards(self) -> int:
        """Number of shards."""
        return len(self.edges)


def file_name(shard: int, array: str) -> str:
    """The file of one array of a shard."""
    return f"{shard:05d}.{array}.npy"


def names_of_files(shards: int, extras: tuple[str, ...]) -> list[str]:
    """All files of a graph but the header."""
    arrays = (*OWN, *MIRROR, *extras)
    return [file_name(shard, array) for shard in range(shards) for array in arrays]


def render(header: Header) -> bytes:
    if len(header.name or "") > _LONGEST_NAME:
        raise CothermError("name", f"{len(header.name or '')} characters", f"at most {_LONGEST_NAME}, in a file")
    fields: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "n": header.n,
        "m": header.m,
        "name": header.name,
        "order": header.order,
        "extras": list(header.extras),
        "starts": header.starts.tolist(),
        "edges": header.edges.tolist(),
        "mirrors": header.mirrors.tolist(),
        "files": {name: list(header.files[name]) for name in sorted(header.files)},
    }
    return (json.dumps({**fields, "crc32": _checksum(fields)}) + "\n").encode("ascii")


def parse(data: bytes) -> Header:
    """Parse a header from the content of a file; errors name its fields."""
    fields = _loaded(data)
    _require_version(fields)
    if set(fields) != _FIELDS or fields["crc32"] != _checksum({k: v for k, v in fields.items() if k != "crc32"}):
        raise CothermError("content", "fields that do not fit their checksum", "a header as written", _DAMAGED)
    n = validation.integer("n", fields["n"], least=1, most=MOST_VERTICES)
    m = validation.integer("m", fields["m"], least=0)
    starts, edges, mirrors = (_counts(key, fields[key]) for key in ("starts", "edges", "mirrors"))
    extras, name = _extras(fields), fields["name"]
    if name is not None and not isinstance(name, str):
        raise CothermError("name", validation.describe(name), "a string or null")
    _require_consistent(n, m, starts, edges, mirrors)
    files = _files(fields["files"], names_of_files(len(edges), extras))
    return Header(n, m, starts, edges, mirrors, files, name, fields["order"], extras)


def read(folder: Path) -> Header:
    """The header of a sharded graph."""
    place = folder / FILE
    if not folder.is_dir():
        given = "no such directory" if not folder.exists() else "a file"
        raise CothermError(str(folder), given, "the directory of a sharded graph", "`cotherm shard` makes one.")
    if not place.is_file():
        raise CothermError(str(folder), f"no {FILE} in it", "the directory of a sharded graph, complete")
    try:
        with place.open("rb") as file:
            data = file.read(min(place.stat().st_size, _LONGEST) + 1)  # not more: read allocates it at once
    except OSError as error:
        raise CothermError(str(place), (error.strerror or str(error)).lower(), "a file that can be read") from None
    with within(place):
        return parse(data)


def _loaded(data: bytes) -> dict[str, Any]:
    needed = f'a JSON object with "format": "{FORMAT}"'
    if len(data) > _LONGEST:
        raise CothermError("content", f"more than {_LONGEST} bytes", needed)
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError):
        raise CothermError("content", "no JSON", needed, _DAMAGED) from None
    if not isinstance(fields, dict) or fields.get("format") != FORMAT:
        raise CothermError("content", "another kind of JSON", needed)
    return fields


def _require_version(fields: dict[str, Any]) -> None:
    version = validation.integer("version", fields.get("version"), least=1)
    if version > VERSION:
        given = f"version {version} of the format"
        raise CothermError("version", given, f"version {VERSION}", "A newer cotherm wrote it: update.")


def _checksum(fields: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(fields, sort_keys=True).encode())


def _counts(argument: str, value: Any) -> Ints:
    good = isinstance(value, list) and 0 < len(value) <= MOST_SHARDS + 1
    if not good or not all(type(one) is int and 0 <= one < 2**62 for one in value):
        raise CothermError(argument, validation.describe(value), "a list of whole numbers", _DAMAGED)
    return np.array(value, dtype=np.int64)


def _extras(fields: dict[str, Any]) -> tuple[str, ...]:
    extras = fields["extras"]
    if not isinstance(extras, list) or extras != [one for one in EXTRAS if one in extras]:
        raise CothermError("extras", validation.describe(extras), f"some of {', '.join(EXTRAS)}", _DAMAGED)
    if fields["order"] not in ORDERS or (fields["order"] == "given") == ("original" in extras):
        raise CothermError("order", validation.describe(fields["order"]), " or ".join(ORDERS), _DAMAGED)
    return tuple(extras)


def _require_consistent(n: int, m: int, starts: Ints, edges: Ints, mirrors: Ints) -> None:
    if len(starts) != len(edges) + 1 or len(edges) != len(mirrors):
        given = f"{len(starts)} starts, {len(edges)} and {len(mirrors)} counts"
        raise CothermError("starts", given, "one more start than shards", _DAMAGED)
    if starts[0] != 0 or starts[-1] != n or np.any(np.diff(starts) < 0):
        raise CothermError("starts", "ranges that do not cover the vertices", f"ranges from 0 to {n}", _DAMAGED)
    if int(edges.sum()) != m or int(mirrors.sum()) > m:
        raise CothermError("edges", f"{int(edges.sum())} edges in the shards", f"{m} in all", _DAMAGED)


def _files(value: Any, expected: list[str]) -> dict[str, tuple[int, int]]:
    if not isinstance(value, dict) or set(value) != set(expected):
        raise CothermError("files", "other files than the shards have", "one for each array", _DAMAGED)
    for entry in value.values():
        if not (isinstance(entry, list) and len(entry) == 2 and all(type(x) is int and x >= 0 for x in entry)):
            raise CothermError("files", validation.describe(entry), "bytes and checksum of every file", _DAMAGED)
    return {name: (entry[0], entry[1]) for name, entry in value.items()}
