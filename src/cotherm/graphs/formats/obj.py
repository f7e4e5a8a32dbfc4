"""Wavefront, ``.obj``: lines ``v x y z`` and ``f a b c``, vertices numbered from 1 or backwards from −1.

A corner may be written a, a/t, a//n or a/t/n; the texture and normal numbers are passed over, as are all
lines on textures, normals, groups, materials, points and lines. Polygons with more than three corners,
free-form surfaces and continued lines are refused. The format declares no counts, so that a file cut short
at the end of a line cannot be told from a whole one.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Indices
from cotherm.errors import CothermError
from cotherm.graphs.graph import MOST_VERTICES
from cotherm.graphs.mesh import TRIANGULATE, Mesh
from cotherm.io.text import LineReader, Lines, number_rows, require_finite, utf8

_PASSED_OVER = {
    *("vt", "vn", "vp", "p", "l", "o", "g", "s", "mg", "usemtl", "mtllib", "usemap", "maplib"),
    *("bevel", "c_interp", "d_interp", "lod", "shadow_obj", "trace_obj"),
}
_TEXTURE_AND_NORMAL = re.compile(r"(?<=\d)/(?:-?\d+)?(?:/-?\d+)?(?!\S)", re.ASCII)
_NEEDED = "a triangle: f and three vertex numbers, such as f 1 2 3 or f 1/1/1 2/2/2 3/3/3"


def render(mesh: Mesh) -> bytes:
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in mesh.vertices.tolist()]
    lines += [f"f {a} {b} {c}" for a, b, c in (mesh.faces + 1).tolist()]
    return "\n".join([*lines, ""]).encode("ascii")


def parse(data: bytes) -> Mesh:
    content = LineReader(utf8(data), comment="#")
    vertices, faces = [np.empty((0, 3))], [np.empty((0, 3), dtype=np.int32)]
    n = 0
    for lines in content.blocks():
        v, f = _sorted(lines)
        # A position, perhaps with a weight or a color.
        vertices.append(require_finite(v, number_rows(v, 3, "a vertex: v and three coordinates", more=True)))
        faces.append(_corners(f, v, n))
        n += len(v.rows)
    if not n:
        raise CothermError("content", "no line 'v x y z'", "at least one vertex")
    points, corners = _joined(vertices), _joined(faces)
    bad = (corners < 0) | (corners >= n)
    if bad.any():
        needed = f"vertex numbers from 1 to {n}, or backwards from -1"
        _face(content, int(np.argmax(bad.any(axis=1)))).refuse(0, needed)
    return Mesh(points, corners)


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Stack the parts, and free them."""
    whole = np.concatenate(parts)
    parts.clear()
    return whole


def _sorted(lines: Lines) -> tuple[Lines, Lines]:
    """The lines of vertices (v) and of faces (f)."""
    found: dict[str, Lines] = {"v": Lines([], []), "f": Lines([], [])}
    for k, (row, number) in enumerate(zip(lines.rows, lines.numbers, strict=True)):
        word, *rest = row.split(None, 1)
        if word in found and rest:
            found[word].rows.append(rest[0])
            found[word].numbers.append(number)
        elif word not in _PASSED_OVER:
            lines.refuse(k, "a Wavefront line, such as v x y z or f a b c")
    return found["v"], found["f"]


def _corners(faces: Lines, points: Lines, before: int) -> Indices:
    """Corners numbered from 0, −1 for invalid vertex numbers; in the file, −1 is the last vertex above the face.

    ``before`` is how many vertices there are above these lines.
    """
    bare = Lines(_TEXTURE_AND_NORMAL.sub("", "\n".join(faces.rows)).split("\n") if faces.rows else [], faces.numbers)
    numbers = number_rows(bare, 3, _NEEDED, TRIANGULATE)
    above = before + np.searchsorted(points.numbers, faces.numbers)[:, np.newaxis]
    zero_based = np.where(numbers < 0, above + numbers, numbers - 1)
    known = (zero_based == np.floor(zero_based)) & (zero_based >= 0) & (zero_based < MOST_VERTICES)
    return np.where(known, zero_based, -1.0).astype(np.int32)


def _face(content: LineReader, k: int) -> Lines:
    """The line of face k."""
    for lines in content.blocks():
        faces = _sorted(lines)[1]
        if k < len(faces.rows):
            return faces.find(k)
        k -= len(faces.rows)
    raise IndexError(k)
