"""e^{−tL}F for a large graph: Chebyshev series of the exponential, all times from one recurrence.

With X = (2/λ)L − I, λ ≥ λ_max, and z = tλ/2 (Abramowitz & Stegun 9.6.34):

    e^{−tL} = e^{−z(X + I)} = Σ_k c_k T_k(X),   c_0 = e^{−z}I_0(z),   c_k = 2(−1)^k e^{−z}I_k(z).

Since ‖T_k(X)‖ ≤ 1, leaving out the terms past K changes e^{−tL}f by at most ‖f‖ Σ_{k>K} |c_k|.

Rounding changes it as well, by less than ε(16 + √n + (td)^{3/4})‖f‖, ε = 2.2e-16, d the largest degree (measured, on
graphs with and without hubs): the degree of the series is about √(tλ_max), and the errors of all steps add up like
random numbers, each multiplied by the steps that follow. For most functions it is less, ``usual_rounding``.
"""

from __future__ import annotations

import logging

import numpy as np
from scipy.special import ive

from cotherm import deadline
from cotherm.arrays import Floats
from cotherm.engines import Engine, default_engine
from cotherm.engines.interface import Array, Laplacian
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph

log = logging.getLogger("cotherm")

_EPSILON = float(np.finfo(np.float64).eps)
# Rounding leaves more than this of ‖f‖ in the sum; asking for less buys nothing.
_ROUNDING = 1e-15
_COARSEST = 0.1
# Sizes whose squares neither vanish nor overflow.
_SQUARABLE = (1e-140, 1e140)
# Bessel functions lose their digits beyond this; the degree would exceed 100,000 anyway.
_LARGEST_ARGUMENT = 1e9
# Multiply-adds, about a second of them, between two looks at a deadline.
_UNINTERRUPTED = 5e8
# The recurrence divides by the bound, which must not overflow.
_SMALLEST_BOUND = 1e-290


def engine_laplacian(graph: Graph, engine: Engine | None = None) -> Laplacian:
    """The graph's Laplacian in the engine's form."""
    engine = default_engine() if engine is None else engine
    return require_bound(engine.reordered_laplacian(graph.n, graph.i, graph.j, graph.w))


def require_bound(matrix: Laplacian) -> Laplacian:
    """The matrix itself, if the recurrence can divide by its bound."""
    if 0.0 < matrix.bound < _SMALLEST_BOUND:
        raise CothermError("graph", f"degrees of at most {matrix.bound:.1e}", "larger weights", "Rescale them.")
    return matrix


def chebyshev_flow(matrix: Laplacian, F: Array, times: Floats, tolerance: float) -> Array:
    """e^{−tL}F, every column to ``tolerance`` relative to the norm of its own result (but not below rounding)."""
    return apply_exponential(matrix, F, times, tail_tolerances(matrix, F, times, tolerance))


def usual_rounding(n: int, degree: float, times: Floats) -> Floats:
    """For each time, a bound on the rounding in e^{−tL}f relative to ‖f‖, for n vertices and the largest degree."""
    with np.errstate(over="ignore"):
        return np.asarray(_EPSILON * (16.0 + np.sqrt(n) + 4.0 * np.sqrt(times * degree)))


def apply_exponential(matrix: Laplacian, F: Array, times: Floats, tails: Floats) -> Array:
    """e^{−tL}F with the series of each time cut where the rest is below its tail, relative to ‖f‖."""
    coefficients = exponential_coefficients(times, matrix.bound, tails)
    log.info("heat flow: Chebyshev, degree %d, spectral bound %.6g", len(coefficients) - 1, matrix.bound)
    result = _sums(matrix, F, coefficients)
    for k in np.flatnonzero(times == 0.0).tolist():
        result[k] = F  # exactly, as H₀ = I says
    return result


def _sums(matrix: Laplacian, F: Array, coefficients: Floats) -> Array:
    """The flow of all columns at once, or of some at a time if there is a deadline and much to do."""
    engine, count = matrix.engine, F.shape[1]
    width = max(1, int(_UNINTERRUPTED / (len(coefficients) * matrix.work(1))))
    if not deadline.is_set() or count <= width:
        return engine.chebyshev_sums(matrix, F, coefficients, matrix.bound).transpose(1, 0, 2)
    blocks = []
    for first in range(0, count, width):
        deadline.check()
        block = engine.xp.ascontiguousarray(F[:, first : first + width])
        blocks.append(engine.chebyshev_sums(matrix, block, coefficients, matrix.bound))
    return np.concatenate(blocks, axis=2).transpose(1, 0, 2)


def exponential_coefficients(times: Floats, bound: float, tails: Floats) -> Floats:
    """c_k for every time as columns (degree + 1, times), zero past each time's own degree."""
    # Python floats: products that overflow become inf without a warning.
    series = [_series(0.5 * float(t) * float(bound), tail) for t, tail in zip(times, tails, strict=True)]
    table = np.zeros((max(map(len, series)), len(series)))
    for column, c in enumerate(series):
        table[: len(c), column] = c
    return table


def _series(z: float, tail: float) -> Floats:
    """c_0 … c_K, K the least degree past which they sum to no more than the tail."""
    if z > _LARGEST_ARGUMENT:
        raise CothermError(
            "times",
            f"t·λ_max up to {2 * z:.3g}",
            f"t·λ_max of at most {2 * _LARGEST_ARGUMENT:.0e} for a graph this large",
            "Heat has long been even within each component by then.",
        )
    # The coefficients fall like e^{−k²/2z} at first and faster later; twice the degree this suggests is ample.
    reach = -2.0 * np.log(tail)
    k = np.arange(int(2 * np.sqrt(reach * (z + reach))) + 8)
    c = 2.0 * np.where(k % 2, -1.0, 1.0) * ive(k, z)
    c[0] *= 0.5
    rest = np.cumsum(np.abs(c[::-1]))[::-1]  # rest[k] = |c_k| + |c_{k+1}| + …
    degree = int(np.flatnonzero(np.append(rest[1:], 0.0) <= tail)[0])
    return np.asarray(c[: degree + 1])


def tail_tolerances(matrix: Laplacian, F: Array, times: Floats, tolerance: float) -> Floats:
    """The tail to allow for each time, relative to ‖f‖, for every column to meet the tolerance relative to its result.

    Two lower bounds on ‖e^{−tL}f‖ / ‖f‖ serve: heat keeps the mean of f, and nothing decays faster than e^{−tλ}.
    """
    sizes, sums, squares = matrix.engine.column_sums(F)
    live = sizes > 0
    if not live.any():
        return np.full(len(times), _COARSEST)
    if sizes[live].min() < _SQUARABLE[0] or sizes.max() > _SQUARABLE[1]:
        return np.full(len(times), _ROUNDING)
    kept = np.abs(sums[live]) / np.sqrt(matrix.n * squares[live])
    with np.errstate(over="ignore"):
        fastest = np.exp(-times[:, np.newaxis] * matrix.bound)
    smallest = np.maximum(kept, fastest).min(axis=1)
    return np.clip(tolerance * smallest, _ROUNDING, _COARSEST)
