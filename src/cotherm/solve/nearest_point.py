"""The step: the point v ≥ 0 nearest to a center that also heeds a few linear equations.

    minimize (v − c)ᵀA(v − c) + Σ_r ω_r (e_rᵀv − b_r)²   over v ≥ 0

The e_r are few, the unknowns many. With the unknowns in P held at zero and F free, A_FF(v_F − z) + E_Fη = 0 where z is
the nearest point without equations, so v_F = z − Zη with Z = A_FF⁻¹E_F and

    (Diag(1/ω) + E_FᵀZ) η = E_Fᵀz − b,

a system as small as the equations are few. It stays well behaved as ω → ∞, when the equations become exact. Weights ω
may be negative, for curvature of either sign, as long as the whole stays convex.

Which unknowns are held: those at zero where the solution would have them negative, exchanged all at once. That is
Newton's method for the dual problem (A = Diag(s) + RᵀR; see :class:`_Dual`), and where it would go round in circles a
search along its direction keeps it rising, so that it ends.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cotherm.arrays import Floats
from cotherm.engines.cpu.elementwise import mapped, summed
from cotherm.solve.cholesky import definite_solver
from cotherm.solve.metric import Metric, Restricted
from cotherm.solve.pivoting import Mask, misplaced
from cotherm.solve.tall_matrix import Tall

_MOST_EXCHANGES = 300
# Of the exchanges that nothing keeps from going round in circles, those under negative weights.
_MOST_BLIND = 30
# Halvings of a step along the dual, and the part of its first slope that is as good as none.
_HALVINGS, _FLAT = 30, 1e-8


class NearestPoint:
    """The problem for one metric and one set of equations, solved for many centers, targets and weights."""

    def __init__(self, metric: Metric, E: Tall, definite: int) -> None:
        """E has an equation in each column; the first ``definite`` of them have positive weights in every solve."""
        self._metric, self._E, self._definite = metric, E, definite
        self._prepared = metric.prepared(E)
        self._last: tuple[Mask, Restricted] | None = None

    def solve(self, center: Floats, b: Floats, weights: Floats, held: Mask) -> tuple[Floats, Mask] | None:
        """The nearest point and the unknowns it holds at zero; None where negative weights leave no convex problem.

        As many equations count, from the first, as there are weights. ``held`` is where the search starts.
        """
        k = len(weights)
        E = self._E.narrowed(k)
        dual = _Dual(self._metric, center, b, weights) if np.all(weights > 0.0) else None
        here = None
        for exchange in range(_MOST_EXCHANGES):
            part = self._restricted(held)
            z = part.pulled(center)
            eta = self._multipliers(part.gram[:k, :k], E.transposed_dot(z) - b, weights)
            if eta is None:
                return None
            force = E.dot(eta)
            v = mapped(np.subtract, z, part.inverse(force))
            slope = mapped(np.add, self._metric.apply(mapped(np.subtract, v, center)), force)
            wrong = misplaced(held, v, slope)
            if not wrong.any():
                break
            held = held ^ wrong
            if dual is not None:
                there = dual.at(v, eta, force)
                step = 1.0 if here is None else dual.rise(here, there)
                if here is None or step == 1.0:
                    here = there
                else:
                    here = here.towards(there, step)
                    held = dual.held(here)
            elif exchange >= _MOST_BLIND:
                return None
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


@dataclass(frozen=True)
class _Multipliers:
    """Of the rows of R and of the equations, and the force g = Rᵀy + Eη with which they pull at the unknowns."""

    y: Floats
    eta: Floats
    force: Floats

    def towards(self, other: _Multipliers, step: float) -> _Multipliers:
        pairs = ((self.y, other.y), (self.eta, other.eta), (self.force, other.force))
        return _Multipliers(*(mapped(lambda a, b: a + step * (b - a), *pair) for pair in pairs))


class _Dual:
    """The dual of the problem, with A = Diag(s) + RᵀR: the multipliers (y, η) maximize the concave

        φ(y, η) = min_{v ≥ 0} (v − c)ᵀDiag(s)(v − c) + 2gᵀv − 2yᵀRc − 2ηᵀb − ‖y‖² − Σ η²/ω,   g = Rᵀy + Eη,

    whose minimum is at v = max(0, c − g/s). Its pieces are quadratic, one for each set of unknowns at zero, and the
    solution with those held is where Newton's step from that piece leads.
    """

    def __init__(self, metric: Metric, center: Floats, b: Floats, weights: Floats) -> None:
        self._metric, self._center, self._b, self._weights = metric, center, b, weights
        self._Rc = metric.rows(center)

    def at(self, v: Floats, eta: Floats, force: Floats) -> _Multipliers:
        """The multipliers of a solution v with some unknowns held."""
        y = self._metric.rows(v - self._center)
        return _Multipliers(y, eta, self._metric.rows_transposed(y) + force)

    def held(self, here: _Multipliers) -> Mask:
        return np.asarray(self._metric.diagonal * self._center <= here.force)

    def rise(self, here: _Multipliers, there: _Multipliers) -> float:
        """How far to go from here towards there, 1 being all the way: up to where φ no longer rises."""
        first = self._slope(here, there, 0.0)
        if self._slope(here, there, 1.0) >= -_FLAT * abs(first):
            return 1.0
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            slope = self._slope(here, there, middle)
            low, high = (middle, high) if slope >= 0.0 else (low, middle)
            if low > 0.0 and abs(slope) <= 0.1 * abs(first):
                break
        # Where rounding hides the slope, all the way is as good as none of it.
        return low if low > 0.0 else 1.0

    def _slope(self, here: _Multipliers, there: _Multipliers, step: float) -> float:
        """Half the derivative of φ along the way, at some part of it."""

        def unknowns(old: Floats, new: Floats, center: Floats, s: Floats) -> float:
            way = new - old
            return float(np.sum(way * np.maximum(0.0, center - (old + step * way) / s)))

        def rows(old: Floats, new: Floats, Rc: Floats) -> float:
            way = new - old
            return float(np.sum(way * (Rc + old + step * way)))

        deta = there.eta - here.eta
        equations = deta @ (self._b + (here.eta + step * deta) / self._weights)
        gained = summed(unknowns, here.force, there.force, self._center, self._metric.diagonal)
        return gained - summed(rows, here.y, there.y, self._Rc) - float(equations)


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
