"""Diffusion distances on a large graph at long times, from a random sketch of the heat kernel.

The rows of Y = H_t R, with R an n × r matrix of independent signs ±1/√r, have E‖Y_p − Y_q‖² = d_t(p, q)², with a
relative standard deviation of at most √(2/r). No n × n matrix is formed: the sketch is made some columns at a time.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cotherm.arrays import Floats, Ints
from cotherm.engines.interface import Array, Laplacian
from cotherm.graphs.search.neighbors import nearest_neighbors
from cotherm.heat.chebyshev import apply_exponential, chebyshev_flow
from cotherm.progress import track

PROBES = 4_096

# Probes of the first sketch for a few sources, which only has to find candidates.
_ROUGH = 512

# Columns of the sketch made at a time.
_BLOCK = 64
# Truncation error of a flow, relative to its start: distances at late times are small differences.
_TAIL = 1e-14
_TOLERANCE = 1e-8
# Distances that are sorted at once.
_SORTED_AT_ONCE = 2**22


def seconds(matrix: Laplacian, probes: int, degree: int) -> float:
    """The estimated cost of ``nearest`` on one processor: the flows, and the search for candidates among all pairs."""
    return probes * degree * matrix.work(1) * 0.35e-9 + _BLOCK * float(matrix.n) ** 2 * 0.05e-9


def rows(matrix: Laplacian, t: float, sources: Ints, probes: int, seed: int) -> Floats:
    """Distances from each source to every vertex."""
    all_vertices = np.broadcast_to(np.arange(matrix.n), (len(sources), matrix.n))
    return _pair_distances(matrix, t, sources, all_vertices, probes, seed)


def nearest(matrix: Laplacian, t: float, sources: Ints, k: int, probes: int, seed: int) -> tuple[Ints, Floats]:
    """The k nearest of each source: candidates from a small sketch, compared by a large one or exactly."""
    count = min(matrix.n - 1, 4 * k + 16)
    if len(sources) * count <= probes:
        rough = rows(matrix, t, sources, min(probes, _ROUGH), seed)
        candidates, _ = smallest(rough, sources, count)
        distances = _exact_pairs(matrix, t, sources, candidates)
    else:
        coarse = matrix.engine.to_numpy(next(_blocks(matrix, t, _BLOCK, seed + 1)))
        candidates = nearest_neighbors(coarse, count, search="exact").indices[sources].astype(np.int64)
        distances = _pair_distances(matrix, t, sources, candidates, probes, seed)
    best = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(candidates, best, axis=1), np.take_along_axis(distances, best, axis=1)


def smallest(distances: Floats, sources: Ints, k: int) -> tuple[Ints, Floats]:
    """The k smallest of each row with their columns, ascending, ties by number, the source itself left out."""
    columns = np.empty((len(sources), k), dtype=np.int64)
    step = max(1, _SORTED_AT_ONCE // distances.shape[1])
    for first in range(0, len(sources), step):
        part = distances[first : first + step].copy()
        part[np.arange(len(part)), sources[first : first + step]] = np.inf
        columns[first : first + step] = np.argsort(part, axis=1, kind="stable")[:, :k]
    return columns, np.take_along_axis(distances, columns, axis=1)


def _pair_distances(matrix: Laplacian, t: float, firsts: Ints, seconds: Ints, probes: int, seed: int) -> Floats:
    """Distances from firsts[a] to each of seconds[a, :]."""
    squares = np.zeros(seconds.shape)
    for block in track(_blocks(matrix, t, probes, seed), total=-(-probes // _BLOCK), label="diffusion distances"):
        matrix.engine.add_squared_differences(block, firsts, seconds, squares)
    return np.sqrt(squares, out=squares)


def _blocks(matrix: Laplacian, t: float, probes: int, seed: int) -> Iterator[Array]:
    """The sketch Y = H_t R, some columns at a time."""
    random = np.random.default_rng(seed)
    for first in range(0, probes, _BLOCK):
        width = min(_BLOCK, probes - first)
        R = random.choice([-1.0, 1.0], size=(matrix.n, width)) / np.sqrt(probes)
        R -= R.mean(axis=0)  # a constant adds nothing to distances, and its rounding would hide late ones
        yield apply_exponential(matrix, matrix.engine.asarray(R), np.array([t]), np.array([_TAIL]))[0]


def _exact_pairs(matrix: Laplacian, t: float, firsts: Ints, seconds: Ints) -> Floats:
    """‖H_t(δ_p − δ_q)‖ for each pair: one heat flow a pair."""
    p = np.repeat(firsts, seconds.shape[1])
    q = seconds.ravel()
    norms = np.empty(len(p))
    for first in range(0, len(p), _BLOCK):
        pair = slice(first, first + _BLOCK)
        dipoles = np.zeros((matrix.n, len(p[pair])))
        dipoles[p[pair], np.arange(len(p[pair]))] += 1.0
        dipoles[q[pair], np.arange(len(p[pair]))] -= 1.0
        x = chebyshev_flow(matrix, matrix.engine.asarray(dipoles), np.array([t]), _TOLERANCE)[0]
        norms[pair] = matrix.engine.to_numpy(np.linalg.norm(x, axis=0))
    return norms.reshape(seconds.shape)
