"""Distances between rows on the GPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from cotherm.engines.gpu.device import Device
from cotherm.engines.gpu.layout import THREADS, blocks
from cotherm.engines.interface import Array


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
