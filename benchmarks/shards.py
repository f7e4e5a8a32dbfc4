"""Shards: graphs and points too large for memory, in a stream, beside the same in memory; seconds and peaks of memory.

Each way runs in a process of its own, or in several ranks of MPI where that is installed. What a process takes before
it begins is not counted. Of several ranks the largest counts. Files are in the cache of the system: the disk is not
measured.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import cotherm as ct
from benchmarks.child import environment

_NEIGHBORS = 10
# Edges of graphs to convert; points and dimensions.
_EDGES, _QUICK_EDGES = (1_000_000, 4_000_000, 16_000_000), (50_000,)
_POINTS, _QUICK_POINTS = ((250_000, 3), (1_000_000, 3), (40_000, 40)), ((5_000, 3),)
_SHARDS = 64
# Open MPI refuses root and more ranks than cores unless told.
_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}
_CODE = """
import json, sys, time
import numpy as np
import cotherm as ct
from cotherm import memory, ranks
from cotherm.io import text
from cotherm.graphs.sharded import convert
from cotherm.graphs.sharded.knn import build
source, target = sys.argv[1:]
world = ranks.world()
text.plain_rows(b"0,1,2\\n", 3, ",")
ct.nearest_neighbors(np.eye(3), 1)
ct.nearest_neighbors(np.eye(40), 1)
world.gather(0)
base, began = memory.in_use(), time.perf_counter()
{task}
seconds = time.perf_counter() - began
peak = max(world.gather(memory.peak() - base))
if world.rank == 0:
    print(json.dumps([seconds, peak]))
"""
_CONVERT = f"ct.shard_graph(source, target, {_SHARDS}, overwrite=True, ranks=world)"
_JOIN = f"ct.shard_knn_graph(source, target, {_NEIGHBORS}, parts={_SHARDS}, order='cells', overwrite=True, ranks=world)"


def run(*, quick: bool = False) -> dict[str, Any]:
    """Seconds and bytes of every way on every problem."""
    rows = []
    with TemporaryDirectory() as directory:
        folder = Path(directory)
        for edges in _QUICK_EDGES if quick else _EDGES:
            source = folder / "graph.csv"
            count = _write_graph(source, edges)
            ways = [("in memory", "ct.read_graph(source)", 1), *_in_shards(_CONVERT)]
            rows += [_measured(f".csv, {count:,} edges", *way, source, folder / "out.shards") for way in ways]
        for points, dimensions in _QUICK_POINTS if quick else _POINTS:
            source = folder / "points.npy"
            np.save(source, np.random.default_rng(0).normal(size=(points, dimensions)))
            join = f"ct.knn_graph(np.load(source), {_NEIGHBORS}, search='exact')"
            title = f"{points:,} points, {dimensions} dimensions"
            ways = [("in memory", join, 1), *_in_shards(_JOIN)]
            rows += [_measured(title, *way, source, folder / "out.shards") for way in ways]
    return {"quick": quick, "rows": rows}


def _in_shards(task: str) -> list[tuple[str, str, int]]:
    sizes = [1, 2] if _launcher() is not None else [1]
    return [(f"shards, {size} rank{'s' * (size > 1)}", task, size) for size in sizes]


def _launcher() -> str | None:
    """mpiexec, where MPI is installed: that beside this Python first, which fits its mpi4py."""
    if importlib.util.find_spec("mpi4py") is None:
        return None
    beside = Path(sys.executable).parent / "mpiexec"
    return str(beside) if beside.exists() else shutil.which("mpiexec")


def _measured(problem: str, way: str, task: str, size: int, source: Path, target: Path) -> dict[str, Any]:
    command = [sys.executable, "-c", _CODE.format(task=task), str(source), str(target)]
    if size > 1:
        command = [str(_launcher()), "-n", str(size), *command]
    given = {**environment(), **_MPI} if size > 1 else environment()
    alone = {name: value for name, value in given.items() if size > 1 or not name.startswith(("OMPI_", "PMI"))}
    process = subprocess.run(command, capture_output=True, text=True, check=True, env=alone)
    seconds, peak = json.loads(process.stdout)
    return {"problem": problem, "way": way, "seconds": seconds, "bytes": peak}


def _write_graph(place: Path, edges: int) -> int:
    """A band of eight neighbors; how many edges it has."""
    n = edges // 8
    i = np.repeat(np.arange(n), 8)
    j = i + 1 + np.tile(np.arange(8), n)
    inside = j < n
    w = np.random.default_rng(0).exponential(size=int(inside.sum()))
    ct.write_graph(ct.Graph(n, i[inside], j[inside], w), place, overwrite=True)
    return len(w)


def table(report: dict[str, Any]) -> str:
    """The report for people."""
    lines = [
        f"Into {_SHARDS} shards, beside the same in memory; memory is that of a process above what it begins with",
        f"  {'problem':<34}{'way':<18}{'seconds':>9}{'MB':>8}",
    ]
    lines += [
        f"  {row['problem']:<34}{row['way']:<18}{row['seconds']:>9.2f}{row['bytes'] / 1e6:>8.0f}"
        for row in report["rows"]
    ]
    return "\n".join(lines)
