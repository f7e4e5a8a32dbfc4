"""Triangles of a surface all show the same side outwards."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull

import cotherm as ct
from cotherm.graphs.faces import faces_of, oriented, outward_normals


def sphere(n: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    points = np.random.default_rng(0).standard_normal((n, 3))
    return np.asarray(points / np.linalg.norm(points, axis=1, keepdims=True) * [1.0, 2.0, 3.0])


def outwards(points: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """For every triangle whether its normal points away from the middle."""
    a, b, c = (points[faces[:, k]] for k in range(3))
    return np.einsum("fd,fd->f", np.cross(b - a, c - a), (a + b + c) / 3.0 - points.mean(axis=0)) > 0.0


def test_normals_of_an_ellipsoid_point_outwards() -> None:
    points = sphere(500)
    exact = points / np.array([1.0, 4.0, 9.0])
    exact /= np.linalg.norm(exact, axis=1, keepdims=True)
    found = np.einsum("vd,vd->v", outward_normals(points), exact)
    assert found.min() > 0.5
    assert np.median(found) > 0.97


def test_all_triangles_turn_outwards() -> None:
    points = sphere(500)
    faces = ConvexHull(points).simplices.astype(np.int64)
    assert not outwards(points, faces).all()
    turned = oriented(points, faces)
    assert outwards(points, turned).all()
    np.testing.assert_array_equal(np.sort(turned, axis=1), np.sort(faces, axis=1))


def test_bodies_and_parts_of_them() -> None:
    """Neighbors in a closed surface of samples agree, on each of two bodies."""
    points = np.vstack([sphere(300), sphere(300) + 20.0])
    graph = ct.knn_graph(points, 6)
    faces = oriented(points, faces_of(graph), only_flat=True)
    for part in (faces[faces.max(axis=1) < 300], faces[faces.min(axis=1) >= 300] - 300):
        assert len(part) > 300
        assert outwards(sphere(300), part).mean() > 0.98


@pytest.mark.parametrize("points", [np.zeros((5, 3)), np.eye(3), np.arange(30.0).reshape(10, 3)])
def test_points_without_a_surface(points: np.ndarray) -> None:
    assert oriented(points, np.array([[0, 1, 2]])).shape == (1, 3)
