"""Diffusion distances and maps: the geometry that heat sees.

d_t(p, q) = ‖H_t(δ_p − δ_q)‖ = (Σ_k e^{−2tλ_k} (φ_kp − φ_kq)²)^{1/2}   (the paper's eq. diffdist).
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike

from cotherm import limits, validation
from cotherm.arrays import Floats, Ints
from cotherm.engines import Engine, default_engine, engine_for
from cotherm.engines.interface import Array, Laplacian
from cotherm.errors import CothermError, known_as
from cotherm.graphs.graph import Graph
from cotherm.graphs.search.neighbors import nearest_neighbors
from cotherm.heat import distance_local, distance_sketch
from cotherm.heat.chebyshev import chebyshev_flow, engine_laplacian, exponential_coefficients
from cotherm.heat.spectrum import full_spectrum, lowest, smoothest
from cotherm.heat.validation import require_dense, require_graph, require_two

# Where a squared distance is a smaller fraction of the squared norms, the Gram formula has lost too many digits.
_CANCELLATION = 1e-6
# Numbers on the way to all distances that are in memory at once.
_PAIRS = 2**18
# Modes that have decayed below this do not change a distance in double precision.
_NEGLIGIBLE = 1e-17
# Beyond this 2tλ_max heat has spread too far for the local route.
_LONG = 1_000.0
# Beyond this tλ_max the route through a few modes is tried: the others may have decayed.
_VERY_LONG = 2_000.0
# How many they may be, and by how much weaker one that has decayed is than the slowest that decays.
_MODES, _DECAYED = 96, 1e-6

ROUTES = ("auto", "exact", "local", "modes", "sketch")

log = logging.getLogger("cotherm")


class _Found(NamedTuple):
    indices: Ints
    distances: Floats


class Nearest(_Found):
    """Nearest vertices of each source by diffusion distance, nearest first.

    It unpacks as ``indices, distances``. A source is not its own neighbor.

    Attributes
    ----------
    indices : ndarray of int of shape (sources, nearest)
        The nearest vertices.
    distances : ndarray of float of shape (sources, nearest)
        Their diffusion distances, ascending.
    route : str
        How they were found: "exact", "local", "modes" or "sketch".

    See Also
    --------
    diffusion_distance : Find them with ``nearest=``.
    """

    route: str

    def __new__(cls, indices: Ints, distances: Floats, route: str = "exact") -> Nearest:
        self = super().__new__(cls, indices, distances)
        self.route = route
        return self

    @property
    def exact(self) -> bool:
        """Whether indices and distances are exact up to rounding."""
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
    engine: str | Engine = "auto",
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
    engine: str | Engine = "auto",
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
    engine: str | Engine = "auto",
) -> Floats | Nearest:
    r"""Compute diffusion distances: how differently heat from two vertices has spread by time t.

    .. math::

        d_t(p, q) = \|e^{-tL}(\delta_p - \delta_q)\|
                  = \Big(\sum_k e^{-2t\lambda_k} (\phi_{kp} - \phi_{kq})^2\Big)^{1/2}

    with the eigenvalues :math:`\lambda_k` and eigenvectors :math:`\phi_k` of the Laplacian [1]_.

    Parameters
    ----------
    graph : Graph
        The graph.
    t : float
        Time t ≥ 0.
    sources : array_like of int, optional
        Vertices whose distances to all vertices are computed. By default all.
    nearest : int, optional
        Compute only this many nearest vertices of each source.
    method : {"auto", "exact", "local", "modes", "sketch"}, default "auto"
        How to compute them:

        - "exact": all pairs, up to 20,000 vertices; takes 16n² bytes.
        - "local": follow heat as far as it spreads, for short times, 2tλ_max ≤ 1,000. Squared distances have errors
          of about 1e-5, and so has the choice of the nearest vertices.
        - "modes": the eigenvectors that have not decayed, for times so long that there are fewer than 96 of them, on
          more than 2,000 vertices. Errors are about 1e-4 of the largest distance.
        - "sketch": random projection, for any size and time. Squared distances are unbiased; distances have a
          relative standard deviation of at most 1/√(2·probes), 1.1 % by default. See Notes for the nearest vertices.
        - "auto": exact up to 4,096 vertices and for all pairs; otherwise the cheapest of the others, "local"
          preferred.
    probes : int, optional
        Number of random functions in a sketch, 4,096 by default.
    seed : int, default 0
        Seed of the random signs in a sketch.
    engine : {"auto", "cpu", "gpu"} or Engine, default "auto"
        What runs the array kernels of "exact", "modes" and "sketch": the name of an engine, or an object with the
        methods of ``cotherm.engines.Engine``. Local heat is followed on the processor. "auto" is the GPU if `sources`
        live on one and CuPy is installed, and the processor otherwise.

    Returns
    -------
    ndarray of shape (n, n) or (sources, n), or Nearest
        Without `nearest`, an array of distances: a row for every vertex, or for every one of `sources`. With
        `nearest`, a :class:`cotherm.Nearest` with two arrays of shape (sources, nearest), which also records the
        method that was used.

    Raises
    ------
    CothermError
        If an argument cannot be used, if the result would not fit into memory, or if the method does not suit the
        size or the time.

    See Also
    --------
    diffusion_map : Coordinates whose Euclidean distances are diffusion distances.
    heat_kernel : The matrix whose columns are compared.

    Notes
    -----
    Only "exact" forms an n × n matrix. There, vertices at equal distances come in the order of their numbers; with
    the other methods their order is undefined, but the same in every run. The method used is logged (logger
    ``cotherm``).

    With "sketch", nearest vertices are chosen among candidates: by exact distances for up to probes / (4·nearest +
    16) sources, and by sketched distances for more. Some true neighbors are missed where many vertices are at similar
    distances. Of the true eight nearest of all vertices 95 to 99 % were found on neighbor graphs of points and 59 to
    92 % on random graphs; for a few sources, 96 to 100 %.

    References
    ----------
    .. [1] R. R. Coifman and S. Lafon, "Diffusion maps", Applied and Computational Harmonic Analysis, 2006.

    Examples
    --------
    >>> import cotherm as ct
    >>> path = ct.Graph(4, [0, 1, 2], [1, 2, 3], [1.0, 1.0, 1.0])
    >>> ct.diffusion_distance(path, t=0.0).round(2)[0].tolist()
    [0.0, 1.41, 1.41, 1.41]
    >>> ct.diffusion_distance(path, t=1.0, nearest=1).indices.ravel().tolist()
    [1, 0, 3, 2]
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
    run_by = engine_for(engine, sources)
    if method == "auto" and (graph.n <= limits.ALL_DISTANCES or (rows is None and nearest is None)):
        method = "exact"
    _require_size(graph, rows, nearest, method)
    if rows is None:
        rows = np.arange(graph.n)
    if not len(rows):
        empty = np.empty((0, graph.n if nearest is None else nearest))
        return empty if nearest is None else Nearest(empty.astype(np.int64), empty)
    with known_as("times", "t"), known_as("k", "nearest"), run_by.guarded():
        if method == "exact":
            return _exactly(graph, time, rows, nearest, run_by)
        return _by_route(graph, time, rows, nearest, method, budget, seed, run_by)


