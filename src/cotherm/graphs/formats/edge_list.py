"""Edge lists, ``.csv``: one edge ``i,j,w`` a line, vertices numbered from 0, weights to the last digit.

A file written here starts with ``# cotherm graph {...}`` (see ``header``), so that isolated vertices and the
name survive, and then the line ``i,j,w``. A file from elsewhere may have semicolons or tabs for commas, and may
start with titles such as ``i,j,w``, ``source,target,weight`` or ``from,to``, or at once with the numbers; its vertices
are 0 to the largest number in it, which must not be out of all proportion to the edges (see ``edges``).
Without a third column every weight is 1. What follows a # is a comment. Coordinates, labels and names of vertices
cannot be held; but behind titles, ends may be names (see ``named_edges``).
"""

from __future__ import annotations

import numpy as np

from cotherm.arrays import Floats, Indices
from cotherm.errors import CothermError
from cotherm.graphs.formats import edges, header, named_edges
from cotherm.graphs.graph import MOST_VERTICES, Graph
from cotherm.io.text import LineReader, as_integers, line_at, number_blocks, require_last_line, require_rows, utf8

_ENDS = (["i", "j"], ["source", "target"], ["from", "to"], ["src", "dst"], ["node1", "node2"])
_WEIGHTS: tuple[list[str], ...] = (["w"], ["weight"], [])
_TITLES = "i,j,w, i,j, source,target,weight, source,target (also from,to, src,dst, node1,node2)"
_MARKS = (",", ";", "\t")
NEEDED = {
    2: "an edge: two vertex numbers, separated by a comma",
    3: "an edge: two vertex numbers and a weight, separated by commas",
}
ADVICE = (
    "Vertices are numbered from 0 to the largest number in the file: renumber them, or say how many there are in a "
    "first line '# cotherm graph {...}', as write_graph does."
)


def render(graph: Graph) -> bytes:
    header.refuse_extras(graph)
    rows = zip(graph.i.tolist(), graph.j.tolist(), graph.w.tolist(), strict=True)
    lines = [f"# {header.render(graph)}", "i,j,w", *(f"{i},{j},{w!r}" for i, j, w in rows), ""]
    return "\n".join(lines).encode("ascii")


def parse(data: bytes) -> Graph:
    text = utf8(data)
    head = header_of(line_at(text, 0))
    content = LineReader(text, comment="#")
    rows, columns, mark = without_titles(content)
    if head is None and rows is not content and begins_with_a_name(rows):
        return named_edges.parse(text.decode(), columns, mark)
    n = MOST_VERTICES if head is None else head.n
    ends, w = _edges(rows, columns, mark, n)
    if head is not None:
        require_rows(rows, len(ends), head.m, "edges")
        require_last_line(text)
        return edges.graph(rows, n, ends, w, head.name)
    if not len(ends):
        raise CothermError(
            "content", "no edges and no line '# cotherm graph ...'", "the number of vertices, or an edge"
        )
    n = int(ends.max()) + 1
    edges.require_proportion("content", n, len(ends), ADVICE)
    return edges.graph(rows, n, ends, w, None)


def begins_like_one(first: str) -> bool:
    """Whether the first line of a table marks it as edges: our mark, or titles of ends and weights."""
    return first.removeprefix("#").strip().startswith(header.MARK) or _are_titles(_fields(first)[0])


def _edges(rows: LineReader, columns: int, mark: str, n: int) -> tuple[Indices, Floats]:
    """The ends (m, 2) and the weights."""
    ends, w = np.empty((len(rows), 2), dtype=np.int32), np.ones(len(rows))
    needed = NEEDED[columns]
    for which, lines, numbers in number_blocks(rows, columns, needed, delimiter=mark):
        ends[which] = as_integers(
            lines, numbers[:, :2], least=0, most=n - 1, needed=f"vertex numbers from 0 to {n - 1}"
        )
        if columns == 3:
            w[which] = numbers[:, 2]
    return ends, w


def begins_with_a_name(rows: LineReader) -> bool:
    """Whether the ends of the first edge are names, not numbers."""
    first, _ = rows.first()
    return bool(first.rows) and not all(map(_begins_like_a_number, _fields(first.rows[0])[0][:2]))


def header_of(words: str) -> header.Header | None:
    """The content of our own first line; None if the line is not ours."""
    mark = words.removeprefix("#").strip()
    return header.parse(mark, "line 1", []) if words.startswith("#") and mark.startswith(header.MARK) else None


def _begins_like_a_number(field: str) -> bool:
    # NumPy reads words such as nan as numbers; unusable numbers are refused later, when edges are checked.
    return field[:1] in tuple("+-.0123456789") or field in ("nan", "inf", "infinity", "")


def without_titles(content: LineReader) -> tuple[LineReader, int, str]:
    """The rows of numbers, the number of columns, and the separator."""
    first, others = content.first()
    if not first.rows:
        return content, 3, ","
    fields, mark = _fields(first.rows[0])
    if _are_titles(fields):
        return others, len(fields), mark
    if not any(_begins_like_a_number(field) for field in fields):
        first.refuse(0, f"titles {_TITLES}, or an edge of numbers")
    return content, 2 if len(fields) == 2 else 3, mark


def _fields(row: str) -> tuple[list[str], str]:
    """The fields of a row in lower case, and the separator."""
    mark = next((mark for mark in _MARKS if mark in row), ",")
    return [field.strip(' "').lower() for field in row.split(mark)], mark


def _are_titles(fields: list[str]) -> bool:
    return fields[:2] in _ENDS and fields[2:] in _WEIGHTS
