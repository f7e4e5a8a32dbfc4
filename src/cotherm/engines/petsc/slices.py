"""Kernels over a rank's rows, those of the halo being fetched meanwhile."""

from __future__ import annotations

from types import TracebackType
from typing import Any

import numpy as np

from cotherm.arrays import Floats
from cotherm.engines.cpu.thread_pool import ThreadPool
from cotherm.engines.petsc.pattern import Pattern


class Slices:
    """All rows in slices: first those that need no other rank's, while these are on their way, then the rest."""

    def __init__(self, pattern: Pattern, work: float) -> None:
        self._pool, self._halo = ThreadPool(work), pattern.halo
        first, last = pattern.inside
        pieces = self._pool.pieces if self._pool.size > 1 else 1
        self._inner = [first + (last - first) * k // pieces for k in range(pieces + 1)]
        self._outer = [[0, first], [last, pattern.n]]
        # Where slices begin and end, for kernels that leave sums at the place of theirs.
        self.places = np.array([0, *self._inner, pattern.n])
        self.count = len(self.places) - 1

    def run(self, kernel: Any, rows: Floats, *arguments: Any) -> None:
        """Fetch the rows of the halo that follow the own ones in ``rows``, and call the kernel for all slices."""
        with self._halo.fetching(rows):
            self._pool.run(kernel, self._inner, *arguments)
        for lo, hi in self._outer:
            if lo < hi:
                kernel(lo, hi, *arguments)

    def run_alone(self, kernel: Any, *arguments: Any) -> None:
        """The same where no rows of others are needed."""
        self._pool.run(kernel, self._inner, *arguments)
        for lo, hi in self._outer:
            if lo < hi:
                kernel(lo, hi, *arguments)

    def __enter__(self) -> Slices:
        return self

    def __exit__(self, *exception: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._pool.__exit__(*exception)
