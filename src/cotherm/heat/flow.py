"""e^{−tL}F at many times: the public function; it chooses the method and logs which."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cotherm import limits, validation
from cotherm.arrays import Floats
from cotherm.engines import Engine, default_engine, engine_for
from cotherm.engines.interface import Array, ColumnSums, Laplacian
from cotherm.errors import CothermError, CothermWarning, known_as
from cotherm.graphs.graph import Graph
from cotherm.heat import lanczos
from cotherm.heat.chebyshev import chebyshev_flow, engine_laplacian, tail_tolerances, usual_rounding
from cotherm.heat.spectrum import full_spectrum
from cotherm.heat.validation import require_dense, require_graph

log = logging.getLogger("cotherm")

# A tolerance below this asks for the best that rounding allows, and missing it gives no warning.
_FINEST = 1e-10
# Sums of products of numbers larger than this may overflow.
_HUGE = 1e290
# Sizes whose squares neither vanish nor overflow.
_SQUARABLE = (1e-140, 1e140)


def heat_flow(
    graph: Graph,
    F: ArrayLike,
    times: ArrayLike,
    *,
    method: str = "auto",
    tolerance: float = 1e-8,
    engine: str | Engine = "auto",
) -> Floats:
    r"""Diffuse functions on a graph: compute the heat flow at one or more times.

    .. math:: x(t) = e^{-tL} F, \qquad L = D - W,

    with the Laplacian as it is, never rescaled.

    Parameters
    ----------
    graph : Graph
        The graph.
    F : array_like of shape (n, q) or (n,)
        Initial functions as columns, or one function.
    times : array_like of float
        One or more times t ≥ 0, in any order.
    method : {"auto", "exact", "chebyshev"}, default "auto"
        "exact" is a dense eigendecomposition, "chebyshev" a polynomial for sparse graphs of any size. "auto" is exact
        up to 500 vertices, and up to 2,000 vertices where the polynomial would cost more than the decomposition. Where
        a few vertices of huge degree make the polynomial long, it takes Lanczos iterations of the same tolerance.
    tolerance : float, default 1e-8
        Error of "chebyshev" in each column of the result, relative to its norm. See Notes for rounding.
    engine : {"auto", "cpu", "gpu"} or Engine, default "auto"
        What runs the array kernels: the name of an engine, or an object with the methods of
        ``cotherm.engines.Engine``. "auto" is the GPU if `F` lives on one and CuPy is installed, and the processor
        otherwise.

    Returns
    -------
    ndarray of shape (len(times), n, q)
        Heat at each time. The shape has three axes also for one time or one function. If `F` lives on a GPU, as an
        array of CuPy, PyTorch or Numba, and the GPU runs it, an array of CuPy that stays there.

    Raises
    ------
    CothermError
        If an argument cannot be used, or if "exact" is asked for on more than 20,000 vertices.

    Warns
    -----
    CothermWarning
        If rounding may exceed the tolerance because little heat is left in a column. The message says what is
        reached.

    See Also
    --------
    heat_kernel : The dense matrix e^{−tL}.
    heat_trace : Its trace.
    diffusion_distance : Distances between vertices in the heat kernel.

    Notes
    -----
    Rounding may add an error of up to ε(16 + √n + (td)^{3/4}) relative to the norm of the column of F, where
    ε = 2.2e-16 and d is the largest degree. Usually it adds far less. A tolerance below 1e-10 asks for the best that
    rounding allows and does not warn until 1e-10 is exceeded.

    Examples
    --------
    >>> import cotherm as ct
    >>> path = ct.Graph(3, [0, 1], [1, 2], [1.0, 1.0])
    >>> ct.heat_flow(path, [1.0, 0.0, 0.0], times=[0.0, 100.0])[:, :, 0].round(3)
    array([[1.   , 0.   , 0.   ],
           [0.333, 0.333, 0.333]])
    """
    require_graph(graph)
    run_by = engine_for(engine, F)
    stays = run_by.holds(F)
    if stays:
        with run_by.guarded():
            columns = validation.functions_array("F", run_by.asarray(F), graph.n)
    else:
        columns = validation.functions("F", F, graph.n, graph.vertex_names)
    times = validation.times("times", times)
    method = validation.choice("method", method, ["auto", "exact", "chebyshev"])
    tolerance = validation.real("tolerance", tolerance, positive=True)
    if method == "exact" and graph.n > limits.DENSE_RESULT:
        raise CothermError(
            "method",
            f"'exact' for {graph.n} vertices: dense matrices of {3 * graph.n**2 * 8 / 1e9:.0f} GB",
            f"at most {limits.DENSE_RESULT} vertices",
            "'chebyshev' is as good as its tolerance at any size.",
        )
    if columns.shape[1] == 0:
        return (run_by.xp if stays else np).empty((len(times), graph.n, 0))
    with known_as("times", "times", "method='exact' takes any time, for a few thousand vertices."), run_by.guarded():
        matrix = None if _is_exact(graph, columns, times, method) else engine_laplacian(graph, run_by)
        result = flow(graph, columns, times, method, tolerance, run_by, matrix=matrix, stays=stays)
        if matrix is not None:
            sums = (run_by if stays else default_engine()).column_sums
            _warn_of_rounding(matrix.bound, columns, times, result, tolerance, sums)
    return result


def _warn_of_rounding(
    bound: float, F: Array, times: Floats, result: Array, tolerance: float, column_sums: Callable[..., ColumnSums]
) -> None:
    """Warn if rounding may have left more in a column than the tolerance allows.

    The error of the conserved sum shows what rounding did to the slowest mode, which suffers most. For other modes
    usual rounding is assumed, with the spectral bound as the degree.
    """
    n = len(F)
    units = _units(column_sums(F).largest)
    start, end = column_sums(F, units), [column_sums(x, units) for x in result]
    before, after = np.sqrt(start.squares), np.sqrt([x.squares for x in end])
    off = np.abs([x.sums - start.sums for x in end]) / np.sqrt(n)
    usual = usual_rounding(n, bound, times)[:, np.newaxis] * before
    possible = np.maximum(off, usual)
    excess = (possible > max(tolerance, _FINEST) * after) & (before > 0.0) & (times[:, np.newaxis] > 0.0)
    if not excess.any():
        return
    t, c = np.argwhere(excess)[0].tolist()
    warnings.warn(
        f"heat_flow: of column {c} at t = {times[t]:.6g} {after[t, c] / before[c]:.2g} of its norm is left, which "
        f"rounding may change by {possible[t, c] / before[c]:.2g}: more than the tolerance, {tolerance:g}, allows "
        f"({int(excess.sum())} such column(s) in all).",
        CothermWarning,
        stacklevel=3,
    )


def heat_kernel(graph: Graph, t: float) -> Floats:
    """Compute the dense heat kernel of a graph at one time.

    .. math:: H_t = e^{-tL}

    It is symmetric and its rows sum to 1.

    Parameters
    ----------
    graph : Graph
        The graph, of up to 20,000 vertices.
    t : float
        Time t ≥ 0.

    Returns
    -------
    ndarray of shape (n, n)
        The heat kernel.

    Raises
    ------
    CothermError
        If the graph is too large for a dense matrix.

    See Also
    --------
    heat_flow : Apply the kernel to functions, on graphs of any size.
    heat_trace : Trace of the kernel.

    Examples
    --------
    >>> import cotherm as ct
    >>> edge = ct.Graph(2, [0], [1], [1.0])
    >>> ct.heat_kernel(edge, 0.5).round(3)
    array([[0.684, 0.316],
           [0.316, 0.684]])
    """
    require_graph(graph)
    time = validation.real("t", t)
    require_dense(graph)
    with known_as("times", "t"):
        H = flow(graph, np.eye(graph.n), np.array([time]), "auto", 1e-12)[0]
    return symmetrized(H)


def symmetrized(H: Floats) -> Floats:
    """(H + Hᵀ)/2 in place: what rounding and truncation left is made symmetric."""
    for r in range(len(H)):
        H[r, r:] = H[r:, r] = 0.5 * (H[r, r:] + H[r:, r])
    return H


def exact_flow(graph: Graph, F: Floats, times: Floats) -> Floats:
    """Φ e^{−tΛ} Φᵀ F for every time; the mean over each component is kept exactly, whatever rounding did to Φ."""
    log.info("heat flow: exact, n = %d", graph.n)
    spectrum = full_spectrum(graph, longest=float(times.max()))
    components = graph.components
    means = _component_means(components, F)
    amounts = spectrum.vectors.T @ (F - means)
    result = np.empty((len(times), *F.shape))
    for k, t in enumerate(times):
        x = spectrum.vectors @ (spectrum.decay(t)[:, np.newaxis] * amounts)
        result[k] = x + (means - _component_means(components, x))
    result[times == 0.0] = F
    return result


def _component_means(components: NDArray[np.int32], F: Floats) -> Floats:
    """F averaged over each component, at every vertex."""
    sizes = np.bincount(components)
    means = np.stack([np.bincount(components, column) / sizes for column in F.T], axis=1)
    return np.asarray(means[components])


def column_units(F: Floats) -> Floats:
    """For each column a power of two in whose units its squares neither vanish nor overflow: mostly 1."""
    return _units(default_engine().column_sums(F).largest)


def _units(sizes: Floats) -> Floats:
    ordinary = (sizes == 0.0) | ((sizes > _SQUARABLE[0]) & (sizes < _SQUARABLE[1]))
    return np.where(ordinary, 1.0, 2.0 ** np.clip(np.frexp(sizes)[1], -1_000, 1_000))


def flow(
    graph: Graph,
    F: Array,
    times: Floats,
    method: str,
    tolerance: float,
    engine: Engine | None = None,
    *,
    matrix: Laplacian | None = None,
    stays: bool = False,
) -> Array:
    """``heat_flow`` for checked arguments on the host, or for functions that live with the engine: heat stays there.

    ``matrix`` is the Laplacian in the engine's form, where it has been made already.
    """
    largest = max(float(F.max()), -float(F.min())) if 0 not in F.shape else 0.0
    if largest > _HUGE:
        # Sums on the way would overflow. Heat itself never exceeds what it started from; rounding might.
        unit = 2.0**200
        scaled = flow(graph, F / unit, times, method, tolerance, engine, matrix=matrix, stays=stays)
        return np.clip(scaled, -largest / unit, largest / unit) * unit
    run_by = default_engine() if engine is None else engine
    if _is_exact(graph, F, times, method):
        # A small dense problem, which the host solves wherever the functions live.
        return run_by.asarray(exact_flow(graph, run_by.to_numpy(F), times)) if stays else exact_flow(graph, F, times)
    matrix = engine_laplacian(graph, run_by) if matrix is None else matrix
    if method == "auto" and run_by is default_engine() and lanczos.pays(graph, float(times.max())):
        found = lanczos.lanczos_flow(graph, F, times, tail_tolerances(matrix, F, times, tolerance))
        if found is not None:
            return found
    heat = chebyshev_flow(matrix, F if stays else run_by.vertex_rows(matrix, F), times, tolerance)
    return run_by.xp.ascontiguousarray(heat) if stays else np.ascontiguousarray(run_by.vertices_to_numpy(matrix, heat))


def _is_exact(graph: Graph, F: Array, times: Floats, method: str) -> bool:
    """Whether it is asked for, or cheaper."""
    if method != "auto" or graph.n <= limits.EXACT_FLOW or graph.n > limits.DENSE:
        return method == "exact" or (method == "auto" and graph.n <= limits.EXACT_FLOW)
    # About the degree of the series; multiply-adds at a sparse rate against those of a dense decomposition.
    degree = lanczos.series_degree(float(times.max()), float(graph.degrees.max()))
    return bool(degree * (2 * graph.m + 4 * graph.n) * F.shape[1] > graph.n**3)