def _require_size(graph: Graph, rows: Ints | None, nearest: int | None, method: str) -> None:
    """Refuse results that would not fit into memory."""
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


def _exactly(graph: Graph, t: float, rows: Ints, nearest: int | None, engine: Engine) -> Floats | Nearest:
    log.info("diffusion distance: exact, all pairs")
    distances = _all_pairs(graph, t, engine)
    all_rows = len(rows) == graph.n and np.array_equal(rows, np.arange(graph.n))
    selected = distances if all_rows else distances[rows]
    return selected if nearest is None else Nearest(*distance_sketch.smallest(selected, rows, nearest), "exact")


def _by_route(
    graph: Graph, t: float, rows: Ints, nearest: int | None, method: str, probes: int, seed: int, engine: Engine
) -> Floats | Nearest:
    """One of the routes that form no n × n matrix: the one given, or the first that is accurate and cheap enough."""
    matrix = engine_laplacian(graph, engine)
    if method == "local":
        _require_local(matrix, t)
    if method == "local" or (method == "auto" and 2.0 * t * matrix.bound <= _LONG):
        nearby = matrix if engine is default_engine() else engine_laplacian(graph)  # the processor follows heat
        if method == "local" or _is_local(nearby, t, probes):
            log.info("diffusion distance: local, heat followed as far as it gets")
            if nearest is None:
                return distance_local.rows(nearby, t, rows)
            return Nearest(*distance_local.nearest(nearby, t, rows, nearest), "local")
    modes = _remaining_modes(graph, t, method, matrix)
    if modes is not None:
        log.info("diffusion distance: from the modes that have not decayed")
        return _between(modes, rows, nearest)
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


def _remaining_modes(graph: Graph, t: float, method: str, matrix: Laplacian) -> Floats | None:
    """The modes that have not decayed, if "modes" is given, or if the time is long and they are few; else None."""
    if method == "modes" and graph.n <= limits.DENSE:
        raise CothermError(
            "method", f"'modes' for {graph.n} vertices", f"more than {limits.DENSE} vertices", "Ask for 'exact'."
        )
    if method != "modes" and (method == "sketch" or t * matrix.bound <= _VERY_LONG):
        return None
    spectrum = None
    with suppress(CothermError):  # no gap in the spectrum to stop at
        spectrum = smoothest(graph, _MODES, engine=matrix.engine)
    if spectrum is not None and t * float(spectrum.values[-1] - spectrum.values[1]) >= -np.log(_DECAYED):
        return spectrum.vectors * spectrum.decay(t)
    if method == "modes":
        raise CothermError(
            "method",
            f"'modes' at t = {t:g}, when too many of them have not decayed",
            "a longer time",
            "Ask for 'auto', which finds a route for every time.",
        )
    return None


