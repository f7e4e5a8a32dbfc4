"""A human body in two poses, hands joined and hands apart, made by our own code: the paper's Man without its data."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.datasets.body import farthest_points, nearest, two_poses
from cotherm.datasets.capsules import Capsules, carry, surface_points
from cotherm.datasets.views import Views

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
