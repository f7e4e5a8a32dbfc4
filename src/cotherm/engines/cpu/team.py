"""A team of threads that runs one kernel over slices of the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from types import TracebackType
from typing import Any

import numba

# Waking a thread costs some 0.1 ms; below this many multiply-adds one thread is as fast.
_WORTH_A_THREAD = 1_000_000


class Team:
    """As many threads as the work deserves, at most Numba's own number (NUMBA_NUM_THREADS, else the processors).

    Made for one task and closed after it, so that nothing is left behind to trouble a later fork.
    """

    def __init__(self, work: float) -> None:
        self.size = int(max(1, min(numba.config.NUMBA_NUM_THREADS, work // _WORTH_A_THREAD)))
        self._pool = ThreadPoolExecutor(self.size - 1) if self.size > 1 else None

    def run(self, kernel: Callable[..., Any], cuts: Sequence[int], *arguments: Any) -> list[Any]:
        """Call kernel(lo, hi, *arguments) for consecutive cuts and return what the calls returned, in order."""
        slices = list(pairwise(cuts))
        if self._pool is None:
            return [kernel(lo, hi, *arguments) for lo, hi in slices]
        # The calling thread takes the first slice itself.
        others = [self._pool.submit(kernel, lo, hi, *arguments) for lo, hi in slices[1:]]
        first = kernel(*slices[0], *arguments)
        return [first, *(task.result() for task in others)]

    def __enter__(self) -> Team:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        if self._pool is not None:
            self._pool.shutdown()
