"""Tall matrices, with a row for every unknown and few columns, worked on in blocks of rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cotherm.arrays import Floats
from cotherm.engines import Engine
from cotherm.engines.interface import Array
from cotherm.lazy import lazy


class TallMatrix:
    """A matrix E (rows, columns).

    Vectors over the rows live with the engine, vectors over the columns on the host.
    """

    def __init__(self, array: Array, engine: Engine) -> None:
        self.array, self.engine = array, engine
        self.shape = (array.shape[0], array.shape[1])

    @property
    def _step(self) -> int:
        """How many rows make a block."""
        return max(1, self.engine.block_size // max(1, self.shape[1]))

    def row_slice(self, first: int, last: int) -> TallMatrix:
        """Rows first to last."""
        return TallMatrix(self.array[first:last], self.engine)

    def row_blocks(self, numbers: Array) -> Iterator[tuple[Array, Array]]:
        """Some rows, by ascending number, block by block, each with its numbers."""
        for first in range(0, int(self.engine.ranks.most(len(numbers))), self._step):
            part = numbers[first : first + self._step]
            yield part, self.array[part]

    def blocks(self) -> Iterator[tuple[int, Array]]:
        """All rows, block by block, each with the number of its first."""
        rows = self.shape[0]
        for start in range(0, int(self.engine.ranks.most(rows)), self._step):
            first = min(start, rows)
            yield first, self.array[first : start + self._step]

    def matvec(self, x: Floats) -> Array:
        """E x."""
        out, factors = self.engine.xp.empty(self.shape[0]), self.engine.small_array(x)
        for first, block in self.blocks():
            out[first : first + len(block)] = block @ factors
        return out

    def rmatvec(self, y: Array) -> Floats:
        """Eᵀy."""
        out = np.zeros(self.shape[1])
        for first, block in self.blocks():
            out += self.engine.to_numpy(y[first : first + len(block)] @ block)
        return out

    @lazy
    def row_squares(self) -> Array:
        """The sum of squares of every row."""
        out = self.engine.xp.empty(self.shape[0])
        for first, block in self.blocks():
            out[first : first + len(block)] = (block * block).sum(axis=1)
        return out

    @property
    def size(self) -> float:
        """‖E‖_F."""
        return float(np.sqrt(self.row_squares.sum()))

    def first_columns(self, count: int) -> TallMatrix:
        """The matrix of the first columns."""
        return self if count == self.shape[1] else TallMatrix(self.array[:, :count], self.engine)
