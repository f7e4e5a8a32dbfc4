"""Diffusion distances on a large graph at short times, from heat that is followed only as far as it has spread.

d_t(p, q)² = h_pp + h_qq − 2h_pq with h = e^{−2tL}: h_pp is computed once for every vertex, then h_pq where the
heat of p has spread to; elsewhere it is zero. The matrix is a Laplacian of the processor, which renumbers the vertices:
row r belongs to vertex ``order[r]``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from cotherm.arrays import Floats, Ints
from cotherm.engines import processor
from cotherm.progress import track

# Sources handled between two updates of the progress bar.
_BLOCK = 8_192
# Vertices whose cost is measured to estimate the total.
_SAMPLE = 64


def seconds(matrix: Any, t: float, limit: float) -> float:
    """The estimated cost of ``nearest`` on one processor, from a sample; no less than the limit, if above it."""
    sample = np.linspace(0, matrix.n - 1, _SAMPLE).astype(np.int64)
    total = 0.0
    for vertex in sample:
        total += 2.0 * matrix.n / _SAMPLE * processor().local_self_heat(matrix, 2.0 * t, np.array([vertex]))[1] * 3e-9
        if total > limit:
            break
    return total


def rows(matrix: Any, t: float, sources: Ints) -> Floats:
    """Distances from each source to every vertex."""
    places = _places(matrix)[sources]
    heat = _self_heat(matrix, t)
    squares = processor().local_kernel_rows(matrix, 2.0 * t, places)
    squares *= -2.0  # in place, here and below: there may be many rows
    squares += heat
    squares += heat[places][:, np.newaxis]
    squares[np.arange(len(places)), places] = 0.0
    np.sqrt(np.maximum(squares, 0.0, out=squares), out=squares)
    distances = np.empty_like(squares)
    distances[:, matrix.order] = squares
    return distances


def nearest(matrix: Any, t: float, sources: Ints, k: int) -> tuple[Ints, Floats]:
    """The k nearest of each source."""
    places = _places(matrix)[sources]
    heat = _self_heat(matrix, t)
    found = [
        processor().local_nearest(matrix, 2.0 * t, places[block], heat, k)
        for block in _blocks(len(places), "nearest by diffusion distance")
    ]
    indices = np.concatenate([i for i, _ in found])
    squares = np.concatenate([v for _, v in found])
    return matrix.order[indices].astype(np.int64), np.sqrt(np.maximum(squares, 0.0))


def _self_heat(matrix: Any, t: float) -> Floats:
    """h_pp of every vertex."""
    vertices = np.arange(matrix.n)
    blocks = _blocks(matrix.n, "heat that stays")
    return np.concatenate([processor().local_self_heat(matrix, 2.0 * t, vertices[block])[0] for block in blocks])


def _blocks(count: int, label: str) -> Iterator[slice]:
    starts = range(0, count, _BLOCK)
    return (slice(a, a + _BLOCK) for a in track(starts, total=len(starts), label=label))


def _places(matrix: Any) -> Ints:
    """The number of every vertex in the order of the matrix."""
    place = np.empty(matrix.n, dtype=np.int64)
    place[matrix.order] = np.arange(matrix.n)
    return place
