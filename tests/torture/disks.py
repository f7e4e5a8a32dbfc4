"""Disks that are full, or gone, half way: either the old file or the new one is whole, and runs go on."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import cotherm as ct
from tests.torture import commands, runs
from tests.torture.counts import Counts

# Couples with a checkpoint after every step, with a limit on the size of files that grows from call to call.
_LIMITED = """
import resource, sys
from pathlib import Path
import cotherm as ct
from cotherm.methods import checkpoint
from tests.torture import runs
checkpoint.EVERY = checkpoint._RATIO = checkpoint._AGAIN = 0.0
run = runs.RUNS[sys.argv[1]][0]
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
views = ct.datasets.ring()
ct.couple(views.graphs, views.functions, options={"max_iterations": 1})  # compiled kernels are stored without the limit
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), hard))
result = run(Path(sys.argv[3]))
print(runs.digest(result))
"""
# Writes a result over an old one.
_WRITER = """
import resource, sys
import cotherm as ct
result = ct.Coupling.load(sys.argv[1])
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), hard))
try:
    result.save(sys.argv[2], overwrite=True)
    print("written")
except ct.CothermError as error:
    print("refused", error)
"""
# Loses the directory of its checkpoint on the way.
_LOSING = """
import shutil, sys
from pathlib import Path
import cotherm as ct
from cotherm.methods import checkpoint
from tests.torture import runs
checkpoint.EVERY = checkpoint._RATIO = checkpoint._AGAIN = 0.0
folder, last = Path(sys.argv[1]), int(sys.argv[2])
folder.mkdir()
steps = 0
def lose(step):
    global steps
    steps += 1
    if steps == last:
        shutil.rmtree(folder)
    if steps == last + 10:
        folder.mkdir()
views = ct.datasets.ring()
result = ct.couple(views.graphs, views.functions, checkpoint=folder / "run.ckpt", callback=lose)
print(runs.digest(result))
"""


def part(counts: Counts, short: bool, seed: int) -> None:
    random = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        expected = {name: runs.digest(runs.RUNS[name][0](None)) for name in ("small", "by pairs")}
        _limited(counts, folder, expected, random, 2 if short else 16)
        _over_an_old_result(counts, folder, random, 2 if short else 12)
        _lost(counts, folder, expected["small"], random, 1 if short else 6)
        _full(counts, folder, short)


def _limited(counts: Counts, folder: Path, expected: dict[str, str], random: np.random.Generator, times: int) -> None:
    """No checkpoint fits, or those of a part of the run: it goes on without, and what there is can be taken up."""
    for number in range(times):
        name, most = (("small", 15_000), ("by pairs", 3_500_000))[number % 2]
        place = folder / f"limited-{number}"
        for limit in (int(random.integers(0, most)), 1 << 40):
            counts.cases += 1
            counts.faults += limit < 1 << 40
            ended = commands.finish(commands.begin_program(folder, _LIMITED, name, str(limit), str(place)))
            if ended is None:
                counts.hang(f"{name}: files of at most {limit} bytes")
                continue
            code, out, err = ended
            counts.judge_words(err, f"{name}: files of at most {limit} bytes")
            if code or out.strip() != expected[name]:
                counts.lose(f"{name}: files of at most {limit} bytes: exit code {code}, {out.strip()} {err[-200:]}")


def _over_an_old_result(counts: Counts, folder: Path, random: np.random.Generator, times: int) -> None:
    views = ct.datasets.ring()
    old, new = (ct.couple(views.graphs, views.functions, options={"max_iterations": k}) for k in (2, 4))
    new.save(folder / "new.npz")
    size = (folder / "new.npz").stat().st_size
    for number in range(times):
        counts.cases += 1
        counts.faults += 1
        place, limit = folder / f"old-{number}.npz", int(random.integers(0, 2 * size))
        old.save(place)
        ended = commands.finish(
            commands.begin_program(folder, _WRITER, str(folder / "new.npz"), str(place), str(limit))
        )
        if ended is None:
            counts.hang(f"a result of {size} bytes where {limit} fit")
            continue
        code, out, err = ended
        counts.judge_words(err, f"a result of {size} bytes where {limit} fit")
        found = ct.Coupling.load(place).cost
        whole = new.cost if out.startswith("written") else old.cost
        if code or found != whole or (out.startswith("written") and limit < size):
            counts.lose(f"a result of {size} bytes where {limit} fit: {out.strip()} {err[-200:]}")


def _lost(counts: Counts, folder: Path, expected: str, random: np.random.Generator, times: int) -> None:
    """The directory of the checkpoint disappears on the way, and comes back."""
    for number in range(times):
        counts.cases += 1
        counts.faults += 1
        last = int(random.integers(2, 60))
        ended = commands.finish(commands.begin_program(folder, _LOSING, str(folder / f"lost-{number}"), str(last)))
        if ended is None:
            counts.hang(f"the directory lost at step {last}")
            continue
        code, out, err = ended
        counts.judge_words(err, f"the directory lost at step {last}")
        if code or out.strip() != expected:
            counts.lose(f"the directory lost at step {last}: exit code {code} {err[-200:]}")


@contextmanager
def _small_disk(size: str) -> Iterator[Path | None]:
    """A file system of its own with so much room; None where this process may not make one."""
    with tempfile.TemporaryDirectory() as directory:
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", directory]
        made = os.geteuid() == 0 and subprocess.run(command, capture_output=True, check=False).returncode == 0
        try:
            yield Path(directory) if made else None
        finally:
            if made:
                subprocess.run(["umount", directory], capture_output=True, check=False)


def _full(counts: Counts, folder: Path, short: bool) -> None:
    """The command line on a disk that fills up: the result is kept elsewhere, or is refused beforehand."""
    command = commands.write_problem(folder, 300)
    done = commands.finish(commands.begin(folder, *command, "--out", "room.npz"))
    if done is None or done[0]:
        counts.lose(f"a command with room for its result: {done}")
        return
    for size in ("16k", "64k") if short else ("4k", "16k", "64k", "128k", "256k"):
        with _small_disk(size) as disk:
            if disk is None:
                counts.notes.append("no small file systems (needs root and mount): limits on the size of files instead")
                return
            counts.cases += 1
            counts.faults += 1
            place = [str(disk / "out.npz"), "--checkpoint", str(disk / "run.ckpt")]
            ended = commands.finish(commands.begin(folder, *command, "--out", *place))
            if ended is None:
                counts.hang(f"a disk of {size}")
                continue
            code, _, err = ended
            counts.judge_words(err, f"a disk of {size}")
            if code == 0 and commands.weights(disk / "out.npz") != commands.weights(folder / "room.npz"):
                counts.lose(f"a disk of {size}: another result")
            elif code not in (0, 2) or (code == 2 and (disk / "out.npz").exists()):
                counts.lose(f"a disk of {size}: exit code {code}: {err[-200:]}")
