"""The step: the point v ≥ 0 nearest to a centre that also heeds a few linear equations.

    minimise (v − c)ᵀA(v − c) + Σ_r ω_r (e_rᵀv − b_r)²   over v ≥ 0

The e_r are few, the unknowns many. With the unknowns in P held at zero and F free, A_FF(v_F − z) + E_Fη = 0 where z is
the nearest point without equations, so v_F = z − Zη with Z = A_FF⁻¹E_F and

    (Diag(1/ω) + E_FᵀZ) η = E_Fᵀz − b,

a system as small as the equations are few. It stays well behaved as ω → ∞, when the equations become exact. Weights ω
may be negative, for curvature of either sign, as long as the whole stays convex.

Which unknowns are held is found by block principal pivoting.
"""

from __future__ import annotations

import numpy as np

from cotherm.arrays import Floats
from cotherm.solve.cholesky import definite_solver
from cotherm.solve.metric import Metric, Restricted
from cotherm.solve.pivoting import Mask, Pivoting

# Exchanges of whole blocks that may pass without progress.
_PATIENCE = 10
_MOST_EXCHANGES = 300


class NearestPoint:
    """The problem for one metric and one set of equations, solved for many centres, targets and weights."""

    def __init__(self, metric: Metric, E: Floats, definite: int) -> None:
        """E has an equation in each column; the first ``definite`` of them have positive weights in every solve."""
        self._metric, self._E, self._definite = metric, E, definite
        self._prepared = metric.prepared(E)
        self._last: tuple[Mask, Restricted] | None = None

    def solve(self, centre: Floats, b: Floats, weights: Floats, held: Mask) -> tuple[Floats, Mask] | None:
        """The nearest point and the unknowns it holds at zero; None where negative weights leave no convex problem.

        As many equations count, from the first, as there are weights. ``held`` is where the search starts.
        """
        pivoting = Pivoting(len(centre), _PATIENCE)
        k = len(weights)
        E = self._E[:, :k]
        for _ in range(_MOST_EXCHANGES):
            part = self._restricted(held)
            z = part.pulled(centre)
            eta = self._multipliers(part.gram[:k, :k], E.T @ z - b, weights)
            if eta is None:
                return None
            force = E @ eta
            v = z - part.inverse(force)
            exchanged = pivoting.exchanged(held, v, self._metric.apply(v - centre) + force)
            if exchanged is None:
                break
            held = exchanged
        return np.maximum(v, 0.0), held

    def _restricted(self, held: Mask) -> Restricted:
        """What one set of held unknowns takes to prepare; the last one is kept."""
        if self._last is None or not np.array_equal(self._last[0], held):
            self._last = held, self._prepared.restricted(held)
        return self._last[1]

    def _multipliers(self, gram: Floats, rhs: Floats, weights: Floats) -> Floats | None:
        k = self._definite
        K = gram.copy()
        K.flat[:: len(K) + 1] += 1.0 / weights
        if k == len(K):
            return _solve_definite(K, rhs)
        # Eliminate the definite rows. The problem is convex if and only if the rest has as many negative eigenvalues as
        # there are negative weights.
        X = _solve_definite(K[:k, :k], np.column_stack([K[:k, k:], rhs[:k]]))
        rest = K[k:, k:] - K[k:, :k] @ X[:, :-1]
        values, vectors = np.linalg.eigh(0.5 * (rest + rest.T))
        if np.sum(values < 0) != np.sum(weights[k:] < 0) or np.abs(values).min() <= 1e-14 * np.abs(values).max():
            return None
        tail = vectors @ ((vectors.T @ (rhs[k:] - K[k:, :k] @ X[:, -1])) / values)
        return np.concatenate([X[:, -1] - X[:, :-1] @ tail, tail])


def _solve_definite(K: Floats, rhs: Floats) -> Floats:
    """K⁻¹ rhs for K positive definite; directions lost in rounding, which repeated equations have, are left out."""
    try:
        solve = definite_solver(K)
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(0.5 * (K + K.T))
        kept = values > 1e-14 * values[-1]
        projected = vectors[:, kept].T @ rhs
        return np.asarray(vectors[:, kept] @ (projected.T / values[kept]).T)
    return solve(rhs)
