"""The system for the multipliers η of the equations in a nearest-point problem: (Diag(1/ω) + E_FᵀA_FF⁻¹E_F) η = e(z).

e(v) are what the equations leave at v, z the nearest point without them. Two ways to solve it. *Formed*, here: the
matrix is made and factored, for few equations. *Iterated*: :mod:`cotherm.solve.iterated_system`.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
import scipy.linalg

from cotherm.arrays import Floats
from cotherm.engines import Engine
from cotherm.engines.interface import Array
from cotherm.solve.metric import Metric, Restricted, RestrictedGram
from cotherm.solve.tall_matrix import TallMatrix

# Eigenvalues below this part of the largest are rounding.
_ROUNDING = 1e-14


class Start(NamedTuple):
    """A point v ≥ 0 with what the equations leave there, e(v); they are linear, e(v + d) = e(v) + Eᵀd."""

    v: Array
    residuals: Floats


class Known(NamedTuple):
    """What is known before a solve: the objective at the start, less the least distance to the center, and some η."""

    objective: float
    eta: Floats
    force: Array  # Eη


class Solved(NamedTuple):
    """The multipliers, the force Eη that they exert, the point v = z − A_FF⁻¹E_Fη, and e(v)."""

    eta: Floats
    force: Array
    v: Array
    residuals: Floats


class System(Protocol):
    """For one metric and one set of equations; active sets come one after the other."""

    @property
    def is_iterative(self) -> bool:
        """Whether solutions are approximate."""

    def restricted(self, active: Array) -> Restricted:
        """The metric for an active set; the last one is kept."""

    def solve(self, part: Restricted, z: Array, start: Start, weights: Floats, known: Known | None) -> Solved | None:
        """For the last active set; None where negative weights make the problem nonconvex.

        The first equations count, as many as there are weights. Systems that are iterated need what is known.
        """


class FormedSystem:
    """The matrix is formed; the first ``definite`` equations have positive weights in every solve."""

    is_iterative = False

    def __init__(self, metric: Metric, E: TallMatrix, definite: int) -> None:
        self._engine, self._E, self._definite = metric.engine, E, definite
        self._prepared = metric.prepared(E)
        self._last: tuple[Array, RestrictedGram] | None = None

    def restricted(self, active: Array) -> RestrictedGram:
        if self._last is None or not np.array_equal(self._last[0], active):
            self._last = None  # before the next is made: its gram may be large
            self._last = active, self._prepared.restricted(active)
        return self._last[1]

    def solve(self, part: Restricted, z: Array, start: Start, weights: Floats, known: Known | None) -> Solved | None:  # noqa: ARG002
        E = self._E.first_columns(len(weights))
        eta = self._solve(E.rmatvec(z - start.v) + start.residuals, weights)
        if eta is None:
            return None
        force = E.matvec(eta)
        v = self._engine.elementwise(np.subtract, z, part.inverse(force))
        return Solved(eta, force, v, eta / weights)

    def _solve(self, rhs: Floats, weights: Floats) -> Floats | None:
        assert self._last is not None
        engine, k, count = self._engine, self._definite, len(weights)
        K = self._last[1].gram[:count, :count].copy()
        diagonal = engine.xp.arange(len(K))
        K[diagonal, diagonal] += engine.asarray(1.0 / weights)
        if k == len(K):
            return engine.to_numpy(_solve_definite(engine, K, engine.asarray(rhs)))
        # Eliminate the definite rows. The problem is convex if and only if the rest has as many negative eigenvalues as
        # there are negative weights.
        columns = [K[:k, k:], engine.asarray(rhs[:k])[:, np.newaxis]]
        X = _solve_definite(engine, K[:k, :k], np.concatenate(columns, axis=1))
        products = engine.to_numpy(K[k:, :k] @ X)
        X = engine.to_numpy(X)
        rest = engine.to_numpy(K[k:, k:]) - products[:, :-1]
        values, vectors = np.linalg.eigh(0.5 * (rest + rest.T))
        if np.sum(values < 0) != np.sum(weights[k:] < 0) or np.abs(values).min() <= _ROUNDING * np.abs(values).max():
            return None
        tail = vectors @ ((vectors.T @ (rhs[k:] - products[:, -1])) / values)
        return np.concatenate([X[:, -1] - X[:, :-1] @ tail, tail])


def _solve_definite(engine: Engine, K: Array, rhs: Array) -> Array:
    """K⁻¹ rhs for K positive definite; directions lost in rounding, which repeated equations have, are left out."""
    try:
        solve = engine.cholesky_solver(K)
    except np.linalg.LinAlgError:
        # This driver needs the least memory.
        values, vectors = scipy.linalg.eigh(engine.to_numpy(K).T, driver="evr", check_finite=False)
        first = int(np.sum(values <= _ROUNDING * values[-1]))
        kept = vectors[:, first:]
        return engine.asarray(kept @ ((kept.T @ engine.to_numpy(rhs)).T / values[first:]).T)
    return solve(rhs)
