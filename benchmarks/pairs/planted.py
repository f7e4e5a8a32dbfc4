"""Planted views: items of several groups, seen by noisy views of different quality."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cotherm.arrays import Floats, Ints

# Groups are at equal distances from each other; noise is in units of that distance and in so many directions.
_DIRECTIONS = 20
NOISES = (0.2, 0.26, 0.32)


def planted(
    n: int, groups: int = 6, noises: Sequence[float] = NOISES, *, seed: int = 0
) -> tuple[tuple[Floats, ...], Ints]:
    """Rows of n items in every view, (n, 20) each, and the groups of the items, in random order.

    A view has a standard deviation of noise in each direction, for a distance of 1 between the centers of groups.
    """
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n) % groups).astype(np.int64)
    return tuple(
        _centers(groups, rng)[labels] + noise * rng.standard_normal((n, _DIRECTIONS)) for noise in noises
    ), labels


def _centers(groups: int, rng: np.random.Generator) -> Floats:
    """Corners of a regular simplex with edges of length 1, turned at random."""
    Q = np.linalg.qr(rng.standard_normal((_DIRECTIONS, groups)))[0]
    return np.asarray(Q.T / np.sqrt(2.0))
