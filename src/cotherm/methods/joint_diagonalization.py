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
from cotherm.methods.result import JointBases
from cotherm.methods.status import DESCENT, HasStatus
from cotherm.methods.validation import positive, symmetric_matrices, versions
from cotherm.progress import Meter
from cotherm.solve.diagonalize import diagonalize
from cotherm.solve.orthogonal import OrthogonalDescent

_ROUNDING = 1e-13
# Newton steps for more rows than limits.NEWTON_STEPS lists.
_FEWEST_STEPS = 30


@dataclass(frozen=True, eq=False)
class Diagonalization(JointBases, HasStatus):
    """The answer of :func:`cotherm.joint_diagonalize`; print it for a summary.

    Attributes
    ----------
    basis : Φ̂ (n, n), orthonormal columns, ordered by the mean of their values.
    values : (N, n), the diagonals of Φ̂ᵀL_kΦ̂.
    off : Σ_k π_k off(Φ̂ᵀL_kΦ̂), what was minimized, and ``off_before`` the same in the eigenbasis of the mean.
    originals : the graphs or matrices that were given.
    status : "converged", "stalled" or "out of budget"; ``optimality`` is the gradient relative to those that balance in
        it, ``iterations`` the number of Newton steps.
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
        """The joint basis with the values of every view."""
        return tuple(Spectrum(values, self.basis) for values in self.values)

    def matrices(self) -> tuple[Floats, ...]:
        """L̂_k = Φ̂ Diag(Φ̂ᵀL_kΦ̂) Φ̂ᵀ: matrices that commute, the closest to the given ones that do."""
        return tuple(diagonal_in(self.basis, values) for values in self.values)

    def validity(self) -> tuple[Validity | None, ...]:
        """Whether L̂_k is in the L(V, E) of its graph, and if not, why not; None for views given as matrices.

        Laplacians seldom survive: that is the reason for ``closest_commuting(..., valid=True)`` and for ``couple``.
        """
        pairs = zip(self.originals, self.matrices(), strict=True)
        return tuple(one.validity(L, tolerance=1e-10) if isinstance(one, Graph) else None for one, L in pairs)

    def __str__(self) -> str:
        n = len(self.basis)
        lines = [
            f"Joint diagonalization of {len(self.values)} matrices of {n} rows: {self.status}, {self.seconds:.2g} s",
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


def joint_diagonalize(
    graphs: Sequence[Any],
    graph_weights: ArrayLike | None = None,
    *,
    normalized: bool = False,
    tolerance: float = 1e-6,
    max_iterations: int | None = None,
) -> Diagonalization:
    """An orthonormal basis Φ̂ that minimizes Σ_k π_k off(Φ̂ᵀL_kΦ̂), off being the sum of squares off the diagonal.

    For graphs on the same vertices it is a common basis of modes (Eynard et al. 2012): to embed and cluster in, take
    ``normalized=True``. The matrices Φ̂ Diag(Φ̂ᵀL_kΦ̂) Φ̂ᵀ commute and are the closest to the L_k that do; Laplacians
    of the graphs they are seldom.

    Parameters
    ----------
    graphs : graphs on the same vertices, or symmetric matrices of one size, dense or sparse, or some of each; at most
        8,000 rows. Two graphs of 145 vertices take some tenths of a second, two of 2,000 some minutes.
    graph_weights : π, how much each counts; by default 1. A matrix with large entries counts for more as it is.
    normalized : for graphs I − D^{−½}WD^{−½} instead of D − W.
    tolerance : for the gradient relative to the gradients that balance in it.
    max_iterations : Newton steps after the Jacobi sweeps; by default 200 up to 500 rows, 60 up to 1,000 and 30 above,
        where they may all be used for gains in the fourth digit.

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
    """The best basis and the cost before, in units that suit any size of entries, with a bar for large problems."""
    unit = float(np.abs(A).max()) or 1.0
    costs: list[float] = []
    with Meter(total=0) as meter:

        def watch(what: str, cost: float) -> None:
            costs.append(cost)
            meter.extend(1)
            meter.advance("Jacobi sweeps" if what == "sweep" else "Newton steps")
            meter.show(off=unit**2 * cost)

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
