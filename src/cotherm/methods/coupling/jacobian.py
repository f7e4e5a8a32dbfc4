"""The derivative of a coupling's residuals by every free weight: kept, read from a file, or computed whenever needed.

*stored*: in memory, as float64 or float32. *recomputed*: only what it is computed from is kept, some ten functions of
the Laplacian applied to F for every time; a row is a few hundred multiplications from there. *streamed*: written to a
temporary file once and read block by block.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.heat.correlation_model import EdgeRows, State
from cotherm.solve.tall_matrix import Computed, OnDisk, Stored, Tall, rows_at_once

WAYS = ("stored", "recomputed", "streamed")
Edges = NDArray[np.intp]


class Jacobian:
    """Of all graphs' residuals: for each graph its edges, and the factors of its Q in the contrasts."""

    def __init__(self, states: Sequence[State], free: Sequence[Edges], contrasts: Floats, columns: int) -> None:
        self._states, self._free, self._factors = states, free, contrasts.T
        self._cuts = np.cumsum([0, *map(len, free)]).tolist()
        self._shape = (self._cuts[-1], columns)

    def stored(self, dtype: Any, run: Any) -> Tall:
        """``run`` is how a task is done for each graph: in turn or side by side."""
        J = np.empty(self._shape, dtype)
        parts = [J[lo:hi] for lo, hi in pairwise(self._cuts)]

        def write(state: State, edges: Edges, part: Floats, factors: Floats) -> None:
            state.derivative(edges, part)
            _expand(part, factors)

        run(write, self._states, self._free, parts, self._factors)
        return Stored(J)

    def streamed(self, dtype: Any) -> Tall:
        return OnDisk.written(self._shape, dtype, self._blocks())

    def recomputed(self) -> Tall:
        rows = [state.rows(edges) for state, edges in zip(self._states, self._free, strict=True)]
        cuts, factors = self._cuts, self._factors

        def write(numbers: Edges, out: Floats) -> None:
            ends = np.searchsorted(numbers, cuts).tolist()
            for k, (lo, hi) in enumerate(pairwise(ends)):
                if lo < hi:
                    rows[k](numbers[lo:hi] - cuts[k], out[lo:hi])
                    _expand(out[lo:hi], factors[k])

        return Computed(self._shape, write)

    def _blocks(self) -> Iterator[Floats]:
        """All rows in turn; what one graph's rows are computed from is gone before the next one's."""
        for state, edges, factors in zip(self._states, self._free, self._factors, strict=True):
            rows: EdgeRows = state.rows(edges)
            step = rows_at_once(self._shape[1])
            for first in range(0, len(edges), step):
                numbers = np.arange(first, min(first + step, len(edges)))
                out = np.empty((len(numbers), self._shape[1]))
                rows(numbers, out)
                _expand(out, factors)
                yield out
            del rows


def _expand(part: Floats, factors: Floats) -> None:
    """From the derivatives of Q in the first columns those of every contrast, each with its own columns."""
    size = part.shape[1] // len(factors)
    for c in range(1, len(factors)):
        np.multiply(part[:, :size], factors[c], out=part[:, c * size : (c + 1) * size])
    part[:, :size] *= factors[0]
