"""One of several ranks is killed: all end, and the same command on as many ranks goes on to the same result."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from tests.distributed.launch import mpiexec, run_ranks
from tests.torture.counts import Counts


def part(counts: Counts, short: bool, seed: int) -> None:
    missing = [name for name in ("mpi4py", "petsc4py") if importlib.util.find_spec(name) is None]
    missing += [] if mpiexec() else ["mpiexec"]
    if missing:
        counts.notes.append(f"not run: needs {', '.join(missing)}; `make torture-mpi` installs them")
        return
    random = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        expected = _ran(folder / "none.ckpt", 0, 0)
        if expected is None or not expected:
            counts.lose("a run on ranks that nothing ended")
            return
        for number in range(1 if short else 3):
            counts.cases += 1
            place, found = folder / f"{number}.ckpt", None
            for last in (*random.integers(2, 24, size=2), 0):
                counts.faults += bool(last)
                found = _ran(place, int(last), int(random.integers(2)))
                if found is None:
                    counts.hang(f"rank killed at step {last}")
                    break
                if found:
                    break
            if found != expected:
                counts.lose(f"another result after a rank was killed: {found!r}")


def _ran(place: Path, last: int, rank: int) -> str | None:
    """The digest; empty where a rank was killed, None where the ranks hang."""
    try:
        ended = run_ranks(2, "-m", "tests.torture.ranks", str(place), str(last), str(rank), seconds=240)
    except subprocess.TimeoutExpired:
        return None
    return ended.stdout.strip() if ended.returncode == 0 else ""


def main() -> None:
    """What every rank runs."""
    import os
    import signal

    import cotherm as ct
    from cotherm import ranks
    from cotherm.methods import checkpoint
    from tests.torture.runs import digest

    checkpoint.EVERY = checkpoint._RATIO = 0.0
    place, last, victim = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    world, steps = ranks.world(), 0

    def end(_: ct.Step) -> None:
        nonlocal steps
        steps += 1
        if steps == last and world.rank == victim:
            os.kill(os.getpid(), signal.SIGKILL)

    views = ct.datasets.shortcuts(2_500)
    result = ct.couple(
        views.graphs, views.functions, engine="petsc", options={"max_iterations": 30}, checkpoint=place, callback=end
    )
    if world.rank == 0:
        sys.stdout.write(digest(result) + "\n")


if __name__ == "__main__":
    main()
