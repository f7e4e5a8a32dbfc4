"""SIGINT, SIGTERM and SIGHUP during commands: one line, the usual exit code, and the same command goes on."""

from __future__ import annotations

import signal
import tempfile
import time
from pathlib import Path

import numpy as np

from tests.torture import commands
from tests.torture.counts import Counts

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def part(counts: Counts, short: bool, seed: int) -> None:
    random = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        command = commands.write_problem(folder, 400 if short else 500)
        began = time.monotonic()
        ended = commands.finish(commands.begin(folder, *command, "--out", "expected.npz"))
        if ended is None or ended[0] != 0:
            counts.lose(f"a command that nothing ended: {ended}")
            return
        took = time.monotonic() - began
        expected = commands.weights(folder / "expected.npz")
        for number in range(2 if short else 8):
            _chain(counts, folder, command, number, expected, random, took)


def _chain(
    counts: Counts,
    folder: Path,
    command: list[str],
    number: int,
    expected: list[bytes],
    random: np.random.Generator,
    took: float,
) -> None:
    """Signals at random moments, at most four, then to the end."""
    out, place = folder / f"{number}.out.npz", folder / f"{number}.ckpt"
    arguments = [*command, "--out", out.name, "--checkpoint", place.name]
    counts.cases += 1
    for left in reversed(range(5)):
        process = commands.begin(folder, *arguments)
        sent = _SIGNALS[int(random.integers(3))]
        if left:
            # The first second is Python's own, which loads the package and has no handlers yet.
            time.sleep(min(1.5, 0.5 * took) + float(random.random()) * took)
            if process.poll() is None:
                process.send_signal(sent)
                counts.faults += 1
        ended = commands.finish(process)
        if ended is None:
            counts.hang(f"{sent.name}: {arguments}")
            return
        code, _, err = ended
        counts.judge_words(err, f"{sent.name} during couple")
        if code == 0:
            break
        # A signal that comes before the program has begun ends Python itself: then there is nothing to lose.
        if code not in (128 + sent, -sent) or not left:
            counts.lose(f"exit code {code} after {sent.name}: {err.strip()[-200:]}")
            return
        if out.exists():  # the signal came when the result had been written, and was being told
            break
    if commands.weights(out) != expected:
        counts.lose("another result after signals")
    if code == 0 and place.exists():
        counts.lose("a checkpoint is left beside the result")
