"""Mesh, the content of a shape file: points in space and the triangles between them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cotherm import validation
from cotherm.arrays import Floats, Indices, Ints
from cotherm.errors import CothermError
from cotherm.graphs.graph import MOST_VERTICES
from cotherm.graphs.validation import Frozen, assign, read_only
from cotherm.io.text import Lines, as_integers

TRIANGLE = "a triangle: 3 and three vertex numbers"
TRIANGULATE = "Triangulate the mesh first; how to cut a polygon is not for a reader to choose."


class Mesh(Frozen):
    """Triangle mesh: points in three dimensions and triangles between them.

    Parameters
    ----------
    vertices : array_like of shape (n, 3)
        Finite positions, n ≥ 1.
    faces : array_like of int of shape (f, 3), default ()
        Corners of the triangles, in [0, n). A mesh without faces is a point cloud.

    Attributes
    ----------
    vertices : ndarray of float64 of shape (n, 3)
        Positions.
    faces : ndarray of int32 of shape (f, 3)
        Corners of the triangles.

    See Also
    --------
    read_mesh : Read a mesh from a file.
    mesh_graph : Graph of the edges of a mesh.

    Notes
    -----
    The shape is not checked: a mesh may have holes, unused vertices and triangles without area. The arrays are copies
    and read-only. A mesh unpacks as ``vertices, faces = mesh``.

    Examples
    --------
    >>> import cotherm as ct
    >>> mesh = ct.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    >>> ct.mesh_graph(*mesh).edges.tolist()
    [[0, 1], [0, 2], [1, 2]]
    """

    __slots__ = ("faces", "vertices")

    vertices: Floats
    faces: Indices

    def __init__(self, vertices: ArrayLike, faces: ArrayLike = ()) -> None:
        points = _vertices(vertices)
        assign(self, "vertices", read_only(points))
        assign(self, "faces", read_only(_faces(faces, len(points))))

    def __iter__(self) -> Iterator[NDArray[Any]]:
        yield self.vertices
        yield self.faces

    def __reduce__(self) -> tuple[Any, ...]:
        # Needed because frozen slots defeat the default.
        return Mesh, (self.vertices, self.faces)

    def __repr__(self) -> str:
        return f"Mesh({len(self.vertices)} vertices, {len(self.faces)} faces)"


def _vertices(value: ArrayLike) -> Floats:
    array = validation.numeric("vertices", value, ndim=(2,))
    if array.shape[1] != 3 or not 1 <= len(array) <= MOST_VERTICES:
        raise CothermError("vertices", f"shape {array.shape}", "shape (n, 3) with n >= 1")
    return array.copy() if np.may_share_memory(array, np.asarray(value)) else array


def _faces(value: ArrayLike, n: int) -> Indices:
    array = validation.as_array("faces", value)
    if array.size == 0:
        return np.empty((0, 3), dtype=np.int32)
    if array.ndim != 2 or array.shape[1] != 3:
        raise CothermError("faces", f"shape {array.shape}", "shape (f, 3), the corners of triangles")
    if array.dtype.kind in "iu" and array.min() >= 0 and array.max() < n:  # saves a copy of eight bytes a number
        return array.astype(np.int32)
    return validation.indices("faces", array.ravel(), below=n).astype(np.int32).reshape(-1, 3)


def corners_of(lines: Lines, numbers: Floats, n: int) -> Ints:
    """Corners in a file, numbered from 0: all must be below n."""
    return as_integers(lines, numbers, least=0, most=n - 1, needed=f"vertex numbers from 0 to {n - 1}")
