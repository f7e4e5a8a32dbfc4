"""Object File Format, ``.off``: the numbers of vertices and faces, then a vertex a line, then a face a line.

Read are OFF and its variants with colors (C), normals (N) and texture coordinates (ST) after the position,
which are passed over, as are colors after a face. The counts may stand on the first line, even glued to the
word OFF. Comments start with #. Binary files and vertices in other than three dimensions are refused.
"""

from __future__ import annotations

import re

import numpy as np

from cotherm.errors import CothermError
from cotherm.graphs.formats import triangles
from cotherm.graphs.mesh import Mesh
from cotherm.io.text import LineReader, Lines, as_counts, number_rows, require_finite, require_rows, utf8

_VARIANT = re.compile(r"(ST)?C?N?OFF(?![a-zA-Z])")


def render(mesh: Mesh) -> bytes:
    lines = ["OFF", f"{len(mesh.vertices)} {len(mesh.faces)} 0"]
    lines += [f"{x!r} {y!r} {z!r}" for x, y, z in mesh.vertices.tolist()]
    lines += [f"3 {a} {b} {c}" for a, b, c in mesh.faces.tolist()]
    return "\n".join([*lines, ""]).encode("ascii")


def parse(data: bytes) -> Mesh:
    sizes, rows, plain = _begin(LineReader(utf8(data), comment="#"))
    n, f = _sizes(sizes)
    require_rows(rows, len(rows), n + f, "lines of vertices and faces")
    vertices, faces = np.empty((n, 3)), np.empty((f, 3), dtype=np.int32)
    for group, which, lines in rows.groups((n, f)):
        if group == 0:
            vertices[which] = require_finite(
                lines, number_rows(lines, 3, "a vertex: three coordinates", more=not plain)
            )
        else:
            numbers = number_rows(lines, 4, triangles.NEEDED, more=True)
            triangles.require_three(lines, numbers[:, 0])
            faces[which] = triangles.corners(lines, numbers[:, 1:], n)
    return Mesh(vertices, faces)


def _begin(content: LineReader) -> tuple[Lines, LineReader, bool]:
    """The line of the counts, the lines after it, and whether vertices hold only a position."""
    head, others = content.first()
    first = head.rows[0] if head.rows else ""
    word = _VARIANT.match(first)
    if word is None:
        raise CothermError("first line", repr(first[:60]), "the word OFF, COFF, NOFF or STOFF, for text")
    rest = first[word.end() :].strip()
    if "BINARY" in rest:
        head.refuse(0, "OFF as text", "Convert the file from binary OFF first.")
    plain = word.group() == "OFF"
    if rest:
        return Lines([rest], head.numbers), others, plain
    return *others.first(), plain


def _sizes(lines: Lines) -> tuple[int, int]:
    needed = "the numbers of vertices, faces and edges"
    if not lines.rows:
        raise CothermError("content", "nothing after the word OFF", needed)
    words = lines.rows[0].split()
    if len(words) not in (2, 3):
        lines.refuse(0, needed)
    n, f, *_ = as_counts(lines, 0, words, needed)
    return n, f
