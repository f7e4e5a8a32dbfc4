"""A form and the curvature learned from earlier steps: A + Σ_l ω_l a_l a_lᵀ, of either sign, kept positive definite.

The terms are first rewritten as Σ_l ν_l d_l d_lᵀ with dᵀA⁻¹d = I: then ν_l ≥ −1 + ε is all that it takes to be positive
definite on all unknowns, and so on any subset of them. Inverses are those of A and a system as small as the terms are
few (Woodbury).
"""

from __future__ import annotations

import numpy as np

from cotherm.arrays import Floats
from cotherm.engines import Engine
from cotherm.engines.interface import Array
from cotherm.solve.metric import Metric, Restricted

# The least ν.
_LEAST = -0.9
# Directions that are nearly combinations of the others are left out.
_DEPENDENT = 1e-10


class Curvature:
    """The terms, rewritten for a form."""

    def __init__(self, metric: Metric, directions: Array, weights: Floats) -> None:
        engine = metric.engine
        everywhere = metric.restricted(engine.xp.zeros(len(directions), dtype=bool))
        inverses = everywhere.inverse_columns(directions)
        gram = engine.to_numpy(directions.T @ inverses)
        sizes, vectors = np.linalg.eigh(0.5 * (gram + gram.T))
        kept = sizes > _DEPENDENT * sizes[-1]
        root = vectors[:, kept] * np.sqrt(sizes[kept])
        self.amounts, rotation = np.linalg.eigh(root.T @ (weights[:, np.newaxis] * root))
        self.metric = metric
        self.directions = directions @ engine.asarray(vectors[:, kept] / np.sqrt(sizes[kept]) @ rotation)

    def added(self, factor: float) -> CurvedMetric:
        """The form and so many times the terms."""
        return CurvedMetric(self.metric, self.directions, np.maximum(factor * self.amounts, _LEAST))


class CurvedMetric:
    """A + Σ_l ν_l d_l d_lᵀ, positive definite: a metric that does not split into a diagonal and squares."""

    def __init__(self, metric: Metric, directions: Array, amounts: Floats) -> None:
        self.metric, self._directions, self._amounts = metric, directions, amounts

    @property
    def engine(self) -> Engine:
        return self.metric.engine

    def curve(self, d: Array) -> Array:
        """The product of the terms and d."""
        return self._directions @ (self.engine.asarray(self._amounts) * (self._directions.T @ d))

    def apply(self, d: Array) -> Array:
        return self.metric.apply(d) + self.curve(d)

    def restricted(self, active: Array) -> Restricted:
        return _CurvedRestricted(self, self.metric.restricted(active), active, self._directions, self._amounts)


class _CurvedRestricted:
    def __init__(
        self, metric: CurvedMetric, part: Restricted, active: Array, directions: Array, amounts: Floats
    ) -> None:
        self._metric, self._part, self._active = metric, part, active
        free = np.where(active[:, np.newaxis], 0.0, directions)
        self._inverses = part.inverse_columns(free)
        gram = metric.engine.to_numpy(free.T @ self._inverses)
        # (Diag(1/ν) + DᵀA⁻¹D)⁻¹, also where a ν is zero.
        small = np.linalg.solve(np.eye(len(gram)) + amounts[:, np.newaxis] * gram, np.diag(amounts))
        self._small = metric.engine.asarray(small)

    def inverse(self, y: Array, *tolerance: float) -> Array:
        x = self._part.inverse(y, *tolerance)
        return x - self._inverses @ (self._small @ (self._inverses.T @ y))

    def inverse_columns(self, Y: Array) -> Array:
        return self._part.inverse_columns(Y) - self._inverses @ (self._small @ (self._inverses.T @ Y))

    def nearest(self, center: Array) -> Array:
        fixed = np.where(self._active, center, 0.0)
        return np.where(self._active, 0.0, center + self.inverse(self._metric.apply(fixed)))
