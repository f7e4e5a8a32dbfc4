"""An orthogonal basis that makes several symmetric matrices as diagonal as can be: min Σ_k off(UᵀA_kU).

Jacobi sweeps first, each rotation being the best in its plane: they leave places where a derivative sees no way on.
Newton's method ends what they are slow at, and another sweep looks for planes in which there is more to gain.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg

from cotherm.arrays import Floats
from cotherm.lazy import lazy
from cotherm.solve.descent import Status
from cotherm.solve.jacobi import sweep
from cotherm.solve.off_diagonal import OffDiagonal
from cotherm.solve.orthogonal import OrthogonalDescent, descend_orthogonal

_MOST_SWEEPS = 40
# A sweep that lowers the cost by less than this part of it is slow.
_SLOW_SWEEP = 2e-3
# Costs below this part of Σ‖A_k‖² are rounding: the matrices commute.
_ROUNDING = 1e-26
# What a sweep after Newton must gain to be followed up.
_WORTH_FOLLOWING = 1e-9
_MOST_ROUNDS = 6
# Up to these sizes two starts are swept, and followed to the end.
_TWO_STARTS, _TWO_DESCENTS = 300, 100

Watch = Callable[[str, float], None]


def diagonalize(
    A: Floats, *, tolerance: float, iterations: int, watch: Watch = lambda _, __: None
) -> OrthogonalDescent:
    """The basis U, shape (1, n, n), for A of shape (matrices, n, n); ``watch`` hears of the start and of every sweep
    and step."""
    # For matrices that commute, the eigenbasis of their sum is most often the answer; the identity is another start.
    starts = [scipy.linalg.eigh(A.sum(axis=0), check_finite=False)[1]]
    watch("start", OffDiagonal(_rotated(A, starts[0])).cost)
    if A.shape[1] <= _TWO_STARTS:
        starts.append(np.eye(A.shape[1]))
    swept = sorted((_swept(A, start, watch) for start in starts), key=lambda found: found[0])
    if A.shape[1] > _TWO_DESCENTS:
        swept = swept[:1]
    descents = (_from(A, U, tolerance, iterations, watch) for _, U in swept)
    return min(descents, key=lambda descent: descent.cost)


def _from(A: Floats, U: Floats, tolerance: float, iterations: int, watch: Watch) -> OrthogonalDescent:
    """Newton's method, and a sweep after it as long as that finds more to gain."""
    problem = _Diagonalization(A)
    used = 0
    for _ in range(_MOST_ROUNDS):
        found = descend_orthogonal(
            problem,
            U[np.newaxis],
            tolerance=tolerance,
            iterations=iterations - used,
            watch=lambda point: watch("step", point.cost),
        )
        used += found.iterations
        C, U = sweep(_rotated(A, found.U[0]), found.U[0])
        cost = OffDiagonal(C).cost
        if cost >= (1.0 - _WORTH_FOLLOWING) * found.cost or found.status is Status.OUT_OF_BUDGET:
            break
        watch("sweep", cost)
    return OrthogonalDescent(found.U, found.cost, found.optimality, found.status, used)


def _swept(A: Floats, U: Floats, watch: Watch) -> tuple[float, Floats]:
    """Sweeps as long as they are quick: the cost they come to, and the basis."""
    C = _rotated(A, U)
    state = OffDiagonal(C)
    enough = _ROUNDING * state.total
    for _ in range(_MOST_SWEEPS):
        before = state.cost
        if before <= enough:
            break
        C, U = sweep(C, U)
        state = OffDiagonal(C)
        watch("sweep", state.cost)
        if state.cost > (1.0 - _SLOW_SWEEP) * before:
            break
    return state.cost, U


def _rotated(A: Floats, U: Floats) -> Floats:
    return np.array([U.T @ (a @ U) for a in A])


class _Diagonalization:
    """The problem as a function of one orthogonal matrix."""

    def __init__(self, A: Floats) -> None:
        self._A = A

    def at(self, U: Floats) -> _DiagonalizationPoint:
        return _DiagonalizationPoint(OffDiagonal(_rotated(self._A, U[0])))


class _DiagonalizationPoint:
    def __init__(self, off: OffDiagonal) -> None:
        self._off = off
        self.cost = off.cost

    @property
    def gradient(self) -> Floats:
        return self._off.gradient[np.newaxis]

    @property
    def scale(self) -> Floats:
        return self._off.scale[np.newaxis]

    @lazy
    def optimality(self) -> float:
        size = float(np.linalg.norm(self._off.gradient)) * np.sqrt(0.5)
        if size <= self._off.noise or self.cost <= _ROUNDING * self._off.total:
            return 0.0
        return size / self._off.balance

    def curvature(self, X: Floats) -> Floats:
        return self._off.curvature(X[0])[np.newaxis]
