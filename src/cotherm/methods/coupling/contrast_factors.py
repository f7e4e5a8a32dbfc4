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

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cotherm.arrays import Floats
from cotherm.engines import Engine, default_engine
from cotherm.engines.interface import Array
from cotherm.solve.implicit_matrix import Solve
from cotherm.solve.rough_inverse import RoughInverse, Term, rough_factor, rough_inverse

# Rows of the matrix where the graphs meet that are added up at a time.
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
        """r ↦ K⁻¹r, to single precision; ``term`` may be called in several threads."""
        H, shares, total = self.matrix, self.shares, self.shares.sum()
        if len(H) == 1:
            return rough_inverse([term(k, float(H[0, k] ** 2)) for k in (0, 1)], shift, for_each).apply
        factors = self.alpha * total * shares
        graphs = range(len(shares))
        inverses = for_each(lambda k: rough_inverse([term(k, float(factors[k]))], shift), graphs)
        engine = self.engine
        meeting = _meeting(engine, inverses, shift / (self.alpha * total) * shares, for_each)

        def smoothed(y: Floats) -> Floats:
            """B y, graph by graph."""
            products = np.array(for_each(lambda k: inverses[k].apply(y[k]), graphs))
            return np.asarray((y - shift * products) / factors[:, np.newaxis])

        def solve(r: Floats) -> Floats:
            r = r.reshape(len(H), -1)
            y = smoothed(H.T @ r)
            x = engine.to_numpy(engine.solve_factored(meeting, engine.small_array((shares @ y).astype(np.float32))))
            y += smoothed(np.multiply.outer(shares, x.astype(np.float64)))
            return np.ravel(r - H @ y) / shift

        return solve


def _meeting(engine: Engine, inverses: Sequence[RoughInverse], weights: Floats, for_each: ForEach) -> Array:
    """The Cholesky factor of S = Σ_k weights_k W_k."""
    p = inverses[0].size
    S = engine.small_zeros(p, p, dtype=np.float32)

    def add(first: int) -> None:
        for inverse, weight in zip(inverses, weights.tolist(), strict=True):
            inverse.add_rows(first, min(first + _ROWS, p), weight, S)

    for_each(add, range(0, p, _ROWS))
    return rough_factor(engine, S)
