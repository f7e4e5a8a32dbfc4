"""Eigenpairs of the Laplacian: all of them for a small graph, the smoothest few for a large one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackError, eigsh

from cotherm.engines.cpu.laplacian import OrderedLaplacian
from cotherm.engines.threads import limited_blas
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.heat.chebyshev import apply_exponential, ordered
from cotherm.progress import track

Floats = NDArray[np.float64]

# A filter e^{−sL} with s·λ = this at the first unwanted eigenvalue separates well for few products.
_FILTER_STRENGTH = 12.0
_MOST_ROUNDS = 25
# The largest s·λ_max of a filter: a series of some ten thousand terms.
_LONGEST_FILTER = 1e7
# Residuals below this fraction of λ_max are rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues λ ascending and orthonormal eigenvectors Φ as columns: L Φ = Φ Diag(λ)."""

    values: Floats
    vectors: Floats


def full_spectrum(graph: Graph) -> Spectrum:
    """All eigenpairs by a dense decomposition, n × n."""
    with limited_blas(graph.n):
        values, vectors = scipy.linalg.eigh(graph.laplacian().toarray(), driver="evd", check_finite=False)
    return Spectrum(exact_zeros(values, graph), vectors)


def exact_zeros(values: Floats, graph: Graph) -> Floats:
    """L has one zero eigenvalue per component: rounding must not let heat grow or leak at large times."""
    values = np.maximum(values, 0.0)
    values[: graph.component_count] = 0.0
    return values


def smoothest(graph: Graph, k: int, *, tolerance: float = 1e-6, seed: int = 0) -> Spectrum:
    """The k eigenpairs with the smallest eigenvalues of a large graph, by heat.

    Subspace iteration with the filter e^{−sL}: heat keeps the smooth functions and forgets the rough ones. Each round
    flows a block of k and some spare functions, orthonormalises it and takes Ritz pairs, until ‖Lφ − λφ‖ is within the
    tolerance of the largest λ of the block (or within rounding) for all k. No factorisation, no n × n matrix.
    """
    matrix = ordered(graph)
    spare = min(graph.n - k, max(8, k // 2))
    block = np.random.default_rng(seed).standard_normal((graph.n, k + spare))
    L = graph.laplacian()
    time = _FILTER_STRENGTH / matrix.bound if matrix.bound else 0.0
    for _ in track(range(_MOST_ROUNDS), total=_MOST_ROUNDS, label="eigenvectors"):
        values, block = _ritz_pairs(L, _filtered(matrix, block, time))
        residual = np.linalg.norm(L @ block[:, :k] - block[:, :k] * values[:k], axis=0).max()
        if residual <= max(tolerance * values[-1], _ROUNDING * matrix.bound):
            return Spectrum(exact_zeros(values[:k], graph), block[:, :k])
        # Ritz values come down as the block improves, and the filter follows them: by at most a factor of 20 at
        # once, because the first ones say little, and to a time whose series is still affordable.
        limit = min(20.0 * time, _LONGEST_FILTER / matrix.bound)
        time = min(_FILTER_STRENGTH / max(float(values[-1]), 1e-300), limit)
    return _by_lanczos(graph, L, k, block[:, 0])


def _by_lanczos(graph: Graph, L: Any, k: int, start: Floats) -> Spectrum:
    """Where eigenvalues crowd, as in an expander, heat does not part them; Lanczos does, as they are not small."""
    try:
        values, vectors = eigsh(L, k, which="SA", v0=start, ncv=min(graph.n - 1, 4 * k + 60), tol=1e-9)
    except ArpackError:
        raise CothermError(
            "k",
            f"{k} eigenvectors, which did not converge",
            "a gap in the spectrum behind the k-th eigenvalue",
            "Ask for a few more or fewer.",
        ) from None
    order = np.argsort(values)
    return Spectrum(exact_zeros(values[order], graph), vectors[:, order])


def _filtered(matrix: OrderedLaplacian, block: Floats, time: float) -> Floats:
    return apply_exponential(matrix, block, np.array([time]), np.array([1e-10]))[0]


def _ritz_pairs(L: object, block: Floats) -> tuple[Floats, Floats]:
    basis = scipy.linalg.qr(block, mode="economic", overwrite_a=True, check_finite=False)[0]
    projected = basis.T @ (L @ basis)  # type: ignore[operator]
    values, rotation = scipy.linalg.eigh(0.5 * (projected + projected.T), check_finite=False)
    return values, basis @ rotation
