"""Spectral upsampling (ZoomOut, Melzi et al. 2019), in both directions at once.

A functional map of few modes gives a map of vertices, and that one a functional map of some more modes, until all are
used. Here C carries functions from target to source and C′ from source to target, each comes from a map of vertices of
its own, and vertices are compared in both: v and w are near where Φ_s[v] ≈ Φ_t[w]Cᵀ and Φ_s[v]C′ᵀ ≈ Φ_t[w].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cotherm import limits
from cotherm.arrays import Floats, Ints
from cotherm.graphs.search.exact import nearest_rows
from cotherm.methods.matching.functional_map import from_vertices
from cotherm.methods.matching.modes import Modes
from cotherm.progress import track

# Every step has ``_GROWTH`` times as many modes as the one before, and at least ``_LEAST`` more.
_GROWTH, _LEAST = 1.12, 2


@dataclass(frozen=True, eq=False)
class Space:
    """Both graphs as points of one space: rows of ``source`` and ``target`` that are near correspond."""

    source: Floats
    target: Floats
    functional_map: Floats


def schedule(first: int, last: int) -> list[int]:
    """How many modes each step has, after the first."""
    sizes = [first]
    while sizes[-1] < last:
        sizes.append(min(last, max(sizes[-1] + _LEAST, round(sizes[-1] * _GROWTH))))
    return sizes[1:]


def refined(source: Modes, target: Modes, start: Space, first: int) -> Space:
    """From a space in which vertices can be compared to one of all modes."""
    rows, columns = (_sample(len(modes.vectors)) for modes in (source, target))
    space = start
    sizes = [first, *schedule(first, len(source.values))]
    for k in track(sizes, total=len(sizes), label="upsampling", alike=False):
        there = nearest_rows(_some(space.source, rows), space.target, 1)[0][:, 0]
        back = nearest_rows(_some(space.target, columns), space.source, 1)[0][:, 0]
        s, t = source.first(k), target.first(k)
        C, D = from_vertices(s, t, there, rows), from_vertices(t, s, back, columns)
        space = Space(np.hstack([s.vectors, s.vectors @ D.T]), np.hstack([t.vectors @ C.T, t.vectors]), C)
    return space


def _sample(n: int) -> Ints | None:
    """The vertices that look for their counterparts, among all, and fit the functional maps; None for all."""
    if n <= limits.MATCHED_VERTICES:
        return None
    return np.sort(np.random.default_rng(0).choice(n, limits.MATCHED_VERTICES, replace=False))


def _some(X: Floats, rows: Ints | None) -> Floats:
    return X if rows is None else X[rows]
