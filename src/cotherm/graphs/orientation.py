"""Triangles oriented consistently outwards, for a lit surface.

A normal for every vertex comes from its nearest neighbors: the direction in which they extend least. Which of its two
directions is outwards is carried from a vertex that lies outermost along a tree of near vertices whose normals are
nearly parallel (Hoppe et al. 1992). Triangles then turn to the normals of their corners.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, connected_components, minimum_spanning_tree
from scipy.spatial import cKDTree

from cotherm.arrays import Floats, Ints

# Number of neighbors from which a normal is found.
_NEAREST = 7
# Triangles with a smaller cosine than this between their normal and the surface's run through the body.
_UPRIGHT = 0.1


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
    k = min(_NEAREST, len(points) - 1)
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
