"""A pool of threads that runs one kernel over slices of the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Lock
from types import TracebackType
from typing import Any

import numba

# Waking a thread costs some 0.1 ms; below this many multiply-adds one thread is as fast.
_WORTH_A_THREAD = 1_000_000
# Handing out a slice costs some 0.01 ms; one of this many multiply-adds takes twenty times as long or more.
_WORTH_A_SLICE = 1_000_000
# Short slices end at nearly the same time, and keep threads near each other, where they share what is in the caches.
_MOST_SLICES = 64


class ThreadPool:
    """As many threads as the work deserves, at most Numba's own number (NUMBA_NUM_THREADS, else the processors).

    Made for one task and closed after it, so that nothing is left behind to trouble a later fork.
    """

    def __init__(self, work: float) -> None:
        self.size = int(max(1, min(numba.config.NUMBA_NUM_THREADS, work // _WORTH_A_THREAD)))
        # Slices per thread: more than one lets a fast processor help a slow one.
        self.pieces = self.size * int(max(1, min(_MOST_SLICES, work // (self.size * _WORTH_A_SLICE))))
        self._pool = ThreadPoolExecutor(self.size - 1) if self.size > 1 else None

    def run(self, kernel: Callable[..., Any], cuts: Sequence[int], *arguments: Any) -> list[Any]:
        """Call kernel(lo, hi, *arguments) for consecutive cuts and return what the calls returned, in order.

        Slices are handed out as threads become free: processors are not always equally fast.
        """
        if len(cuts) == 2:  # small problems call this very often
            return [kernel(cuts[0], cuts[1], *arguments)]
        slices = list(pairwise(cuts))
        results: list[Any] = [None] * len(slices)
        waiting = iter(range(len(slices)))
        turn = Lock()

        def take() -> int | None:
            with turn:
                return next(waiting, None)

        def work() -> None:
            while (k := take()) is not None:
                results[k] = kernel(*slices[k], *arguments)

        helpers = [self._pool.submit(work) for _ in range(self.size - 1)] if self._pool else []
        work()
        for helper in helpers:
            helper.result()
        return results

    def __enter__(self) -> ThreadPool:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        if self._pool is not None:
            self._pool.shutdown()
