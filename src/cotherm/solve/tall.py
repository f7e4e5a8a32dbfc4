"""Tall matrices, with a row for every unknown and a few columns: kept, or made anew, a block of rows at a time.

The Jacobian of a coupling has a row for every edge. Where it does not fit, it is read from a file or computed again
whenever it is passed through; whoever uses it sees blocks of rows and does not know.
"""

from __future__ import annotations

import os
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import pairwise
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats

# Writes the rows with some numbers into an array.
Writer = Callable[[NDArray[np.intp], Floats], None]

# Rows at hand at once.
ROWS_AT_ONCE = 100_000


class Tall(ABC):
    """A matrix of float64, to the one who uses it."""

    shape: tuple[int, int]

    @abstractmethod
    def between(self, first: int, last: int) -> Floats:
        """Rows first to last."""

    @abstractmethod
    def take(self, rows: NDArray[np.intp]) -> Floats:
        """Some rows, by ascending number."""

    @abstractmethod
    def part(self, first: int, last: int) -> Tall:
        """Rows first to last as a matrix of its own kind."""

    def blocks(self) -> Iterator[tuple[int, Floats]]:
        """All rows, block by block, each with the number of its first."""
        for first in range(0, self.shape[0], ROWS_AT_ONCE):
            yield first, self.between(first, min(first + ROWS_AT_ONCE, self.shape[0]))

    def dot(self, x: Floats) -> Floats:
        """E x."""
        out = np.empty(self.shape[0])
        for first, block in self.blocks():
            out[first : first + len(block)] = block @ x
        return out

    def transposed_dot(self, y: Floats) -> Floats:
        """Eᵀy."""
        out = np.zeros(self.shape[1])
        for first, block in self.blocks():
            out += y[first : first + len(block)] @ block
        return out

    @cached_property
    def squares(self) -> Floats:
        """The sum of squares of every row."""
        out = np.empty(self.shape[0])
        for first, block in self.blocks():
            np.einsum("ij,ij->i", block, block, out=out[first : first + len(block)])
        return out

    def whole(self) -> Floats:
        return self.between(0, self.shape[0])

    def narrowed(self, columns: int) -> Tall:
        """The first columns."""
        return self if columns == self.shape[1] else Stored(self.whole()[:, :columns])


class Stored(Tall):
    """In memory, as float64 or float32."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array
        self.shape = (array.shape[0], array.shape[1])

    def between(self, first: int, last: int) -> Floats:
        return self.array[first:last].astype(np.float64, copy=False)

    def take(self, rows: NDArray[np.intp]) -> Floats:
        return self.array[rows].astype(np.float64, copy=False)

    def part(self, first: int, last: int) -> Stored:
        return Stored(self.array[first:last])


class Computed(Tall):
    """Not kept at all: ``rows`` writes the rows with given numbers whenever they are needed."""

    def __init__(self, shape: tuple[int, int], rows: Writer, start: int = 0) -> None:
        self.shape, self._rows, self._start = shape, rows, start

    def between(self, first: int, last: int) -> Floats:
        return self.take(np.arange(first, last))

    def take(self, rows: NDArray[np.intp]) -> Floats:
        out = np.empty((len(rows), self.shape[1]))
        self._rows(rows + self._start, out)
        return out

    def part(self, first: int, last: int) -> Computed:
        return Computed((last - first, self.shape[1]), self._rows, self._start + first)


class Filed(Tall):
    """In a file without a name, that is gone with the last reference to it."""

    def __init__(self, shape: tuple[int, int], dtype: Any, file: BinaryIO, start: int = 0) -> None:
        self.shape, self._dtype, self._file, self._start = shape, np.dtype(dtype), file, start

    @classmethod
    def written(cls, shape: tuple[int, int], dtype: Any, blocks: Iterator[Floats]) -> Filed:
        """From all rows, block by block."""
        file = tempfile.TemporaryFile(prefix="cotherm-", buffering=0)  # noqa: SIM115, kept open as long as it is used
        for block in blocks:
            rest = np.ascontiguousarray(block, dtype=dtype).data.cast("B")
            while len(rest):
                rest = rest[file.write(rest) :]
        return cls(shape, dtype, file)

    def between(self, first: int, last: int) -> Floats:
        rows = np.empty((last - first, self.shape[1]), dtype=self._dtype)
        place = (self._start + first) * self.shape[1] * self._dtype.itemsize
        view = rows.data.cast("B")
        while len(view):
            got = os.preadv(self._file.fileno(), [view], place)
            view, place = view[got:], place + got
        return rows.astype(np.float64, copy=False)

    def take(self, rows: NDArray[np.intp]) -> Floats:
        out = np.empty((len(rows), self.shape[1]))
        cuts = np.searchsorted(rows, np.arange(0, self.shape[0] + ROWS_AT_ONCE, ROWS_AT_ONCE)).tolist()
        for number, (lo, hi) in enumerate(pairwise(cuts)):
            if lo < hi:
                first = number * ROWS_AT_ONCE
                block = self.between(first, min(first + ROWS_AT_ONCE, self.shape[0]))
                out[lo:hi] = block[rows[lo:hi] - first]
        return out

    def part(self, first: int, last: int) -> Filed:
        return Filed((last - first, self.shape[1]), self._dtype, self._file, self._start + first)
