"""Coupling by pairs through shards: memory of ranks beside its forecast, and the answer beside that of one process.

Planted short cuts, two graphs of ten neighbors, all items paired, 24 modes a graph: 48 functions, 1,176 residuals.
Every row is a run of its own. Memory is what a rank takes beyond what it had when kernels had been compiled. One
process then couples the same graphs whole with the processor's engine, by the functions, times and α that one rank
made: cost and weights are compared with those. No times are taken.

Needs PETSc (``make .venv-mpi/.ready``): ``.venv-mpi/bin/python -m benchmarks scaling_pairs``.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.scaling import output_of, required_launcher
from cotherm.memory import in_use, peak

VERTICES, RANKS = (20_000, 50_000), (1, 2)
QUICK = (3_000,)
_NEIGHBORS, _SHARDS, _WARM = 10, 8, 2_500


def run(*, quick: bool = False) -> dict[str, Any]:
    """Measure all rows; the report that ``table`` prints."""
    required_launcher()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for n in QUICK if quick else VERTICES:
            place = Path(folder) / str(n)
            _child("prepare", place, n)
            measured = [_last_line(_child("ranks", place, size, ranks=size)) for size in RANKS]
            compared = _last_line(_child("alone", place, len(RANKS)))
            rows += [{**row, **compared[str(row["ranks"])]} for row in measured]
    return {"rows": rows}


def table(report: dict[str, Any]) -> str:
    """The report as text."""
    lines = [
        "Coupling by pairs through shards: two graphs, all items paired, beside one process",
        "  vertices    edges  ranks  steps  MB a rank  forecast  forecast/taken  cost off by  weights off by",
    ]
    for row in report["rows"]:
        size = f"{row['vertices']:>8}  {row['edges']:>7}  {row['ranks']:>5}  {row['steps']:>5}"
        memory = f"{row['peak'] / 1e6:>9.0f}  {row['forecast'] / 1e6:>8.0f}  {row['forecast'] / row['peak']:>14.2f}"
        lines.append(f"  {size}  {memory}  {row['cost_off']:>11.1e}  {row['weights_off']:>14.1e}")
    return "\n".join(lines)


def _last_line(out: str) -> dict[str, Any]:
    return dict(json.loads(out.strip().splitlines()[-1]))


def _child(what: str, folder: Path, number: int, ranks: int | None = None) -> str:
    return output_of("scaling_pairs", [what, str(folder), str(number)], ranks)


# ---------------------------------------------------------------- in the processes


def prepare(folder: Path, n: int) -> None:
    """Graphs as shards, and small ones for which kernels are compiled."""
    import cotherm as ct

    folder.mkdir(parents=True)
    for size, name in ((n, ""), (_WARM, "warm")):
        for k, graph in enumerate(ct.datasets.shortcuts(size, k=_NEIGHBORS).graphs):
            ct.shard_graph(graph, folder / f"{name}{k}.shards", _SHARDS, order="partition")


def measure_ranks(folder: Path) -> dict[str, Any] | None:
    """By ranks, from shards; one of them reports the most that any has taken."""
    import cotherm as ct
    from cotherm import ranks

    world = ranks.world()
    ct.couple_pairs(_shards(folder, "warm"), "same", engine="petsc", options={"max_iterations": 30})
    before = settled()
    result = ct.couple_pairs(_shards(folder), "same", engine="petsc", options={"out": folder / f"on{world.size}"})
    taken = max(world.gather((peak() or 0) - before))
    if world.size == 1:  # the whole functions, for one process
        for k, F in enumerate(result.functions):
            np.save(folder / f"{k}.npy", F)
    if world.rank:
        return None
    return {
        "vertices": result.graphs[0].n,
        "edges": sum(g.m for g in result.graphs),
        "ranks": world.size,
        "steps": len(result.history),
        "status": result.status,
        "peak": taken,
        "forecast": result.settings["forecast"],
        "cost": result.cost,
    }


def settled() -> int:
    """Bytes of this process once what it has freed is returned; from here on its peak counts, where Linux allows it."""
    with suppress(OSError, AttributeError):
        import ctypes

        ctypes.CDLL("libc.so.6").malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")
    return in_use() or 0


def compare_alone(folder: Path) -> dict[str, Any]:
    """Couple the whole graphs with the same functions, times and α; how far the answers of ranks are off."""
    import cotherm as ct
    from cotherm.graphs.sharded.store import ShardedGraph

    of_ranks = {size: json.loads((folder / f"on{size}" / "coupling.json").read_text()) for size in RANKS}
    first, functions = of_ranks[1], [np.load(folder / f"{k}.npy") for k in range(2)]
    units = first["settings"]["units"]
    graphs = [ShardedGraph.open(path).to_graph() for path in _shards(folder)]
    scaled = [g.with_weights(g.w / unit) for g, unit in zip(graphs, units, strict=True)]
    one = ct.couple(scaled, functions, first["times"], first["alpha"], options={"continuation": "direct"})
    found = {}
    for size, summary in of_ranks.items():
        off = 0.0
        for k, unit in enumerate(units):
            written, expected = ShardedGraph.open(folder / f"on{size}" / str(k)).to_graph(), one.graphs[k]
            off = max(off, float(np.abs(written.w / unit - expected.w).max() / expected.w.max()))
        found[str(size)] = {"cost_off": abs(summary["cost"] / one.cost - 1.0), "weights_off": off}
    return found


def _shards(folder: Path, name: str = "") -> list[Path]:
    return [folder / f"{name}{k}.shards" for k in range(2)]


def main(arguments: list[str]) -> None:
    """What a process of the benchmark does."""
    what, folder, number = arguments[0], Path(arguments[1]), int(arguments[2])
    if what == "prepare":
        prepare(folder, number)
        return
    row = measure_ranks(folder) if what == "ranks" else compare_alone(folder)
    if row is not None:
        sys.stdout.write(json.dumps(row) + os.linesep)


if __name__ == "__main__":
    main(sys.argv[1:])
