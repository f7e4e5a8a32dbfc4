"""A human body in two poses, hands joined and hands apart, made by our own code: the paper's Man without its data.

The modeled body is a smooth union of capsules: thick segments from a to b, of radius r_a at a and r_b at b.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.datasets.views import Views
from cotherm.functions import landmark_functions
from cotherm.graphs.build import knn_graph
from cotherm.graphs.graph import Graph
from cotherm.progress import track

# Random points per sample. About one of twelve is close to the surface: seven candidates for every sample.
_SEEDS = 80

Place = tuple[float, float, float]
Part = tuple[Place, Place, float, float]

# The parts of the body in centimeters: x to its right, y to its front, z up. From, to, and the radii there.
_MIDDLE: tuple[Part, ...] = (
    ((0, 2, 156), (0, 2, 160), 8.0, 9.0),  # head
    ((0, 0, 138), (0, 1, 150), 5.0, 4.5),  # neck
)
# Parts of the right half; the left half is their mirror image.
_HALF: tuple[Part, ...] = (
    ((7, 0, 128), (6.5, 0, 106), 10.5, 8.5),  # chest, to the waist
    ((6.5, 0, 106), (8, 0, 92), 8.5, 9.5),  # pelvis
    ((4, 0, 139), (15, 0, 137), 5.5, 5.5),  # shoulder
    ((9, 0, 88), (11, 1, 49), 8.5, 5.5),  # thigh
    ((11, 1, 49), (12, -1, 9), 5.5, 3.5),  # shin
    ((12, -1, 5), (14, 15, 3.5), 4.0, 3.5),  # foot
)
_SHOULDER = np.array([17.0, 0.0, 136.0])
# Upper arm, forearm and hand: their lengths, and the radii at both ends.
_ARM = ((29.0, 5.0, 4.2), (25.0, 4.2, 3.2), (17.0, 4.8, 4.4))
# Their directions in the two poses. Joined, the fingers press together in front of the chest, clear of it.
_APART = ((0.78, 0.05, -0.62), (0.72, 0.25, -0.65), (0.70, 0.30, -0.65))
_JOINED = ((0.605, 0.55, -0.70), (-0.87, 0.45, 0.15), (-0.40, 0.70, 0.50))
# The fingers touch this far along the hand.
_FINGERS = 0.8

# Width of the smoothing where capsules join, in the units of the body.
_SMOOTH = 2.0
# Newton steps to the surface: enough to reach rounding error from anywhere within the distance below.
_STEPS = 20
# Largest distance of random points from the surface that they are moved to.
_SHELL = 3.0
# Points further apart than this along the body (it is some 165 units tall) should not be neighbors.
_FAR = 40.0
# Most ends are close to each other, which a search up to this distance finds out: of 50,000 vertices in seconds.
_CLOSE = 3.0
# A bump covers ``_BUMP`` times the number of points beyond ``_FEW``.
_FEW, _BUMP = 500, 0.04
# Numbers in memory at once while distances along the body are computed: 64 MiB.
_AT_ONCE = 2**23


def human(n: int = 500) -> Views:
    """Make a model of a human body in two poses, with joined and with separate hands.

    Farthest-point samples of the body, five nearest neighbors, a bump on each hand. In the first graph the hands
    touch, and the edges that join them are marked in ``wrong``, 14 for n = 500. The bumps come from the second graph,
    where the hands do not touch. It stands for the scanned body of the paper's experiment Man.

    Parameters
    ----------
    n : int, default 500
        Number of samples, the same points of the body in both poses, from 200 to 5,000. The same n gives the same
        points.

    Returns
    -------
    Views
        The two graphs. Vertices correspond.

    See Also
    --------
    shortcuts : Short cuts planted on surfaces of any size.

    Notes
    -----
    The body is a smooth union of capsules. The bones of its arms carry the samples from one pose to the other.

    Examples
    --------
    >>> import cotherm as ct
    >>> views = ct.datasets.human(200)
    >>> [graph.name for graph in views.graphs]
    ['hands joined', 'hands apart']
    """
    n = validation.integer("n", n, least=200, most=5000)
    body, posed = _body(_APART), _body(_JOINED)
    surface = surface_points(body, _SEEDS * n, np.random.default_rng(0))
    apart = surface[farthest_points(surface, n)]
    joined = carry(apart, body, posed)
    return two_poses("human", joined, apart, _hands(posed, joined, right=apart[:, 0] > 0.0))


def _body(directions: tuple[Place, ...]) -> Capsules:
    """The body with its right arm in the given directions, its left arm mirroring it; the hands come last."""
    half = [*_HALF, *_arm(directions)]
    mirrored = [((-a[0], *a[1:]), (-b[0], *b[1:]), r_a, r_b) for a, b, r_a, r_b in half]
    parts = [*_MIDDLE, *(part for pair in zip(half, mirrored, strict=True) for part in pair)]
    a, b, r_a, r_b = (np.array(column, dtype=np.float64) for column in zip(*parts, strict=True))
    return Capsules(a, b, r_a, r_b)


def _arm(directions: tuple[Place, ...]) -> Iterator[Part]:
    """The right arm from the shoulder on, each part starting at the end of the last."""
    joint = _SHOULDER
    for (length, r_a, r_b), direction in zip(_ARM, directions, strict=True):
        end = joint + length * np.array(direction) / np.linalg.norm(direction)
        yield tuple(joint), tuple(end), r_a, r_b
        joint = end


def _hands(posed: Capsules, joined: Floats, right: NDArray[np.bool_]) -> list[int]:
    """The sample of either hand nearest to where they touch.

    Further up the arm a bump could be cut off from the body by fewer edges than join the hands, and coupling, which
    looks for the least change, may do that instead.
    """
    touch = (posed.a[-2:] + _FINGERS * (posed.b[-2:] - posed.a[-2:])).mean(axis=0)
    return [nearest(np.where(side[:, np.newaxis], joined, np.inf), touch) for side in (right, ~right)]


def two_poses(name: str, joined: Floats, apart: Floats, hands: Sequence[int]) -> Views:
    """Five nearest neighbors of the same points in both poses, a bump on each hand, and the edges that are wrong.

    ``hands`` are a point in each hand. Only with the hands apart can the graph tell one from the other: the bumps and
    the distances along the body come from that pose.
    """
    graphs = tuple(
        knn_graph(points, 5, scale_neighbor=5, name=pose)
        for points, pose in ((joined, "hands joined"), (apart, "hands apart"))
    )
    n = graphs[1].n
    # Bumps that reach the other hand: two moves where there are few points, a part of them where there are more.
    bumps = landmark_functions(graphs[1], hands, cover=_BUMP * (n - _FEW) / n if n > _FEW else None)
    wrong = (far_along(graphs[1], graphs[0]), np.zeros(graphs[1].m, dtype=bool))
    return Views(name, graphs, (bumps, bumps), times=(5.0, 10.0, 20.0), wrong=wrong, aligned=True)


def farthest_points(points: Floats, n: int) -> NDArray[np.intp]:
    """n of the points, each the farthest from those before it, from the first on; all in their order if n is all."""
    if n == len(points):
        return np.arange(n)
    chosen = np.zeros(n, dtype=np.intp)
    gap = np.sum((points - points[0]) ** 2, axis=1)
    for k in track(range(1, n), total=n - 1, label="farthest points"):
        chosen[k] = np.argmax(gap)
        gap = np.minimum(gap, np.sum((points - points[chosen[k]]) ** 2, axis=1))
    return chosen


def nearest(points: Floats, place: Floats) -> int:
    """The point nearest to a place."""
    return int(np.argmin(np.linalg.norm(points - place, axis=1)))


def far_along(body: Graph, graph: Graph, *, places: NDArray[np.intp] | None = None) -> NDArray[np.bool_]:
    """The edges of a graph whose ends are far apart along the body, whose surface another graph describes.

    ``places`` are the vertices of that other graph at which this one's are; by default the same numbers.
    """
    X = body.coordinates
    assert X is not None
    lengths = np.linalg.norm(X[body.i] - X[body.j], axis=1)
    network = sp.csr_array((lengths, (body.i, body.j)), shape=(body.n, body.n))
    at = np.arange(graph.n) if places is None else places
    ends = np.sort(np.stack([at[graph.i], at[graph.j]]).astype(np.int64), axis=0)
    # The straight line is a lower bound of the distance along the body; an edge of the body is an upper bound.
    straight = np.linalg.norm(X[ends[0]] - X[ends[1]], axis=1)
    own = np.isin(ends[0] * body.n + ends[1], body.i.astype(np.int64) * body.n + body.j)
    far = np.asarray(straight > _FAR)
    unsure = ~far & ~own
    width = max(1, _AT_ONCE // body.n)
    for limit in (_CLOSE, _FAR):
        sources = np.unique(ends[0, unsure])
        starts = range(0, len(sources), width)
        for start in track(starts, total=len(starts), label="distances along the body"):
            block = sources[start : start + width]
            along = dijkstra(network, directed=False, indices=block, limit=limit)
            here = np.flatnonzero(unsure & np.isin(ends[0], block))
            unsure[here] = along[np.searchsorted(block, ends[0, here]), ends[1, here]] > limit
    return far | unsure


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
