"""SIGKILL at random moments of couplings: every time the same call goes on, and in the end the result is the same."""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path

import numpy as np

from tests.torture import runs
from tests.torture.counts import Counts

# Kills of each kind, of all of them and of the short version.
_KILLS = {"small": (130, 8), "many functions": (40, 0), "by pairs": (110, 4), "10⁵ vertices": (20, 0)}
# A kill comes within this part of the time that the coupling takes without any.
_PART = 0.5


def part(counts: Counts, short: bool, seed: int) -> None:
    """Kinds side by side: where one waits for its disk another computes."""
    threads = [
        threading.Thread(target=_kind, args=(counts, name, few if short else many, seed + number))
        for number, (name, (many, few)) in enumerate(_KILLS.items())
        if (few if short else many)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _kind(counts: Counts, name: str, kills: int, seed: int) -> None:
    """Chains of runs: killed, taken up, killed, ..., until one comes to its end; then the next chain begins."""
    random, killed, chains, taken_up = np.random.default_rng(seed), 0, 0, 0
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        try:
            expected, took = runs.expected(name, folder)
        except TimeoutError:
            counts.hang(f"{name}: a run that nothing ended")
            return
        while killed < kills:
            chain = folder / str(chains)
            chain.mkdir()
            more, on_the_way = _chain(counts, name, chain, expected, kills - killed, random, _PART * took)
            killed, taken_up, chains = killed + more, taken_up + on_the_way, chains + 1
    counts.notes.append(f"{name}: {killed} kills in {chains} runs, {taken_up} of them with a checkpoint to go on from")


def _chain(
    counts: Counts, name: str, folder: Path, expected: str, most: int, random: np.random.Generator, longest: float
) -> tuple[int, int]:
    """One run to its end; how often it was killed, and how often there was a checkpoint then."""
    place, out, killed, taken_up = folder / "run.ckpt", folder / "digest", 0, 0
    counts.cases += 1
    while True:
        runs.begun(out).unlink(missing_ok=True)
        process = runs.started(name, str(place), str(out))
        runs.wait_for(lambda: runs.begun(out).exists() or process.exitcode is not None, runs.LONGEST)  # noqa: B023
        if killed < most and not runs.ended(process, float(random.random()) * longest):
            runs.kill(process)
            killed, taken_up = killed + 1, taken_up + place.exists()
            counts.faults += 1
            continue
        if not runs.ended(process, runs.LONGEST):
            runs.kill(process)
            counts.hang(f"{name}: after {killed} kills")
            return killed, taken_up
        if process.exitcode != 0:
            counts.lose(f"{name}: exit code {process.exitcode} after {killed} kills")
        elif out.read_text() != expected:
            counts.lose(f"{name}: another result after {killed} kills")
        return killed, taken_up
