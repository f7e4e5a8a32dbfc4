"""Tall matrices, a row for every unknown and few columns: kept in memory, or computed again on every pass."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator

import numpy as np

from cotherm.arrays import Floats
from cotherm.engines import Engine
from cotherm.engines.interface import Array
from cotherm.lazy import lazy

# Writes the rows with given numbers into an array.
RowWriter = Callable[[Array, Array], None]


def rows_per_block(columns: int, engine: Engine) -> int:
    """How many rows make a block."""
    return max(1, engine.block_size // max(1, columns))


class TallMatrix(ABC):
    """A matrix E (rows, columns); vectors over the rows live with the engine, vectors over the columns on the host."""

    shape: tuple[int, int]
    engine: Engine

    @abstractmethod
    def row_range(self, first: int, last: int) -> Array:
        """Rows first to last."""

    @abstractmethod
    def rows(self, numbers: Array) -> Array:
        """Some rows, by ascending number."""

    @abstractmethod
    def row_slice(self, first: int, last: int) -> TallMatrix:
        """Rows first to last as a matrix of the same kind."""

    def row_blocks(self, numbers: Array) -> Iterator[tuple[Array, Array]]:
        """Some rows, by ascending number, block by block, each with its numbers."""
        step = rows_per_block(self.shape[1], self.engine)
        for first in range(0, int(self.engine.ranks.most(len(numbers))), step):
            part = numbers[first : first + step]
            yield part, self.rows(part)

    def blocks(self) -> Iterator[tuple[int, Array]]:
        """All rows, block by block, each with the number of its first."""
        step = rows_per_block(self.shape[1], self.engine)
        rows = self.shape[0]
        for first in range(0, int(self.engine.ranks.most(rows)), step):
            yield min(first, rows), self.row_range(min(first, rows), min(first + step, rows))

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

    def to_array(self) -> Array:
        """All rows at once."""
        return self.row_range(0, self.shape[0])

    def first_columns(self, count: int) -> TallMatrix:
        """The matrix of the first columns."""
        return self if count == self.shape[1] else InMemory(self.to_array()[:, :count], self.engine)


class InMemory(TallMatrix):
    """Rows in memory."""

    def __init__(self, array: Array, engine: Engine) -> None:
        self.array, self.engine = array, engine
        self.shape = (array.shape[0], array.shape[1])

    def row_range(self, first: int, last: int) -> Array:
        return self.array[first:last]

    def rows(self, numbers: Array) -> Array:
        return self.array[numbers]

    def row_slice(self, first: int, last: int) -> InMemory:
        return InMemory(self.array[first:last], self.engine)


class Recomputed(TallMatrix):
    """Rows that are not kept: ``write`` computes the rows with given numbers whenever they are needed."""

    def __init__(self, shape: tuple[int, int], write: RowWriter, engine: Engine, *, start: int = 0) -> None:
        self.shape, self._write, self.engine, self._start = shape, write, engine, start

    def row_range(self, first: int, last: int) -> Array:
        return self.rows(self.engine.xp.arange(first, last))

    def rows(self, numbers: Array) -> Array:
        out = self.engine.xp.empty((len(numbers), self.shape[1]))
        self._write(numbers + self._start, out)
        return out

    def row_slice(self, first: int, last: int) -> Recomputed:
        return Recomputed((last - first, self.shape[1]), self._write, self.engine, start=self._start + first)
