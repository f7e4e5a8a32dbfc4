"""Factors of the system of a step, for residuals that are contrasts of the Q of all graphs: r = H Q with H (N − 1, N).

The system is

    K = s I + (H ⊗ I) Diag(G_1, …, G_N) (Hᵀ ⊗ I),    G_k = J_kᵀA_k⁻¹J_k,

J_k the derivative of Q_k alone. Its factors need no matrix larger than a G_k: with HᵀH = Diag(c) − a ππᵀ, where
c_k = a σ π_k, σ = Σπ_k (see :func:`cotherm.methods.coupling.problem.CouplingProblem`), W_k = (s I + c_k G_k)⁻¹ and
B_k = (I − s W_k)/c_k,

    K⁻¹ = (I − H (B + Bπ S⁻¹ πᵀB) Hᵀ)/s,    S = (s/(aσ)) Σ_k π_k W_k.

With two graphs there is a single contrast, and K itself is as small as a G_k.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cotherm.arrays import Floats
from cotherm.engines import Engine, default_engine
from cotherm.engines.interface import Array
from cotherm.solve.implicit_matrix import Solve
from cotherm.solve.rough_inverse import RoughInverse, Term, rough_inverse, rough_solver, widened

# Number of rows of the matrix where the graphs meet that are added up at a time.
_ROWS = 1_024

# Calls a function with each of some arguments, side by side.
ForEach = Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]
# Makes J_kᵀA_k⁻¹J_k times a factor.
MakeTerm = Callable[[int, float], Term]


@dataclass(frozen=True)
class Contrasts:
    """H, with √α in it, and the α and π that it is made of."""

    matrix: Floats
    alpha: float
    shares: Floats
    engine: Engine = field(default_factory=default_engine)

    def factored(self, term: MakeTerm, for_each: ForEach, shift: float) -> Solve:
        """r ↦ K⁻¹r for small arrays, to single precision; ``term`` may be called in several threads."""
        total = self.shares.sum()
        if len(self.matrix) == 1:
            return rough_solver([term(k, float(self.matrix[0, k] ** 2)) for k in (0, 1)], shift, for_each)
        amounts = self.alpha * total * self.shares
        graphs = range(len(self.shares))
        inverses = for_each(lambda k: rough_inverse([term(k, float(amounts[k]))], shift), graphs)
        meeting = _meeting(self.engine, inverses, shift / (self.alpha * total) * self.shares, for_each)
        small = self.engine.small_array
        H, shares, factors = small(self.matrix), small(self.shares), small(amounts[:, np.newaxis])

        def smoothed(y: Array) -> Array:
            """B y, graph by graph."""
            products = np.stack(for_each(lambda k: inverses[k].apply(y[k]), graphs))
            return (y - shift * products) / factors

        def solve(r: Array) -> Array:
            r = r.reshape(len(H), -1)
            y = smoothed(H.T @ r)
            x = meeting((shares @ y).astype(np.float32)).astype(np.float64)
            y += smoothed(shares[:, np.newaxis] * x)
            return ((r - H @ y) / shift).reshape(-1)

        return solve


def _meeting(
    engine: Engine, inverses: Sequence[RoughInverse], weights: Floats, for_each: ForEach
) -> Callable[[Array], Array]:
    """y ↦ S⁻¹y for S = Σ_k weights_k W_k."""
    p = inverses[0].size
    S = engine.small_array(np.zeros((p, p), dtype=np.float32))

    def add(first: int) -> None:
        for inverse, weight in zip(inverses, weights.tolist(), strict=True):
            inverse.add_rows(first, min(first + _ROWS, p), weight, S)

    for_each(add, range(0, p, _ROWS))
    return engine.cholesky_solver(widened(S))
