"""Coupling by several processes: time, memory and traffic of ranks beside the processor's engine with one thread.

Planted short cuts (six bumps, ten neighbors), coupled through shards that PETSc's partitioner cuts. *Strong*: one size
on 1, 2 and 4 ranks. *Weak*: as many vertices for each rank. Every row is a run of its own; compiling is not counted.
Traffic is counted where PETSc is called. From it, and from the halo that each rank has, a model of larger machines is
made, and compared with the rows: see :func:`model` and :func:`checked`.

Needs PETSc (``make .venv-mpi/.ready``): ``.venv-mpi/bin/python -m benchmarks scaling``.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.child import environment
from cotherm.errors import CothermError
from cotherm.memory import peak

STRONG, WEAK, RANKS = 200_000, 50_000, (1, 2, 4)
QUICK = 3_000
# A coupling that has been compiled for before any is measured.
_WARM = 2_500
# Products, and messages, that are timed together.
_REPEATS, _MESSAGES = 20, 200
# Of the data set.
_NEIGHBORS, _FUNCTIONS = 10, 6
_SHARDS = 8
# The machine of the model: bytes a second and seconds a message between nodes, and ranks a node.
BANDWIDTH, LATENCY, PER_NODE = 12.5e9, 2e-6, 64
MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OPENBLAS_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
}


def run(*, quick: bool = False) -> dict[str, Any]:
    """Measure all rows; the report that ``table`` prints."""
    required_launcher()
    strong, weak = (QUICK, QUICK) if quick else (STRONG, WEAK)
    with tempfile.TemporaryDirectory() as folder:
        alone = _measured(folder, "cpu", strong, 1)
        sizes = RANKS[:2] if quick else RANKS
        ranks = [_measured(folder, "petsc", strong, size) for size in sizes]
        growing = [_measured(folder, "petsc", weak * size, size) for size in sizes]
    fitted = _memory(ranks)
    return {
        "alone": alone,
        "strong": ranks,
        "weak": growing,
        "memory": fitted,
        "checked": checked([*ranks, *growing], os.cpu_count() or 1),
        "model": model(ranks, fitted),
    }


def required_launcher() -> None:
    """Refuse where there is no mpiexec."""
    if shutil.which("mpiexec") is None:
        raise CothermError("mpiexec", "not found", "an MPI and PETSc", "Run: make .venv-mpi/.ready")


def _memory(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Of a rank: a constant and a part that falls with the number of ranks, by least squares; how far rows are off."""
    A = np.array([[1.0, 1.0 / row["ranks"]] for row in rows])
    bytes_ = np.array([row["peak"] for row in rows], dtype=np.float64)
    constant, part = np.linalg.lstsq(A, bytes_, rcond=None)[0]
    off = np.max(np.abs(A @ [constant, part] / bytes_ - 1.0))
    return {"constant": float(constant), "part": float(part), "off": float(off)}


def checked(rows: list[dict[str, Any]], processors: int) -> list[dict[str, float]]:
    """Seconds a step by the model, with what an exchange and a sum take on this machine, beside those measured.

    Ranks beyond the processors wait for their turn. What the others do meanwhile is not in the model: they share caches
    and memory.
    """
    one = rows[0]
    work = one["seconds"] / max(one["steps"], 1) / one["edges"]
    found = []
    for row in rows:
        steps, turns = max(row["steps"], 1), max(1.0, row["ranks"] / processors)
        waiting = row["exchanges"] * row["exchange_us"] + row["sums"] * row["sum_us"]
        arithmetic = work * row["edges"] / row["ranks"] * turns
        found.append(
            {
                "vertices": row["vertices"],
                "ranks": row["ranks"],
                "modeled": arithmetic + 1e-6 * waiting / steps,
                "measured": row["seconds"] / steps,
            }
        )
    return found


def expected_halo(vertices: int, ranks: int) -> float:
    """Rows that a straight cut through both strips brings to a rank with two neighbors, or one.

    A strip of n points, one apart, is √(n/4) wide, and the farthest of ten neighbors is some √(10/π) away.
    """
    return 2 * min(ranks - 1, 2) * np.sqrt(vertices / 4) * np.sqrt(_NEIGHBORS / np.pi)


