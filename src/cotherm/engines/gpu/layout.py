"""Edges by rows on the GPU, Laplacians at many weights, and bounds on their spectra."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.engines.gpu.device import Device
from cotherm.engines.interface import Array, Engine
from cotherm.errors import CothermError
from cotherm.lazy import lazy

# Threads of a block where every thread has a row or an edge.
THREADS = 128
# Places in a row are 32-bit numbers.
_MOST_EDGES = 2**30 - 1
# Rounds of the power iteration, as in the engine for the processor.
_BOUND_ROUNDS = 5
# Threads of a block, and blocks for each of the GPU's processors, where all wait for each other.
_TOGETHER, _WAITING = 256, 4


def blocks(count: int, size: int = THREADS) -> tuple[int]:
    """How many blocks of ``size`` threads cover ``count`` items."""
    return (max(1, -(-count // size)),)


@dataclass(frozen=True)
class GpuPattern:
    """For every row its columns, and whose edge's weight belongs there."""

    device: Device
    n: int
    i: Array
    j: Array
    offsets: Array
    columns: Array
    edges: Array

    @classmethod
    def of(cls, device: Device, n: int, i: NDArray[Any], j: NDArray[Any]) -> GpuPattern:
        """For the edges (i, j); i < j. Rows are sorted by the numbers of their edges."""
        m = len(i)
        if m > _MOST_EDGES:
            raise CothermError("graph", f"{m:,} edges", f"at most {_MOST_EDGES:,} for engine='gpu'", "Use 'cpu'.")
        heads, tails = (device.asarray(np.asarray(ends, dtype=np.int32)) for ends in (i, j))
        both = np.concatenate([heads, tails])
        # Every key is another one, so that sorting has one answer: by vertex, then by place.
        count = max(1, 2 * m)
        keys = device.sort(both.astype(np.int64) * count + device.xp.arange(2 * m))
        places = keys % count
        columns = np.concatenate([tails, heads])[places]
        offsets = device.xp.zeros(n + 1, dtype=np.int32)
        offsets[1:] = np.cumsum(np.bincount(both, minlength=n)) if m else 0
        return cls(device, n, heads, tails, offsets, columns, (places % max(1, m)).astype(np.int32))

    @property
    def m(self) -> int:
        return len(self.i)

    @lazy
    def longest(self) -> int:
        """The most neighbors of a vertex."""
        return int((self.offsets[1:] - self.offsets[:-1]).max()) if self.n else 0

    def filled(self, w: Array) -> tuple[Array, Array]:
        """The weights of the edges, by rows, and their sums at the vertices."""
        xp = self.device.xp
        weights, degrees = xp.empty(2 * self.m), xp.empty(self.n)
        arguments = (self.n, self.offsets, self.edges, w, weights, degrees)
        self.device.launch("rows.cu", "fill_rows", blocks(self.n), (THREADS,), arguments)
        return weights, degrees


@dataclass(frozen=True)
class GpuLaplacian:
    """D − W, rows in the vertices' own order."""

    engine: Engine
    pattern: GpuPattern
    weights: Array
    degrees: Array
    bound: float

    @property
    def n(self) -> int:
        return self.pattern.n

    def work(self, columns: int) -> float:
        return float((2 * self.pattern.m + 4 * self.n) * columns)


def spectral_bound(pattern: GpuPattern, weights: Array, degrees: Array) -> float:
    """λ_max(L) ≤ max_i ((D + W)x)_i / x_i for every x > 0; each round of the power iteration tightens it."""
    if not pattern.n:
        return 0.0
    device, xp, n = pattern.device, pattern.device.xp, pattern.n
    grid = min(blocks(n, _TOGETHER)[0], _WAITING * device.processors)
    x, y, bound = xp.empty(n), xp.empty(n), xp.empty(1)
    arguments = (
        *(n, pattern.offsets, pattern.columns, weights, degrees, x, y, _BOUND_ROUNDS),
        *(device.counter(), xp.empty(6 * grid), bound),
    )
    device.launch("sums.cu", "spectral_bound", (grid,), (1, _TOGETHER), arguments, shared=8 * _TOGETHER, together=True)
    return float(device.to_numpy(bound)[0])
