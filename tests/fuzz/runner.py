"""Runs cases in processes of their own, with limits of time and memory for each."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import tempfile
import time
import traceback
import tracemalloc
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from tests.fuzz import cases

# What is wrong with a case of a seed and a number, worked on in a directory; None where nothing is.
Judge = Callable[[int, int, Path], str | None]

LONGEST = 10.0
# Beside ten times the size of the files.
MOST_MEMORY = 100e6
# To begin with a process compiles and imports.
_WARM_UP = 180.0
_AT_ONCE = 25


@dataclass
class Report:
    """How many cases there were of each kind, and what was found: (number, what is wrong)."""

    cases: Counter[str] = field(default_factory=Counter)
    faults: list[tuple[int, str]] = field(default_factory=list)
    slowest: float = 0.0
    most_memory: float = 0.0

    def add(self, number: int, answer: _Answer, longest: float) -> None:
        fault = answer.fault
        if fault is None and answer.seconds > longest:
            fault = f"{answer.seconds:.1f} s, where {longest:g} s are allowed"
        if fault is not None:
            self.faults.append((number, fault))
        self.cases[cases.kind_of(number)] += 1
        self.slowest = max(self.slowest, answer.seconds)
        self.most_memory = max(self.most_memory, answer.memory)


@dataclass(frozen=True)
class _Answer:
    fault: str | None
    seconds: float
    memory: float


def run(
    numbers: range,
    seed: int,
    workers: int,
    *,
    judge: Judge = cases.judge,
    longest: float = LONGEST,
    progress: Callable[[int], Any] = lambda _: None,
) -> Report:
    """All cases of these numbers."""
    report = Report()
    waiting = _batches(numbers)
    team = [_Worker(seed, judge, longest) for _ in range(workers)]
    try:
        for worker in team:
            worker.give(next(waiting, []))
        while busy := [worker for worker in team if worker.batch]:
            wait([worker.connection for worker in busy], timeout=1.0)
            for worker in busy:
                if (answer := worker.answer()) is not None:
                    report.add(worker.batch.pop(0), answer, longest)
                    progress(1)
                if not worker.batch:
                    worker.give(next(waiting, []))
    finally:
        for worker in team:
            worker.stop()
    report.faults.sort()
    return report


def _batches(numbers: range) -> Iterator[list[int]]:
    for first in range(0, len(numbers), _AT_ONCE):
        yield list(numbers[first : first + _AT_ONCE])


class _Worker:
    """A process that judges one case after the other, and is replaced when one of them hangs or kills it."""

    def __init__(self, seed: int, judge: Judge, longest: float) -> None:
        self._seed, self._judge, self._longest = seed, judge, longest
        self.batch: list[int] = []
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs, self._seed, self._judge), daemon=True)
        self._process.start()
        theirs.close()
        self._deadline = time.monotonic() + _WARM_UP

    def give(self, batch: list[int]) -> None:
        self.batch = batch
        if batch:
            self.connection.send(list(batch))

    def answer(self) -> _Answer | None:
        """About the first case of the batch: what the process says or what became of it; None while it works."""
        try:
            if self.connection.poll():
                found: _Answer = self.connection.recv()
                # Some grace, as the machine may be busy; what took too long for itself says so.
                self._deadline = time.monotonic() + 2 * self._longest
                return found
            late = time.monotonic() > self._deadline
        except (EOFError, ConnectionError):
            return self._replaced("the process died")
        return self._replaced("no end") if late else None

    def _replaced(self, fault: str) -> _Answer:
        self.stop()
        self._start()
        if len(self.batch) > 1:
            self.connection.send(self.batch[1:])
        return _Answer(fault, self._longest, 0.0)

    def stop(self) -> None:
        self._process.kill()
        self._process.join()


def _work(connection: Connection[Any, Any], seed: int, judge: Judge) -> None:
    """In a process of its own: judge what is sent, one answer for every case."""
    os.environ["MPLBACKEND"] = "agg"
    warnings.simplefilter("error")
    directory = Path(tempfile.mkdtemp(prefix="cotherm-fuzz-"))
    try:
        for number in range(-40, 0):  # compiles and imports what is needed
            _judged(seed, number, directory, judge)
        tracemalloc.start()
        while True:
            for number in connection.recv():
                connection.send(_judged(seed, number, directory, judge))
    except (EOFError, ConnectionError):
        return
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _judged(seed: int, number: int, directory: Path, judge: Judge) -> _Answer:
    place = directory / "case"
    place.mkdir()
    tracemalloc.clear_traces()
    began = time.perf_counter()
    try:
        fault = judge(seed, number, place)
    except Exception:  # the very thing that is looked for
        fault = traceback.format_exc()
    seconds = time.perf_counter() - began
    memory = tracemalloc.get_traced_memory()[1] if tracemalloc.is_tracing() else 0
    size = sum(file.stat().st_size for file in place.iterdir() if file.is_file())
    shutil.rmtree(place)
    if fault is None and memory > 10 * size + MOST_MEMORY:
        fault = f"{memory / 1e6:.0f} MB of memory for files of {size} bytes"
    return _Answer(fault, seconds, memory)
