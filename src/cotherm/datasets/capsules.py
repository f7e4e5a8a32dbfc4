"""Bodies made of smoothly joined capsules: points of their surface, and where they move with the body.

A capsule is a thick segment: from a to b, of radius r_a at a and r_b at b.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cotherm.arrays import Floats

# Width of the smoothing where capsules join, in the units of the body.
_SMOOTH = 2.0
# Newton steps to the surface: enough to reach rounding error from anywhere within the distance below.
_STEPS = 20
# Largest distance of random points from the surface that they are moved to.
_SHELL = 3.0


@dataclass(frozen=True)
class Capsules:
    """K capsules: the ends of their segments, (K, 3) each, and the radii there, (K,) each."""

    a: Floats
    b: Floats
    r_a: Floats
    r_b: Floats


def surface_points(body: Capsules, seeds: int, rng: np.random.Generator) -> Floats:
    """Random points of the surface: those of ``seeds`` points in a box that are close to it, moved onto it.

    They are uniform in the box, so the density on the surface is nearly uniform.
    """
    margin = max(body.r_a.max(), body.r_b.max()) + _SHELL
    ends = np.vstack([body.a, body.b])
    points = rng.uniform(ends.min(axis=0) - margin, ends.max(axis=0) + margin, size=(seeds, 3))
    points = points[np.abs(_union(body, points)[0]) < _SHELL]
    for _ in range(_STEPS):
        height, slope = _union(body, points)
        points = points - (height / np.sum(slope**2, axis=1))[:, np.newaxis] * slope
    return points


def carry(points: Floats, body: Capsules, moved: Capsules) -> Floats:
    """Points moved with the body: each capsule moves rigidly, and their motions are blended by distance."""
    shares = _shares(np.stack([_depth(body, k, points)[0] for k in range(len(body.a))]))
    there = np.zeros_like(points)
    for k, share in enumerate(shares):
        R = _turn(body.b[k] - body.a[k], moved.b[k] - moved.a[k])
        there += share[:, np.newaxis] * ((points - body.a[k]) @ R.T + moved.a[k])
    return there


def _union(body: Capsules, points: Floats) -> tuple[Floats, Floats]:
    """−s log Σ_k e^{−d_k/s}, a smooth least distance to the capsules, and its gradient."""
    depths, slopes = zip(*(_depth(body, k, points) for k in range(len(body.a))), strict=True)
    d = np.stack(depths)
    least = d.min(axis=0)
    height = least - _SMOOTH * np.log(np.sum(np.exp((least - d) / _SMOOTH), axis=0))
    return height, np.einsum("kp,kpx->px", _shares(d), np.stack(slopes))


def _shares(d: Floats) -> Floats:
    """The weight of each capsule at each point: e^{−d_k/s}, normalized to sum to one."""
    weights = np.exp((d.min(axis=0) - d) / _SMOOTH)
    return weights / weights.sum(axis=0)


def _depth(body: Capsules, k: int, points: Floats) -> tuple[Floats, Floats]:
    """The distance of points to capsule k, < 0 inside, and its gradient.

    The gradient ignores that the radius changes along the segment: the error is small, and Newton's steps correct it.
    """
    axis = body.b[k] - body.a[k]
    along = np.clip((points - body.a[k]) @ axis / (axis @ axis), 0.0, 1.0)
    away = points - body.a[k] - along[:, np.newaxis] * axis
    distance = np.linalg.norm(away, axis=1)
    radius = body.r_a[k] + along * (body.r_b[k] - body.r_a[k])
    return distance - radius, away / np.maximum(distance, 1e-12)[:, np.newaxis]


def _turn(u: Floats, v: Floats) -> Floats:
    """The smallest rotation from the direction of u to that of v (Rodrigues' formula)."""
    u, v = u / np.linalg.norm(u), v / np.linalg.norm(v)
    x, y, z = np.cross(u, v)
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + K + K @ K / (1.0 + u @ v)
