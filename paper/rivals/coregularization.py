"""Co-regularized spectral clustering (Kumar, Rai & Daumé 2011): modes of every view, drawn towards each other."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from cotherm import limits, validation
from cotherm.arrays import Floats
from cotherm.engines.threads import limited_blas
from cotherm.errors import CothermError, shortened
from cotherm.graphs.graph import Graph
from cotherm.heat.distance import signs
from cotherm.heat.spectrum import Spectrum, normalized_laplacian
from cotherm.lazy import lazy
from cotherm.methods.result import HasStatus, JointBases, same_vertices
from cotherm.methods.validation import checked_graphs, moderate, versions
from cotherm.progress import track

KINDS = ("pairwise", "centroid")

_ENDINGS = {
    "converged": "",
    "out of budget": "The modes still move: raise max_iterations.",
}


@dataclass(frozen=True, eq=False, repr=False)
class Coregularization(JointBases, HasStatus):
    """Result of coregularize: modes of every view that span nearly the same space.

    Print it for a summary. ``embedding``, ``distances`` and ``clusters`` work as for all results, see
    :class:`cotherm.JointResult`.

    Attributes
    ----------
    vectors : tuple of ndarray of shape (n, k)
        Modes U_v of every view, with orthonormal columns. Those of the first view diagonalize U₁ᵀ(I − K₁)U₁,
        smoothest first; the others are rotated as close to them as rotations of columns allow.
    values : ndarray of shape (N, k)
        The diagonals of U_vᵀ(I − K_v)U_v.
    centroid : ndarray of shape (n, k) or None
        The centroid U*, rotated likewise; None if the kind is "pairwise".
    originals : tuple of Graph
        The graphs that were given.
    history : tuple of float
        Objective at the start, with every view by itself, and after every round. It never decreases.
    status : str
        "converged" or "out of budget".
    settings : dict
        The other arguments as they were understood.
    versions : dict of str to str
        Versions of Python and of the libraries that computed the result.
    seconds : float
        Run time.
    """

    advice_by_status: ClassVar[Mapping[str, str]] = _ENDINGS

    vectors: tuple[Floats, ...]
    values: Floats
    centroid: Floats | None
    originals: tuple[Graph, ...]
    history: tuple[float, ...]
    status: str
    settings: Mapping[str, Any]
    versions: Mapping[str, str]
    seconds: float

    @lazy
    def bases(self) -> tuple[Spectrum, ...]:
        """Modes of every view with its own values, a tuple of :class:`cotherm.Spectrum`."""
        return tuple(Spectrum(values, U) for values, U in zip(self.values, self.vectors, strict=True))

    @property
    def objective(self) -> float:
        """The maximum that was reached, the last entry of ``history``."""
        return self.history[-1]

    def _cluster_modes(self, k: int) -> tuple[Spectrum, ...]:
        """The views where there is no centroid; where there is one, it stands for all, as in the paper."""
        if self.centroid is None:
            return self.modes(k)
        return (Spectrum(self.values.mean(axis=0)[:k], self.centroid[:, :k]),) * len(self.vectors)

    def __str__(self) -> str:
        lines = [
            self._headline(),
            f"  objective {self.history[-1]:.6g}, of the views alone {self.history[0]:.6g} "
            f"({len(self.history) - 1} rounds)",
        ]
        if self.advice:
            lines.append(f"  {self.advice}")
        for v, (graph, values) in enumerate(zip(self.originals, self.values, strict=True)):
            low = ", ".join(f"{value:.3g}" for value in values[:6])
            lines.append(f"  {shortened(graph.name or f'graph {v}', 20):<20} values {low}")
        return "\n".join(lines)

    def _headline(self) -> str:
        n, k = self.vectors[0].shape
        return (
            f"Co-regularized modes of {len(self.vectors)} graphs, {self.settings['kind']}, "
            f"strength {self.settings['strength']:g}: {n} vertices, {k} modes, {self.status}, {self.seconds:.2g} s"
        )


def coregularize(
    graphs: Sequence[Graph],
    k: int,
    *,
    strength: float = 0.5,
    kind: str = "pairwise",
    tolerance: float = 1e-8,
    max_iterations: int = 200,
) -> Coregularization:
    r"""Find modes for every view that are smooth there and span nearly the same space in all views.

    Co-regularized spectral clustering [1]_. With :math:`K_v = D^{-1/2} W D^{-1/2}` and orthonormal :math:`U_v`,
    maximizes

    .. math::

        \sum_v \operatorname{tr} U_v^\top K_v U_v + \lambda \sum_{v<w} \|U_v^\top U_w\|_F^2
        \qquad\text{or}\qquad
        \sum_v \operatorname{tr} U_v^\top K_v U_v + \lambda \sum_v \|U_v^\top U_*\|_F^2

    for the kinds "pairwise" and "centroid".

    Parameters
    ----------
    graphs : sequence of Graph
        Two or more graphs on the same vertices. Above 2,000 vertices no n × n matrix is formed.
    k : int
        Number of modes; as many as clusters, to find clusters.
    strength : float, default 0.5
        Weight λ ≥ 0 of agreement.
    kind : {"pairwise", "centroid"}, default "pairwise"
        "pairwise" compares every view with every other. "centroid" compares every view with one U*, in which clusters
        are then found.
    tolerance : float, default 1e-8
        Stop when a round gains less than this fraction of the objective.
    max_iterations : int, default 200
        Maximum number of rounds.

    Returns
    -------
    Coregularization
        The modes, the objective, and how the search ended.

    Raises
    ------
    CothermError
        If the graphs have different numbers of vertices.

    Notes
    -----
    Each round maximizes over one view after the other, in the order given: U_v are the first k eigenvectors of K_v +
    λ Σ_{w≠v} U_wU_wᵀ, or of K_v + λ U*U*ᵀ, and then U* those of Σ_v U_vU_vᵀ. The objective cannot decrease; its limit
    may be a local maximum. The start is the modes of every view by itself. A vertex without neighbors has a row of
    zeros in K_v.

    References
    ----------
    .. [1] A. Kumar, P. Rai and H. Daumé III, "Co-regularized multi-view spectral clustering", Advances in Neural
       Information Processing Systems 24, 2011.
    """
    began = time.perf_counter()
    checked = checked_graphs(graphs)
    n = same_vertices(checked)
    k = validation.integer("k", k, least=1, most=n if n <= limits.DENSE else n - 1)
    strength = moderate("strength", validation.real("strength", strength))
    kind = validation.choice("kind", kind, KINDS)
    tolerance = validation.real("tolerance", tolerance, positive=True)
    max_iterations = validation.integer("max_iterations", max_iterations, least=1)
    K = [sp.csr_array(sp.eye_array(n) - normalized_laplacian(graph)) for graph in checked]
    with limited_blas(n):
        found = _alternate(K, k, strength, kind == "centroid", tolerance, max_iterations)
        U = _aligned(K[0], found.U)
        centroid = None if found.center is None else _onto(U[0], found.center)
    return Coregularization(
        vectors=U,
        values=np.array([1.0 - np.einsum("ij,ij->j", X, A @ X) for A, X in zip(K, U, strict=True)]),
        centroid=centroid,
        originals=tuple(checked),
        history=tuple(found.history),
        status=found.status,
        settings={
            "k": k,
            "strength": strength,
            "kind": kind,
            "tolerance": tolerance,
            "max_iterations": max_iterations,
        },
        versions=versions(),
        seconds=time.perf_counter() - began,
    )


class _Found(NamedTuple):
    U: list[Floats]
    center: Floats | None
    history: list[float]
    status: str


def _alternate(K: list[sp.csr_array], k: int, lam: float, centered: bool, tolerance: float, budget: int) -> _Found:
    """Rounds over the views until they gain no more."""
    U = [_top(A, [], lam, k) for A in K]
    center = _middle(U, k) if centered else None
    history = [_objective(K, U, center, lam)]
    for _ in track(range(budget), total=budget, label="co-regularization", alike=False):
        for v, A in enumerate(K):
            U[v] = _top(A, U[:v] + U[v + 1 :] if center is None else [center], lam, k)
        if center is not None:
            center = _middle(U, k)
        history.append(_objective(K, U, center, lam))
        if history[-1] - history[-2] <= tolerance * abs(history[-1]):
            return _Found(U, center, history, "converged")
    return _Found(U, center, history, "out of budget")


def _objective(K: list[sp.csr_array], U: list[Floats], center: Floats | None, lam: float) -> float:
    smooth = sum(float(np.sum(X * (A @ X))) for A, X in zip(K, U, strict=True))
    pairs = combinations(U, 2) if center is None else ((X, center) for X in U)
    return smooth + lam * sum(float(np.sum((X.T @ Y) ** 2)) for X, Y in pairs)


def _top(A: sp.csr_array, others: list[Floats], lam: float, k: int) -> Floats:
    """The k eigenvectors of A + λ Σ UUᵀ, U of the others, with the largest eigenvalues, largest first."""
    n = A.shape[0]
    low = np.sqrt(lam) * np.hstack(others) if others else np.zeros((n, 0))
    if n > limits.DENSE:
        return _top_by_iteration(A, low, k)
    vectors = scipy.linalg.eigh(A.toarray() + low @ low.T, subset_by_index=[n - k, n - 1], check_finite=False)[1]
    return np.ascontiguousarray(vectors[:, ::-1])


def _top_by_iteration(A: sp.csr_array, low: Floats, k: int) -> Floats:
    n = A.shape[0]
    # The identity moves all eigenvalues alike, away from 0: of a graph without edges Lanczos would find nothing.
    moved = LinearOperator((n, n), matvec=lambda x: x + A @ x + low @ (low.T @ x), dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(n)
    try:
        values, vectors = eigsh(moved, k, which="LA", v0=start, ncv=min(n, 2 * k + 40))
    except ArpackError:
        raise CothermError(
            "k",
            f"{k} eigenvectors, which did not converge",
            "a gap in the spectrum behind the k-th eigenvalue",
            "Ask for a few more or fewer.",
        ) from None
    return np.ascontiguousarray(vectors[:, np.argsort(-values)])


def _middle(U: list[Floats], k: int) -> Floats:
    """The first k eigenvectors of Σ U_vU_vᵀ, which are the left singular vectors of the U_v side by side."""
    return np.linalg.svd(np.hstack(U), full_matrices=False)[0][:, :k]


def _aligned(K: sp.csr_array, U: list[Floats]) -> tuple[Floats, ...]:
    """The same spaces in corresponding columns: the Ritz vectors of the first view, and the others turned to them."""
    first = U[0]
    vectors = np.linalg.eigh(first.T @ (K @ first))[1]
    first = first @ vectors[:, ::-1]
    first = first * signs(first)
    return (first, *(_onto(first, X) for X in U[1:]))


def _onto(target: Floats, U: Floats) -> Floats:
    """UR, R being the orthogonal matrix that minimizes ‖UR − target‖ (Schönemann 1966)."""
    left, _, right = np.linalg.svd(U.T @ target)
    return U @ (left @ right)
