"""Vertices along a space-filling curve: those near each other in space get numbers near each other.

The curve is Hilbert's, by the transposition of J. Skilling, "Programming the Hilbert curve", AIP Conference Proceedings
707, 2004, for all points at once.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError
from cotherm.graphs.sharded.sources import Rows

_POINTS_AT_ONCE = 2**18
# In more dimensions, the three with the largest spread are used.
_MOST_DIMENSIONS = 3
_BITS = {1: 62, 2: 31, 3: 21}

Codes = NDArray[np.uint64]


def curve_order(coordinates: Rows) -> Ints:
    """The vertices in the order of the curve; equal places keep their order. Takes 16 bytes a vertex."""
    low, high = _bounds(coordinates)
    spread = high - low
    axes = np.sort(np.argsort(-spread, kind="stable")[:_MOST_DIMENSIONS])
    codes = np.empty(coordinates.shape[0], dtype=np.uint64)
    for part, block in _blocks(coordinates):
        codes[part] = hilbert_codes(block[:, axes], low[axes], spread[axes].max())
    return np.argsort(codes, kind="stable")


def hilbert_codes(points: Floats, low: Floats, spread: float) -> Codes:
    """Numbers along the Hilbert curve of points in the cube of this side from ``low`` on, in 1 to 3 dimensions."""
    d = points.shape[1]
    bits = _BITS[d]
    scale = float(2**bits - 1) / spread if spread > 0 else 0.0
    cells = np.minimum(((points - low) * scale), float(2**bits - 1)).astype(np.uint64)
    if d == 1:
        return np.ascontiguousarray(cells[:, 0])
    return _interleaved(_transposed([np.ascontiguousarray(cells[:, a]) for a in range(d)], bits), bits)


def _transposed(x: list[Codes], bits: int) -> list[Codes]:
    """Skilling's AxestoTranspose."""
    d = len(x)
    for b in range(bits - 1, 0, -1):
        q, p = np.uint64(1 << b), np.uint64((1 << b) - 1)
        for a in range(d):
            turned = (x[a] & q) != 0
            swap = np.where(turned, np.uint64(0), (x[0] ^ x[a]) & p)
            first = x[0] ^ np.where(turned, p, np.uint64(0)) ^ swap
            if a:
                x[a] = x[a] ^ swap
            x[0] = first
    for a in range(1, d):
        x[a] = x[a] ^ x[a - 1]
    t = np.zeros_like(x[0])
    for b in range(bits - 1, 0, -1):
        t ^= np.where((x[d - 1] & np.uint64(1 << b)) != 0, np.uint64((1 << b) - 1), np.uint64(0))
    return [one ^ t for one in x]


def _interleaved(x: list[Codes], bits: int) -> Codes:
    code = np.zeros_like(x[0])
    for b in range(bits - 1, -1, -1):
        for one in x:
            code = (code << np.uint64(1)) | ((one >> np.uint64(b)) & np.uint64(1))
    return code


def _bounds(coordinates: Rows) -> tuple[Floats, Floats]:
    low, high = np.full(coordinates.shape[1], np.inf), np.full(coordinates.shape[1], -np.inf)
    for part, block in _blocks(coordinates):
        if not np.isfinite(block).all():
            row = part.start + int(np.argmin(np.isfinite(block).all(axis=1)))
            raise CothermError("coordinates", f"{block[row - part.start].tolist()} of vertex {row}", "finite numbers")
        low, high = np.minimum(low, block.min(axis=0)), np.maximum(high, block.max(axis=0))
    return low, high


def _blocks(coordinates: Rows) -> Iterator[tuple[slice, Floats]]:
    n = coordinates.shape[0]
    for start in range(0, n, _POINTS_AT_ONCE):
        stop = min(start + _POINTS_AT_ONCE, n)
        yield slice(start, stop), coordinates.read(start, stop).astype(np.float64)
