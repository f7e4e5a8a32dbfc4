"""Diffusion distances and maps: the geometry that heat sees.

d_t(p, q) = ‖H_t(δ_p − δ_q)‖ = (Σ_k e^{−2tλ_k} (φ_kp − φ_kq)²)^{1/2}   (the paper's eq. diffdist).
"""

from __future__ import annotations

import logging
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike

from cotherm import limits, validation
from cotherm.arrays import Floats, Ints
from cotherm.engines import default_engine
from cotherm.engines.interface import Laplacian
from cotherm.errors import CothermError, known_as
from cotherm.graphs.graph import Graph
from cotherm.heat import distance_local, distance_sketch, distance_spectral
from cotherm.heat.chebyshev import chebyshev_flow, engine_laplacian, exponential_coefficients
from cotherm.heat.spectrum import full_spectrum, lowest
from cotherm.heat.validation import require_dense, require_graph, require_two

# Modes that have decayed to less than this do not change a distance in double precision.
_NEGLIGIBLE = 1e-17
# Beyond this 2tλ_max heat has spread too far for the local route.
_LONG = 1_000.0
# Beyond this tλ_max the route through a few modes is tried: the others may have decayed.
_VERY_LONG = 2_000.0

ROUTES = ("auto", "exact", "local", "modes", "sketch")

log = logging.getLogger("cotherm")


class _Found(NamedTuple):
    indices: Ints
    distances: Floats


class Nearest(_Found):
    """For every source its nearest vertices by diffusion distance, nearest first, itself left out.

    It unpacks as ``indices, distances``, and says how it was found: ``route`` is one of the names of ``method``, and
    ``exact`` whether that route is.
    """

    route: str

    def __new__(cls, indices: Ints, distances: Floats, route: str = "exact") -> Nearest:
        self = super().__new__(cls, indices, distances)
        self.route = route
        return self

    @property
    def exact(self) -> bool:
        """Whether indices and distances are right but for rounding; see ``diffusion_distance`` for the other routes."""
        return self.route == "exact"


@overload
def diffusion_distance(
    graph: Graph,
    t: float,
    *,
    sources: ArrayLike | None = None,
    nearest: None = None,
    method: str = "auto",
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
    method: str = "auto",
    probes: int | None = None,
    seed: int = 0,
) -> Nearest: ...


def diffusion_distance(
    graph: Graph,
    t: float,
    *,
    sources: ArrayLike | None = None,
    nearest: int | None = None,
    method: str = "auto",
    probes: int | None = None,
    seed: int = 0,
) -> Floats | Nearest:
    """Diffusion distances d_t between vertices: how differently heat started at each has spread by time t.

    Parameters
    ----------
    graph, t : the graph and the time t ≥ 0.
    sources : vertices whose distances to all others are wanted; by default all.
    nearest : give only this many nearest vertices of each source, as ``Nearest(indices, distances)``.
    method : the route, one of

        - ``"exact"``: all pairs, up to 20,000 vertices; 16n² bytes.
        - ``"local"``: heat is followed as far as it gets, for short times, 2tλ_max up to 1,000. Squared distances are
          right to about 1e-5, and so is the choice of the nearest.
        - ``"modes"``: the modes that are still warm, for times so long that they are fewer than 96, on more than 2,000
          vertices. Distances are right to about 1e-4 of the largest.
        - ``"sketch"``: random, any size and time. Distances are unbiased in the square, with a relative standard
          deviation of at most 1/√(2·probes), 1.1 % by default. Nearest vertices are chosen among candidates: for up
          to probes / (4·nearest + 16) sources by exact distances, for more with the error above, and part of the true
          ones is missed where many are about as far. Of the true eight nearest of all vertices 95 to 99 % were found
          on neighbor graphs of points and 59 to 92 % on random graphs; for a few sources, 96 to 100 %.
        - ``"auto"``: exact up to 4,096 vertices and for all pairs; else the cheapest of the others, local preferred.
    probes : the number of random heat flows of a sketch; the default is 4,096.
    seed : of the random signs of the probes.

    Returns
    -------
    An (n, n) array; with ``sources`` an array (sources, n); with ``nearest`` a ``Nearest`` of two arrays
    (sources, nearest), which also says which route was taken. The log (logger ``cotherm``) says so in every case.

    Notes
    -----
    Only the exact route forms an n × n matrix. There vertices at equal distances come in the order of their numbers;
    on the other routes their order is not defined, but the same in every run.
    """
    require_graph(graph)
    time = validation.real("t", t)
    rows = None if sources is None else validation.indices("sources", sources, below=graph.n)
    if nearest is not None:
        require_two(graph)
        nearest = validation.integer("nearest", nearest, least=1, most=graph.n - 1)
    method = validation.choice("method", method, ROUTES)
    budget = distance_sketch.PROBES if probes is None else validation.integer("probes", probes, least=1)
    seed = validation.integer("seed", seed, least=0)
    if method == "auto" and (graph.n <= limits.ALL_DISTANCES or (rows is None and nearest is None)):
        method = "exact"
    _require_size(graph, rows, nearest, method)
    if rows is None:
        rows = np.arange(graph.n)
    if not len(rows):
        empty = np.empty((0, graph.n if nearest is None else nearest))
        return empty if nearest is None else Nearest(empty.astype(np.int64), empty)
    with known_as("times", "t"), known_as("k", "nearest"):
        if method == "exact":
            return _exactly(graph, time, rows, nearest)
        return _by_route(graph, time, rows, nearest, method, budget, seed)


