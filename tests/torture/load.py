"""Many couplings: one after the other, in threads, in processes. Memory stays flat, results stay the same."""

from __future__ import annotations

import gc
import tempfile
import threading
import time
from pathlib import Path

import cotherm as ct
from tests.torture import runs
from tests.torture.counts import Counts

# How much more memory may be in use at the end than when all couplings of one kind had run once.
_FLAT = 0.02


def in_use() -> int:
    """Bytes of memory of this process that are there for real."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def part(counts: Counts, short: bool, seed: int) -> None:
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        expected, _ = runs.expected("small", folder)
        _one_process(counts, folder, 20 if short else 200)
        _threads(counts, expected, 4, 2 if short else 10)
        _processes(counts, folder, expected, 8, 1 if short else 4)


def _one_process(counts: Counts, folder: Path, count: int) -> None:
    """In a process of its own, so that nothing else counts."""
    out = folder / "one"
    counts.cases += count
    process = runs.started(str(out), count, target=many)
    if not runs.ended(process, runs.LONGEST + 3.0 * count):
        runs.kill(process)
        counts.hang(f"{count} couplings in one process")
        return
    if process.exitcode:
        counts.lose(f"{count} couplings in one process: exit code {process.exitcode}")
        return
    digests, before, after, seconds = out.read_text().split()
    grown = int(after) / int(before) - 1.0
    if int(digests) != 1:
        counts.lose(f"{count} couplings in one process: {digests} different results")
    if grown > _FLAT:
        counts.lose(f"{count} couplings in one process: {100 * grown:.1f} % more memory")
    counts.notes.append(
        f"{count} in one process: memory {100 * grown:+.1f} % ({int(after) / 1e6:.0f} MB), "
        f"{count / float(seconds):.1f} a second"
    )


def many(out: str, count: int) -> None:
    """What the process runs; a tenth of them to warm up."""
    digests = {runs.digest(runs.small(None)) for _ in range(max(count // 10, 5))}
    before, began = in_use(), time.perf_counter()
    digests |= {runs.digest(runs.small(None)) for _ in range(count)}
    seconds = time.perf_counter() - began
    Path(out).write_text(f"{len(digests)} {before} {in_use()} {seconds}")


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