def model(rows: list[dict[str, Any]], fitted: dict[str, float]) -> list[dict[str, float]]:
    """Seconds a step, memory and ranks for large graphs of this kind, on a machine of which the numbers are stated.

    A step takes c·m/P seconds of arithmetic, c from one rank here; an exchange sends the halo of a rank, which in two
    dimensions grows like the root of its vertices, as the halos here do; sums over all ranks take log₂P messages, both
    ways.
    """
    one, most = rows[0], rows[-1]
    steps = max(one["steps"], 1)
    work = one["seconds"] / steps / one["edges"]
    exchanges, sums = (most[name] / max(most["steps"], 1) for name in ("exchanges", "sums"))
    rows_exchanged = most["exchanged_bytes"] / max(most["exchanges"], 1)
    border = rows_exchanged / np.sqrt(most["vertices"] / most["ranks"])
    share = fitted["part"] / one["edges"]
    found = []
    for edges in (1e9, 1e10):
        vertices = edges * one["vertices"] / one["edges"]
        for ranks in (64, 256, 1_024, 4_096, 16_384, 65_536):
            sent = border * np.sqrt(vertices / ranks)
            halo = exchanges * (2 * LATENCY + sent * PER_NODE / BANDWIDTH)
            waiting = sums * 2 * np.log2(ranks) * LATENCY
            arithmetic = work * edges / ranks
            found.append(
                {
                    "edges": edges,
                    "ranks": ranks,
                    "gigabytes_a_rank": (fitted["constant"] + share * edges / ranks) / 1e9,
                    "seconds_a_step": arithmetic + halo + waiting,
                    "arithmetic": arithmetic / (arithmetic + halo + waiting),
                }
            )
    return found


def table(report: dict[str, Any]) -> str:
    """The report as text."""
    title = "  run           vertices  ranks  seconds  GB a rank  halo rows  exchanges  MB received  sums"
    lines = ["Coupling of planted short cuts, two graphs, q = 6", title, _line("cpu, 1 thread", report["alone"])]
    lines += [_line("strong", row) for row in report["strong"]]
    lines += [_line("weak", row) for row in report["weak"]]
    one, two = report["strong"][0]["seconds"], report["strong"][1]["seconds"]
    lines += [
        f"One rank takes {one / report['alone']['seconds']:.2f} times as long as the processor's engine, one thread;",
        f"two ranks are {one / two:.2f} times as fast as one.",
        "A step of the recurrence, and PETSc's product alone, in ms: "
        + "; ".join(f"{row['step_ms']:.1f} and {row['petsc_ms']:.1f} on {row['ranks']}" for row in report["strong"]),
        "Memory of a rank: {constant:.3g} + {part:.3g}/P bytes, within {off:.0%}.".format(**report["memory"]),
        *map(_traffic_line, [row for row in (*report["strong"], *report["weak"]) if row["ranks"] > 1]),
        "",
        "The model beside what was measured here, seconds a step",
        "  vertices  ranks  modeled  measured",
        *(
            f"  {row['vertices']:>8}  {row['ranks']:>5}  {row['modeled']:>7.3f}  {row['measured']:>8.3f}"
            for row in report["checked"]
        ),
        "",
        "Model of larger machines (not measured): "
        f"{BANDWIDTH / 1e9:g} GB/s a node of {PER_NODE} ranks, {LATENCY * 1e6:g} µs a message",
        "  edges     ranks  GB a rank  seconds a step  arithmetic",
    ]
    lines += [
        f"  {row['edges']:.0e}  {row['ranks']:>8}  {row['gigabytes_a_rank']:>9.3g}  {row['seconds_a_step']:>14.3g}  "
        f"{row['arithmetic']:>9.0%}"
        for row in report["model"]
    ]
    return "\n".join(lines)


def _traffic_line(row: dict[str, Any]) -> str:
    """What is sent a step, and an exchange, beside theory."""
    steps, exchanges, sent = max(row["steps"], 1), max(row["exchanges"], 1), row["exchanged_bytes"]
    straight, wide = expected_halo(row["vertices"], row["ranks"]), 8 * _FUNCTIONS * row["halo"] / 2
    parts = [
        f"{row['vertices']} vertices, {row['ranks']} ranks: {row['halo']} halo rows ({straight:.0f} for straight cuts)",
        f"{row['exchanges'] / steps:.0f} exchanges a step, alone {row['exchange_us']:.0f} µs each",
        f"{row['sums'] / steps:.0f} sums, {row['sum_us']:.0f} µs",
        f"{sent / steps / 1e6:.2f} MB",
        f"{sent / exchanges / 1e3:.1f} kB an exchange ({wide / 1e3:.1f} kB for {_FUNCTIONS} columns of one graph)",
    ]
    return "; ".join(parts)