def _require_size(graph: Graph, rows: Ints | None, nearest: int | None, method: str) -> None:
    """Refuse what would not fit into memory."""
    count = graph.n if rows is None else len(rows)
    if method == "exact":
        require_dense(graph)
    if nearest is None and count * graph.n > limits.DENSE_RESULT**2:
        raise CothermError(
            "sources",
            f"{count:,} of {graph.n:,} vertices: a result of {count * graph.n * 8 / 1e9:.0f} GB",
            f"at most {limits.DENSE_RESULT**2 // graph.n:,} sources at once",
            "Ask for some at a time, or for nearest= only.",
        )
    if nearest is not None and count * nearest > limits.NEAREST_VERTICES:
        raise CothermError(
            "nearest",
            f"{nearest:,} for each of {count:,} sources",
            f"at most {limits.NEAREST_VERTICES:,} numbers in all",
            "Ask for fewer, or for some sources at a time.",
        )


def _exactly(graph: Graph, t: float, rows: Ints, nearest: int | None) -> Floats | Nearest:
    log.info("diffusion distance: exact, all pairs")
    distances = _all_pairs(graph, t)
    all_rows = len(rows) == graph.n and np.array_equal(rows, np.arange(graph.n))
    selected = distances if all_rows else distances[rows]
    return selected if nearest is None else Nearest(*distance_sketch.smallest(selected, rows, nearest), "exact")


def _by_route(
    graph: Graph, t: float, rows: Ints, nearest: int | None, method: str, probes: int, seed: int
) -> Floats | Nearest:
    """One of the routes that form no n × n matrix: the one given, or the first that is accurate and cheap enough."""
    matrix = engine_laplacian(graph)
    if method == "local":
        _require_local(matrix, t)
    if method == "local" or (method == "auto" and _is_local(matrix, t, probes)):
        log.info("diffusion distance: local, heat followed as far as it gets")
        if nearest is None:
            return distance_local.rows(matrix, t, rows)
        return Nearest(*distance_local.nearest(matrix, t, rows, nearest), "local")
    modes = _remaining_modes(graph, t, method, matrix.bound)
    if modes is not None:
        log.info("diffusion distance: from the modes that have not decayed")
        return (
            distance_spectral.rows(modes, rows)
            if nearest is None
            else Nearest(*distance_spectral.nearest(modes, rows, nearest), "modes")
        )
    log.info("diffusion distance: sketch of %d probes", probes)
    if nearest is None:
        return distance_sketch.rows(matrix, t, rows, probes, seed)
    return Nearest(*distance_sketch.nearest(matrix, t, rows, nearest, probes, seed), "sketch")


def _require_local(matrix: Laplacian, t: float) -> None:
    if 2.0 * t * matrix.bound > _LONG:
        raise CothermError(
            "method",
            f"'local' at 2tλ_max = {2.0 * t * matrix.bound:.3g}",
            f"2tλ_max of at most {_LONG:g}, for heat to stay near",
            "Ask for 'auto', which finds a route for every time.",
        )


def _remaining_modes(graph: Graph, t: float, method: str, bound: float) -> Floats | None:
    """The modes that have not decayed, if "modes" is given, or if the time is long and they are few; else None."""
    if method == "modes" and graph.n <= limits.DENSE:
        raise CothermError(
            "method", f"'modes' for {graph.n} vertices", f"more than {limits.DENSE} vertices", "Ask for 'exact'."
        )
    if method != "modes" and (method == "sketch" or t * bound <= _VERY_LONG):
        return None
    modes = distance_spectral.coordinates(graph, t)
    if modes is None and method == "modes":
        raise CothermError(
            "method",
            f"'modes' at t = {t:g}, when too many of them have not decayed",
            "a longer time",
            "Ask for 'auto', which finds a route for every time.",
        )
    return modes


def _is_local(matrix: Laplacian, t: float, probes: int) -> bool:
    """Whether following the heat of every vertex costs at most twice what the sketch does."""
    if 2.0 * t * matrix.bound > _LONG:
        return False
    degree = len(exponential_coefficients(np.array([t]), matrix.bound, np.array([1e-8]))) - 1
    limit = 2.0 * distance_sketch.seconds(matrix, probes, degree)
    return distance_local.seconds(matrix, t, limit) <= limit


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
    require_two(graph)
    time = validation.real("t", t)
    k = validation.integer("k", k, least=1, most=graph.n - 1)
    spectrum = lowest(graph, k + 1)
    vectors = without_constant(spectrum.values, spectrum.vectors)[:, :k]
    return np.asarray(vectors * signs(vectors) * spectrum.decay(time)[1 : k + 1])


def signs(vectors: Floats) -> Floats:
    """±1 for every column: times it, its entry of largest absolute value is positive."""
    largest = np.abs(vectors).argmax(axis=0)
    return np.where(vectors[largest, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)


def without_constant(values: Floats, vectors: Floats) -> Floats:
    """All eigenvectors except the constant one, which may be any combination of those with λ = 0."""
    null = int(np.sum(values == 0.0))
    if null <= 1:
        return vectors[:, 1:]
    n = len(vectors)
    constant = np.full((n, 1), n**-0.5)
    others = vectors[:, :null] - constant @ (constant.T @ vectors[:, :null])
    rotated = np.linalg.svd(others, full_matrices=False)[0][:, : null - 1]
    return np.hstack([rotated, vectors[:, null:]])


def _all_pairs(graph: Graph, t: float) -> Floats:
    if graph.n <= limits.DENSE:
        spectrum = full_spectrum(graph, longest=t)
        decay = spectrum.decay(t)
        kept = decay > _NEGLIGIBLE
        return default_engine().pairwise_distances(spectrum.vectors[:, kept] * decay[kept])
    kernel = chebyshev_flow(engine_laplacian(graph), np.eye(graph.n), np.array([t]), 1e-10)[0]
    return default_engine().pairwise_distances(kernel)
