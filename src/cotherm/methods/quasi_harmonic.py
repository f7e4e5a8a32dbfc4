"""Coupled quasi-harmonic bases (Kovnatsky et al. 2013): the smooth modes of several graphs, turned to correspond."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment

from cotherm import limits, validation
from cotherm.arrays import Floats
from cotherm.engines import Engine, engine_for_views
from cotherm.engines.threads import limited_blas
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.heat.distance import signs
from cotherm.heat.spectrum import Spectrum, lowest
from cotherm.lazy import lazy
from cotherm.methods.result import DESCENT, HasStatus, JointBases
from cotherm.methods.validation import checked_views, is_auto, moderate, sized, versions
from cotherm.progress import track
from cotherm.solve.off_diagonal import OffDiagonal
from cotherm.solve.orthogonal import OrthogonalDescent, descend_orthogonal

_EPSILON = float(np.finfo(np.float64).eps)
# Weight of the modes' order when modes are paired and the functions do not decide.
_ORDER = 1e-3
# Modes computed beyond the k-th, in case its eigenvalue is repeated.
_SPARE = 4
# Eigenvalues nearer to each other than this part of the largest count as one.
_REPEATED = 1e-7
# The least curvature that a step assumes, in units of the mean over all views. Modes of eigenvalue 0 without any part
# of a function have none, and rounding there must not turn into a large rotation.
_LEAST_SCALE = 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class QuasiHarmonic(JointBases, HasStatus):
    """Result of coupled_bases: modes that correspond between graphs of any sizes.

    Print it for a summary. ``embedding``, ``distances`` and ``clusters`` work as for all results, see
    :class:`cotherm.JointResult`.

    Attributes
    ----------
    spectra : tuple of Spectrum
        For each view ``vectors`` Φ_vA_v of shape (n_v, k) and ``values``, the diagonal of A_vᵀΛ_vA_v. Column c
        corresponds in all views, and the mean of the values ascends.
    rotations : ndarray of shape (N, k, k)
        The orthogonal matrices A_v.
    off : float
        Σ off(A_vᵀΛ_vA_v), how far the bases are from harmonic.
    coupling_before, coupling : float
        (Σ_{v<w} ‖F_vᵀΦ_vA_v − F_wᵀΦ_wA_w‖²)^{1/2} for the modes as they are, and after.
    cost : float
        The minimum, off + μ coupling².
    strength : float
        Weight μ used.
    originals : tuple of Graph
        The graphs that were given.
    status : str
        "converged", "stalled" or "out of budget".
    optimality : float
        Gradient relative to the gradients of both terms that balance in it.
    iterations : int
        Number of Newton steps.
    settings : dict
        The other arguments as they were understood.
    versions : dict of str to str
        Versions of Python and of the libraries that computed the result.
    seconds : float
        Run time.

    See Also
    --------
    coupled_bases : Compute it.
    """

    advice_by_status: ClassVar[Mapping[str, str]] = DESCENT

    spectra: tuple[Spectrum, ...]
    rotations: Floats
    off: float
    coupling_before: float
    coupling: float
    cost: float
    strength: float
    originals: tuple[Graph, ...]
    status: str
    optimality: float
    iterations: int
    settings: Mapping[str, Any]
    versions: Mapping[str, str]
    seconds: float

    @lazy
    def bases(self) -> tuple[Spectrum, ...]:
        """The coupled modes of every view, the same as ``spectra``."""
        return self.spectra

    def __str__(self) -> str:
        lines = [
            self._headline(),
            f"  cost {self.cost:.6g} = off {self.off:.6g} + μ coupling² {self.cost - self.off:.6g}, "
            f"μ = {self.strength:.4g}",
            f"  functions in the bases differ by {self.coupling:.4g}, before by {self.coupling_before:.4g}",
        ]
        return "\n".join(lines if not self.advice else [*lines, f"  {self.advice}"])

    def _headline(self) -> str:
        sizes = ", ".join(str(graph.n) for graph in self.originals)
        return (
            f"Coupled bases of {len(self.originals)} graphs ({sizes} vertices), {self.rotations.shape[1]} modes: "
            f"{self.status}, {self.seconds:.2g} s"
        )


def coupled_bases(
    graphs: Sequence[Graph],
    functions: Sequence[ArrayLike],
    k: int,
    *,
    strength: float | str = "auto",
    tolerance: float = 1e-6,
    max_iterations: int = 300,
    restarts: int = 12,
    seed: int = 0,
    engine: str | Engine = "auto",
) -> QuasiHarmonic:
    r"""Rotate the first modes of every graph so that corresponding functions have equal coefficients.

    With :math:`L_v \Phi_v = \Phi_v \Lambda_v`, minimizes

    .. math::

        \sum_v \operatorname{off}(A_v^\top \Lambda_v A_v)
        + \mu \sum_{v<w} \|F_v^\top \Phi_v A_v - F_w^\top \Phi_w A_w\|_F^2

    over orthogonal :math:`A_v` [1]_. The bases :math:`\Phi_v A_v` are almost harmonic, and in them a function on one
    graph and its counterpart on another have nearly equal coefficients: a common space for graphs of different sizes.

    Parameters
    ----------
    graphs : sequence of Graph
        Two or more graphs of any sizes. Above 2,000 vertices the modes are found by iteration.
    functions : sequence of array_like of shape (n_v, q)
        Corresponding functions of each graph: column c is the same function on every graph. They are not rescaled;
        functions on graphs of different sizes are best scaled to unit norm.
    k : int
        Number of modes, including the constant one. q functions can distinguish about q modes.
    strength : "auto" or float, default "auto"
        Weight μ ≥ 0 of the coupling term. "auto": the mean of ‖Λ_v‖² divided by the mean of ‖F_vᵀΦ_v‖², which gives
        both terms equal weight.
    tolerance : float, default 1e-6
        Stop when the gradient, relative to the gradients of both terms that balance in it, is below this.
    max_iterations : int, default 300
        Maximum number of Newton steps from every start.
    restarts : int, default 12
        Number of random starts. The cost has many minima. Two other starts are always tried: the modes as they are,
        and modes paired by the functions; the random starts are rotations of the second.
    seed : int, default 0
        Seed of the random starts.
    engine : {"auto", "cpu", "gpu"} or Engine, default "auto"
        What finds the modes of large graphs: the name of an engine, or an object with the methods of
        ``cotherm.engines.Engine``. "auto" is the GPU if functions live on one and CuPy is installed, and the
        processor otherwise.

    Returns
    -------
    QuasiHarmonic
        The coupled modes, the cost, and how the search ended.

    Raises
    ------
    CothermError
        If an argument cannot be used.

    See Also
    --------
    joint_diagonalize : One basis for graphs on the same vertices.
    align : Manifold alignment.
    match : Vertex correspondence from the coupled bases.

    References
    ----------
    .. [1] A. Kovnatsky, M. M. Bronstein, A. M. Bronstein, K. Glashoff and R. Kimmel, "Coupled quasi-harmonic bases",
       Computer Graphics Forum, 2013.

    Examples
    --------
    >>> import cotherm as ct
    >>> views = ct.datasets.ring()
    >>> result = ct.coupled_bases(views.graphs, views.functions, k=6)
    >>> result.converged, result.coupling < 0.2 * result.coupling_before
    (True, True)
    """
    began = time.perf_counter()
    graphs, columns = checked_views(graphs, functions)
    k = validation.integer("k", k, least=1, most=min(limits.MODES, *(g.n for g in graphs)))
    tolerance = validation.real("tolerance", tolerance, positive=True)
    max_iterations = validation.integer("max_iterations", max_iterations, least=1)
    restarts = validation.integer("restarts", restarts, least=0, most=limits.REPETITIONS)
    seed = validation.integer("seed", seed, least=0)
    run_by = engine_for_views(engine, functions)
    columns = [sized(f"functions[{v}]", F) for v, F in enumerate(columns)]
    for v, graph in enumerate(graphs):
        sized(f"graphs[{v}]", graph.w)
    with run_by.guarded():
        modes = [_settled(lowest(g, min(k + _SPARE, g.n), run_by), F, k) for g, F in zip(graphs, columns, strict=True)]
    coefficients = np.array([F.T @ mode.vectors for F, mode in zip(columns, modes, strict=True)])
    values = np.array([mode.values for mode in modes])
    weight = _weight(strength, values, coefficients)
    problem = CoupledModes(values, coefficients, weight)
    with limited_blas(k):
        found = _best(CoupledModes(*_in_units(values, coefficients, weight)), tolerance, max_iterations, restarts, seed)
        before = problem.at(np.array([np.eye(k)] * len(graphs)))
        end = problem.at(found.U)
    order = np.argsort(np.mean(end.diagonals, axis=0), kind="stable")
    turned = [mode.vectors @ A[:, order] for mode, A in zip(modes, found.U, strict=True)]
    flips = signs(turned[0])
    return QuasiHarmonic(
        spectra=tuple(Spectrum(d[order], V * flips) for d, V in zip(end.diagonals, turned, strict=True)),
        rotations=found.U[:, :, order] * flips,
        off=end.off,
        coupling_before=float(np.sqrt(before.coupling)),
        coupling=float(np.sqrt(end.coupling)),
        cost=end.cost,
        strength=weight,
        originals=tuple(graphs),
        status=found.status.value,
        optimality=found.optimality,
        iterations=found.iterations,
        settings={
            "k": k,
            "strength": strength,
            "tolerance": tolerance,
            "max_iterations": max_iterations,
            "restarts": restarts,
            "seed": seed,
        },
        versions=versions(),
        seconds=time.perf_counter() - began,
    )


def _weight(strength: float | str, values: Floats, coefficients: Floats) -> float:
    if not is_auto("strength", strength):
        return moderate("strength", validation.real("strength", strength))
    size = float(np.vdot(coefficients, coefficients))
    if size == 0.0:
        raise CothermError("functions", "functions that are zero, or have no part in the first k modes", "others")
    return float(np.vdot(values, values)) / size


def _settled(modes: Spectrum, F: Floats, k: int) -> Spectrum:
    """The first k modes; where an eigenvalue is repeated, even the k-th, the functions choose one of all bases."""
    vectors = modes.vectors.copy()
    jumps = np.flatnonzero(np.diff(modes.values) > _REPEATED * float(modes.values[-1])) + 1
    for block in np.split(np.arange(len(modes.values)), jumps):
        if len(block) > 1:
            vectors[:, block] = vectors[:, block] @ np.linalg.svd(F.T @ vectors[:, block])[2].T
    return Spectrum(modes.values[:k], vectors[:, :k])


def _in_units(values: Floats, coefficients: Floats, mu: float) -> tuple[Floats, Floats, float]:
    """The same problem with values and coefficients of size 1, so that units do not decide where a search ends."""
    value, size = (float(np.abs(x).max()) or 1.0 for x in (values, coefficients))
    return values / value, coefficients / size, moderate("strength", mu / value**2 * size**2)


def _best(problem: CoupledModes, tolerance: float, iterations: int, restarts: int, seed: int) -> OrthogonalDescent:
    """The lowest of descents from several starts."""
    random = np.random.default_rng(seed)
    paired = problem.paired()
    starts = [problem.flipped(), paired]
    for _ in range(restarts):
        # Noise with rows of about unit length, like those of the rotation that it disturbs.
        U, _, V = np.linalg.svd(paired + random.standard_normal(paired.shape) / np.sqrt(paired.shape[-1]))
        starts.append(U @ V)
    found = [
        descend_orthogonal(problem, start, tolerance=tolerance, iterations=iterations)
        for start in track(starts, total=len(starts), label="coupled bases", alike=False)
    ]
    return min(found, key=lambda descent: descent.cost)


class CoupledModes:
    """The cost as a function of the rotations A_v, stacked (N, k, k)."""

    def __init__(self, values: Floats, coefficients: Floats, mu: float) -> None:
        self.values, self.coefficients, self.mu = values, coefficients, mu

    def at(self, U: Floats) -> CoupledModesPoint:
        C = np.swapaxes(U, 1, 2) @ (self.values[:, :, np.newaxis] * U)
        return CoupledModesPoint([OffDiagonal(c[np.newaxis]) for c in C], self.coefficients @ U, self.mu)

    def flipped(self) -> Floats:
        """Modes in their order, with the signs for which the functions agree best with the first view's."""
        overlap = np.einsum("vqi,qi->vi", self.coefficients, self.coefficients[0])
        return np.where(overlap < 0.0, -1.0, 1.0)[:, np.newaxis, :] * np.eye(self.values.shape[1])

    def paired(self) -> Floats:
        """Modes permuted to match those of the first view by their functions: still harmonic."""
        k = self.values.shape[1]
        away = np.abs(np.arange(k)[:, np.newaxis] - np.arange(k)) / k
        result = np.zeros((len(self.values), k, k))
        for A, P in zip(result, self.coefficients, strict=True):
            overlap = P.T @ self.coefficients[0]
            size = float(np.abs(overlap).max()) or 1.0
            rows, columns = linear_sum_assignment(np.abs(overlap) / size - _ORDER * away, maximize=True)
            A[rows, columns] = np.where(overlap[rows, columns] < 0.0, -1.0, 1.0)
        return result


