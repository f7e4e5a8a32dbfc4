"""Pools of threads: one kernel over slices of the rows, or one task for each of several graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from itertools import pairwise
from mmap import mmap
from threading import Lock, local
from types import TracebackType
from typing import Any

import numba

# Waking a thread costs some 0.1 ms, handing out a slice 0.01 ms: each should have this many multiply-adds.
_WORTH_IT = 1_000_000
# Short slices end at nearly the same time, and keep threads near each other, where they share what is in the caches.
_MOST_SLICES = 64
# Bytes without which no thread is begun: Python waits for ever for one that finds no memory to begin with.
_ROOM = 2**24

# How many threads of a pool the present thread is one of: pools within it share the processors with the others.
_shared = local()


def thread_count() -> int:
    """How many threads a pool may have: Numba's own number (NUMBA_NUM_THREADS, else the processors), or a share."""
    return max(1, int(numba.config.NUMBA_NUM_THREADS) // int(getattr(_shared, "among", 1)))


class ThreadPool:
    """As many threads as the work deserves, made for one task: nothing is left behind to trouble a later fork."""

    def __init__(self, work: float) -> None:
        self.size, self.pieces, self._pool = 1, 1, None
        if work < 2.0 * _WORTH_IT:  # small problems come here very often
            return
        self.size = int(max(1, min(thread_count(), work // _WORTH_IT)))
        # Slices per thread: more than one lets a fast processor help a slow one.
        self.pieces = self.size * int(max(1, min(_MOST_SLICES, work // (self.size * _WORTH_IT))))
        if self.size > 1:
            self._pool = _threads(self.size - 1)

    def run(self, kernel: Callable[..., Any], cuts: Sequence[int], *arguments: Any) -> list[Any]:
        """Call kernel(lo, hi, *arguments) for consecutive cuts and return what the calls returned, in order.

        Slices are handed out as threads become free: processors are not always equally fast.
        """
        if len(cuts) == 2:
            return [kernel(cuts[0], cuts[1], *arguments)]
        work = _Work([partial(kernel, lo, hi, *arguments) for lo, hi in pairwise(cuts)])
        helpers = [self._pool.submit(work.help) for _ in range(self.size - 1)] if self._pool else []
        work.help()
        for helper in helpers:
            helper.result()
        return work.results

    def __enter__(self) -> ThreadPool:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        if self._pool is not None:
            self._pool.shutdown()


def side_by_side(tasks: Sequence[Callable[[], Any]]) -> list[Any]:
    """Call tasks in threads and return what they returned, in order; pools within them share the processors."""
    size = min(len(tasks), thread_count())
    if size <= 1:
        return [task() for task in tasks]
    work, among = _Work(tasks), int(getattr(_shared, "among", 1)) * size

    def share() -> None:
        before, _shared.among = getattr(_shared, "among", 1), among
        try:
            work.help()
        finally:
            _shared.among = before

    with _threads(size - 1) as pool:
        # Threads do not inherit NumPy's settings for overflow.
        helpers = [pool.submit(copy_context().run, share) for _ in range(size - 1)]
        share()
        for helper in helpers:
            helper.result()
    return work.results


def _threads(count: int) -> ThreadPoolExecutor:
    try:
        mmap(-1, _ROOM).close()
    except OSError:
        raise MemoryError from None
    return ThreadPoolExecutor(count)


class _Work:
    """Tasks, and what they returned so far."""

    def __init__(self, tasks: Sequence[Callable[[], Any]]) -> None:
        self._tasks, self._waiting, self._turn = tasks, iter(range(len(tasks))), Lock()
        self.results: list[Any] = [None] * len(tasks)

    def help(self) -> None:
        """Take tasks until none is left."""
        while (k := self._take()) is not None:
            self.results[k] = self._tasks[k]()

    def _take(self) -> int | None:
        with self._turn:
            return next(self._waiting, None)
