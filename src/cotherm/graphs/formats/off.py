"""Object File Format, ``.off``: the numbers of vertices and faces, then a vertex a line, then a face a line.

Read are OFF and its variants with colors (C), normals (N) and texture coordinates (ST) after the position,
which are passed over, as are colors after a face. The counts may stand on the first line, even glued to the
word OFF. Comments start with #. Binary files and vertices in other than three dimensions are refused.
"""

from __future__ import annotations

import re

import numpy as np

from cotherm.errors import CothermError
from cotherm.graphs.mesh import TRIANGLE, TRIANGULATE, Mesh, corners_of
from cotherm.io.text import LineReader, Lines, as_counts, number_rows, require_finite, require_rows, utf8

_VARIANT = re.compile(r"(ST)?C?N?OFF(?![a-zA-Z])")


def render(mesh: Mesh) -> bytes:
    lines = ["OFF", f"{len(mesh.vertices)} {len(mesh.faces)} 0"]
    lines += [f"{x!r} {y!r} {z!r}" for x, y, z in mesh.vertices.tolist()]
    lines += [f"3 {a} {b} {c}" for a, b, c in mesh.faces.tolist()]
    return "\n".join([*lines, ""]).encode("ascii")


def parse(data: bytes) -> Mesh:
    n, f, rows, plain = _begin(LineReader(utf8(data), comment="#"))
    require_rows(rows, len(rows), n + f, "lines of vertices and faces")
    vertices, faces = np.empty((n, 3)), np.empty((f, 3), dtype=np.int32)
    for group, which, lines in rows.groups((n, f)):
        if group == 0:
            points = number_rows(lines, 3, "a vertex: three coordinates", more=not plain)
            vertices[which] = require_finite(lines, points)
        else:
            numbers = number_rows(lines, 4, TRIANGLE, more=True)
            lines.refuse_where(np.not_equal(numbers[:, 0], 3), TRIANGLE, TRIANGULATE)
            faces[which] = corners_of(lines, numbers[:, 1:], n)
    return Mesh(vertices, faces)


def _begin(content: LineReader) -> tuple[int, int, LineReader, bool]:
    """Numbers of vertices and faces, the lines after them, and whether vertices hold only a position."""
    head, others = content.first()
    first = head.rows[0] if head.rows else ""
    word = _VARIANT.match(first)
    if word is None:
        raise CothermError("first line", repr(first[:60]), "the word OFF, COFF, NOFF or STOFF, for text")
    rest = first[word.end() :].strip()
    if "BINARY" in rest:
        head.refuse(0, "OFF as text", "Convert the file from binary OFF first.")
    if rest:
        head = Lines([rest], head.numbers)
    else:
        head, others = others.first()
    needed = "the numbers of vertices, faces and edges"
    if not head.rows:
        raise CothermError("content", "nothing after the word OFF", needed)
    words = head.rows[0].split()
    if len(words) not in (2, 3):
        head.refuse(0, needed)
    n, f, *_ = as_counts(head, 0, words, needed)
    return n, f, others, word.group() == "OFF"
