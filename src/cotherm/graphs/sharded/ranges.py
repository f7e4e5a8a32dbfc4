"""Where to cut the vertices: ranges of about equal work, from counts of the ends of edges in bins of vertices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Ints

_BINS = 2**16


class EndCounts:
    """How many ends of edges fall into each of at most 2¹⁶ bins of vertices."""

    def __init__(self, n: int) -> None:
        self._n = n
        self._width = -(-n // _BINS)
        self.counts = np.zeros(-(-n // self._width), dtype=np.int64)

    def add(self, vertices: NDArray[np.integer]) -> None:
        """Count some ends."""
        self.counts += np.bincount(vertices // self._width, minlength=len(self.counts))

    def ranges(self, parts: int) -> Ints:
        """Ranges with about equal numbers of vertices and edge ends, assuming even spread within a bin."""
        edges = np.minimum(np.arange(len(self.counts) + 1) * self._width, self._n)
        work = np.concatenate([[0.0], np.cumsum(self.counts + np.diff(edges), dtype=np.float64)])
        aims = work[-1] * np.arange(parts + 1) / parts
        cuts = np.rint(np.interp(aims, work, edges.astype(np.float64))).astype(np.int64)
        cuts[0], cuts[-1] = 0, self._n
        return cuts
