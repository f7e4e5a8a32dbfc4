"""Mesh, what a shape file holds: points in space and the triangles between them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cotherm import validation
from cotherm.arrays import Floats, Indices
from cotherm.errors import CothermError
from cotherm.graphs.graph import MOST_VERTICES
from cotherm.graphs.immutable import assign, read_only


class Mesh:
    """Points in three dimensions, and triangles between them.

    Parameters
    ----------
    vertices : (n, 3) finite positions, n at least 1.
    faces : (f, 3) corners of the triangles, integers in [0, n); none of them makes a point cloud.

    Nothing is asked of the shape: it may have holes, stray vertices and triangles without area. The arrays
    are copies and cannot be written to. A mesh unpacks as ``vertices, faces = mesh``.
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

    def __setattr__(self, field: str, value: object) -> None:
        raise AttributeError(f"Mesh is frozen: {field} cannot be set")

    def __delattr__(self, field: str) -> None:
        raise AttributeError(f"Mesh is frozen: {field} cannot be deleted")

    def __reduce__(self) -> tuple[Any, ...]:
        # Needed because frozen slots defeat the default.
        return Mesh, (self.vertices, self.faces)

    def __eq__(self, other: object) -> bool:
        """Same vertices and faces in the same order, to the last bit."""
        if not isinstance(other, Mesh):
            return NotImplemented
        return np.array_equal(self.vertices, other.vertices) and np.array_equal(self.faces, other.faces)

    __hash__ = None  # type: ignore[assignment]

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
    if array.dtype.kind in "iu" and array.min() >= 0 and array.max() < n:  # spares a copy of eight bytes a number
        return array.astype(np.int32)
    return validation.indices("faces", array.ravel(), below=n).astype(np.int32).reshape(-1, 3)
