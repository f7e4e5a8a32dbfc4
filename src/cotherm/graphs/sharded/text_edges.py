"""Edges from text, lists and Matrix Market files: parsed once, some lines at a time, and kept as records in a file.

How many vertices there are, some files only tell at their end; so the records wait on the disk until it is known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError, within
from cotherm.graphs.formats import edge_list, matrix_market
from cotherm.graphs.formats.edges import require_proportion
from cotherm.graphs.graph import MOST_VERTICES
from cotherm.graphs.sharded.buckets import EDGE
from cotherm.graphs.sharded.sources import EdgeSource, Records, records
from cotherm.io import atomic
from cotherm.io.array_file import octets
from cotherm.io.streamed_text import line_chunks
from cotherm.io.text import AnyLines, LineReader, as_integers, line_at, number_blocks
from cotherm.progress import working

# Bytes that hold the first lines of any file, and what shows that lines are not all blank or comments.
_HEAD = 2**16
_CONTENT = re.compile(rb"^[ \t]*[^\s#%]", re.M)
# The checked ends of the edges on some lines.
Ends = Callable[[AnyLines, Floats], Ints]


class Layout(NamedTuple):
    """How to read the rest of a file, from its first lines."""

    n: int | None  # None: one more than the largest number in it
    m: int | None
    name: str | None
    ours: bool
    columns: int
    needed: str
    mark: str | None
    comment: str
    base: int
    ends: Ends
    twice: bool = False


class NamedVerticesError(Exception):
    """An edge list has names as ends; these are not streamed."""


def spilled(path: Path, scratch: Path, form: Callable[[Path, bytes], tuple[Layout, int, bytes]]) -> EdgeSource:
    """The edges of a text file, parsed now into a file of records in ``scratch``."""
    place = scratch / "edges.bin"
    with working(f"reading {path.name}"), atomic.writing(place), place.open("xb") as file:
        layout, n, m = _parsed(path, form, file)

    def named(position: int) -> str:
        return f"{path}: line {position if position >= 0 else ~position}"

    def read(start: int, stop: int) -> Records:
        return np.fromfile(place, EDGE, stop - start, offset=start * EDGE.itemsize)

    return EdgeSource(n, m, read, named, layout.name, layout.twice)


def _parsed(
    path: Path, form: Callable[[Path, bytes], tuple[Layout, int, bytes]], file: IO[bytes]
) -> tuple[Layout, int, int]:
    """Write all records; how the file was read, its vertices and its entries."""
    chunks = _with_a_head(line_chunks(path))
    layout: Layout | None = None
    m, largest, last, ended = 0, -1, 1, True
    for number, chunk in chunks:
        first, text = number, chunk
        if layout is None:
            layout, lines, text = form(path, chunk)
            first += lines
        for found in _records(path, layout, first, text):
            file.write(octets(found))
            m, largest = m + len(found), max(largest, int(found["j"].max(initial=-1)))
        last, ended = number + chunk.count(b"\n"), chunk.endswith(b"\n")
    if layout is None:
        raise CothermError(str(path), "an empty file", "a file with content")
    _require_complete(path, layout, m, last, ended)
    n = largest + 1 if layout.n is None else layout.n
    if not layout.ours:
        require_proportion(str(path), n, m, edge_list.ADVICE if layout.base == 0 else matrix_market.ADVICE)
    return layout, n, m


def _with_a_head(chunks: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """The same, joined until the first chunk shows how to read the file, and holds an edge after that."""
    number, head = next(chunks, (1, b""))
    while len(head) < _HEAD or not _CONTENT.search(head):
        found = next(chunks, None)
        if found is None:
            break
        head += found[1]
    if head:
        yield number, head
    del head  # while the others are read
    yield from chunks


def _require_complete(path: Path, layout: Layout, m: int, last: int, ended: bool) -> None:
    if layout.m is not None and m != layout.m:
        advice = "The file may have been cut short." if m < layout.m else ""
        given = f"the file ends after {m} edges"
        raise CothermError(f"{path}: line {last}", given, f"{layout.m}, as its header declares", advice)
    if layout.ours and not ended:
        given = "no line end"
        raise CothermError(f"{path}: last line", given, "a complete last line", "The file may have been cut short.")
    if layout.n is None and not m:
        given = "no edges and no line '# cotherm graph ...'"
        raise CothermError(f"{path}: content", given, "the number of vertices, or an edge")


def _records(path: Path, layout: Layout, first: int, text: bytes) -> Iterator[Records]:
    """The records of some whole lines, checked."""
    content = LineReader(text, comment=layout.comment, first=first)
    n = MOST_VERTICES if layout.n is None else layout.n

    def place(position: int) -> str:
        return f"{path}: line {position if position >= 0 else ~position}"

    with within(path):
        for _, lines, rows in number_blocks(content, layout.columns, layout.needed, delimiter=layout.mark):
            ends = layout.ends(lines, rows)
            w = rows[:, 2] if layout.columns == 3 else np.ones(len(rows))
            numbers = np.asarray(lines.numbers)
            position = np.where(ends[:, 0] > ends[:, 1], ~numbers, numbers) if layout.twice else numbers
            yield records(ends[:, 0], ends[:, 1], w, position, place, n)


def edge_list_form(path: Path, chunk: bytes) -> tuple[Layout, int, bytes]:
    """How an edge list goes on behind its first lines: also how many lines these are, and what follows them."""
    head = edge_list.header_of(line_at(chunk, 0))
    content = LineReader(chunk, comment="#")
    rows, columns, mark = edge_list.without_titles(content)
    if head is None and rows is not content and edge_list.begins_with_a_name(rows):
        raise NamedVerticesError(str(path))
    n = None if head is None else head.n
    most = (MOST_VERTICES if n is None else n) - 1

    def ends(lines: AnyLines, values: Floats) -> Ints:
        return as_integers(lines, values[:, :2], least=0, most=most, needed=f"vertex numbers from 0 to {most}")

    layout = Layout(
        n,
        None if head is None else head.m,
        None if head is None else head.name,
        head is not None,
        columns,
        edge_list.NEEDED[columns],
        mark,
        "#",
        0,
        ends,
    )
    lines = rows.before if rows is not content else 0
    return layout, lines, _behind(chunk, lines)


def matrix_form(_path: Path, chunk: bytes) -> tuple[Layout, int, bytes]:
    """The same of a Matrix Market file."""
    field, symmetry = matrix_market.banner(line_at(chunk, 0))
    sizes, rows = LineReader(chunk, comment="%").first()
    n, entries = matrix_market.sizes_of(sizes)
    head = matrix_market.header_of(line_at(chunk, 1), n, entries)
    columns, needed = matrix_market.columns_of(field)

    def ends(lines: AnyLines, values: Floats) -> Ints:
        return matrix_market.entries_of(lines, values, field, n)

    name = None if head is None else head.name
    layout = Layout(
        n,
        entries,
        name,
        head is not None,
        columns,
        needed,
        None,
        "%",
        1,
        ends,
        twice=symmetry == "general",
    )
    return layout, rows.before, _behind(chunk, rows.before)


def _behind(chunk: bytes, lines: int) -> bytes:
    """What follows the first lines."""
    at = 0
    for _ in range(lines):
        at = chunk.find(b"\n", at) + 1 or len(chunk)
    return chunk[at:]