def _between(modes: Floats, rows: Ints, nearest: int | None) -> Floats | Nearest:
    """Distances between points whose coordinates are the modes."""
    from scipy.spatial.distance import cdist

    if nearest is None:
        return np.asarray(cdist(modes[rows], modes))
    # Rescaled, because heat at late times is small everywhere, and the search refuses tiny numbers.
    centered = modes - modes.mean(axis=0)
    scale = float(np.abs(centered).max()) or 1.0
    found = nearest_neighbors(centered / scale, nearest, search="exact")
    return Nearest(found.indices[rows].astype(np.int64), scale * found.distances[rows], "modes")


def _is_local(matrix: Laplacian, t: float, probes: int) -> bool:
    """Whether following the heat of every vertex costs at most twice what the sketch does."""
    degree = len(exponential_coefficients(np.array([t]), matrix.bound, np.array([1e-8]))) - 1
    limit = 2.0 * distance_sketch.seconds(matrix, probes, degree)
    return distance_local.seconds(matrix, t, limit) <= limit


def diffusion_map(graph: Graph, t: float, k: int = 2) -> Floats:
    r"""Compute the first k diffusion coordinates of every vertex.

    .. math:: \big(e^{-t\lambda_1} \phi_1, \dots, e^{-t\lambda_k} \phi_k\big)

    with the eigenvalues :math:`\lambda_i` and eigenvectors :math:`\phi_i` of the Laplacian in ascending order [1]_.
    The constant eigenvector :math:`\phi_0` is left out.

    Parameters
    ----------
    graph : Graph
        The graph.
    t : float
        Time t ≥ 0.
    k : int, default 2
        Number of coordinates, at most n − 1.

    Returns
    -------
    ndarray of shape (n, k)
        The coordinates. The entry of largest absolute value in every column is positive.

    See Also
    --------
    diffusion_distance : Distances in the map with all coordinates.

    Notes
    -----
    With k = n − 1 Euclidean distances in the map are diffusion distances. In a graph with several components the
    first coordinates, with λ = 0, separate the components.

    Above 2,000 vertices eigenpairs are found by iteration, until ‖Lφ − λφ‖ is below about 1e-8 of the last eigenvalue
    wanted, but never below rounding, 1e-13 of the largest of all. The error of a coordinate is at most that divided
    by the gap between its eigenvalue and the others: 1e-8 on a path of 5,000 vertices. Where eigenvalues coincide,
    their coordinates are one of many equally good choices.

    References
    ----------
    .. [1] R. R. Coifman and S. Lafon, "Diffusion maps", Applied and Computational Harmonic Analysis, 2006.

    Examples
    --------
    >>> import cotherm as ct
    >>> path = ct.Graph(3, [0, 1], [1, 2], [1.0, 2.0])
    >>> ct.diffusion_map(path, t=0.0, k=1).round(3).ravel().tolist()
    [0.789, -0.211, -0.577]
    """
    require_graph(graph)
    require_two(graph)
    time = validation.real("t", t)
    k = validation.integer("k", k, least=1, most=graph.n - 1)
    spectrum = lowest(graph, k + 1)
    vectors = without_constant(spectrum.values, spectrum.vectors)[:, :k]
    return np.asarray(vectors * signs(vectors) * spectrum.decay(time)[1 : k + 1])


def signs(vectors: Floats) -> Floats:
    """The sign of every column, ±1, that makes its entry of largest absolute value positive."""
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


def _all_pairs(graph: Graph, t: float, engine: Engine) -> Floats:
    if t == 0.0:  # all vertices are equally far apart, and rounding must not blur that
        return np.sqrt(2.0) * (1.0 - np.eye(graph.n))
    if graph.n <= limits.DENSE:
        spectrum = full_spectrum(graph, longest=t)
        decay = spectrum.decay(t)
        kept = decay > _NEGLIGIBLE
        return pairwise_distances(engine.asarray(spectrum.vectors[:, kept] * decay[kept]), engine)
    matrix = engine_laplacian(graph, engine)
    heat = chebyshev_flow(matrix, engine.asarray(np.eye(graph.n)), np.array([t]), 1e-10)[0]
    return pairwise_distances(heat, engine)


def pairwise_distances(Y: Array, engine: Engine) -> Floats:
    """All pairs ‖Y_p − Y_q‖, through the Gram matrix and, where that cancels, from differences; uses up Y."""
    n, width = Y.shape
    Y -= Y.mean(axis=0)  # what all rows share would only cancel
    norms, gram = (Y * Y).sum(axis=1), Y @ Y.T
    step, at_once = max(1, _PAIRS // n), max(1, _PAIRS // max(1, width))
    for first in range(0, n, step):
        # Every operation is the same for (p, q) and (q, p), so the distances are symmetric to the last bit.
        squares = gram[first : first + step]
        both = norms[first : first + step, np.newaxis] + norms
        squares *= -2.0
        squares += both
        near = np.flatnonzero((squares < _CANCELLATION * both).reshape(-1))
        for some in range(0, len(near), at_once):
            p, q = near[some : some + at_once] // n, near[some : some + at_once] % n
            gap = Y[first + p] - Y[q]
            squares[p, q] = (gap * gap).sum(axis=1)
        squares[:] = np.sqrt(squares)
    return engine.to_numpy(gram)