def _line(name: str, row: dict[str, Any]) -> str:
    traffic = f"{row['halo']:>9}  {row['exchanges']:>9}  {row['exchanged_bytes'] / 1e6:>11.1f}  {row['sums']:>4}"
    size = f"{row['vertices']:>8}  {row['ranks']:>5}  {row['seconds']:>7.1f}  {row['peak'] / 1e9:>9.3f}"
    return f"  {name:<13} {size}  {traffic}"


def _measured(folder: str, engine: str, n: int, ranks: int) -> dict[str, Any]:
    """One run, in processes of its own."""
    shards = Path(folder) / f"{n}"
    if not shards.exists():
        output_of("scaling", ["prepare", str(shards), str(n)])
    out = output_of("scaling", [engine, str(shards), str(n)], ranks if engine == "petsc" else None)
    return dict(json.loads(out.strip().splitlines()[-1]))


def output_of(benchmark: str, arguments: list[str], ranks: int | None = None) -> str:
    """What a benchmark prints that is run in a process of its own, or by mpiexec in so many ranks."""
    command = [sys.executable, "-m", f"benchmarks.{benchmark}", *arguments]
    if ranks is not None:
        command = ["mpiexec", "-n", str(ranks), *command]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env={**environment(), **MPI})
    if done.returncode:
        raise CothermError(benchmark, done.stderr[-500:], "a run that ends", "Run: make .venv-mpi/.ready")
    return done.stdout


# ---------------------------------------------------------------- in the processes


def prepare(folder: Path, n: int) -> None:
    """Graphs as shards, and their functions."""
    import cotherm as ct

    folder.mkdir(parents=True)
    for size, name in ((n, ""), (_WARM, "warm")):
        views = ct.datasets.shortcuts(size, k=_NEIGHBORS, functions=_FUNCTIONS)
        for k, (graph, F) in enumerate(zip(views.graphs, views.functions, strict=True)):
            ct.shard_graph(graph, folder / f"{name}{k}.shards", _SHARDS, order="partition")
            np.save(folder / f"{name}{k}.npy", F)


def measure_alone(folder: Path) -> dict[str, Any]:
    """By the processor's engine."""
    import cotherm as ct
    from cotherm.graphs.sharded.store import ShardedGraph

    def given(name: str) -> tuple[list[Any], list[Any]]:
        sharded = [ShardedGraph.open(folder / f"{name}{k}.shards") for k in range(2)]
        functions = [np.load(folder / f"{name}{k}.npy") for k in range(2)]
        numbers = [one.read_vertices("original", 0, one.n) if one.has("original") else slice(None) for one in sharded]
        return [one.to_graph() for one in sharded], [F[some] for F, some in zip(functions, numbers, strict=True)]

    ct.couple(*given("warm"))
    before = peak() or 0
    began = time.perf_counter()
    graphs, functions = given("")
    result = ct.couple(graphs, functions)
    row = _row(result, time.perf_counter() - began, 1, max((peak() or 0) - before, 0))
    return {**row, "vertices": graphs[0].n, "edges": sum(g.m for g in graphs)}


def measure_ranks(folder: Path, steps: int) -> dict[str, Any] | None:
    """By ranks, from shards, in at most so many steps; one of them reports the largest of what they took."""
    import cotherm as ct
    from cotherm.engines import get_engine
    from cotherm.engines.petsc.communicator import Traffic
    from cotherm.engines.petsc.engine import PetscEngine

    engine = get_engine("petsc")
    assert isinstance(engine, PetscEngine)
    ranks = engine.ranks

    def given(name: str) -> tuple[list[Path], list[Path]]:
        return [folder / f"{name}{k}.shards" for k in range(2)], [folder / f"{name}{k}.npy" for k in range(2)]

    ct.couple(*given("warm"), engine="petsc")
    engine.communicator.traffic = Traffic()
    before = peak() or 0
    ranks.gather(None)
    began = time.perf_counter()
    result = ct.couple(*given(""), engine="petsc", options={"max_iterations": steps})
    row = _row(result, time.perf_counter() - began, ranks.size, max((peak() or 0) - before, 0))
    traffic = result.traffic
    halo = _halo(result)
    row |= {"halo": halo, **{name: traffic[name] for name in ("exchanges", "exchanged_bytes", "sums")}}
    row |= {"vertices": result.graphs[0].n, "edges": sum(g.m for g in result.graphs)}
    row |= _products(engine, result)
    row |= _messages(engine, result)
    rows = ranks.gather(row)
    most = ("seconds", "peak", "halo", "exchanged_bytes", "step_ms", "petsc_ms", "exchange_us", "sum_us")
    largest = {name: max(one[name] for one in rows) for name in most}
    return {**row, **largest} if ranks.rank == 0 else None


