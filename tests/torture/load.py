"""Many couplings: one after the other, in threads, in processes. Memory stays flat, results stay the same."""

from __future__ import annotations

import gc
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import cotherm as ct
from tests.torture import runs
from tests.torture.counts import Counts

# How much more memory may be in use at the end than when all couplings of one kind had run once.
_FLAT = 0.02
# What stands for a day of small couplings, and how many of them differ.
_DAY, _REQUESTS = 6_000, 4


def in_use() -> int:
    """Bytes of memory of this process that are there for real."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def part(counts: Counts, short: bool, seed: int) -> None:
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        expected, _ = runs.expected("small", folder)
        _one_process(counts, folder, 20 if short else 200, many)
        _one_process(counts, folder, 200 if short else _DAY, a_day, "tiny ones")
        _threads(counts, expected, 4, 2 if short else 10)
        _processes(counts, folder, expected, 8, 1 if short else 4)


def _one_process(
    counts: Counts, folder: Path, count: int, target: Callable[[str, int], None], of: str = "couplings"
) -> None:
    """In a process of its own, so that nothing else counts."""
    out, what = folder / target.__name__, f"{count:,} {of} in one process"
    counts.cases += count
    process = runs.started(str(out), count, target=target)
    if not runs.ended(process, runs.LONGEST + 3.0 * count):
        runs.kill(process)
        counts.hang(what)
        return
    if process.exitcode:
        counts.lose(f"{what}: exit code {process.exitcode}")
        return
    digests, before, after, seconds = out.read_text().split()
    grown = int(after) / int(before) - 1.0
    if int(digests) != 1:
        counts.lose(f"{what}: {digests} different results")
    if grown > _FLAT:
        counts.lose(f"{what}: {100 * grown:.1f} % more memory")
    counts.notes.append(
        f"{what}: memory {100 * grown:+.1f} % ({int(after) / 1e6:.0f} MB), {count / float(seconds):.1f} a second"
    )


def many(out: str, count: int) -> None:
    """What the process runs; a tenth of them to warm up."""
    digests = {runs.digest(runs.small(None)) for _ in range(max(count // 10, 5))}
    before, began = in_use(), time.perf_counter()
    digests |= {runs.digest(runs.small(None)) for _ in range(count)}
    seconds = time.perf_counter() - began
    Path(out).write_text(f"{len(digests)} {before} {in_use()} {seconds}")


def a_day(out: str, count: int) -> None:
    """As a service runs them: tiny couplings, each of the same few requests, again and again."""
    digests: set[str] = set()
    for _ in range(max(count // 10, 100) // _REQUESTS):
        digests |= _requests()
    before, began = in_use(), time.perf_counter()
    for _ in range(count // _REQUESTS):
        digests |= _requests()
    seconds = time.perf_counter() - began
    different = len(digests) - _REQUESTS + 1  # each request has a result of its own, always the same
    Path(out).write_text(f"{different} {before} {in_use()} {seconds}")


def _requests() -> set[str]:
    found = set()
    for k in range(_REQUESTS):
        graphs = [ct.Graph(6, range(5), range(1, 6), [1.0, 0.5, 2.0, 1.0, size]) for size in (1.0, 2.0 + k)]
        found.add(runs.digest(ct.couple(graphs, [np.eye(6)[:, :2]] * 2, [1.0], 10.0, options={"max_iterations": 3})))
    return found


def _threads(counts: Counts, expected: str, threads: int, each: int) -> None:
    found: list[str] = []

    def work() -> None:
        for _ in range(each):
            found.append(runs.digest(runs.small(None)))

    began = time.perf_counter()
    team = [threading.Thread(target=work, daemon=True) for _ in range(threads)]
    for thread in team:
        thread.start()
    for thread in team:
        thread.join(runs.LONGEST)
    counts.cases += threads * each
    if any(thread.is_alive() for thread in team):
        counts.hang(f"{threads} threads")
        return
    for _ in range(sum(one != expected for one in found) + threads * each - len(found)):
        counts.lose(f"another result, or none, in one of {threads} threads")
    counts.notes.append(f"{threads} threads: {threads * each / (time.perf_counter() - began):.1f} a second")


def _processes(counts: Counts, folder: Path, expected: str, processes: int, rounds: int) -> None:
    began = time.perf_counter()
    for turn in range(rounds):
        outs = [folder / f"{turn}-{k}" for k in range(processes)]
        team = [runs.started("small", str(folder / f"{turn}-{k}.ckpt"), str(out)) for k, out in enumerate(outs)]
        for process, out in zip(team, outs, strict=True):
            counts.cases += 1
            if not runs.ended(process, runs.LONGEST):
                runs.kill(process)
                counts.hang(f"one of {processes} processes")
            elif process.exitcode or out.read_text() != expected:
                counts.lose(f"another result in one of {processes} processes")
    counts.notes.append(
        f"{processes} processes: {processes * rounds / (time.perf_counter() - began):.1f} a second, with checkpoints"
    )


assert ct.__name__ == "cotherm"  # loaded before children are made