class CoupledModesPoint:
    """Cost and derivatives. Up to a constant, the coupling term is −2μ Σ_{v<w} ⟨P_v, P_w⟩, P_v = F_vᵀΦ_vA_v.

    With S_v = Σ_{w≠v} P_w and M_v = P_vᵀS_v its gradient is −2μ (M_v − M_vᵀ), and its curvature takes X to
    2μ (M̄_vX_v + X_vM̄_v) + E_v − E_vᵀ, M̄ the symmetric part of M and E_v = −2μ P_vᵀ Σ_{w≠v} P_wX_w.
    """

    def __init__(self, offs: list[OffDiagonal], P: Floats, mu: float) -> None:
        self._offs, self._P, self._mu = offs, P, mu
        self._others = P.sum(axis=0) - P
        self._M = np.swapaxes(P, 1, 2) @ self._others
        self.off = sum(off.cost for off in offs)
        # The sum over pairs is N times that of the squared deviations from the mean.
        self.coupling = float(len(P) * np.sum((P - P.mean(axis=0)) ** 2))
        self.cost = self.off + mu * self.coupling

    @property
    def diagonals(self) -> Floats:
        """Of A_vᵀΛ_vA_v, (N, k)."""
        return np.array([off.diagonals[0] for off in self._offs])

    @lazy
    def _parts(self) -> tuple[Floats, Floats]:
        pull = np.array([off.gradient for off in self._offs])
        return pull, -2.0 * self._mu * (self._M - np.swapaxes(self._M, 1, 2))

    @property
    def gradient(self) -> Floats:
        return self._parts[0] + self._parts[1]

    @lazy
    def optimality(self) -> float:
        size = float(np.linalg.norm(self.gradient))
        noise = sum(off.noise for off in self._offs) + 16.0 * _EPSILON * self._mu * float(np.vdot(self._P, self._P))
        if size <= noise:
            return 0.0
        return size / float(np.linalg.norm(self._parts[0]) + np.linalg.norm(self._parts[1]))

    @lazy
    def scale(self) -> Floats:
        strength = np.abs(np.einsum("vii->vi", self._M))
        coupling = 2.0 * self._mu * (strength[:, :, np.newaxis] + strength[:, np.newaxis, :])
        P = np.array([off.scale for off in self._offs]) + coupling
        return np.maximum(P, _LEAST_SCALE * float(P.mean()))

    def curvature(self, X: Floats) -> Floats:
        own = np.array([off.curvature(x) for off, x in zip(self._offs, X, strict=True)])
        M = 0.5 * (self._M + np.swapaxes(self._M, 1, 2))
        PX = self._P @ X
        E = -2.0 * self._mu * np.swapaxes(self._P, 1, 2) @ (PX.sum(axis=0) - PX)
        return own + 2.0 * self._mu * (M @ X + X @ M) + E - np.swapaxes(E, 1, 2)
