"""The curvature that Gauss–Newton leaves out, estimated from the steps already taken.

The Hessian of ‖r(u)‖²/2 is JᵀJ + S, S = Σ_i r_i ∇²r_i. Each step s and the two Jacobians at its ends say what S does to
s: Ss ≈ (J₊ − J)ᵀr₊ (Dennis, Gay & Welsch 1981). Symmetric rank-one updates from the last few steps collect it as S ≈
Σ_l ω_l a_l a_lᵀ, of either sign: a few more equations for the nearest-point problem.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.engines import Engine, default_engine
from cotherm.engines.interface import Array

_MEMORY = 6
# An update whose denominator is smaller than this fraction of its factors says nothing reliable.
_SAFE = 1e-8


class Secant:
    """The last few steps, each with the product of S and the step."""

    def __init__(self, engine: Engine | None = None) -> None:
        self._engine = default_engine() if engine is None else engine
        self._pairs: deque[tuple[Array, Array]] = deque(maxlen=_MEMORY)

    def learn(self, step: Array, change: Array) -> None:
        self._pairs.append((step, change))

    def state(self) -> list[list[NDArray[Any]]]:
        """What was learned, on the host."""
        return [[self._engine.to_numpy(one) for one in pair] for pair in self._pairs]

    def restore(self, state: Sequence[Sequence[NDArray[Any]]]) -> None:
        for step, change in state:
            self.learn(self._engine.asarray(step), self._engine.asarray(change))

    def terms(self, m: int) -> tuple[Array, Floats]:
        """The a_l as columns (m, terms), of unit length, and the ω_l."""
        directions: list[Array] = []
        weights: list[float] = []
        for step, change in self._pairs:
            known = sum((w * (a @ step) * a for a, w in zip(directions, weights, strict=True)), 0.0 * step)
            missing = change - known
            size, along = float(np.linalg.norm(missing)), float(missing @ step)
            if abs(along) > _SAFE * size * float(np.linalg.norm(step)):
                directions.append(missing / size)
                weights.append(size**2 / along)
        if not directions:
            return self._engine.xp.empty((m, 0)), np.empty(0)
        return np.stack(directions).T, np.array(weights)
