"""Factors of the system of a step, for residuals that are contrasts of the Q of all graphs: r = H Q with H (N − 1, N).

The system is

    K = s I + (H ⊗ I) Diag(G_1, …, G_N) (Hᵀ ⊗ I),    G_k = J_kᵀA_k⁻¹J_k,

J_k the derivative of Q_k alone. Its factors need no matrix larger than a G_k: with HᵀH = Diag(c) − a ππᵀ, where
c_k = a σ π_k, σ = Σπ_k (see :func:`cotherm.methods.coupling.problem.CouplingProblem`), W_k = (s I + c_k G_k)⁻¹ and
B_k = (I − s W_k)/c_k,

    K⁻¹ = (I − H (B + Bπ S⁻¹ πᵀB) Hᵀ)/s,    S = (s/(aσ)) Σ_k π_k W_k.

With two graphs there is a single contrast, and K itself is no larger than a G_k.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cotherm.arrays import Floats
from cotherm.solve.implicit_matrix import Solve
from cotherm.solve.singles import Singles, add_multiple, inverse_definite

# What float32 loses beside the largest eigenvalue is put on the diagonal.
_LOST = 1e-6

# Calls a function with 0, 1, …, N − 1, side by side.
ForEachGraph = Callable[[Callable[[int], Singles]], list[Singles]]


@dataclass(frozen=True)
class Contrasts:
    """H, with √α in it, and the α and π that it is made of."""

    matrix: Floats
    alpha: float
    shares: Floats

    def factored(self, gram: Callable[[int], Singles], for_each: ForEachGraph, shift: float) -> Solve:
        """r ↦ K⁻¹r, to single precision; ``gram`` makes G_k, and may be called in several threads."""
        if len(self.matrix) == 1:
            return self._pair(gram, for_each, shift)
        H, shares, total = self.matrix, self.shares, self.shares.sum()
        factors = self.alpha * total * shares
        inverses = for_each(lambda k: _inverse(gram(k), float(factors[k]), shift))
        meeting = np.zeros_like(inverses[0])
        for share, W in zip(shares, inverses, strict=True):
            add_multiple(meeting, W, shift / (self.alpha * total) * share)
        meeting = _inverse(meeting, 1.0, 0.0)

        def smoothed(y: Floats) -> Floats:
            """B y, graph by graph."""
            parts = y.astype(np.float32)
            products = np.array(for_each(lambda k: inverses[k] @ parts[k]), dtype=np.float64)
            return np.asarray((y - shift * products) / factors[:, np.newaxis])

        def solve(r: Floats) -> Floats:
            r = r.reshape(len(H), -1)
            y = smoothed(H.T @ r)
            x = meeting @ (shares @ y).astype(np.float32)
            y += smoothed(np.multiply.outer(shares, x.astype(np.float64)))
            return np.ravel(r - H @ y) / shift

        return solve

    def _pair(self, gram: Callable[[int], Singles], for_each: ForEachGraph, shift: float) -> Solve:
        first, second = for_each(lambda k: gram(k) * np.float32(self.matrix[0, k] ** 2))
        first += second
        inverse = _inverse(first, 1.0, shift)
        return lambda r: (inverse @ r.astype(np.float32)).astype(np.float64)


def _inverse(G: Singles, factor: float, shift: float) -> Singles:
    """(shift·I + factor·G)⁻¹ in place of G."""
    G *= np.float32(factor)
    diagonal = np.arange(len(G))
    G[diagonal, diagonal] += np.float32(shift + _LOST * float(np.max(G[diagonal, diagonal])))
    return inverse_definite(G)
