"""Edge lists, ``.csv``: one edge ``i,j,w`` a line, vertices numbered from 0, weights to the last digit.

A file written here starts with ``# cotherm graph {...}`` (see ``header``), so that isolated vertices and the
name survive, and then the line ``i,j,w``. A file from elsewhere may start with ``i,j,w`` or
``source,target,weight``, or at once with the numbers; its vertices are 0 to the largest number in it.
Without a third column every weight is 1. What follows a # is a comment. Coordinates and labels cannot be
held.
"""

from __future__ import annotations

import numpy as np

from cotherm.errors import CothermError
from cotherm.graphs.formats import edges, header
from cotherm.graphs.formats.text import Lines, content, decode, require_last_line, require_rows, table, whole
from cotherm.graphs.graph import MOST_VERTICES, Graph

_TITLES = (["i", "j", "w"], ["i", "j"], ["source", "target", "weight"], ["source", "target"])
_NEEDED = "an edge: two vertex numbers and a weight, separated by commas"


def render(graph: Graph) -> bytes:
    header.refuse_extras(graph)
    rows = zip(graph.i.tolist(), graph.j.tolist(), graph.w.tolist(), strict=True)
    lines = [f"# {header.render(graph)}", "i,j,w", *(f"{i},{j},{w!r}" for i, j, w in rows), ""]
    return "\n".join(lines).encode("ascii")


def parse(data: bytes) -> Graph:
    text = decode(data)
    head = _header(text)
    rows, columns = _without_titles(content(text, comment="#"))
    needed = _NEEDED if columns == 3 else "an edge: two vertex numbers, separated by a comma"
    numbers = table(rows, columns, needed, delimiter=",")
    n = MOST_VERTICES if head is None else head.n
    ends = whole(rows, numbers[:, :2], least=0, most=n - 1, needed=f"vertex numbers from 0 to {n - 1}")
    w = numbers[:, 2] if columns == 3 else np.ones(len(ends))
    if head is not None:
        require_rows(rows, len(ends), head.m, "edges")
        require_last_line(text)
        return edges.graph(rows, n, ends, w, head.name)
    if not len(ends):
        raise CothermError(
            "content", "no edges and no line '# cotherm graph ...'", "the number of vertices, or an edge"
        )
    return edges.graph(rows, int(ends.max()) + 1, ends, w, None)


def _header(text: str) -> header.Header | None:
    line = text.partition("\n")[0]
    words = line.removeprefix("#").strip()
    if not line.startswith("#") or not words.startswith(header.MARK):
        return None
    return header.parse(words, "line 1", [])


def _begins_like_a_number(field: str) -> bool:
    # Words such as nan are numbers to NumPy; what is no usable number is refused later, as an edge.
    return field[:1] in tuple("+-.0123456789") or field in ("nan", "inf", "infinity", "")


def _without_titles(lines: Lines) -> tuple[Lines, int]:
    """The rows of numbers, and how many columns they have."""
    if not lines.rows:
        return lines, 3
    fields = [field.strip(' "').lower() for field in lines.rows[0].split(",")]
    if fields in _TITLES:
        return lines.part(1), len(fields)
    if not any(_begins_like_a_number(field) for field in fields):
        lines.refuse(0, "titles " + ", ".join(",".join(titles) for titles in _TITLES) + ", or an edge of numbers")
    return lines, 2 if len(fields) == 2 else 3
