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

LONGEST = 10.0
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


def run(numbers: range, seed: int, workers: int, progress: Callable[[int], Any] = lambda _: None) -> Report:
    """All cases of these numbers."""
    report = Report()
    waiting = _batches(numbers)
    team = [_Worker(seed) for _ in range(workers)]
    try:
        for worker in team:
            worker.give(next(waiting, None))
        while busy := [worker for worker in team if worker.batch]:
            ready = wait([worker.answers for worker in busy], timeout=1.0)
            for worker in busy:
                if worker.answers in ready or worker.late():
                    _take(worker, report, progress)
                if not worker.batch:
                    worker.give(next(waiting, None))
    finally:
        for worker in team:
            worker.stop()
    report.faults.sort()
    return report


def _take(worker: _Worker, report: Report, progress: Callable[[int], Any]) -> None:
    """One answer, or what became of a process that gave none."""
    from tests.fuzz.cases import kind_of

    number = worker.batch[0]
    answer = worker.answer()
    if answer is None:
        how = f"no answer within {LONGEST:g} s" if worker.late() else "the process died"
        answer = (how, LONGEST, 0.0)
        worker.restart()
    fault, seconds, memory = answer
    report.cases[kind_of(number)] += 1
    report.slowest = max(report.slowest, seconds)
    report.most_memory = max(report.most_memory, memory)
    if fault is None and seconds > LONGEST:
        fault = f"{seconds:.1f} s"
    if fault is not None:
        report.faults.append((number, fault))
    del worker.batch[0]
    progress(1)


def _batches(numbers: range) -> Iterator[list[int]]:
    for first in range(0, len(numbers), _AT_ONCE):
        yield list(numbers[first : first + _AT_ONCE])


class _Worker:
    """A process that judges one case after the other, and is replaced when one of them hangs."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self.batch: list[int] = []
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.answers, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs, self._seed), daemon=True)
        self._process.start()
        theirs.close()
        self._deadline = time.monotonic() + _WARM_UP

    def give(self, batch: list[int] | None) -> None:
        if batch:
            self.batch = batch
            self.answers.send(list(batch))

    def late(self) -> bool:
        return time.monotonic() > self._deadline

    def answer(self) -> tuple[str | None, float, float] | None:
        """The next answer, or None where there is none."""
        try:
            found: tuple[str | None, float, float] | None = self.answers.recv() if self.answers.poll() else None
        except (EOFError, ConnectionError):
            return None
        # Some grace: the machine may be busy. What took too long says so itself.
        self._deadline = time.monotonic() + 3 * LONGEST
        return found

    def restart(self) -> None:
        self._process.kill()
        self._process.join()
        rest = self.batch[1:]
        self._start()
        if rest:
            self.answers.send(rest)

    def stop(self) -> None:
        self._process.kill()
        self._process.join()


def _work(connection: Connection[Any, Any], seed: int) -> None:
    """In a process of its own: judge what is sent, one answer for every case."""
    os.environ["MPLBACKEND"] = "agg"
    warnings.simplefilter("error")
    directory = Path(tempfile.mkdtemp(prefix="cotherm-fuzz-"))
    try:
        for number in range(-40, 0):  # compiles and imports what is needed
            _judged(seed, number, directory)
        tracemalloc.start()
        while True:
            for number in connection.recv():
                connection.send(_judged(seed, number, directory))
    except (EOFError, ConnectionError):
        return
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _judged(seed: int, number: int, directory: Path) -> tuple[str | None, float, float]:
    """What is wrong, the seconds, and the bytes of memory at the peak."""
    from tests.fuzz.cases import judge

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
    return fault, seconds, memory
