"""Arithmetic with long vectors, a block at a time and by all threads, written in NumPy.

What arises on the way is as long as a block: it stays in the caches, and the system is not asked for new memory, which
for vectors of many megabytes costs more than the arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.engines.cpu.team import Team

# Numbers in a block: half a megabyte.
_AT_ONCE = 65_536
# About what a number of a formula costs, in multiply-adds.
_FORMULA = 4.0

Vector = NDArray[Any]


def mapped(formula: Callable[..., Any], *vectors: Vector) -> Floats:
    """The formula, number by number, of vectors of one length."""
    out = np.empty(len(vectors[0]))

    def one(lo: int, hi: int) -> None:
        out[lo:hi] = formula(*(x[lo:hi] for x in vectors))

    _in_blocks(one, len(out))
    return out


def summed(formula: Callable[..., Any], *vectors: Vector) -> float:
    """The sum of what the formula makes of blocks of the vectors, in one order whatever the threads."""

    def one(lo: int, hi: int) -> float:
        return float(formula(*(x[lo:hi] for x in vectors)))

    return sum(_in_blocks(one, len(vectors[0])))


def _in_blocks(task: Callable[[int, int], Any], length: int) -> list[Any]:
    if length <= _AT_ONCE:
        return [task(0, length)]
    cuts = [*range(0, length, _AT_ONCE), length]
    with Team(work=_FORMULA * length) as team:
        return team.run(task, cuts)
