"""Object File Format, ``.off``: the numbers of vertices and faces, then a vertex a line, then a face a line.

Read are OFF and its variants with colours (C), normals (N) and texture coordinates (ST) after the position,
which are passed over, as are colours after a face. The counts may stand on the first line, even glued to the
word OFF. Comments start with #. Binary files and vertices in other than three dimensions are refused.
"""

from __future__ import annotations

import re

from cotherm.errors import CothermError
from cotherm.graphs.formats import triangles
from cotherm.graphs.formats.text import Lines, content, counts, decode, finite, require_rows, table
from cotherm.graphs.mesh import Mesh

_VARIANT = re.compile(r"(ST)?C?N?OFF(?![a-zA-Z])")


def render(mesh: Mesh) -> bytes:
    lines = ["OFF", f"{len(mesh.vertices)} {len(mesh.faces)} 0"]
    lines += [f"{x!r} {y!r} {z!r}" for x, y, z in mesh.vertices.tolist()]
    lines += [f"3 {a} {b} {c}" for a, b, c in mesh.faces.tolist()]
    return "\n".join([*lines, ""]).encode("ascii")


def parse(data: bytes) -> Mesh:
    lines, plain = _without_word(content(decode(data), comment="#"))
    n, f = _sizes(lines)
    rows = lines.part(1)
    require_rows(lines, len(rows.rows), n + f, "lines of vertices and faces")
    upper, lower = rows.part(0, n), rows.part(n)
    vertices = finite(upper, table(upper, 3, "a vertex: three coordinates", more=not plain))
    numbers = table(lower, 4, triangles.NEEDED, more=True)
    triangles.require_three(lower, numbers[:, 0])
    return Mesh(vertices, triangles.corners(lower, numbers[:, 1:], n))


def _without_word(lines: Lines) -> tuple[Lines, bool]:
    """The lines from the counts on, and whether vertices hold a position alone."""
    first = lines.rows[0] if lines.rows else ""
    word = _VARIANT.match(first)
    if word is None:
        raise CothermError("first line", repr(first[:60]), "the word OFF, COFF, NOFF or STOFF, for text")
    rest = first[word.end() :].strip()
    if "BINARY" in rest:
        lines.refuse(0, "OFF as text", "Convert the file from binary OFF first.")
    kept = lines.part(1)
    if rest:
        kept = Lines([rest, *kept.rows], [lines.numbers[0], *kept.numbers])
    return kept, word.group() == "OFF"


def _sizes(lines: Lines) -> tuple[int, int]:
    needed = "the numbers of vertices, faces and edges"
    if not lines.rows:
        raise CothermError("content", "nothing after the word OFF", needed)
    words = lines.rows[0].split()
    if len(words) not in (2, 3):
        lines.refuse(0, needed)
    n, f, *_ = counts(lines, 0, words, needed)
    return n, f
