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
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats, Indices, Ints
from cotherm.errors import CothermError
from cotherm.graphs.formats import npz
from cotherm.graphs.graph import MOST_VERTICES, Graph
from cotherm.graphs.validation import EACH_ONCE, repeat
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
    head = npz.header_in(line_at(text, 0), "#", "line 1")
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
        given = "no edges and no line '# cotherm graph ...'"
        raise CothermError("content", given, "the number of vertices, or an edge")
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
        given = f"{excerpt(second.rows[0])} joins the same two vertices as line {first.numbers[0]}"
        advice = "Add up or choose among the repeated weights first."
        raise CothermError(f"line {second.numbers[0]}", given, EACH_ONCE, advice)
    return Graph(n, i, j, w, name=name)


def require_proportion(where: str, n: int, m: int, advice: str) -> None:
    """Refuse a number of vertices out of all proportion to the edges: such a file numbers its vertices otherwise."""
    if n > max(_FEW_VERTICES, _VERTICES_PER_EDGE * m):
        needed = f"at most {_FEW_VERTICES} vertices, or {_VERTICES_PER_EDGE} for every edge"
        raise CothermError(where, f"{n} vertices and {m} edges", needed, advice)


def keys(n: int, low: NDArray[np.int32], high: NDArray[np.int32]) -> Ints:
    """low · n + high, which tells pairs apart."""
    return low.astype(np.int64) * n + high


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
    """The graph of a list between names, with titles in its first row; blank lines and comments are skipped."""
    vertices: dict[str, int] = {}
    edges: dict[tuple[int, int], tuple[float, int]] = {}
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=form.mark)
    rows = ((reader.line_num, [cell.strip() for cell in row]) for row in reader)
    rows = (row for row in rows if any(row[1]) and not row[1][0].startswith("#"))
    next(rows)  # the titles
    for line, cells in rows:

        def refuse(given: str, needed: str, where: str = f"line {line}") -> NoReturn:
            raise CothermError(where, given, needed)

        if len(cells) != form.columns:
            refuse(excerpt(form.mark.join(cells)), f"{form.columns} cells, as the titles")
        a, b, weight = (*cells, "1")[:3]
        if not (a and b):
            refuse(excerpt(form.mark.join(cells)), "the names of two vertices")
        if a == b:
            refuse(f"an edge from {a!r} to itself", "two different ends for every edge")
        if not is_finite(weight):
            refuse(excerpt(weight), "a finite weight >= 0")
        if float(weight) < 0.0:
            refuse(f"a negative weight between {a!r} and {b!r}", "a finite weight >= 0")
        i, j = sorted(vertices.setdefault(name, len(vertices)) for name in (a, b))
        if (i, j) in edges:
            first, second = sorted((a, b), key=vertices.__getitem__)
            refuse(f"{first!r} and {second!r} again, as in line {edges[i, j][1]}", EACH_ONCE)
        edges[i, j] = float(weight), line
    ends = np.array(list(edges), dtype=np.int64).reshape(-1, 2)
    return Graph(len(vertices), ends[:, 0], ends[:, 1], [w for w, _ in edges.values()], vertex_names=list(vertices))


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
