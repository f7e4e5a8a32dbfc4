"""Active sets of problems over v ≥ 0: which unknowns are fixed at zero.

Block principal pivoting (Portugal, Júdice & Vicente 1994): exchange all unknowns that are on the wrong side; should
that stop helping, exchange one at a time, which always terminates.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.engines.interface import Array

Mask = NDArray[np.bool_]

# Signs below this fraction of the largest entry are rounding.
_ROUNDING = 1e-13


class Pivoting:
    """The exchanges of one search; ``patience`` of them may pass without progress before they become single."""

    def __init__(self, size: int, patience: int) -> None:
        self._fewest, self._patience, self._left = size + 1, patience, patience

    def exchanged(self, active: Mask, v: Any, slope: Any) -> Mask | None:
        """The next active set, from the solution v and the slope with ``active`` at zero; None once it is right."""
        wrong = misplaced(active, v, slope) if len(v) else active
        count = int(wrong.sum())
        if not count:
            return None
        if count < self._fewest:
            self._fewest, self._left = count, self._patience
        elif self._left:
            self._left -= 1
        else:
            wrong[: np.flatnonzero(wrong)[-1]] = False
        return active ^ wrong


def misplaced(active: Array, v: Array, slope: Array) -> Array:
    """The active unknowns with a negative slope, which should grow, and the free ones that are negative."""
    return np.where(active, _negative(slope), _negative(v))


def _negative(x: Array) -> Array:
    largest = max(-float(x.min()), float(x.max()), 0.0)
    return x < -_ROUNDING * largest
