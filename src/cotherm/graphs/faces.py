"""Faces of a graph in space: those of a mesh, recovered from its edges, or a surface through sampled points.

They are oriented consistently outwards, for a lit surface: a normal for every vertex comes from its nearest neighbors,
the direction in which they extend least. Which of its two directions is outwards is carried from a vertex that lies
outermost along a tree of near vertices whose normals are nearly parallel (Hoppe et al. 1992). Triangles then turn to
the normals of their corners.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import breadth_first_order, connected_components, minimum_spanning_tree
from scipy.spatial import cKDTree

from cotherm.arrays import Floats, Ints
from cotherm.graphs.graph import Graph

# Paths of two edges for each vertex; a graph with more of them cannot be a surface.
_MOST_PATHS = 200
# The fraction of a mesh's edges in one or two triangles. Nearest-neighbor graphs of a surface have many in none.
_MESH = 0.95
# Neighbors that triangles need to close a surface without holes, and the most points this is done for.
_NEAREST, _MOST_SAMPLES = 8, 10_000
# Number of neighbors from which a normal is found.
_NEAR_NORMAL = 7
# Triangles with a smaller cosine than this between their normal and the surface's run through the body.
_UPRIGHT = 0.1


def faces_of(graph: Graph) -> Ints:
    """(f, 3): the faces of a mesh, or else of a surface that runs through the vertices.

    Weights do not matter: before and after a coupling the faces are the same.
    """
    found, is_mesh = _mesh(graph)
    if is_mesh or graph.n < 4 or graph.n > _MOST_SAMPLES or graph.coordinates is None:
        return found
    return _through_samples(graph.coordinates)


def is_mesh(graph: Graph) -> bool:
    """Whether the graph has the edges of a triangle mesh in space: nearly all belong to one or two triangles."""
    return graph.coordinates is not None and graph.coordinates.shape[1] == 3 and _mesh(graph)[1]


def _mesh(graph: Graph) -> tuple[Ints, bool]:
    found, on_edges = triangles(graph.n, graph.i, graph.j)
    return found, bool(len(on_edges) and np.mean((on_edges == 1) | (on_edges == 2)) >= _MESH)


def triangles(n: int, i: ArrayLike, j: ArrayLike) -> tuple[Ints, Ints]:
    """All triangles of edges (i, j), i < j; and for each edge the number of triangles it is in.

    Of a mesh these are its faces, and sometimes a ring of three edges around a thin neck.
    """
    keys = np.sort(np.asarray(i, dtype=np.int64) * n + np.asarray(j))
    low, high = np.divmod(keys, n)
    # Extend every edge (i, j) by all (j, k), i < j < k: a triangle if (i, k) is an edge too.
    first = np.searchsorted(low, np.arange(n + 1))
    onward = np.diff(first)[high]
    if not 0 < onward.sum() <= _MOST_PATHS * n:
        return np.empty((0, 3), dtype=np.int64), np.zeros(len(keys), dtype=np.int64)
    before = np.concatenate([[0], np.cumsum(onward)[:-1]])
    edge = np.repeat(np.arange(len(keys)), onward)
    second = np.arange(len(edge)) + (first[high] - before)[edge]
    wanted = low[edge] * n + high[second]
    third = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    closed = keys[third] == wanted
    sides = np.column_stack([edge, second, third])[closed]
    corners = np.column_stack([low[sides[:, 0]], high[sides[:, 0]], high[sides[:, 1]]])
    return corners, np.bincount(sides.ravel(), minlength=len(keys))


def _through_samples(points: Floats) -> Ints:
    """Triangles of near points: they overlap and close the surface that the points were sampled from."""
    found: Any = cKDTree(points).query(points, k=min(_NEAREST, len(points) - 1) + 1)
    near = found[1]
    ends = np.column_stack([np.repeat(near[:, 0], near.shape[1] - 1), near[:, 1:].ravel()])
    ends = np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1), axis=0)
    return triangles(len(points), ends[:, 0], ends[:, 1])[0]


def oriented(points: Floats, faces: Ints, *, only_flat: bool = False) -> Ints:
    """The triangles turned outwards; on request, without those that stand up from the surface."""
    normals = outward_normals(points)
    a, b, c = (points[faces[:, corner]] for corner in range(3))
    across = np.cross(b - a, c - a)
    length = np.linalg.norm(across, axis=1)
    agreement = np.einsum("fd,fd->f", across, normals[faces].mean(axis=1)) / np.where(length > 0.0, length, 1.0)
    turned = np.where((agreement < 0.0)[:, np.newaxis], faces[:, [0, 2, 1]], faces)
    return turned[np.abs(agreement) > _UPRIGHT] if only_flat else turned


def outward_normals(points: Floats) -> Floats:
    """Unit normals, (n, 3)."""
    k = min(_NEAR_NORMAL, len(points) - 1)
    found: Any = cKDTree(points).query(points, k=k + 1)
    near = found[1]
    around = points[near] - points[near].mean(axis=1, keepdims=True)
    normals = np.linalg.eigh(np.einsum("vkd,vke->vde", around, around))[1][:, :, 0]
    return normals * _signs(points, normals, near)[:, np.newaxis]


def _signs(points: Floats, normals: Floats, near: Ints) -> Floats:
    """The sign of every vertex's normal, 1 or −1."""
    n = len(points)
    i, j = np.repeat(near[:, 0], near.shape[1] - 1), near[:, 1:].ravel()
    # Nearly parallel normals first; a little more than zero, since a sparse matrix does not store zeros as edges.
    crooked = 1.0 + 1e-9 - np.abs(np.einsum("ed,ed->e", normals[i], normals[j]))
    tree = minimum_spanning_tree(sp.coo_array((crooked, (i, j)), shape=(n, n)).tocsr())
    signs = np.ones(n)
    part = connected_components(tree, directed=False)[1]
    for one in range(int(part.max()) + 1):
        members = np.flatnonzero(part == one)
        outermost = members[np.argmax(np.linalg.norm(points[members] - points[members].mean(axis=0), axis=1))]
        outwards = points[outermost] - points[members].mean(axis=0)
        signs[outermost] = 1.0 if normals[outermost] @ outwards >= 0.0 else -1.0
        order, before = breadth_first_order(tree, int(outermost), directed=False)
        for v in order[1:].tolist():
            signs[v] = signs[before[v]] * (1.0 if normals[v] @ normals[before[v]] >= 0.0 else -1.0)
    return signs
