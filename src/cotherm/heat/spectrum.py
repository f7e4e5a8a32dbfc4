"""Eigenpairs of the Laplacian: all of them for a small graph, the smoothest few for one of any size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from cotherm import limits
from cotherm.arrays import Floats
from cotherm.engines import Engine
from cotherm.engines.interface import Laplacian
from cotherm.engines.threads import limited_blas
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.heat import accurate_spectrum
from cotherm.heat.chebyshev import apply_exponential, engine_laplacian
from cotherm.notebook import ArraysInShort
from cotherm.progress import track
from cotherm.solve.eigenpairs import not_converged, smallest_pairs

# s·λ of a filter e^{−sL} at the last eigenvalue of the block: it separates well for few products.
_FILTER_STRENGTH = 12.0
_MOST_ROUNDS = 25
# The largest s·λ_max of a filter: a series of some ten thousand terms.
_LONGEST_FILTER = 1e7
# Residuals below this fraction of λ_max are rounding.
_ROUNDING = 1e-13
# Eigenvalues below these fractions of λ_max have lost some digits to rounding, and too many for their vectors to help.
_INEXACT, _DOUBTFUL = 1e-5, 1e-9
# Up to this tλ_max rounding errors of eigenvalues make no difference to heat.
_SHORT = 1e3
# Between these fractions of the largest degree weights are lost in rounding beside the others.
_TINY = (1e-22, 1e-10)


@dataclass(frozen=True, repr=False)
class Spectrum(ArraysInShort):
    """Eigenvalues and eigenvectors of a symmetric matrix, such as a Laplacian.

    Attributes
    ----------
    values : ndarray of shape (k,)
        Eigenvalues λ, ascending.
    vectors : ndarray of shape (n, k)
        Eigenvectors Φ as orthonormal columns, LΦ = Φ Diag(λ).

    See Also
    --------
    JointResult.modes : The smoothest modes of every view.

    Notes
    -----
    In the results of methods that compute common modes for several views, columns correspond between views. There the
    values are Rayleigh quotients, and not every column need be an eigenvector.
    """

    values: Floats
    vectors: Floats

    def decay(self, t: float | Floats) -> Floats:
        """Compute the decay e^{−tλ} of every mode.

        Parameters
        ----------
        t : float or ndarray of shape (..., 1)
            Time, or times along the first axes.

        Returns
        -------
        ndarray of shape (..., k)
            The factor of every mode, along the last axis.
        """
        with np.errstate(over="ignore"):  # where tλ overflows, no heat is left
            return np.exp(-t * self.values)


def full_spectrum(graph: Graph, *, longest: float = np.inf) -> Spectrum:
    """All eigenpairs by a dense decomposition, n × n, accurate enough for heat up to the longest time."""
    L = graph.laplacian().toarray(order="F")
    with limited_blas(graph.n):
        values, vectors = scipy.linalg.eigh(L, overwrite_a=True, driver="evd", check_finite=False)
    return fit_spectrum(graph, values, vectors, longest)


def fit_spectrum(graph: Graph, values: Floats, vectors: Floats, longest: float) -> Spectrum:
    """The eigenpairs of a dense decomposition, made accurate enough for heat up to the longest time, to about 1e-10.

    All have an error of about 1e-16 of the largest eigenvalue: where times are long, small ones are computed again.
    """
    # L has one zero eigenvalue per component. They are set to zero: else heat would grow or leak at large times.
    zeros, top = graph.component_count, float(values[-1])
    long = longest * top > _SHORT
    doubtful, small = (max(zeros, int(np.sum(values <= part * top))) for part in (_DOUBTFUL, _INEXACT))
    if long and small > zeros:
        return Spectrum(*accurate_spectrum.refined(graph, values, vectors, doubtful, small))
    values = np.maximum(values, 0.0)
    values[:zeros] = 0.0
    if long:
        vectors[:, :zeros] = accurate_spectrum.part_vectors(graph.components, np.ones(graph.n)).toarray()
    return Spectrum(values, vectors)


def lowest(graph: Graph, k: int, engine: Engine | None = None) -> Spectrum:
    """The k eigenpairs with the smallest eigenvalues, of a graph of any size."""
    if graph.n > limits.DENSE:
        return smoothest(graph, k, tolerance=1e-8, engine=engine)
    spectrum = full_spectrum(graph)
    return Spectrum(spectrum.values[:k], spectrum.vectors[:, :k])


def lowest_normalized(graph: Graph, k: int) -> Spectrum:
    """The same for the normalized Laplacian."""
    values, vectors = smallest_pairs(normalized_laplacian(graph), k, bound=2.0)
    return Spectrum(np.maximum(values, 0.0), vectors)


def normalized_laplacian(graph: Graph) -> sp.csr_array:
    """I − D^{−½}WD^{−½}; a vertex without neighbors has 1 on the diagonal, so that it is in no smooth mode."""
    degrees = graph.degrees
    # The root first: one over the smallest numbers there are would overflow.
    root = np.divide(1.0, np.sqrt(degrees), out=np.zeros(graph.n), where=degrees > 0.0)
    W = sp.diags_array(root) @ graph.adjacency() @ sp.diags_array(root)
    return sp.csr_array(sp.eye_array(graph.n) - 0.5 * (W + W.T))


def smoothest(graph: Graph, k: int, *, tolerance: float = 1e-6, engine: Engine | None = None) -> Spectrum:
    """The k eigenpairs with the smallest eigenvalues of a large graph, by heat: no factorization, no n × n matrix.

    Those of the graph's parts are computed directly (see ``_part_pairs``). The others come from subspace iteration
    with the filter e^{−sL}, which keeps smooth functions and damps rough ones, until ‖Lφ − λφ‖ is within the tolerance
    of the largest λ of the block (or within rounding) for all that are wanted.
    """
    random = np.random.default_rng(0)
    unit = 2.0 ** np.frexp(graph.degrees.max())[1]  # squares of any weights neither vanish nor overflow; no rounding
    graph = graph.with_weights(graph.w / unit)
    parts, P = _part_pairs(graph, k, random)
    if len(parts.values) == k:
        return Spectrum(unit * parts.values, parts.vectors)
    others = _iterated(graph, k - len(parts.values), P, tolerance, random, engine)
    values = np.concatenate([parts.values, others.values])
    return Spectrum(unit * values, np.hstack([parts.vectors, others.vectors]))


def _part_pairs(graph: Graph, k: int, random: np.random.Generator) -> tuple[Spectrum, Any]:
    """Up to k eigenpairs that are constant on every part, and the parts as columns P.

    Parts remain connected without the tiny weights. Mostly they are the components: any combinations will do.
    """
    zeros = graph.component_count
    strong = _without_tiny(graph, _TINY[1])
    if strong.component_count > zeros:
        strong = _without_tiny(graph, accurate_spectrum.widest_gap(graph, *_TINY))
    P = accurate_spectrum.part_vectors(strong.components, np.ones(graph.n))
    count = P.shape[1]
    wanted = min(k, count)
    if count == zeros:
        mixtures = np.linalg.qr(random.standard_normal((count, wanted)))[0]
        return Spectrum(np.zeros(wanted), P @ mixtures), P
    if count > limits.WEAKLY_JOINED_PARTS:
        raise CothermError(
            "graph",
            f"{count} parts joined only by weights below {_TINY[1]:g} of the largest degree",
            f"at most {limits.WEAKLY_JOINED_PARTS} such parts",
            "Set these weights to zero.",
        )
    values, mixtures = accurate_spectrum.part_pairs(graph, strong.components)
    return Spectrum(values[:wanted], P @ mixtures[:, :wanted]), P


def _without_tiny(graph: Graph, tiny: float) -> Graph:
    return graph.with_weights(np.where(graph.w > tiny, graph.w, 0.0))


def _iterated(
    graph: Graph, k: int, P: Any, tolerance: float, random: np.random.Generator, engine: Engine | None
) -> Spectrum:
    """The k smoothest eigenpairs orthogonal to the parts P."""
    matrix, L = engine_laplacian(graph, engine), graph.laplacian()
    width = min(k + max(8, k // 2), graph.n - P.shape[1])
    block = random.standard_normal((graph.n, width))
    time = _FILTER_STRENGTH / matrix.bound
    for _ in track(range(_MOST_ROUNDS), total=_MOST_ROUNDS, label="eigenvectors", alike=False):
        block = _filtered(matrix, block, time)
        values, block = _ritz_pairs(L, block - P @ (P.T @ block))
        residual = np.linalg.norm(L @ block[:, :k] - block[:, :k] * values[:k], axis=0).max()
        if values[0] > _DOUBTFUL and residual <= max(tolerance * values[-1], _ROUNDING * matrix.bound):
            return Spectrum(values[:k], block[:, :k])
        if residual <= _ROUNDING * matrix.bound:
            return Spectrum(*accurate_spectrum.pairs_by_differences(graph, _filtered(matrix, block, time), P, k))
        # Ritz values come down as the block improves, and the filter follows them: by at most a factor of 20 at
        # once, because the first values are poor, and to a time whose series is still affordable.
        limit = min(20.0 * time, _LONGEST_FILTER / matrix.bound)
        time = min(_FILTER_STRENGTH / max(float(values[-1]), 1e-300), limit)
    return _by_lanczos(L, k, P, block[:, 0])


def _by_lanczos(L: Any, k: int, P: Any, start: Floats) -> Spectrum:
    """Where eigenvalues are close together, as in an expander, the filter does not separate them; Lanczos does."""
    n = len(start)
    # The eigenpairs of the parts are shifted to the far end of the spectrum.
    moved = LinearOperator((n, n), matvec=lambda x: L @ x + 4.0 * (P @ (P.T @ x)), dtype=np.float64)
    try:
        values, vectors = eigsh(moved, k, which="SA", v0=start, ncv=min(n - 1, 4 * k + 60), tol=1e-9)
    except ArpackError:
        raise not_converged(k) from None
    order = np.argsort(values)
    return Spectrum(values[order], vectors[:, order])


def _filtered(matrix: Laplacian, block: Floats, time: float) -> Floats:
    engine = matrix.engine
    return engine.to_numpy(apply_exponential(matrix, engine.asarray(block), np.array([time]), np.array([1e-10]))[0])


def _ritz_pairs(L: object, block: Floats) -> tuple[Floats, Floats]:
    basis = scipy.linalg.qr(block, mode="economic", overwrite_a=True, check_finite=False)[0]
    projected = basis.T @ (L @ basis)  # type: ignore[operator]
    values, rotation = scipy.linalg.eigh(0.5 * (projected + projected.T), check_finite=False)
    return values, basis @ rotation
