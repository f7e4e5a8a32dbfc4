"""Distances between rows on the GPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from cotherm.arrays import Floats
from cotherm.engines.gpu.device import Device
from cotherm.engines.gpu.layout import THREADS, blocks
from cotherm.engines.interface import Array

# Where a squared distance is a smaller part of the squared norms, it is computed again from the differences.
_CANCELLATION = 1e-6
# Pairs whose distances are on the GPU at a time.
_AT_ONCE = 2**28


def pairwise_distances(device: Device, Y: Array) -> Floats:
    """All pairs, through the Gram matrix, and again from the differences where that cancels; some rows at a time."""
    n, width = Y.shape
    Y = device.xp.ascontiguousarray(Y - Y.mean(axis=0))  # what all rows share would only cancel
    norms = (Y * Y).sum(axis=1)
    out = np.empty((n, n))
    step = max(1, _AT_ONCE // max(1, n))
    for first in range(0, n, step):
        rows = min(step, n - first)
        gram = Y[first : first + rows] @ Y.T
        arguments = (rows, n, first, width, Y, norms, _CANCELLATION, gram)
        device.launch("distances.cu", "distances_from_gram", blocks(rows * n), (THREADS,), arguments)
        out[first : first + rows] = device.to_numpy(gram)
    return out


def squared_differences(device: Device, Y: Array, rows: Any, others: Any) -> Array:
    """‖Y[rows[a]] − Y[others[a, k]]‖² for all a and k, given on the host."""
    ends = (device.asarray(np.ascontiguousarray(index, dtype=np.int64)) for index in (rows, others))
    return measured_squares(device, Y, *ends)


def measured_squares(device: Device, Y: Array, rows: Array, others: Array) -> Array:
    """The same, given on the GPU."""
    count, k = others.shape
    out = device.xp.empty((count, k))
    if count and k:
        arguments = (count * k, k, Y.shape[1], device.xp.ascontiguousarray(Y), rows, others, out)
        device.launch("distances.cu", "squared_differences", blocks(count * k), (THREADS,), arguments)
    return out
