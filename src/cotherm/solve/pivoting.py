"""Block principal pivoting (Portugal, Júdice & Vicente 1994): which unknowns of a bounded problem are held at zero.

Exchange all that are on the wrong side; should that stop helping, one at a time, which always ends.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats

Mask = NDArray[np.bool_]

# Signs below this fraction of the largest entry are rounding.
_ROUNDING = 1e-13


class Pivoting:
    """The exchanges of one search; ``patience`` of them may pass without progress before they become single."""

    def __init__(self, size: int, patience: int) -> None:
        self._fewest, self._patience, self._left = size + 1, patience, patience

    def exchanged(self, held: Mask, v: Floats, slope: Floats) -> Mask | None:
        """What to hold next, given the solution v and the slope with ``held`` at zero; None once all is right."""
        wrong = misplaced(held, v, slope)
        count = int(wrong.sum())
        if not count:
            return None
        if count < self._fewest:
            self._fewest, self._left = count, self._patience
        elif self._left:
            self._left -= 1
        else:
            wrong[: np.flatnonzero(wrong)[-1]] = False
        return held ^ wrong


def misplaced(held: Mask, v: Floats, slope: Floats) -> Mask:
    """The unknowns that are held though they pull away from zero, and those that are free and below it."""
    return np.where(held, _negative(slope), _negative(v))


def _negative(x: Floats) -> Mask:
    largest = max(-x.min(initial=0.0), x.max(initial=0.0))
    return np.asarray(x < -_ROUNDING * largest)
