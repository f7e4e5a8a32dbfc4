"""off(UᵀA_kU), the squares off the diagonal of several symmetric matrices in one basis, and its derivatives.

With C_k = UᵀA_kU, d_k its diagonal and U·e^X for a skew X, C becomes C + [C, X] + ½[[C, X], X] + …, so that

    gradient   G_ij = 4 Σ_k (d_ki − d_kj) C_kij
    curvature  (HX)_ij = Σ_k 4 (y_ki − y_kj) C_kij + 2 (d_ki − d_kj) Y_kij + 2 [C_k, Z_k]_ij,

Y = [C, X], y its diagonal, Z_ij = (d_i − d_j) X_ij: two matrix products for each A_k.
"""

from __future__ import annotations

import numpy as np

from cotherm.arrays import Floats
from cotherm.lazy import lazy

_EPSILON = float(np.finfo(np.float64).eps)
# Added to the diagonal that stands for the curvature, in units of its mean: pairs with equal values would have none.
_LEAST_SCALE = 1e-3


class OffDiagonal:
    """The cost at C, shape (matrices, n, n), and its derivatives as (n, n) matrices."""

    def __init__(self, C: Floats) -> None:
        self.C = C
        self.diagonals = np.einsum("kii->ki", C).copy()

    @lazy
    def total(self) -> float:
        """Σ‖C_k‖², which no basis changes."""
        return float(np.vdot(self.C, self.C))

    @lazy
    def cost(self) -> float:
        rest = self.C.copy()
        np.einsum("kii->ki", rest)[:] = 0.0
        return float(np.vdot(rest, rest))

    @lazy
    def gaps(self) -> Floats:
        """d_ki − d_kj."""
        return self.diagonals[:, :, np.newaxis] - self.diagonals[:, np.newaxis, :]

    @lazy
    def gradient(self) -> Floats:
        return 4.0 * np.einsum("kij,kij->ij", self.gaps, self.C)

    @lazy
    def balance(self) -> float:
        """The size of the gradients of the matrices one by one: at a minimum they balance."""
        return float(4.0 * np.sqrt(0.5 * np.einsum("kij,kij,kij,kij->", self.gaps, self.gaps, self.C, self.C)))

    @property
    def noise(self) -> float:
        """How much of the gradient may be rounding."""
        return 16.0 * _EPSILON * self.total

    @lazy
    def scale(self) -> Floats:
        P = 4.0 * np.einsum("kij,kij->ij", self.gaps, self.gaps) + 16.0 * np.einsum("kij,kij->ij", self.C, self.C)
        return P + max(_LEAST_SCALE * float(P.mean()), np.finfo(np.float64).tiny)

    def curvature(self, X: Floats) -> Floats:
        # All three terms are skew parts, of 4yC, 2(d_i − d_j)CX and 2CZ, so that one transposition will do.
        half = np.zeros_like(X)
        for C, gap in zip(self.C, self.gaps, strict=True):
            CX = C @ X
            half += C @ (gap * X)
            half += (4.0 * np.diagonal(CX))[:, np.newaxis] * C
            CX *= gap
            half += CX
        return 2.0 * (half - half.T)
