"""Diffusion distances and maps: the geometry that heat sees.

d_t(p, q) = ‖H_t(δ_p − δ_q)‖ = (Σ_k e^{−2tλ_k} (φ_kp − φ_kq)²)^{1/2}   (the paper's eq. diffdist).
"""

from __future__ import annotations

import logging
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cotherm import checks
from cotherm.engines.cpu.distances import gram_distances
from cotherm.engines.cpu.laplacian import OrderedLaplacian
from cotherm.graphs.graph import Graph
from cotherm.heat import modes, nearby, sketch
from cotherm.heat.chebyshev import chebyshev_flow, exponential_coefficients, ordered
from cotherm.heat.flow import SMALL, require_dense, require_graph
from cotherm.heat.spectrum import full_spectrum, smoothest

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Up to here all pairs are cheap enough to serve every question exactly.
_ALL_PAIRS = 4_096
# Columns of the kernel that matter less than this do not change a distance in double precision.
_NEGLIGIBLE = 1e-17
# Beyond this 2tλ_max heat is not even tried for staying near.
_LONG = 1_000.0
# Beyond this tλ_max it is tried whether only a few modes are still warm.
_VERY_LONG = 2_000.0

log = logging.getLogger("cotherm")


class Nearest(NamedTuple):
    """For every source its nearest vertices by diffusion distance, nearest first, itself left out."""

    indices: Ints
    distances: Floats


@overload
def diffusion_distance(
    graph: Graph,
    t: float,
    *,
    sources: ArrayLike | None = None,
    nearest: None = None,
    probes: int | None = None,
    seed: int = 0,
) -> Floats: ...


@overload
def diffusion_distance(
    graph: Graph,
    t: float,
    *,
    sources: ArrayLike | None = None,
    nearest: int,
    probes: int | None = None,
    seed: int = 0,
) -> Nearest: ...


def diffusion_distance(
    graph: Graph,
    t: float,
    *,
    sources: ArrayLike | None = None,
    nearest: int | None = None,
    probes: int | None = None,
    seed: int = 0,
) -> Floats | Nearest:
    """Diffusion distances d_t between vertices: how differently heat started at each has spread by time t.

    Parameters
    ----------
    graph, t : the graph and the time t ≥ 0.
    sources : vertices whose distances to all others are wanted; by default all.
    nearest : give only this many nearest vertices of each source, as ``Nearest(indices, distances)``.
    probes : the number of random heat flows that ``sources`` and ``nearest`` spend on a graph of more than 4,096
        vertices at a long time; the default is 4,096.
    seed : of the random signs of the probes.

    Returns
    -------
    An (n, n) array; with ``sources`` an array (sources, n); with ``nearest`` a ``Nearest`` of two arrays
    (sources, nearest).

    Notes
    -----
    Up to 4,096 vertices, and for all pairs (up to 20,000), distances are exact. On larger graphs ``sources`` and
    ``nearest`` never form an n × n matrix. At times so short that heat stays near its source their squares are exact to
    about 1e-5; at longer ones they come from a random sketch of the heat kernel, unbiased in the square, with a
    relative standard deviation of at most 1/√(2·probes), 1.1 % by default. The nearest of a few sources are then
    re-ranked by their exact distances. At very long times the few modes that are still warm give all distances, to
    about 1e-4 of the largest. The log (logger ``cotherm``) says which way was taken.
    """
    require_graph(graph)
    time = checks.real("t", t)
    rows = None if sources is None else checks.indices("sources", sources, below=graph.n)
    if nearest is not None:
        nearest = checks.integer("nearest", nearest, least=1, most=graph.n - 1)
    budget = sketch.PROBES if probes is None else checks.integer("probes", probes, least=1)
    seed = checks.integer("seed", seed, least=0)
    if rows is not None and not len(rows):
        empty = np.empty((0, graph.n if nearest is None else nearest))
        return empty if nearest is None else Nearest(empty.astype(np.int64), empty)
    if graph.n <= _ALL_PAIRS or (rows is None and nearest is None):
        require_dense(graph)
        distances = _all_pairs(graph, time)
        rows = np.arange(graph.n) if rows is None else rows
        wanted = distances if len(rows) == graph.n and np.array_equal(rows, np.arange(graph.n)) else distances[rows]
        return wanted if nearest is None else Nearest(*sketch.smallest(wanted, rows, nearest))
    matrix = ordered(graph)
    rows = np.arange(graph.n) if rows is None else rows
    if _stays_near(matrix, time, budget):
        log.info("diffusion distance: exact, heat followed as far as it gets")
        return (
            nearby.rows(matrix, time, rows)
            if nearest is None
            else Nearest(*nearby.nearest(matrix, time, rows, nearest))
        )
    warm = modes.coordinates(graph, time) if time * matrix.bound > _VERY_LONG else None
    if warm is not None:
        log.info("diffusion distance: from the modes that are still warm")
        return modes.rows(warm, rows) if nearest is None else Nearest(*modes.nearest(warm, rows, nearest))
    log.info("diffusion distance: sketch of %d probes", budget)
    if nearest is None:
        return sketch.rows(matrix, time, rows, budget, seed)
    return Nearest(*sketch.nearest(matrix, time, rows, nearest, budget, seed))


