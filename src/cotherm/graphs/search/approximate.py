"""Approximate neighbor search by pynndescent, and the recall it reaches."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats, Ints
from cotherm.graphs.search.exact import nearest_of
from cotherm.graphs.search.points import Points, best, centered, row_maxima
from cotherm.progress import working

INSTALL = "pip install 'cotherm[neighbors]'"

# Points whose true neighbors are found for measuring the recall.
_SAMPLE = 200
# With fewer than this, the search finds too few of the true neighbors.
_LEAST_LISTED = 30


def remedy() -> str | None:
    """What to do before this search can be used; None if it can be used."""
    try:
        with warnings.catch_warnings(action="ignore"):
            import pynndescent  # noqa: F401
    except ImportError:
        return f"run: {INSTALL}"
    import numba  # pynndescent has imported it

    return "unset NUMBA_DISABLE_JIT: pynndescent must be compiled." if numba.config.DISABLE_JIT else None


def nearest(points: Points, k: int, seed: int) -> tuple[Ints, Floats]:
    """The k nearest other rows of every row, mostly correct, and their true distances, nearest first."""
    listed = min(points.count, max(k + 1, _LEAST_LISTED))
    rows = centered(points.rows, points.rows)
    # Scaled to at most 1, as float32, which the search computes in.
    found = _descend((rows / (float(row_maxima(rows).max()) or 1.0)).astype(np.float32), listed, seed)
    indices, distances = best(points, points, found, k, np.arange(points.count))
    missing = np.flatnonzero(np.isinf(distances[:, -1]))
    if len(missing):
        indices[missing], distances[missing] = nearest_of(points, missing, k)
    return indices, distances


def recall(points: Points, distances: Floats, seed: int) -> float:
    """The share of correct neighbors in a sample: those no farther than the true k-th neighbor."""
    n, k = distances.shape
    sample = np.sort(np.random.default_rng(seed).choice(n, min(n, _SAMPLE), replace=False))
    farthest = nearest_of(points, sample, k)[1][:, -1:]
    return float(np.mean(distances[sample] <= farthest * (1 + 1e-12)))


def _descend(rows: Any, listed: int, seed: int) -> Ints:
    label = f"approximate neighbors of {rows.shape[0]:,} points"
    # pynndescent warns of its own options, and of incomplete rows, which are completed afterwards.
    with warnings.catch_warnings(action="ignore"), working(label):
        from pynndescent import NNDescent

        found: NDArray[Any] = NNDescent(rows, n_neighbors=listed, random_state=seed).neighbor_graph[0]
    return found.astype(np.int64)
