"""Wavefront, ``.obj``: lines ``v x y z`` and ``f a b c``, vertices numbered from 1 or backwards from −1.

A corner may be written a, a/t, a//n or a/t/n; the texture and normal numbers are passed over, as are all
lines on textures, normals, groups, materials, points and lines. Polygons with more than three corners,
free-form surfaces and continued lines are refused. The format declares no counts, so that a file cut short
at the end of a line cannot be told from a whole one.
"""

from __future__ import annotations

import re

import numpy as np

from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError
from cotherm.graphs.formats import triangles
from cotherm.graphs.formats.text import Lines, content, decode, finite, table, whole
from cotherm.graphs.mesh import Mesh

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
    points, faces = _sorted(content(decode(data), comment="#"))
    # Position, and perhaps a weight or a colour.
    vertices = finite(points, table(points, 3, "a vertex: v and three coordinates", more=True))
    if not len(vertices):
        raise CothermError("content", "no line 'v x y z'", "at least one vertex")
    bare = Lines(_TEXTURE_AND_NORMAL.sub("", "\n".join(faces.rows)).split("\n"), faces.numbers)
    numbers = table(bare if faces.rows else faces, 3, _NEEDED, triangles.ADVICE)
    return Mesh(vertices, _corners(faces, numbers, points))


def _sorted(lines: Lines) -> tuple[Lines, Lines]:
    """What follows v and what follows f."""
    found: dict[str, Lines] = {"v": Lines([], []), "f": Lines([], [])}
    for k, (row, number) in enumerate(zip(*lines, strict=True)):
        word, *rest = row.split(None, 1)
        if word in found and rest:
            found[word].rows.append(rest[0])
            found[word].numbers.append(number)
        elif word not in _PASSED_OVER:
            lines.refuse(k, "a Wavefront line, such as v x y z or f a b c")
    return found["v"], found["f"]


def _corners(faces: Lines, numbers: Floats, points: Lines) -> Ints:
    """Corners numbered from 0; −1 is the last vertex above the face."""
    above = np.searchsorted(points.numbers, faces.numbers)[:, np.newaxis]
    n = len(points.rows)
    backwards = np.where(numbers < 0, above + numbers, np.nan)
    zero_based = np.where(numbers > 0, numbers - 1, backwards)
    needed = f"vertex numbers from 1 to {n}, or backwards from -1"
    return whole(faces, zero_based, least=0, most=n - 1, needed=needed)
