"""The Gaussian kernel that turns distances into weights, and the scales σ in it."""

from __future__ import annotations

from typing import Any

import numpy as np

from cotherm.arrays import Floats


def gaussian(d: Floats, sigma_i: Any, sigma_j: Any, factor: float) -> Floats:
    """exp(−d²/(factor σ_i σ_j)) for every pair (i, j); weights too small for a float64 are 0."""
    # Factor by factor, because d² and σ_i σ_j may overflow or vanish where their ratio does not.
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(-(d / sigma_i) * (d / sigma_j) / factor))


def common_sigma(d: Floats, scale: str | float | None) -> float:
    """The given σ, or for "median" the median of the distances.

    A median of 0 cannot be a scale: it is replaced by the smallest distance > 0, or by 1 if all distances are 0.
    """
    if not isinstance(scale, str):
        return 1.0 if scale is None else scale
    middle = float(np.median(d)) if len(d) else 0.0
    return middle or least_positive(d)


def self_tuned_sigma(distances: Floats, neighbor: int) -> Floats:
    """σ_i = distances[i, neighbor − 1], the distance from point i to that neighbor; rows are ascending.

    A point with that many copies would get σ_i = 0. It gets the distance to the nearest farther point in the
    table; where the table holds none, the smallest σ_j > 0 of all points; where all points coincide, 1.
    """
    sigma = own_sigma(distances, neighbor)
    # Points without neighbors have an infinite σ too; no edge uses it.
    sigma[np.isinf(sigma)] = least_positive(sigma[np.isfinite(sigma)])
    return sigma


def own_sigma(distances: Floats, neighbor: int) -> Floats:
    """σ from the rows of the points alone: infinite if a row holds only copies."""
    sigma = distances[:, neighbor - 1].copy()
    copies = np.flatnonzero(sigma == 0)
    table = distances[copies]
    sigma[copies] = np.where(table > 0, table, np.inf).min(axis=1)
    return sigma


def least_positive(values: Floats) -> float:
    """The smallest of some numbers that is > 0, or 1."""
    return float(np.min(values[values > 0], initial=np.inf)) if np.any(values > 0) else 1.0
