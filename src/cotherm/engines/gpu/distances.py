"""Distances between rows on the GPU, and nearest rows: of products by cuBLAS the nearest are kept, and measured."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cotherm.arrays import Floats, Ints
from cotherm.engines.gpu.device import Device
from cotherm.engines.gpu.layout import THREADS, blocks
from cotherm.engines.interface import Array

# Threads of a block, numbers that each of them looks at before they are sorted (LOOKS in nearest.cu), and the numbers
# that are sorted at a time: a power of two, 12 bytes of shared memory each.
_THREADS, _LOOKS, _ROOM = 256, 4, 2_048
# The most candidates of a row: there must be room for what is looked at, too.
MOST = _ROOM - _LOOKS * _THREADS
# Products that are on the GPU at a time, and the part of its free memory that they take at most.
_AT_ONCE, _PART = 2**28, 0.5


def squared_differences(device: Device, Y: Array, rows: Array, others: Array) -> Array:
    """‖Y[rows[a]] − Y[others[a, k]]‖² for all a and k."""
    count, k = others.shape
    out = device.xp.empty((count, k))
    if count and k:
        arguments = (count * k, k, Y.shape[1], device.xp.ascontiguousarray(Y), rows, others, out)
        device.launch("distances.cu", "squared_differences", blocks(count * k), (THREADS,), arguments)
    return out


def candidate_search(
    device: Device, rows: Floats, centered: Floats, count: int
) -> Callable[[slice], tuple[Ints, Floats]]:
    """See :meth:`cotherm.engines.interface.Engine.candidate_search`."""
    given, table = (device.xp.ascontiguousarray(device.asarray(x)) for x in (rows, centered))
    norms = (table * table).sum(axis=1)
    fits = min(_AT_ONCE, int(_PART * device.memory()[0] / 8))
    step = max(1, fits // len(rows))

    def search(asked: slice) -> tuple[Ints, Floats]:
        found = np.empty((asked.stop - asked.start, count), dtype=np.int64)
        squares = np.empty(found.shape)
        for first in range(asked.start, asked.stop, step):
            last = min(first + step, asked.stop)
            near = _nearest(device, table, norms, first, last, count)
            own = device.xp.arange(first, last, dtype=np.int64)
            at = slice(first - asked.start, last - asked.start)
            found[at], squares[at] = map(device.to_numpy, (near, squared_differences(device, given, own, near)))
        return found, squares

    return search


def _nearest(device: Device, table: Array, norms: Array, first: int, last: int, count: int) -> Array:
    """The numbers of the rows with the least |y|² − 2xy for the rows x from ``first`` to ``last``, ascending."""
    products = device.xp.ascontiguousarray(table[first:last] @ table.T)
    near = device.xp.empty((last - first, count), dtype=np.int64)
    arguments = (len(table), count, _ROOM, products, norms, near)
    device.launch("nearest.cu", "nearest_of_rows", (last - first,), (_THREADS,), arguments, shared=12 * _ROOM)
    return device.sort(near)
