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
from cotherm.engines.cpu.thread_pool import ThreadPool

# Numbers in a block: half a megabyte.
_AT_ONCE = 65_536
# About what a number of a formula costs, in multiply-adds.
_FORMULA = 4.0

Vector = NDArray[Any]


def elementwise(formula: Callable[..., Any], *vectors: Vector) -> Floats:
    """The formula, number by number, of vectors of one length."""
    out = np.empty(len(vectors[0]))
    if len(out) <= _AT_ONCE:  # small problems come here very often
        out[:] = formula(*vectors)
    else:
        _in_blocks(_map, len(out), formula, out, *vectors)
    return out


def elementwise_sum(formula: Callable[..., Any], *vectors: Vector) -> float:
    """The sum of what the formula makes of blocks of the vectors, in one order whatever the threads of ours.

    Formulas had better not call BLAS, which has threads of its own.
    """
    if len(vectors[0]) <= _AT_ONCE:
        return float(formula(*vectors))
    return float(sum(_in_blocks(_sum, len(vectors[0]), formula, *vectors)))


def _in_blocks(task: Callable[..., Any], length: int, *arguments: Any) -> list[Any]:
    cuts = [*range(0, length, _AT_ONCE), length]
    with ThreadPool(work=_FORMULA * length) as pool:
        return pool.run(task, cuts, *arguments)


def _map(lo: int, hi: int, formula: Callable[..., Any], out: Floats, *vectors: Vector) -> None:
    out[lo:hi] = formula(*(x[lo:hi] for x in vectors))


def _sum(lo: int, hi: int, formula: Callable[..., Any], *vectors: Vector) -> float:
    return float(formula(*(x[lo:hi] for x in vectors)))
