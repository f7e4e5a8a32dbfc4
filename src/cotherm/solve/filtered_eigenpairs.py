"""The smallest eigenpairs of a Laplacian of which no process holds all rows: Chebyshev-filtered subspace iteration.

A block of columns is multiplied by a polynomial p of L that is large on [0, a) and small on [a, b], b a bound on the
spectrum; then the best eigenvectors in its span are taken (Rayleigh–Ritz), and a is lowered to the largest of their
eigenvalues (Zhou, Saad, Tiago & Chelikowsky 2006). The polynomial is T_d of [a, b] mapped to [−1, 1], as a series over
all of [0, b], which no rounding makes grow. Ranks tell each other Gram matrices and rows of neighbors alone.

The vectors do not depend on how rows are spread, but for rounding: what is random is made from the numbers of the
vertices. Of SLEPc's solvers, Krylov–Schur finds only some of the vectors of an eigenvalue that several components of a
graph share, and reports success; LOBPCG finds all, with about as many products.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import scipy.fft
import scipy.linalg

from cotherm.arrays import Floats, Ints
from cotherm.engines import Engine
from cotherm.engines.interface import Array, Laplacian
from cotherm.solve.eigenpairs import not_converged

# Columns of the block beside those that are wanted: at least so many, or this part of them. It is made this much wider
# where so many passes have brought little: less than this factor in two of them.
_LEAST_MORE, _MORE = 12, 0.5
_WIDENED, _PATIENCE, _SLOW = 1.5, 8, 0.1
# p(0)/p(a) of the first filter, whose block is random, and of the others. A larger one would leave columns near a with
# nothing but the rounding of those near 0.
_FIRST_RATIO, _RATIO = 1e3, 1e6
# The first a, as a part of b; it is lowered by at most this factor at a time, raised by that one where the block was
# made wider, and the degree is never higher than this.
_FIRST_EDGE, _LOWERED, _RAISED, _HIGHEST = 0.1, 5.0, 4.0, 50_000
# Residuals, as parts of b: good enough, and those that are accepted where rounding prevents better ones, which is where
# so many passes have brought nothing.
_ENOUGH, _ACCEPTED, _STALLED = 1e-13, 1e-10, 3
_MOST_PASSES = 200
# Eigenvalues that differ by less than this part of b are not told apart.
_SAME = 1e-10
_EPSILON = float(np.finfo(np.float64).eps)


def smooth_eigenvectors(engine: Engine, L: Laplacian, vertices: Ints, k: int) -> Array:
    """The k smoothest orthonormal eigenvectors of L that are orthogonal to the constant one.

    ``vertices`` are the numbers of the rows here among all vertices. Raises NotConverged.
    """
    X = _begun(engine, L, vertices, min(L.n - 1, block_width(k)), 0)
    if L.bound <= 0.0:  # no weight: all vectors are eigenvectors
        X = _orthonormal(engine, X)
        return _chosen(engine, L, np.zeros(X.shape[1]), X, vertices)[:, :k]
    edge, ratio, residuals, passes = _FIRST_EDGE * L.bound, _FIRST_RATIO, [np.inf], 0
    while passes < _MOST_PASSES:
        # By one name: a block that has another stays in memory.
        X = engine.chebyshev_sums(L, X, filter_series(edge, L.bound, ratio), L.bound)[:, 0]
        X = _orthonormal(engine, _without_mean(X, L.n))
        values, X, LX = _ritz(engine, L, X)
        residuals.append(float(np.sqrt(np.sum((LX - X * values) ** 2, axis=0)[:k].max())))
        passes += 1
        if _is_done(residuals, L.bound):
            return _chosen(engine, L, values, X, vertices)[:, :k]
        edge, ratio = float(np.clip(values[-1], edge / _LOWERED, edge)), _RATIO
        more = min(L.n - 1, int(_WIDENED * X.shape[1])) - X.shape[1]
        if more and _is_slow(residuals):
            X = np.concatenate([X, _begun(engine, L, vertices, more, passes)], axis=1)
            edge, ratio, residuals = min(_RAISED * edge, _FIRST_EDGE * L.bound), _FIRST_RATIO, [np.inf]
    raise not_converged(k)


def block_width(k: int) -> int:
    """Columns of the block for k eigenvectors, unless it must be made wider."""
    return k + max(_LEAST_MORE, int(_MORE * k))


def _begun(engine: Engine, L: Laplacian, vertices: Ints, columns: int, seed: int) -> Array:
    """Columns to begin with."""
    return _without_mean(engine.vertex_rows(L, scattered(vertices, columns, seed)), L.n)


def scattered(vertices: Ints, columns: int, seed: int = 0) -> Floats:
    """Numbers between −1 and 1 that look random, for every vertex the same wherever it is (splitmix64)."""
    places = np.arange(1, columns + 1, dtype=np.uint64) + np.uint64(seed << 20)
    keys = np.asarray(vertices, dtype=np.uint64)[:, np.newaxis] * np.uint64(2**32) + places
    with np.errstate(over="ignore"):
        z = keys * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return np.asarray((z >> np.uint64(11)).astype(np.float64) * 2.0**-52 - 1.0)


def filter_series(edge: float, bound: float, ratio: float) -> Floats:
    """Coefficients, as a column, of p over [0, bound] with p(0) = 1 and |p| ≤ 1/ratio from ``edge`` on."""
    # T_d(1 + 2a/(b − a)) = ratio.
    degree = int(np.ceil(np.arccosh(ratio) / np.arccosh(1.0 + 2.0 * edge / (bound - edge))))
    degree = min(max(degree, 1), _HIGHEST)
    angles = np.pi * (np.arange(degree + 1) + 0.5) / (degree + 1)
    at = 0.5 * bound * (1.0 + np.cos(angles))
    values = _chebyshev(degree, (2.0 * at - bound - edge) / (bound - edge))
    values /= _chebyshev(degree, np.array([(-bound - edge) / (bound - edge)]))
    series = scipy.fft.dct(values, type=2) / (degree + 1)
    series[0] *= 0.5
    return np.asarray(series[:, np.newaxis])


def _chebyshev(degree: int, x: Floats) -> Floats:
    """T_degree(x), also for x < −1."""
    inside = np.cos(degree * np.arccos(np.clip(x, -1.0, 1.0)))
    outside = (-1.0) ** degree * np.cosh(degree * np.arccosh(np.maximum(-x, 1.0)))
    return np.where(x < -1.0, outside, inside)


def _is_done(residuals: list[float], bound: float) -> bool:
    if residuals[-1] <= _ENOUGH * bound:
        return True
    before = residuals[-1 - _STALLED] if len(residuals) > _STALLED else np.inf
    return residuals[-1] <= _ACCEPTED * bound and residuals[-1] > 0.9 * before


def _is_slow(residuals: list[float]) -> bool:
    """Whether many eigenvalues crowd behind the block."""
    return len(residuals) > _PATIENCE and residuals[-1] > _SLOW * residuals[-3]


def _without_mean(X: Array, n: int) -> Array:
    """Columns that are orthogonal to the constant vector."""
    return X - X.sum(axis=0) / n


def _orthonormal(engine: Engine, X: Array) -> Array:
    """An orthonormal basis of the span (Stathopoulos & Wu 2002)."""
    for _ in range(2):  # once is not enough where columns are nearly dependent
        X = X / np.sqrt(np.sum(X**2, axis=0))
        squares, V = scipy.linalg.eigh(engine.to_numpy(X.T @ X))
        X = X @ (V / np.sqrt(np.maximum(squares, _EPSILON * squares[-1])))
    return X


def _ritz(engine: Engine, L: Laplacian, X: Array) -> tuple[Floats, Array, Array]:
    """The best eigenpairs in the span of an orthonormal block, ascending, and L times the vectors."""
    product = np.full((2, 1), 0.5 * L.bound)  # L = (bound/2)(T_0 + T_1)
    LX = engine.chebyshev_sums(L, X, product, L.bound)[:, 0]
    H = engine.to_numpy(X.T @ LX)
    values, V = scipy.linalg.eigh(0.5 * (H + H.T))
    return values, X @ V, LX @ V


def _chosen(engine: Engine, L: Laplacian, values: Floats, X: Array, vertices: Ints) -> Array:
    """The same eigenvectors with fixed signs; those of one eigenvalue where a certain matrix is diagonal."""
    numbers = engine.vertex_rows(L, scattered(vertices, 1))
    cuts = [0, *(np.flatnonzero(np.diff(values) > _SAME * L.bound) + 1).tolist(), len(values)]
    parts = []
    for first, last in pairwise(cuts):
        block = X[:, first:last]
        small = engine.to_numpy(block.T @ (numbers * block))
        parts.append(block @ scipy.linalg.eigh(0.5 * (small + small.T))[1] if last > first + 1 else block)
    chosen = np.concatenate(parts, axis=1)
    return chosen * np.where(np.ravel(engine.to_numpy(numbers.T @ chosen)) < 0.0, -1.0, 1.0)
