"""∫₀ᵗ e^{−(t−s)λ}e^{−sμ} ds as a short sum of products, Σ_r ± φ_r(λ)φ_r(μ), to a tolerance for all λ, μ ≤ λ_max.

The integral is t·K(tλ, tμ), K(x, y) = (e^{−x} − e^{−y})/(y − x), symmetric and smooth. Its eigenfunctions, about ten
for 10⁻¹⁰ at any time, are computed at points in [0, tλ_max] that are denser towards 0, and interpolated by
φ(x) = Σ_k K(x, x_k) mix_k (Nyström).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
import scipy.fft
from scipy.special import roots_legendre

from cotherm.arrays import Floats
from cotherm.heat.chebyshev import exponential_coefficients
from cotherm.lazy import lazy

# Points in each piece. Pieces double in length from 1 up to the longest tλ, beyond which no heat is left.
_POINTS_A_PIECE = 16
_LONGEST = 1e18
# K is nearly constant up to here; weights on much shorter intervals would underflow when squared.
_SHORTEST = 1e-6
# The ratio (1 − e^{−z})/z is 1 there, which it is for z = 0.
_TINY = float(np.finfo(np.float64).tiny)
# The part of the tolerance that truncating the Chebyshev series may use.
_SERIES_PART = 0.02


@dataclass(frozen=True)
class LowRankKernel:
    """K(x, y) ≈ Σ_r signs_r φ_r(x) φ_r(y) for x, y in [0, stiffness]."""

    stiffness: float
    tolerance: float
    signs: Floats
    points: Floats
    mix: Floats

    def at(self, x: Floats) -> Floats:
        """φ_r(x) for all x, (len(x), terms); beyond ``_LONGEST``, also where tλ overflows, no heat is left."""
        return divided_differences(np.minimum(x, _LONGEST)[:, np.newaxis], self.points) @ self.mix

    @lazy
    def series(self) -> Floats:
        """Chebyshev coefficients of all φ_r on [0, stiffness], (degree + 1, terms)."""
        tail = _SERIES_PART * self.tolerance
        # The φ_r are not steeper than e^{−x}: the number of terms of its series, with some margin, is enough.
        count = len(exponential_coefficients(np.ones(1), self.stiffness, np.array([1e-3 * tail]))) + 4
        angles = (np.arange(count) + 0.5) * (np.pi / count)
        values = self.at(0.5 * self.stiffness * (1.0 + np.cos(angles)))
        coefficients = scipy.fft.dct(values, type=2, axis=0) / count
        coefficients[0] *= 0.5
        rest = np.cumsum(np.abs(coefficients[::-1]), axis=0)[::-1].max(axis=1)
        return np.asarray(coefficients[: max(1, int(np.sum(rest > tail)))])


def divided_differences(x: Floats, y: Floats) -> Floats:
    """K(x, y) for x, y ≥ 0 as e^{−min}·(1 − e^{−z})/z, z = |x − y|: nothing overflows, close values keep digits."""
    z = np.maximum(np.abs(x - y), _TINY)
    ratio = np.expm1(-z)
    ratio /= z
    ratio *= -np.maximum(np.exp(-x), np.exp(-y))
    return np.asarray(ratio)


@lru_cache(maxsize=256)
def low_rank_kernel(stiffness: float, tolerance: float) -> LowRankKernel:
    """The sum for tλ_max = ``stiffness``. Its error is at most the tolerance; K is at most 1."""
    points, weights = _doubling_points(min(max(stiffness, _SHORTEST), _LONGEST))
    root = np.sqrt(weights)
    values, vectors = np.linalg.eigh(root[:, np.newaxis] * divided_differences(points[:, np.newaxis], points) * root)
    # The largest contribution of each eigenfunction to K.
    contribution = np.abs(values) * np.max((vectors / root[:, np.newaxis]) ** 2, axis=0)
    order = np.argsort(-contribution)
    rest = np.cumsum(contribution[order][::-1])[::-1]
    kept = order[: max(1, int(np.sum(rest > (1.0 - _SERIES_PART) * tolerance)))]
    mix = root[:, np.newaxis] * vectors[:, kept] / np.sqrt(np.abs(values[kept]))
    return LowRankKernel(stiffness, tolerance, np.sign(values[kept]), points, mix)


def _doubling_points(stiffness: float) -> tuple[Floats, Floats]:
    """Gauss points on pieces that double in length, weighted by 1/(1 + x): all pieces weigh about the same."""
    ends = [0.0, *(min(2.0**k, stiffness) for k in range(int(np.ceil(np.log2(max(stiffness, 1.0)))) + 1))]
    ends[-1] = stiffness
    gauss, weights = roots_legendre(_POINTS_A_PIECE)
    points = np.concatenate([a + 0.5 * (b - a) * (gauss + 1.0) for a, b in pairwise(ends)])
    shares = np.concatenate([0.5 * (b - a) * weights for a, b in pairwise(ends)])
    return points, shares / (1.0 + points)
