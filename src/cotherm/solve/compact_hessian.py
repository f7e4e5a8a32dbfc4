"""The second derivative as limited-memory BFGS knows it, in compact form, over vectors of which each rank has its rows.

From steps S and the changes Y of the gradient along them, a column for each of the last few steps,

    B = θI − W M Wᵀ,    W = [Y, θS],    M⁻¹ = [−D  Lᵀ; L  θSᵀS],

D the diagonal of SᵀY and L its part below, later steps being lower (Byrd, Nocedal & Schnabel 1994). Only products of
the columns with each other and with a vector are summed over ranks: some hundred numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.engines import Engine

Mask = NDArray[np.bool_]

# Rows of all columns that are copied at a time.
_ROWS = 2**15


class CompactHessian:
    """B for the rows of this rank; at first, and where all is forgotten, the identity."""

    def __init__(self, engine: Engine, rows: int, most: int) -> None:
        """``most`` is the number of steps that are remembered."""
        self._engine, self._most = engine, most
        # A row for each step, in no order: with many rows they are written in place, the latest over the first.
        self._S, self._Y = np.zeros((most, rows)), np.zeros((most, rows))
        self._SY, self._SS = np.zeros((most, most)), np.zeros((most, most))
        # When each was learned.
        self._learned = np.zeros(most, dtype=np.int64)
        self.count, self.theta = 0, 1.0

    @property
    def size(self) -> int:
        """Bytes of what is remembered."""
        return self._S.nbytes + self._Y.nbytes

    def state(self) -> dict[str, Any]:
        """A copy, from which another one goes on."""
        arrays = {"S": self._S, "Y": self._Y, "SY": self._SY, "SS": self._SS, "learned": self._learned}
        return {**{name: one.copy() for name, one in arrays.items()}, "count": self.count, "theta": self.theta}

    def restore(self, state: Mapping[str, Any]) -> None:
        """The state of another one on the same rows."""
        self._S, self._Y, self._SY, self._SS = (np.array(state[name]) for name in ("S", "Y", "SY", "SS"))
        self._learned, self.count, self.theta = np.array(state["learned"]), state["count"], state["theta"]

    def forget(self) -> None:
        self.count, self.theta = 0, 1.0

    def learn(self, step: Floats, change: Floats, along: float) -> None:
        """From a step and the change of the gradient; ``along`` is their product, which is positive."""
        place = self.count if self.count < self._most else int(np.argmin(self._learned))
        self._learned[place] = self._learned[: self.count].max(initial=0) + 1
        self.count = max(self.count, place + 1)
        self._S[place], self._Y[place] = step, change
        S, Y = self._used(self._S), self._used(self._Y)
        by_change, by_step, square = np.split(
            self._engine.total(np.concatenate([Y @ step, S @ step, [change @ change]])), [self.count, 2 * self.count]
        )
        self._SY[place, : self.count] = by_change
        self._SY[place, place] = along
        self._SS[place, : self.count] = self._SS[: self.count, place] = by_step
        self.theta = float(square[0]) / along

    def rows(self, numbers: NDArray[Any]) -> Floats:
        """Some rows of W."""
        return np.concatenate([self._used(self._Y)[:, numbers], self.theta * self._used(self._S)[:, numbers]]).T

    def transposed(self, x: Floats) -> Floats:
        """Wᵀx, the same on all ranks."""
        parts = np.concatenate([self._used(self._Y) @ x, self.theta * (self._used(self._S) @ x)])
        return np.asarray(self._engine.total(parts))

    def times(self, v: Floats) -> Floats:
        """The rows here of W v."""
        first, second = v[: self.count], v[self.count :]
        return np.asarray(first @ self._used(self._Y) + self.theta * (second @ self._used(self._S)))

    def middle(self) -> Floats:
        """M. Raises ``numpy.linalg.LinAlgError`` where rounding has made B something else than positive definite."""
        k = self.count
        D, L = self._diagonal(), np.where(self._is_later(), self._used(self._SY)[:, :k], 0.0)
        scaled = L / D
        factor = _factored(self.theta * self._SS[:k, :k] + scaled @ L.T)
        lower = scipy.linalg.cho_solve(factor, np.hstack([scaled, np.eye(k)]))
        upper = (L.T @ lower - np.eye(k, 2 * k)) / D[:, np.newaxis]
        return np.vstack([upper, lower])

    def solve(self, r: Floats, free: Mask) -> Floats:
        """B_FF⁻¹ r_F over the free rows F, and zeros elsewhere. Raises like :meth:`middle`.

        By the formula of Sherman, Morrison and Woodbury, B_FF⁻¹ = (I + W_F K⁻¹W_Fᵀ/θ)/θ with K = M⁻¹ − W_FᵀW_F/θ. What
        is left of the entries of K where W_FᵀW_F cancels them are products over the rows that are not free.
        """
        YY, SY, active_SY, active_SS = self._products(free)
        is_later, theta = self._is_later(), self.theta
        first = _factored(np.diag(self._diagonal()) + YY / theta)
        beside = np.where(is_later, active_SY, -SY)
        second = _factored(theta * active_SS + beside @ scipy.linalg.cho_solve(first, beside.T))
        above, below = np.split(self.transposed(np.where(free, r, 0.0)), 2)
        v2 = scipy.linalg.cho_solve(second, below + beside @ scipy.linalg.cho_solve(first, above))
        v1 = scipy.linalg.cho_solve(first, beside.T @ v2 - above)
        return np.where(free, (r + self.times(np.concatenate([v1, v2])) / theta) / theta, 0.0)

    def _products(self, free: Mask) -> Floats:
        """YᵀY and SᵀY over the free rows of all ranks, SᵀY and SᵀS over the others."""
        S, Y = self._used(self._S), self._used(self._Y)
        sums = np.zeros((4, self.count, self.count))
        for first in range(0, len(free), _ROWS):
            part = slice(first, first + _ROWS)
            inside, outside = free[part], ~free[part]
            s, y = S[:, part][:, inside], Y[:, part][:, inside]
            sums[0] += y @ y.T
            sums[1] += s @ y.T
            s, y = S[:, part][:, outside], Y[:, part][:, outside]
            sums[2] += s @ y.T
            sums[3] += s @ s.T
        return np.asarray(self._engine.total(sums))

    def _used(self, rows: Floats) -> Floats:
        return rows[: self.count]

    def _diagonal(self) -> Floats:
        return np.diagonal(self._SY)[: self.count].copy()

    def _is_later(self) -> Mask:
        """Whether the step of a row was made after that of a column."""
        learned = self._learned[: self.count]
        return learned[:, np.newaxis] > learned


def _factored(A: Floats) -> Any:
    """The Cholesky factors of A; what is not finite is refused like what is not positive definite."""
    if not np.isfinite(A).all():
        raise np.linalg.LinAlgError
    return scipy.linalg.cho_factor(A, check_finite=False)
