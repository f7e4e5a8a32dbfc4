"""Edge lists, ``.csv``: one edge ``i,j,w`` a line, vertices numbered from 0, weights to the last digit.

A file written here starts with ``# cotherm graph {...}`` (see ``npz``), so that isolated vertices and the
name survive, and then the line ``i,j,w``. A file from elsewhere may have semicolons or tabs for commas, and may
start with titles such as ``i,j,w``, ``source,target,weight`` or ``from,to``, or at once with the numbers; its vertices
are 0 to the largest number in it, which must not be out of all proportion to the edges.
Without a third column every weight is 1. What follows a # is a comment. Coordinates, labels and names of vertices
cannot be held; but behind titles, ends may be names: vertices are then these, in the order in which they first occur.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats, Indices, Ints
from cotherm.errors import CothermError
from cotherm.graphs.formats import npz
from cotherm.graphs.graph import MOST_VERTICES, Graph
from cotherm.io.cells import is_finite
from cotherm.io.text import (
    LineReader,
    as_integers,
    csv_bytes,
    excerpt,
    line_at,
    number_blocks,
    require_last_line,
    require_rows,
    utf8,
)

_ENDS = (["i", "j"], ["source", "target"], ["from", "to"], ["src", "dst"], ["node1", "node2"])
_WEIGHTS: tuple[list[str], ...] = (["w"], ["weight"], [])
_TITLES = "i,j,w, i,j, source,target,weight, source,target (also from,to, src,dst, node1,node2)"
_MARKS = (",", ";", "\t")
# Where the number of vertices is not given, a graph may have at most this many, or this many for every edge.
_FEW_VERTICES = 10**6
_VERTICES_PER_EDGE = 100
_NEEDED = {
    2: "an edge: two vertex numbers, separated by a comma",
    3: "an edge: two vertex numbers and a weight, separated by commas",
}
ADVICE = (
    "Vertices are numbered from 0 to the largest number in the file: renumber them, or say how many there are in a "
    "first line '# cotherm graph {...}', as write_graph does."
)


def render(graph: Graph) -> bytes:
    npz.refuse_extras(graph)
    rows = zip(graph.i.tolist(), graph.j.tolist(), graph.w.tolist(), strict=True)
    lines = [f"# {npz.header_text(graph)}", "i,j,w", *(f"{i},{j},{w!r}" for i, j, w in rows), ""]
    return "\n".join(lines).encode("ascii")


def render_named(graph: Graph) -> bytes:
    """The edges between names of vertices; vertices without edges are not in it."""
    assert graph.vertex_names is not None
    names = graph.vertex_names.tolist()
    rows = zip(graph.i.tolist(), graph.j.tolist(), graph.w.tolist(), strict=True)
    return csv_bytes(("source", "target", "weight"), ((names[i], names[j], w) for i, j, w in rows))


class Form(NamedTuple):
    """How to read an edge list of numbers: ``lines`` come before the edges."""

    header: npz.Header | None
    columns: int
    mark: str
    lines: int
    named: bool = False


def form_of(text: bytes) -> Form:
    """The form of a list, from its first lines."""
    head = _header_of(line_at(text, 0))
    first, others = LineReader(text, comment="#").first()
    if not first.rows:
        return Form(head, 3, ",", 0)
    fields, mark = _fields(first.rows[0])
    if _are_titles(fields):
        second, _ = others.first()
        named = bool(second.rows) and not all(map(_begins_like_a_number, _fields(second.rows[0])[0][:2]))
        return Form(head, len(fields), mark, first.numbers[0], named and head is None)
    if not any(_begins_like_a_number(field) for field in fields):
        first.refuse(0, f"titles {_TITLES}, or an edge of numbers")
    return Form(head, 2 if len(fields) == 2 else 3, mark, first.numbers[0] - 1)


def parse(data: bytes) -> Graph:
    text = utf8(data)
    form = form_of(text)
    if form.named:
        return _parse_named(text.decode(), form)
    head, n = form.header, MOST_VERTICES if form.header is None else form.header.n
    rows = LineReader(text, comment="#", start=_end_of_line(text, form.lines), first=form.lines + 1)
    ends, w = _edges(rows, form, n)
    if head is not None:
        require_rows(rows, len(ends), head.m, "edges")
        require_last_line(text)
        return graph_of(rows, n, ends, w, head.name)
    if not len(ends):
        raise CothermError(
            "content", "no edges and no line '# cotherm graph ...'", "the number of vertices, or an edge"
        )
    n = int(ends.max()) + 1
    require_proportion("content", n, len(ends), ADVICE)
    return graph_of(rows, n, ends, w, None)


def begins_like_one(first: str) -> bool:
    """Whether the first line of a table marks it as edges: our mark, or titles of ends and weights."""
    return first.removeprefix("#").strip().startswith(npz.MARK) or _are_titles(_fields(first)[0])


def graph_of(rows: LineReader, n: int, ends: Indices, w: Floats, name: str | None) -> Graph:
    """The graph with one edge per line; ``ends`` is (m, 2), within [0, n). A bad edge is named by its line."""
    i, j = ends[:, 0], ends[:, 1]
    rows.refuse_where(i == j, "two different ends for every edge", "Drop the self-loops; they carry no heat.")
    # NaN fails the comparison.
    rows.refuse_where(~((w >= 0) & (w < np.inf)), "a finite weight >= 0")
    found = repeat(keys(n, np.minimum(i, j), np.maximum(i, j)))
    if found is not None:
        first, second = (rows.find(k) for k in found)
        raise CothermError(
            f"line {second.numbers[0]}",
            f"{excerpt(second.rows[0])} joins the same two vertices as line {first.numbers[0]}",
            "every pair of vertices at most once",
            "Add up or choose among the repeated weights first.",
        )
    return Graph(n, i, j, w, name=name)


def require_proportion(where: str, n: int, m: int, advice: str) -> None:
    """Refuse a number of vertices out of all proportion to the edges, since later steps need memory for each vertex.

    Such a file is nearly always one that numbers its vertices otherwise. Where it is meant, a header of our own says
    how many vertices there are.
    """
    if n > max(_FEW_VERTICES, _VERTICES_PER_EDGE * m):
        raise CothermError(
            where,
            f"{n} vertices and {m} edges",
            f"at most {_FEW_VERTICES} vertices, or {_VERTICES_PER_EDGE} for every edge",
            advice,
        )


def keys(n: int, low: NDArray[np.int32], high: NDArray[np.int32]) -> Ints:
    """low · n + high, which tells pairs apart."""
    return low.astype(np.int64) * n + high


def repeat(key: Ints) -> tuple[int, int] | None:
    """The first two places of the smallest key that occurs more than once."""
    order = np.argsort(key, kind="stable")
    again = np.flatnonzero(np.diff(key[order]) == 0)
    return (int(order[again[0]]), int(order[again[0] + 1])) if len(again) else None


def _edges(rows: LineReader, form: Form, n: int) -> tuple[Indices, Floats]:
    """The ends (m, 2) and the weights."""
    ends, w = np.empty((len(rows), 2), dtype=np.int32), np.ones(len(rows))
    needed = f"vertex numbers from 0 to {n - 1}"
    for which, lines, numbers in number_blocks(rows, form.columns, _NEEDED[form.columns], delimiter=form.mark):
        ends[which] = as_integers(lines, numbers[:, :2], least=0, most=n - 1, needed=needed)
        if form.columns == 3:
            w[which] = numbers[:, 2]
    return ends, w


def _parse_named(text: str, form: Form) -> Graph:
    """The graph of a list between names, with titles in its first row."""
    vertices: dict[str, int] = {}
    edges: dict[tuple[int, int], tuple[float, int]] = {}
    for line, cells in _named_rows(text, form.mark):
        where, row = f"line {line}", excerpt(form.mark.join(cells))
        if len(cells) != form.columns:
            raise CothermError(where, row, f"{form.columns} cells, as the titles")
        if not all(cells[:2]):
            raise CothermError(where, row, "the names of two vertices")
        if cells[0] == cells[1]:
            raise CothermError(where, f"an edge from {cells[0]!r} to itself", "two different ends for every edge")
        if form.columns > 2 and not is_finite(cells[2]):
            raise CothermError(where, excerpt(cells[2]), "a finite weight >= 0")
        if form.columns > 2 and float(cells[2]) < 0.0:
            given = f"a negative weight between {cells[0]!r} and {cells[1]!r}"
            raise CothermError(where, given, "a finite weight >= 0")
        i, j = sorted(vertices.setdefault(name, len(vertices)) for name in cells[:2])
        if (i, j) in edges:
            first, second = sorted(cells[:2], key=vertices.__getitem__)
            given = f"{first!r} and {second!r} again, as in line {edges[i, j][1]}"
            raise CothermError(where, given, "every pair of vertices at most once")
        edges[i, j] = float(cells[2]) if form.columns > 2 else 1.0, line
    ends = np.array(list(edges), dtype=np.int64).reshape(-1, 2)
    return Graph(len(vertices), ends[:, 0], ends[:, 1], [w for w, _ in edges.values()], vertex_names=list(vertices))


def _named_rows(text: str, mark: str) -> Iterator[tuple[int, list[str]]]:
    """The line and the cells of every row but the first; skips blank lines and comments."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark)
    titled = False
    for row in reader:
        cells = [cell.strip() for cell in row]
        if not any(cells) or cells[0].startswith("#"):
            continue
        if titled:
            yield reader.line_num, cells
        titled = True


def _header_of(words: str) -> npz.Header | None:
    """The content of our own first line; None if the line is not ours."""
    mark = words.removeprefix("#").strip()
    return npz.parse_header(mark, "line 1", []) if words.startswith("#") and mark.startswith(npz.MARK) else None


def _begins_like_a_number(field: str) -> bool:
    # NumPy reads words such as nan as numbers; unusable numbers are refused later, when edges are checked.
    return field[:1] in tuple("+-.0123456789") or field in ("nan", "inf", "infinity", "")


def _fields(row: str) -> tuple[list[str], str]:
    """The fields of a row in lower case, and the separator."""
    mark = next((mark for mark in _MARKS if mark in row), ",")
    return [field.strip(' "').lower() for field in row.split(mark)], mark


def _are_titles(fields: list[str]) -> bool:
    return fields[:2] in _ENDS and fields[2:] in _WEIGHTS


def _end_of_line(text: bytes, k: int) -> int:
    """Where the first k lines end."""
    at = 0
    for _ in range(k):
        at = text.find(b"\n", at) + 1 or len(text)
    return at
