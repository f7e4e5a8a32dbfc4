"""Matrix Market, ``.mtx``: the matrix of the weights in coordinate form, vertices numbered from 1.

Written is the lower triangle of a real symmetric matrix, in the order of the edges, weights to the last
digit; the name goes into a comment ``% cotherm graph {...}`` (see ``npz``). Read are real, integer and
pattern matrices (every weight 1), symmetric, or general with equal entries on both sides; of the latter the
entries above the diagonal are kept, in their order. A stored zero is an edge of weight 0; the diagonal must
be empty. Coordinates and labels cannot be held.

Files are written by ``scipy.io.mmwrite`` and read here: ``scipy.io.mmread`` (SciPy 1.17) takes 0x3 for 0, 1_0 for 1,
1-2 for 1 and an integer 0.5 for 0, passes over what follows a number, and ends the process at a byte 0 after one.
"""

from __future__ import annotations

import io

import numpy as np

from cotherm.arrays import Floats, Indices, Ints
from cotherm.errors import CothermError
from cotherm.graphs.formats import edge_list, npz
from cotherm.graphs.graph import MOST_VERTICES, Graph
from cotherm.io.text import (
    LineReader,
    Lines,
    Numbered,
    as_counts,
    as_integers,
    excerpt,
    line_at,
    number_blocks,
    require_last_line,
    require_rows,
    utf8,
)

# The largest whole number up to which floats hold all whole numbers.
_MOST_INTEGER = 2**53 - 1
_BANNER = "%%MatrixMarket matrix coordinate real symmetric"
ADVICE = "Leave out empty rows and columns, or say that they are meant in a second line '% cotherm graph {...}'."


def render(graph: Graph) -> bytes:
    import scipy.io
    from scipy.sparse import coo_array

    npz.refuse_extras(graph)
    lower = coo_array((graph.w, (graph.j, graph.i)), shape=(graph.n, graph.n))
    buffer = io.BytesIO()
    scipy.io.mmwrite(buffer, lower, comment=f" {npz.header_text(graph)}", symmetry="symmetric")
    return buffer.getvalue()


def parse(data: bytes) -> Graph:
    text = utf8(data)
    field, symmetry = banner(line_at(text, 0))
    sizes, rows = LineReader(text, comment="%").first()
    n, entries = sizes_of(sizes)
    head = header_of(line_at(text, 1), n, entries)
    if head is not None:
        require_last_line(text)
    require_rows(rows, len(rows), entries, "entries")
    if head is None:
        edge_list.require_proportion(f"line {sizes.numbers[0]}", n, entries, ADVICE)
    ends, w = _entries(rows, field, n)
    name = None if head is None else head.name
    if symmetry == "general":
        return _upper(rows, n, ends, w, name)
    return edge_list.graph_of(rows, n, ends, w, name)


def _entries(rows: LineReader, field: str, n: int) -> tuple[Indices, Floats]:
    """Rows and columns, numbered from 0, (m, 2), and the values."""
    columns, needed = columns_of(field)
    ends, w = np.empty((len(rows), 2), dtype=np.int32), np.ones(len(rows))
    for which, lines, numbers in number_blocks(rows, columns, needed):
        ends[which] = entries_of(lines, numbers, field, n)
        if columns == 3:
            w[which] = numbers[:, 2]
    return ends, w


def columns_of(field: str) -> tuple[int, str]:
    """The numbers in an entry: how many, and which."""
    columns = 2 if field == "pattern" else 3
    return columns, f"{columns} numbers: row, column" + (", value" if columns == 3 else "")


def entries_of(lines: Numbered, numbers: Floats, field: str, n: int) -> Ints:
    """Checked rows and columns, numbered from 0, of some lines of entries."""
    ends = as_integers(lines, numbers[:, :2], least=1, most=n, needed=f"row and column from 1 to {n}") - 1
    if field == "integer":
        as_integers(lines, numbers[:, 2], least=0, most=_MOST_INTEGER, needed="a whole number from 0 to 2**53 - 1")
    return ends


def banner(line: str) -> tuple[str, str]:
    """Field and symmetry of the matrix, from the first line."""
    words = line.lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        raise CothermError("line 1", excerpt(line), f"a banner such as {_BANNER!r}")
    form, field, symmetry = words[2:]
    if form != "coordinate" or field not in ("real", "integer", "pattern") or symmetry not in ("symmetric", "general"):
        raise CothermError(
            "line 1", excerpt(line), "a coordinate matrix, real, integer or pattern, symmetric or general"
        )
    return field, symmetry


def sizes_of(lines: Lines) -> tuple[int, int]:
    """Numbers of rows and of entries, from the first line that is not a comment."""
    needed = "the size line: rows, columns, entries"
    if not lines.rows:
        raise CothermError("content", "nothing after the banner", needed)
    words = lines.rows[0].split()
    if len(words) != 3:
        lines.refuse(0, needed)
    rows, columns, entries = as_counts(lines, 0, words, needed)
    if rows != columns or not 1 <= rows <= MOST_VERTICES:
        lines.refuse(0, f"a square matrix with 1 to {MOST_VERTICES} rows")
    return rows, entries


def header_of(second: str, n: int, entries: int) -> npz.Header | None:
    """The content of our own second line; None if the line is not ours."""
    words = second.removeprefix("%").strip()
    if not second.startswith("%") or not words.startswith(npz.MARK):
        return None
    head = npz.parse_header(words, "line 2", [])
    if (head.n, head.m) != (n, entries):
        raise CothermError("line 2", f"n={head.n}, m={head.m}", f"the numbers of the size line, {n} and {entries}")
    return head


def _upper(rows: LineReader, n: int, ends: Indices, w: Floats, name: str | None) -> Graph:
    """One of the two equal entries for every edge of a general matrix, in the order of the file."""
    i, j = ends.T
    rows.refuse_where(i == j, "an empty diagonal", "Drop the self-loops; they carry no heat.")
    twice = edge_list.repeat(edge_list.keys(n, i, j))
    if twice is not None:
        rows.refuse(twice[1], "every entry at most once")
    entry, mirror = edge_list.keys(n, i, j), edge_list.keys(n, j, i)
    order = np.argsort(entry, kind="stable")
    place = np.searchsorted(entry, mirror, sorter=order)
    partner = order[np.minimum(place, len(order) - 1)]
    rows.refuse_where(
        (entry[partner] != mirror) | (w[partner] != w),
        "an equal entry on the other side of the diagonal",
        "Choose how to combine the two, e.g. (W + W.T) / 2.",
    )
    rows.refuse_where(~((w >= 0) & (w < np.inf)), "a finite weight >= 0")
    kept = np.flatnonzero(i < j)
    return Graph(n, i[kept], j[kept], w[kept], name=name)
