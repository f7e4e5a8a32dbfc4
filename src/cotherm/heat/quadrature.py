"""Nodes and weights on [0, t], symmetric about t/2, for products e^{−(t−s)λ}e^{−sμ} with λ, μ in a spectrum."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np
from scipy.special import roots_legendre

from cotherm.arrays import Floats
from cotherm.heat.chebyshev import exponential_coefficients

# Beyond this t·λ one polynomial needs more nodes than pieces that shrink towards both ends.
_STIFF = 3_000.0
# Gauss nodes in each shrinking piece: e^{−x} between x and 2x, where it is not yet negligible, to 1e-11.
_NODES_A_PIECE = 12


def quadrature(t: float, bound: float, tolerance: float) -> tuple[Floats, Floats]:
    """Enough nodes for a spectrum within [0, bound]; more for a stiff one, but only like its logarithm."""
    stiffness = t * bound
    if stiffness > _STIFF:
        return _graded(t, stiffness)
    # Rounded up by at most a fifth, so that the same few counts serve over and over.
    rounded = 1.2 ** np.ceil(np.log(max(stiffness, 1.0)) / np.log(1.2))
    return _gauss(0.0, t, _count(float(rounded), tolerance))


def _graded(t: float, stiffness: float) -> tuple[Floats, Floats]:
    """Pieces that double from 1/λ at each end up to t/2."""
    doublings = int(np.ceil(np.log2(min(stiffness, 1e300))))
    edges = np.append(0.0, 0.5 * t * 2.0 ** -np.arange(doublings, -1.0, -1.0))
    pieces = [_gauss(a, b, _NODES_A_PIECE) for a, b in pairwise(edges.tolist())]
    nodes, weights = (np.concatenate(part) for part in zip(*pieces, strict=True))
    return np.append(nodes, t - nodes[::-1]), np.append(weights, weights[::-1])


def _gauss(a: float, b: float, count: int) -> tuple[Floats, Floats]:
    points, weights = _legendre(count)
    return a + 0.5 * (b - a) * (points + 1.0), 0.5 * (b - a) * weights


@lru_cache(maxsize=256)
def _count(stiffness: float, tolerance: float) -> int:
    """K nodes integrate polynomials of degree 2K − 1; the integrand is one exponential of rate at most the bound."""
    degree = len(exponential_coefficients(np.array([1.0]), stiffness, np.array([tolerance]))) - 1
    return degree // 2 + 2


@lru_cache(maxsize=256)
def _legendre(count: int) -> tuple[Floats, Floats]:
    points, weights = roots_legendre(count)
    return points, weights