def _products(engine: Any, result: Any) -> dict[str, float]:
    """Milliseconds of a step of the Chebyshev recurrence, and of PETSc's product of L with a block alone."""
    from petsc4py import PETSc

    from cotherm.methods.coupling.shard_views import read_view

    view = read_view(engine.ranks, engine, result.graphs[0])
    pattern, F = view.pattern, result.functions[0]
    L = engine.laplacian(pattern, engine.edge_rows(pattern, view.graph.w))
    terms = np.zeros((_REPEATS + 1, 1))
    terms[-1] = 1.0
    X = engine.asarray(F)
    step = _best(engine, lambda: engine.chebyshev_sums(L, X, terms, L.bound)) / _REPEATS
    rows, start = L.rows, view.part.start
    here = np.concatenate([np.arange(start, view.part.stop), pattern.others])
    end = int(rows.offsets[-1])
    own = np.repeat(np.arange(pattern.n), np.diff(rows.offsets.astype(np.int64)))
    columns = np.concatenate([here[rows.columns[:end]], np.arange(start, view.part.stop)])
    values = np.concatenate([-rows.weights, rows.degrees])
    order = np.lexsort((columns, np.concatenate([own, np.arange(pattern.n)])))
    offsets = (rows.offsets.astype(np.int64) + np.arange(pattern.n + 1)).astype(np.int32)
    size = ((pattern.n, L.n), (pattern.n, L.n))
    csr = (offsets, columns[order].astype(np.int32), values[order])
    A = PETSc.Mat().createAIJ(size, csr=csr, comm=engine.communicator.comm)
    B = PETSc.Mat().createDense(((pattern.n, L.n), (None, F.shape[1])), array=F.T, comm=engine.communicator.comm)
    B.assemble()
    C = A.matMult(B)

    def products() -> None:
        for _ in range(_REPEATS):
            A.matMult(B, result=C)

    return {"step_ms": 1e3 * step, "petsc_ms": 1e3 * _best(engine, products) / _REPEATS}


def _messages(engine: Any, result: Any) -> dict[str, float]:
    """Microseconds of an exchange of all functions of one graph, and of a sum over all ranks, each alone."""
    from cotherm.methods.coupling.shard_views import read_view

    pattern = read_view(engine.ranks, engine, result.graphs[0]).pattern
    rows, few = np.ones((pattern.n + pattern.halo.count, _FUNCTIONS)), np.ones(_FUNCTIONS)

    def exchange() -> None:
        for _ in range(_MESSAGES):
            pattern.halo.fetch(rows)

    def add() -> None:
        for _ in range(_MESSAGES):
            engine.communicator.sum(few)

    return {
        "exchange_us": 1e6 * _best(engine, exchange) / _MESSAGES,
        "sum_us": 1e6 * _best(engine, add) / _MESSAGES,
    }


def _best(engine: Any, task: Any) -> float:
    """Seconds, the best of three."""
    seconds = []
    for _ in range(3):
        engine.ranks.gather(None)
        began = time.perf_counter()
        task()
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def _halo(result: Any) -> int:
    """Vertices of other ranks that edges of this rank touch, of all graphs."""
    total = 0
    for part in result.parts:
        outside = np.concatenate([part.j[part.j >= part.stop], part.mirror_i])
        total += len(np.unique(outside))
    return total


def _row(result: Any, seconds: float, ranks: int, used: int) -> dict[str, Any]:
    return {
        "ranks": ranks,
        "seconds": seconds,
        "peak": used,
        "cost": result.cost,
        "status": result.status,
        "steps": len(result.history),
        "halo": 0,
        "exchanges": 0,
        "exchanged_bytes": 0,
        "sums": 0,
        "step_ms": 0.0,
        "petsc_ms": 0.0,
        "exchange_us": 0.0,
        "sum_us": 0.0,
    }


def main(arguments: list[str]) -> None:
    """What a process of the benchmark does; a fourth argument is the most steps that ranks take."""
    what, folder, n = arguments[0], Path(arguments[1]), int(arguments[2])
    steps = int(arguments[3]) if len(arguments) > 3 else 2_000
    if what == "prepare":
        prepare(folder, n)
        return
    row = measure_alone(folder) if what == "cpu" else measure_ranks(folder, steps)
    if row is not None:
        sys.stdout.write(json.dumps(row) + os.linesep)


if __name__ == "__main__":
    main(sys.argv[1:])
