"""Tall matrices, with a row for every unknown and a few columns: kept, or made anew, a block of rows at a time.

The Jacobian of a coupling has a row for every edge. Where it does not fit, it is read from a file or computed again
whenever it is passed through; whoever uses it sees blocks of rows and does not know.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.engines.cpu.matvec import tall_dot, tall_squares, tall_transposed_dot
from cotherm.errors import CothermError
from cotherm.lazy import lazy
from cotherm.memory import words

# Writes the rows with some numbers into an array.
Writer = Callable[[NDArray[np.intp], Floats], None]

# Up to this many numbers NumPy is as fast.
_SMALL = 100_000
# Numbers at hand at once: 8 MB.
_AT_ONCE = 1_000_000


def rows_at_once(columns: int) -> int:
    """How many rows make a block."""
    return max(1, _AT_ONCE // max(1, columns))


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
        step = rows_at_once(self.shape[1])
        for first in range(0, self.shape[0], step):
            yield first, self.between(first, min(first + step, self.shape[0]))

    def dot(self, x: Floats) -> Floats:
        """E x."""
        out = np.empty(self.shape[0])
        for first, block in self.blocks():
            out[first : first + len(block)] = tall_dot(block, x)
        return out

    def transposed_dot(self, y: Floats) -> Floats:
        """Eᵀy."""
        out = np.zeros(self.shape[1])
        for first, block in self.blocks():
            out += tall_transposed_dot(block, y[first : first + len(block)])
        return out

    @lazy
    def squares(self) -> Floats:
        """The sum of squares of every row."""
        out = np.empty(self.shape[0])
        for first, block in self.blocks():
            out[first : first + len(block)] = tall_squares(block)
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

    def dot(self, x: Floats) -> Floats:
        return self.array @ x if self.array.size <= _SMALL else tall_dot(self.array, x)

    def transposed_dot(self, y: Floats) -> Floats:
        return y @ self.array if self.array.size <= _SMALL else tall_transposed_dot(self.array, y)

    @lazy
    def squares(self) -> Floats:
        return tall_squares(self.array)

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


class OnDisk(Tall):
    """In a file without a name, that is gone with the last reference to it."""

    def __init__(self, shape: tuple[int, int], dtype: Any, file: _File, start: int = 0) -> None:
        self.shape, self._dtype, self._file, self._start = shape, np.dtype(dtype), file, start

    @classmethod
    def written(cls, shape: tuple[int, int], dtype: Any, blocks: Iterator[Floats]) -> OnDisk:
        """From all rows, block by block."""
        try:
            file = _File()
            for block in blocks:
                file.append(np.ascontiguousarray(block, dtype=dtype))
        except OSError as error:
            size = words(float(np.prod(shape)) * np.dtype(dtype).itemsize)
            raise CothermError(
                "memory",
                f"no room for {size} of derivatives in {tempfile.gettempdir()} ({error.strerror or error})",
                "room there, or in memory",
                "Set TMPDIR to a folder on a larger disk, or allow more memory.",
            ) from None
        return cls(shape, dtype, file)

    def between(self, first: int, last: int) -> Floats:
        rows = np.empty((last - first, self.shape[1]), dtype=self._dtype)
        self._file.read((self._start + first) * self.shape[1] * self._dtype.itemsize, rows)
        return rows.astype(np.float64, copy=False)

    def take(self, rows: NDArray[np.intp]) -> Floats:
        out = np.empty((len(rows), self.shape[1]))
        step = rows_at_once(self.shape[1])
        cuts = np.searchsorted(rows, np.arange(0, self.shape[0] + step, step)).tolist()
        for number, (lo, hi) in enumerate(pairwise(cuts)):
            if lo < hi:
                first = number * step
                block = self.between(first, min(first + step, self.shape[0]))
                out[lo:hi] = block[rows[lo:hi] - first]
        return out

    def part(self, first: int, last: int) -> OnDisk:
        return OnDisk((last - first, self.shape[1]), self._dtype, self._file, self._start + first)


class _File:
    """Bytes on disk, and no name to leave behind."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="cotherm-", buffering=0)  # noqa: SIM115, open as long as it is used
        weakref.finalize(self, self._file.close)

    def append(self, array: NDArray[Any]) -> None:
        rest = array.reshape(-1).data.cast("B")
        while len(rest):
            rest = rest[self._file.write(rest) :]

    def read(self, place: int, array: NDArray[Any]) -> None:
        rest = array.reshape(-1).data.cast("B")
        while len(rest):
            got = os.preadv(self._file.fileno(), [rest], place)
            rest, place = rest[got:], place + got
