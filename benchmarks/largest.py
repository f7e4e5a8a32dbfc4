"""The largest graphs that couple: one process in memory beside ranks through shards, each process with as much memory.

Triangular grids with random weights, twenty short cuts in the first of two views, three landmarks. Sizes grow by a
quarter of a power of two. At each, a few steps of the search are run: memory is at its peak after the first. A process
is limited like by ``ulimit -v``; without ``--memory`` the machine is the limit, and its ranks share it. A run that
takes longer than ``--seconds`` stops there and counts.

Needs PETSc (``make .venv-mpi/.ready``): ``.venv-mpi/bin/python -m benchmarks largest --memory 1GB --ranks 4``.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.child import environment
from benchmarks.scaling import MPI, required_launcher
from cotherm import memory
from cotherm.errors import CothermError

RANKS, LIMIT, SECONDS = 4, 1_000_000_000, 600.0
_QUICK_LIMIT = 200_000_000
_STEPS, _LANDMARKS, _SHORT_CUTS, _SHARDS = 3, 3, 20, 32
# Vertices of the smallest graph; every fourth is twice as large.
_SMALLEST, _MOST = 20_000, 60
_ROWS_AT_ONCE = 2**18
# The part of the free memory that a coupling takes without being asked.
_PART = 0.9


def run(
    *, quick: bool = False, limit: int | None = None, ranks: int = RANKS, seconds: float = SECONDS
) -> dict[str, Any]:
    """Find the largest size of both ways; ``limit`` in bytes for every process, 0 for the whole machine."""
    required_launcher()
    limit = (_QUICK_LIMIT if quick else LIMIT) if limit is None else limit
    with tempfile.TemporaryDirectory() as folder:
        bench = _Bench(Path(folder), limit, seconds)
        ways = [bench.largest("one process", 1), bench.largest(f"{ranks} ranks", ranks)]
    return {"limit": limit, "ranks": ranks, "seconds": seconds, "steps": _STEPS, "ways": ways}


class _Bench:
    def __init__(self, folder: Path, limit: int, seconds: float) -> None:
        self._folder, self._limit, self._seconds = folder, limit, seconds

    def largest(self, name: str, ranks: int) -> dict[str, Any]:
        """From the size that the forecast allows, up to the first that is refused, or down to one that is not."""
        k = _forecast(self._limit or (memory.available() or 0) // ranks, ranks)
        runs = {k: self._measured(k, ranks)}
        step = 1 if runs[k]["coupled"] else -1
        while 0 <= k + step < _MOST and runs[k]["coupled"] == (step > 0):
            k += step
            runs[k] = self._measured(k, ranks)
        coupled = [one for one in runs.values() if one["coupled"]]
        refused = [one for one in runs.values() if not one["coupled"]]
        most = max(coupled, key=lambda one: one["vertices"], default=None)
        return {"way": name, "ranks": ranks, "largest": most, "refused": min(refused, key=_vertices, default=None)}

    def _measured(self, k: int, ranks: int) -> dict[str, Any]:
        n = size(k)
        shards = self._folder / str(n)
        if not shards.exists():
            for old in self._folder.iterdir():
                subprocess.run(["rm", "-r", str(old)], check=True)
            _child(["prepare", str(shards), str(n)], 2)
        what = "whole" if ranks == 1 else "ranks"
        began = time.perf_counter()
        done = _child([what, str(shards), str(self._limit), str(self._seconds)], ranks, check=False)
        told = [line for line in done.stdout.splitlines() if line.startswith("{")]
        row: dict[str, Any] = json.loads(told[-1]) if told and not done.returncode else {"coupled": False}
        if not row["coupled"]:
            row["error"] = _last_line(done.stderr)
        sys.stderr.write(f"largest: {n:,} vertices, {ranks} rank(s): {row}\n")
        return {"vertices": n, "edges": _edges(n), "wall": time.perf_counter() - began, **row}


def size(k: int) -> int:
    """Vertices of the k-th grid, a multiple of its width."""
    columns = _columns(_SMALLEST * 2 ** (k / 4))
    return columns * round(_SMALLEST * 2 ** (k / 4) / columns)


def _columns(n: float) -> int:
    return max(2, round(0.5 * np.sqrt(n)))


def _edges(n: int) -> int:
    """Of both views together."""
    columns = _columns(n)
    rows = n // columns
    return 2 * (rows * (columns - 1) + (rows - 1) * columns + (rows - 1) * (columns - 1)) + _SHORT_CUTS


def _vertices(row: dict[str, Any]) -> int:
    return int(row["vertices"])


def _forecast(room: int, ranks: int) -> int:
    """The largest size that the forecast of memory allows."""
    from cotherm.engines import get_engine
    from cotherm.methods.coupling.memory import predicted

    engine = get_engine("cpu")

    def fits(k: int) -> bool:
        n = size(k)
        share = [(n // ranks, _edges(n) // 2 // ranks)] * 2
        return predicted(share, _LANDMARKS, 1, engine, choosing=True).added <= _PART * room

    return max([k for k in range(_MOST) if fits(k)], default=0)


def _last_line(text: str) -> str:
    """What cotherm said; launchers say more."""
    lines = [line for line in text.splitlines() if "error" in line.lower()]
    return lines[0][:300] if lines else text.strip()[-300:]


def _child(arguments: list[str], ranks: int, *, check: bool = True) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks.largest", *arguments]
    given = environment()
    if ranks > 1:
        threads = str(max(1, (os.cpu_count() or 1) // ranks))
        command = ["mpiexec", "-n", str(ranks), *command]
        given = {**given, **MPI, "NUMBA_NUM_THREADS": threads}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=given)
    if check and done.returncode:
        raise CothermError("largest", done.stderr[-500:], "a run that ends", "Run: make .venv-mpi/.ready")
    return done


def table(report: dict[str, Any]) -> str:
    """The report as text."""
    limit = f"{memory.words(report['limit'])} for every process" if report["limit"] else "the memory of this machine"
    lines = [
        f"The largest graphs that couple with {limit}; {report['steps']} steps, two views, three landmarks",
        "  way            vertices a view  edges in all  seconds  steps  GB a process  derivatives   next size",
    ]
    for way in report["ways"]:
        most, refused = way["largest"], way["refused"]
        then = "not tried" if refused is None else f"{refused['vertices']:,} refused"
        if most is None:
            lines.append(f"  {way['way']:<13} none; {then}: {refused['error']}")
            continue
        lines.append(
            f"  {way['way']:<13} {most['vertices']:>16,} {most['edges']:>13,} {most['seconds']:>8.1f}"
            f" {most['steps']:>6} {most['peak'] / 1e9:>13.3g}  {most['kept']:<12}  {then}"
        )
    one, many = (way["largest"] for way in report["ways"])
    if one and many:
        lines.append(f"Ranks couple {many['edges'] / one['edges']:.2f} times as many edges.")
    return "\n".join(lines)


# ---------------------------------------------------------------- in the processes


def prepare(folder: Path, n: int) -> None:
    """Both views as shards, in a stream."""
    from cotherm import ranks
    from cotherm.graphs.sharded.staging import staged
    from cotherm.graphs.sharded.writing import ShardWriter

    world = ranks.world()
    if world.rank == 0:
        folder.mkdir(parents=True)
    world.gather(None)
    starts = n * np.arange(_SHARDS + 1) // _SHARDS
    for view in range(2):
        with staged(world, folder / f"{view}.shards") as place:
            writer = ShardWriter(world, place, starts)
            with ranks.together(world):
                for block in _grid(n, view, world.rank, world.size):
                    writer.add(block)
            writer.finish(lambda records: records, {})


def _grid(n: int, view: int, rank: int, size: int) -> Iterator[Any]:
    """The records of a rank's rows of the grid, and of the short cuts."""
    from cotherm.graphs.sharded.writing import EDGE

    columns = _columns(n)
    rows = n // columns
    step = max(1, _ROWS_AT_ONCE // columns)
    for first in range(rows * rank // size, rows * (rank + 1) // size, step):
        last = min(first + step, rows * (rank + 1) // size)
        v = np.arange(first * columns, last * columns)
        right, down = v % columns < columns - 1, v < n - columns
        ends = [(v[right], 1), (v[down], columns), (v[right & down], columns + 1)]
        block = np.zeros(sum(len(i) for i, _ in ends), EDGE)
        block["i"] = np.concatenate([i for i, _ in ends])
        block["j"] = np.concatenate([i + step_ for i, step_ in ends])
        block["w"] = 0.5 + np.random.default_rng((view, first)).random(len(block))
        yield block
    if view == 0 and rank == 0:
        places = np.sort(np.random.default_rng(0).choice(n // 4, 2 * _SHORT_CUTS, replace=False))
        block = np.zeros(_SHORT_CUTS, EDGE)
        block["i"], block["j"], block["w"] = places[:_SHORT_CUTS], places[_SHORT_CUTS:] + n // 2, 1.0
        yield block


def couple(folder: Path, limit: int, seconds: float, *, whole: bool) -> dict[str, Any]:
    """A few steps, under the limit."""
    import cotherm as ct
    from cotherm import ranks

    world = ranks.world()
    paths = [folder / f"{view}.shards" for view in range(2)]
    n = ct.ShardedGraph.open(paths[0]).n
    marks = np.repeat((n * (1 + np.arange(_LANDMARKS)) // (_LANDMARKS + 1))[:, np.newaxis], 2, axis=1)
    steps: dict[str, Any] = {"max_iterations": _STEPS}
    _warmed("cpu" if whole else "petsc")
    world.gather(None)
    if limit:
        most = _address_space() + limit
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    before, began = memory.in_use() or 0, time.perf_counter()
    if whole:
        graphs = [ct.ShardedGraph.open(path).to_graph() for path in paths]
        functions = [ct.landmark_functions(g, marks[:, k]) for k, g in enumerate(graphs)]
        result: Any = ct.couple(graphs, functions, max_seconds=seconds, options=steps)
    else:
        result = ct.couple(paths, {"landmarks": marks}, max_seconds=seconds, engine="petsc", options=steps)
    taken = max(world.gather((memory.peak() or 0) - before))
    return {
        "coupled": True,
        "seconds": time.perf_counter() - began,
        "peak": taken,
        "steps": len(result.history),
        "status": result.status,
        "kept": result.settings["memory"]["derivatives"] if whole else result.settings["memory"],
    }


def _warmed(engine: str) -> None:
    """Compiled kernels and libraries are there before memory is counted."""
    import cotherm as ct

    views = ct.datasets.shortcuts(2_500, functions=_LANDMARKS)
    ct.couple(views.graphs, views.functions, options={"max_iterations": 2}, engine=engine)


def _address_space() -> int:
    with open("/proc/self/statm") as file:  # noqa: PTH123
        return int(file.read().split()[0]) * resource.getpagesize()


def main(arguments: list[str]) -> None:
    """What a process of the benchmark does."""
    from cotherm import ranks

    what, folder = arguments[0], Path(arguments[1])
    if what == "prepare":
        prepare(folder, int(arguments[2]))
        return
    row = couple(folder, int(arguments[2]), float(arguments[3]), whole=what == "whole")
    if ranks.is_first():
        sys.stdout.write(json.dumps(row) + os.linesep)


def _program(arguments: list[str]) -> Callable[[], None]:
    return lambda: main(arguments)


if __name__ == "__main__":
    from cotherm.cli.main import run_program

    run_program("largest", _program(sys.argv[1:]))
