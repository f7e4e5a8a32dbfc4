"""Joint diagonalization (JADE): one orthonormal basis that makes several Laplacians as diagonal as can be."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from cotherm import limits, validation
from cotherm.arrays import Floats
from cotherm.engines.threads import limited_blas
from cotherm.graphs.graph import Graph
from cotherm.graphs.validity import Validity
from cotherm.heat.distance import signs
from cotherm.heat.spectrum import Spectrum
from cotherm.lazy import lazy
from cotherm.methods.result import DESCENT, HasStatus, JointBases
from cotherm.methods.validation import positive, symmetric_matrices, versions
from cotherm.progress import Meter
from cotherm.solve.diagonalize import diagonalize
from cotherm.solve.orthogonal import OrthogonalDescent

_ROUNDING = 1e-13
# Newton steps for more rows than limits.NEWTON_STEPS lists.
_FEWEST_STEPS = 30


class CommutingMatrices(JointBases, HasStatus):
    """Result with matrices that commute, and are near the given ones."""

    originals: tuple[Any, ...]

    def matrices(self) -> tuple[Floats, ...]:
        """Return the closest commuting matrices.

        Returns
        -------
        tuple of ndarray of shape (n, n)
            The matrices Φ Diag(ΦᵀL_kΦ) Φᵀ, which commute and are the closest to the given ones that do; with
            ``closest_commuting(..., valid=True)`` the Laplacians that were found.
        """
        raise NotImplementedError

    def validity(self) -> tuple[Validity | None, ...]:
        """Check whether the commuting matrices are valid Laplacians of their graphs.

        Those of ``joint_diagonalize`` seldom are. For valid Laplacians use ``closest_commuting(..., valid=True)`` or
        :func:`cotherm.couple`.

        Returns
        -------
        tuple of Validity or None
            For each view the conditions that fail; None for views given as matrices.
        """
        pairs = zip(self.originals, self.matrices(), strict=True)
        return tuple(one.validity(L, tolerance=1e-10) if isinstance(one, Graph) else None for one, L in pairs)


@dataclass(frozen=True, eq=False, repr=False)
class Diagonalization(CommutingMatrices):
    """Result of joint_diagonalize: one orthonormal basis for all views.

    Print it for a summary. ``embedding``, ``distances`` and ``clusters`` work as for all results, see
    :class:`cotherm.JointResult`.

    Attributes
    ----------
    basis : ndarray of shape (n, n)
        The basis Φ as orthonormal columns, ordered by the mean of their values.
    values : ndarray of shape (N, n)
        The diagonals of ΦᵀL_kΦ.
    off : float
        The minimum, Σ π_k off(ΦᵀL_kΦ).
    off_before : float
        The same in the eigenbasis of the mean.
    originals : tuple
        The graphs or matrices that were given.
    status : str
        "converged", "stalled" or "out of budget".
    optimality : float
        Gradient relative to the gradients that balance in it.
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
    joint_diagonalize : Compute it.
    """

    advice_by_status: ClassVar[Mapping[str, str]] = DESCENT

    basis: Floats
    values: Floats
    off: float
    off_before: float
    originals: tuple[Any, ...]
    status: str
    optimality: float
    iterations: int
    settings: Mapping[str, Any]
    versions: Mapping[str, str]
    seconds: float

    @lazy
    def bases(self) -> tuple[Spectrum, ...]:
        """The joint basis with the values of every view, a tuple of :class:`cotherm.Spectrum`."""
        return tuple(Spectrum(values, self.basis) for values in self.values)

    def matrices(self) -> tuple[Floats, ...]:
        return tuple(diagonal_in(self.basis, values) for values in self.values)

    def __str__(self) -> str:
        lines = [
            self._headline(),
            f"  off-diagonal squares {self.off:.6g}, in the eigenbasis of the mean {self.off_before:.6g}"
            f"   (optimality {self.optimality:.1e}, {self.iterations} steps)",
        ]
        if self.advice:
            lines.append(f"  {self.advice}")
        for k, report in enumerate(self.validity()):
            if report is not None:
                failed = ", ".join(f"({failure.condition})" for failure in report.failures)
                left = f"leaves L(V, E), condition {failed}" if failed else "still in L(V, E)"
                lines.append(f"  {getattr(self.originals[k], 'name', None) or f'graph {k}'}: {left}")
        return "\n".join(lines)

    def _headline(self) -> str:
        n = len(self.basis)
        return f"Joint diagonalization of {len(self.values)} matrices of {n} rows: {self.status}, {self.seconds:.2g} s"


def joint_diagonalize(
    graphs: Sequence[Any],
    graph_weights: ArrayLike | None = None,
    *,
    normalized: bool = False,
    tolerance: float = 1e-6,
    max_iterations: int | None = None,
) -> Diagonalization:
    r"""Find the orthonormal basis in which several Laplacians are closest to diagonal.

    Minimizes

    .. math:: \sum_k \pi_k \operatorname{off}(\Phi^\top L_k \Phi),
        \qquad \operatorname{off}(A) = \sum_{i \ne j} a_{ij}^2,

    over orthonormal :math:`\Phi`, by Jacobi sweeps [2]_ followed by Newton steps. For graphs on the same vertices it
    is a common basis of modes [1]_.

    Parameters
    ----------
    graphs : sequence of Graph, array_like or sparse matrix
        Graphs on the same vertices, or symmetric matrices of one size, or some of each; at most 8,000 rows. Two
        graphs of 145 vertices take some tenths of a second, two of 2,000 vertices some minutes.
    graph_weights : array_like of float, optional
        Weight π > 0 of each graph or matrix, 1 by default. Matrices with larger entries count more.
    normalized : bool, default False
        For graphs, use I − D^{−½}WD^{−½} instead of D − W. Recommended for embedding and clustering.
    tolerance : float, default 1e-6
        Stop when the gradient, relative to the gradients that balance in it, is below this.
    max_iterations : int, optional
        Maximum number of Newton steps after the Jacobi sweeps. By default 200 for up to 500 rows, 60 for up to 1,000
        and 30 above, where all of them may be used for gains in the fourth digit.

    Returns
    -------
    Diagonalization
        The basis, the diagonals, and how the search ended.

    Raises
    ------
    CothermError
        If the graphs have different numbers of vertices, or if a matrix is not symmetric.

    See Also
    --------
    closest_commuting : The closest matrices or Laplacians that commute.
    coupled_bases : The same for graphs of different sizes.

    Notes
    -----
    The matrices Φ Diag(ΦᵀL_kΦ) Φᵀ commute and are the closest to the L_k that do. They are seldom Laplacians of the
    graphs.

    References
    ----------
    .. [1] D. Eynard, K. Glashoff, M. M. Bronstein and A. M. Bronstein, "Multimodal diffusion geometry by joint
       diagonalization of Laplacians", arXiv preprint, 2012.
    .. [2] J.-F. Cardoso and A. Souloumiac, "Jacobi angles for simultaneous diagonalization", SIAM Journal on Matrix
       Analysis and Applications, 1996.

    Examples
    --------
    >>> import cotherm as ct
    >>> result = ct.joint_diagonalize(ct.datasets.circles().graphs)
    >>> result.converged, result.off < 0.5 * result.off_before
    (True, True)
    """
    began = time.perf_counter()
    normalized = validation.boolean("normalized", normalized)
    A = symmetric_matrices("graphs", graphs, normalized=normalized)
    pi = positive("graph_weights", graph_weights, len(A), "matrices")
    tolerance = validation.real("tolerance", tolerance, positive=True)
    max_iterations = allowed_steps(max_iterations, A.shape[1])
    weighted = np.sqrt(pi)[:, np.newaxis, np.newaxis] * A
    with limited_blas(A.shape[1]):
        found, before = watched_diagonalize(weighted, tolerance, max_iterations)
        basis = found.U[0]
        values = np.array([quotients(a, basis) for a in A])
        order = np.argsort(pi @ values, kind="stable")
        basis = basis[:, order]
    return Diagonalization(
        basis=basis * signs(basis),
        values=values[:, order],
        off=found.cost,
        off_before=before,
        originals=tuple(graphs),
        status=found.status.value,
        optimality=found.optimality,
        iterations=found.iterations,
        settings={
            "graph_weights": pi.tolist(),
            "normalized": normalized,
            "tolerance": tolerance,
            "max_iterations": max_iterations,
        },
        versions=versions(),
        seconds=time.perf_counter() - began,
    )


def allowed_steps(given: int | None, n: int) -> int:
    """The number of Newton steps asked for, or what a problem of n rows deserves."""
    if given is None:
        return next((steps for rows, steps in limits.NEWTON_STEPS if n <= rows), _FEWEST_STEPS)
    return validation.integer("max_iterations", given, least=1)


def watched_diagonalize(A: Floats, tolerance: float, iterations: int) -> tuple[OrthogonalDescent, float]:
    """The best basis and the cost before, in units that suit any size of entries, with progress for large problems."""
    unit = float(np.abs(A).max()) or 1.0
    costs: list[float] = []
    with Meter() as meter:

        def watch(what: str, cost: float) -> None:
            costs.append(cost)
            meter.advance(f"joint diagonalization: {'Jacobi sweeps' if what == 'sweep' else 'Newton steps'}")
            meter.show(step=len(costs), off=unit**2 * cost)

        found = diagonalize(A / unit, tolerance=tolerance, iterations=iterations, watch=watch)
    cost = unit**2 * found.cost
    return (
        OrthogonalDescent(found.U, cost, found.optimality, found.status, found.iterations),
        unit**2 * costs[0] if costs else cost,
    )


def quotients(A: Floats, basis: Floats) -> Floats:
    """The diagonal of ΦᵀAΦ; what is rounding beside the largest is zero, so that heat neither grows nor fades by it."""
    values = np.einsum("ij,ij->j", basis, A @ basis)
    return np.where(np.abs(values) <= _ROUNDING * np.abs(values).max(initial=0.0), 0.0, values)


def diagonal_in(basis: Floats, values: Floats) -> Floats:
    """Φ Diag(λ) Φᵀ, symmetric to the last bit."""
    matrix = (basis * values) @ basis.T
    return 0.5 * (matrix + matrix.T)
