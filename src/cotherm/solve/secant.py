"""What Gauss–Newton leaves out, learned from the steps already taken.

The Hessian of ‖r(u)‖²/2 is JᵀJ + S, S = Σ_i r_i ∇²r_i. Each step s and the two Jacobians at its ends say what S does to
s: Ss ≈ (J₊ − J)ᵀr₊ (Dennis, Gay & Welsch 1981). Symmetric rank-one updates from the last few steps collect it as S ≈
Σ_l ω_l a_l a_lᵀ, of either sign: a few more equations for the nearest-point problem.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from cotherm.arrays import Floats

_MEMORY = 6
# An update whose denominator is smaller than this fraction of its factors says nothing reliable.
_SAFE = 1e-8


class Secant:
    """The last few steps and what the curvature of the residuals did to them."""

    def __init__(self) -> None:
        self._pairs: deque[tuple[Floats, Floats]] = deque(maxlen=_MEMORY)

    def learn(self, step: Floats, change: Floats) -> None:
        self._pairs.append((step, change))

    def terms(self, m: int) -> tuple[Floats, Floats]:
        """The a_l as columns (m, terms), of unit length, and the ω_l."""
        directions: list[Floats] = []
        weights: list[float] = []
        for step, change in self._pairs:
            missing = change - sum((w * (a @ step) * a for a, w in zip(directions, weights, strict=True)), np.zeros(m))
            size, along = float(np.linalg.norm(missing)), float(missing @ step)
            if abs(along) > _SAFE * size * float(np.linalg.norm(step)):
                directions.append(missing / size)
                weights.append(size**2 / along)
        return np.array(directions).reshape(-1, m).T, np.array(weights)