def _stays_near(matrix: OrderedLaplacian, t: float, probes: int) -> bool:
    """Whether following the heat of every vertex, which is exact, costs at most twice what the sketch does."""
    if 2.0 * t * matrix.bound > _LONG:
        return False
    degree = len(exponential_coefficients(np.array([t]), matrix.bound, np.array([1e-8]))) - 1
    limit = 2.0 * sketch.seconds(matrix, probes, degree)
    return nearby.seconds(matrix, t, limit) <= limit


def diffusion_map(graph: Graph, t: float, k: int = 2) -> Floats:
    """The first k diffusion coordinates e^{−tλ_i} φ_i, i = 1 … k, of every vertex, as an (n, k) array.

    The constant eigenvector is left out: it is the same for all. With k = n − 1 Euclidean distances in the map are
    the diffusion distances. In a graph of several components the first coordinates (λ = 0) tell them apart.
    The entry of largest absolute value in every coordinate is positive.

    Above 2,000 vertices the eigenpairs are found by iteration, until ‖Lφ − λφ‖ is below 1e-8 of the last eigenvalue
    wanted (about; never below rounding, 1e-13 of the largest of all). A coordinate is then off by at most that
    divided by the distance of its eigenvalue from the others: 1e-8 on a path of 5,000 vertices. Where eigenvalues
    coincide, their coordinates are one of many equally good choices.
    """
    require_graph(graph)
    time = checks.real("t", t)
    k = checks.integer("k", k, least=1, most=graph.n - 1)
    spectrum = full_spectrum(graph) if graph.n <= SMALL else smoothest(graph, k + 1, tolerance=1e-8)
    vectors = _without_constant(spectrum.values, spectrum.vectors)[:, :k]
    largest = np.abs(vectors).argmax(axis=0)
    signs = np.where(vectors[largest, np.arange(k)] < 0, -1.0, 1.0)
    return np.asarray(vectors * signs * spectrum.decay(time)[1 : k + 1])


def _without_constant(values: Floats, vectors: Floats) -> Floats:
    """The eigenvectors but for the constant one, which within λ = 0 may be hidden in a rotation."""
    null = int(np.sum(values == 0.0))
    if null <= 1:
        return vectors[:, 1:]
    n = len(vectors)
    constant = np.full((n, 1), n**-0.5)
    others = vectors[:, :null] - constant @ (constant.T @ vectors[:, :null])
    rotated = np.linalg.svd(others, full_matrices=False)[0][:, : null - 1]
    return np.hstack([rotated, vectors[:, null:]])


def _all_pairs(graph: Graph, t: float) -> Floats:
    if graph.n <= SMALL:
        spectrum = full_spectrum(graph)
        decay = spectrum.decay(t)
        kept = decay > _NEGLIGIBLE
        return gram_distances(spectrum.vectors[:, kept] * decay[kept])
    kernel = chebyshev_flow(ordered(graph), np.eye(graph.n), np.array([t]), 1e-10)[0]
    return gram_distances(kernel)
