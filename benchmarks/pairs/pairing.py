"""What is known of the items, drawn by a seed: which are paired, and which views they are in."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Ints


def paired_items(n: int, percent: float, seed: int) -> Ints:
    """The items whose partner is known, in ascending order; at least two."""
    count = max(2, round(n * percent / 100.0))
    return np.sort(np.random.default_rng(seed).permutation(n)[:count])


def seen(n: int, views: int, percent: float, seed: int) -> NDArray[np.bool_]:
    """In which views items are, (n, views): so many percent in all of them, the others in one, evenly."""
    order = np.random.default_rng(seed).permutation(n)
    count = max(2, round(n * percent / 100.0))
    there = np.zeros((n, views), dtype=bool)
    there[order[:count]] = True
    rest = order[count:]
    there[rest, np.arange(len(rest)) % views] = True
    return there


def vertices(there: NDArray[Any]) -> Ints:
    """The vertex that each item is in every view, where views have the items they see in order; −1 elsewhere."""
    return np.where(there, np.cumsum(there, axis=0) - 1, -1).astype(np.int64)
