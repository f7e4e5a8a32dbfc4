"""Truncated and flipped bytes in every kind of file that is read; checkpoints with a judge of their own."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np

import cotherm as ct
from tests.fuzz.runner import run
from tests.torture.counts import Counts


def part(counts: Counts, short: bool, seed: int) -> None:
    _checkpoints(counts, seed, 40 if short else 500)
    report = run(range(200 if short else 6_000), seed, os.cpu_count() or 1)
    counts.cases += sum(report.cases.values())
    counts.faults += sum(report.cases.values())
    for number, fault in report.faults:
        text = f"case {number} of tests.fuzz: {fault.strip().splitlines()[-1]}"
        if "allowed" in fault or "hang" in fault:
            counts.hang(text)
        elif "Error" in fault or "Traceback" in fault:
            counts.tracebacks += 1
            counts.wrong.append(f"traceback: {text}")
        else:
            counts.misread(text)


def _checkpoints(counts: Counts, seed: int, times: int) -> None:
    random, views = np.random.default_rng(seed), ct.datasets.ring()
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory) / "run.ckpt"
        ct.couple(views.graphs, views.functions, options={"max_iterations": 5}, checkpoint=place)
        whole = place.read_bytes()
        for _ in range(times):
            damaged = bytearray(whole)
            for at in random.integers(len(whole), size=int(random.integers(1, 4))):
                damaged[at] ^= int(random.integers(1, 256))
            if random.random() < 0.3:
                damaged = damaged[: int(random.integers(len(whole)))]
            counts.cases += 1
            counts.faults += 1
            place.write_bytes(damaged)
            try:
                ct.couple(views.graphs, views.functions, options={"max_iterations": 5}, checkpoint=place)
                counts.misread("a damaged checkpoint was taken up")
            except ct.CothermError:
                pass
            except Exception as error:
                counts.tracebacks += 1
                counts.wrong.append(f"traceback: a damaged checkpoint: {type(error).__name__}: {error}")
