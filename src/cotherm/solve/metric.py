"""Symmetric positive definite forms A, cheap to invert on any subset of the unknowns.

The step of the solver is a nearest-point problem in such a form. *Gram*: A = ρ(2I + CᵀC) with C sparse and short,
inverted through (2I + CCᵀ)⁻¹ (Woodbury), by Cholesky where C has few rows and by conjugate gradients where it has many.
*Diagonal*: A = Diag(s).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from cotherm.arrays import Floats

Mask = NDArray[np.bool_]

# Up to this many rows of C a dense Cholesky factor of its Gram matrix is the faster way.
_DENSE_ROWS = 1_500
# Relative residual of conjugate gradients: below what the steps of the solver can see.
_CG_TOLERANCE = 1e-12
_CG_ROUNDS = 500


class Restricted(Protocol):
    """A_FF for the free unknowns F, the others P being held at zero."""

    def inverse(self, Y: Floats) -> Floats:
        """A_FF⁻¹ Y for a vector or the columns of a matrix."""

    def pulled(self, centre: Floats) -> Floats:
        """The free part of the point nearest to the centre: c_F + A_FF⁻¹A_FP c_P."""


class Metric(Protocol):
    """A symmetric positive definite form A."""

    def apply(self, d: Floats) -> Floats:
        """A d."""

    def restricted(self, free: Mask) -> Restricted: ...


class Diagonal:
    """A = Diag(s)."""

    def __init__(self, s: Floats) -> None:
        self._s = s

    def apply(self, d: Floats) -> Floats:
        return self._s * d

    def restricted(self, free: Mask) -> Restricted:
        return _DiagonalPart(self._s[free], free)


class _DiagonalPart:
    def __init__(self, s: Floats, free: Mask) -> None:
        self._s, self._free = s, free

    def inverse(self, Y: Floats) -> Floats:
        return np.asarray((Y.T / self._s).T)

    def pulled(self, centre: Floats) -> Floats:
        return centre[self._free]


class Gram:
    """A with diagonal blocks ρ(2I + CᵀC), one for each pair of a sparse C (CSC) and a number ρ > 0."""

    def __init__(self, blocks: Sequence[tuple[Any, float]]) -> None:
        self._blocks = list(blocks)
        self._cuts = np.cumsum([0, *(C.shape[1] for C, _ in blocks)])

    def apply(self, d: Floats) -> Floats:
        parts = self._split(d)
        return np.concatenate(
            [rho * (2.0 * x + C.T @ (C @ x)) for (C, rho), x in zip(self._blocks, parts, strict=True)]
        )

    def restricted(self, free: Mask) -> Restricted:
        return _GramPart(self._blocks, self._split(free))

    def _split(self, x: NDArray[Any]) -> list[NDArray[Any]]:
        return [x[lo:hi] for lo, hi in zip(self._cuts[:-1], self._cuts[1:], strict=True)]


class _GramPart:
    def __init__(self, blocks: list[tuple[Any, float]], masks: list[Mask]) -> None:
        self._parts = [_GramBlock(C, rho, mask) for (C, rho), mask in zip(blocks, masks, strict=True)]
        self._cuts = np.cumsum([0, *(int(mask.sum()) for mask in masks)])
        self._all_cuts = np.cumsum([0, *(len(mask) for mask in masks)])

    def inverse(self, Y: Floats) -> Floats:
        result = np.empty_like(Y)
        for part, lo, hi in zip(self._parts, self._cuts[:-1], self._cuts[1:], strict=True):
            result[lo:hi] = part.inverse(Y[lo:hi])
        return result

    def pulled(self, centre: Floats) -> Floats:
        pieces = [
            part.pulled(centre[lo:hi])
            for part, lo, hi in zip(self._parts, self._all_cuts[:-1], self._all_cuts[1:], strict=True)
        ]
        return np.concatenate(pieces)


class _GramBlock:
    def __init__(self, C: Any, rho: float, mask: Mask) -> None:
        self._mask, self._rho = mask, rho
        self._free = C[:, mask]
        self._held = C[:, ~mask]
        self._solve = _gram_solver(self._free)

    def inverse(self, Y: Floats) -> Floats:
        return np.asarray((0.5 / self._rho) * (Y - self._free.T @ self._solve(self._free @ Y)))

    def pulled(self, centre: Floats) -> Floats:
        nearest = centre[self._mask]
        if self._held.shape[1]:
            # A_FP = ρ C_FᵀC_P, and A_FF⁻¹C_Fᵀ = C_Fᵀ(2I + C_FC_Fᵀ)⁻¹/ρ.
            nearest = nearest + self._free.T @ self._solve(self._held @ centre[~self._mask])
        return nearest


def _gram_solver(C: Any) -> Callable[[Floats], Floats]:
    """x ↦ (2I + CCᵀ)⁻¹x."""
    gram = C @ C.T
    if gram.shape[0] > _DENSE_ROWS:
        return lambda Y: _conjugate_gradients(gram, Y)
    S = gram.toarray()
    S.flat[:: S.shape[0] + 1] += 2.0
    factor = scipy.linalg.cho_factor(S, overwrite_a=True, check_finite=False)
    return lambda Y: np.asarray(scipy.linalg.cho_solve(factor, Y, check_finite=False))


def _conjugate_gradients(gram: Any, Y: Floats) -> Floats:
    """(2I + gram)⁻¹Y, all columns side by side, with the diagonal as preconditioner.

    The unsigned incidence of a graph makes this matrix diagonally dominant: some tens of rounds, whatever the size.
    """
    B = Y.reshape(len(Y), -1)
    diagonal = (gram.diagonal() + 2.0)[:, np.newaxis]
    x = B / diagonal
    residual = B - (gram @ x + 2.0 * x)
    z = residual / diagonal
    p = z.copy()
    gain = np.einsum("ij,ij->j", residual, z)
    target = _CG_TOLERANCE**2 * np.einsum("ij,ij->j", B, B)
    for _ in range(_CG_ROUNDS):
        if np.all(np.einsum("ij,ij->j", residual, residual) <= target):
            break
        Ap = gram @ p + 2.0 * p
        curvature = np.einsum("ij,ij->j", p, Ap)
        step = np.divide(gain, curvature, out=np.zeros_like(gain), where=curvature > 0)
        x += step * p
        residual -= step * Ap
        z = residual / diagonal
        previous, gain = gain, np.einsum("ij,ij->j", residual, z)
        p = z + np.divide(gain, previous, out=np.zeros_like(gain), where=previous > 0) * p
    return x.reshape(Y.shape)
