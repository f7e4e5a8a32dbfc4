"""The smallest eigenvalues of S − ZKZᵀ, S sparse, Z with few columns, the whole positive semi-definite.

Lanczos iteration finds what crowds near zero slowly, or not at all. Where the wanted eigenvalues turn out to be tiny,
it works with the inverse: a sparse factorization of S + σI, and Woodbury's formula for ZKZᵀ. Graphs with tiny
eigenvalues are long or flat, and their factors sparse, as are for sure those of graphs that are nearly trees.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh, splu

from cotherm import deadline, limits
from cotherm.arrays import Floats
from cotherm.engines.threads import limited_blas
from cotherm.errors import CothermError

# Eigenvalues below this part of the bound are left to the inverse.
_TINY = 1e-3
# The shift σ, as a part of the bound; and the restarts of the first attempt.
_SHIFT = 1e-9
_ATTEMPTS = 60
# Where more than this many are wanted, the smallest few are looked at first.
_MANY, _PROBE = 40, 8
# With at most this many edges more than a forest has, factors are sparse: what is left of the graph when its leaves and
# paths have been eliminated has at most twice as many vertices.
_FEW_CYCLES = 1_000


class NotConverged(CothermError):  # noqa: N818, it says what happened
    """The eigenpairs were not found."""


def not_converged(k: int) -> NotConverged:
    needed = "a gap in the spectrum behind the k-th eigenvalue"
    return NotConverged("k", f"{k} modes, which did not converge", needed, "Ask for a few more or fewer.")


def smallest_pairs(
    S: Any, k: int, bound: float, Z: Floats | None = None, K: Floats | None = None
) -> tuple[Floats, Floats]:
    """The k smallest eigenvalues, ascending, and orthonormal eigenvectors; ``bound`` is no less than the largest."""
    n = S.shape[0]
    if Z is None or K is None:
        Z, K = np.zeros((n, 0)), np.zeros((0, 0))

    def apply(x: Floats) -> Floats:
        return np.asarray(S @ x - Z @ (K @ (Z.T @ x)))

    if n <= limits.DENSE_EIGENPAIRS or 4 * k >= n:
        matrix = apply(np.eye(n))
        matrix = 0.5 * (matrix + matrix.T)
        with limited_blas(n):
            try:
                return scipy.linalg.eigh(matrix, subset_by_index=[0, k - 1], check_finite=False)
            except scipy.linalg.LinAlgError:  # entries of very different sizes: a sturdier way, which finds them all
                values, vectors = scipy.linalg.eigh(matrix, driver="ev", check_finite=False)
                return values[:k], vectors[:, :k]
    start = np.random.default_rng(0).standard_normal(n)
    # Many modes of a long or flat graph take Lanczos minutes, though it does find them: a few tell which it is.
    attempts: tuple[int, ...] = () if _cycles(S) <= _FEW_CYCLES else (_PROBE, k) if k > _MANY else (k,)
    for wanted in attempts:
        try:
            values, vectors = _largest(lambda x: bound * x - apply(x), n, wanted, start, restarts=_ATTEMPTS)
        except ArpackError:
            break  # they crowd: so much the better for the inverse
        if bound - values[0] < _TINY * bound:
            break
        if wanted == k:
            return bound - values[::-1], vectors[:, ::-1]
    try:
        _, vectors = _largest(_inverse(S, Z, K, _SHIFT * bound), n, k, start, restarts=10 * n)
    except (ArpackError, RuntimeError) as error:  # RuntimeError: the factor is singular
        raise not_converged(k) from error
    # Quotients say more about the eigenvalues than 1/x − σ does.
    values = np.einsum("ij,ij->j", vectors, apply(vectors))
    order = np.argsort(values)
    return values[order], vectors[:, order]


def _cycles(S: Any) -> int:
    """How many edges could be left out of the graph of a symmetric matrix before it falls into more pieces."""
    edges = (S.nnz - np.count_nonzero(S.diagonal())) // 2
    return int(edges - S.shape[0] + connected_components(S, directed=False, return_labels=False))


def _largest(apply: Callable[[Floats], Floats], n: int, k: int, start: Floats, restarts: int) -> tuple[Floats, Floats]:
    """The k largest, ascending."""

    def product(x: Floats) -> Floats:
        deadline.check()
        return apply(x)

    operator = LinearOperator((n, n), matvec=product, dtype=np.float64)
    values, vectors = eigsh(operator, k, which="LA", v0=start, ncv=min(n - 1, 2 * k + 40), tol=1e-13, maxiter=restarts)
    order = np.argsort(values)
    return values[order], vectors[:, order]


def _inverse(S: Any, Z: Floats, K: Floats, sigma: float) -> Callable[[Floats], Floats]:
    """x ↦ (S + σI − ZKZᵀ)⁻¹x."""
    n = S.shape[0]
    shifted = sp.csc_array(S + sigma * sp.eye_array(n))
    factor = splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    if not Z.shape[1]:
        return factor.solve
    Y = factor.solve(Z)
    small = np.linalg.inv(K) - Z.T @ Y
    return lambda x: factor.solve(x) + Y @ np.linalg.solve(small, Y.T @ x)
