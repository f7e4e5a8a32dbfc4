"""What the ranks run in tests: ``python -m tests.distributed.programs NAME ARGUMENTS``."""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np

import cotherm as ct
from benchmarks.scaling_pairs import settled
from cotherm import memory, ranks
from cotherm.cli.main import run_program
from cotherm.graphs.sharded.staging import staged
from cotherm.graphs.sharded.store import ShardedGraph
from cotherm.graphs.sharded.writing import write_weights
from cotherm.io import atomic


def new_weight(i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """A weight that tells which edge it is on."""
    return i + j / 1_000


def convert(source: str, target: str, parts: str, order: str = "given") -> None:
    ct.shard_graph(source, target, int(parts), order=order, overwrite=True, ranks=ranks.world())


def convert_unequally(source: str, target: str) -> None:
    """Each rank asks for another number of shards."""
    world = ranks.world()
    ct.shard_graph(source, target, world.rank + 1, ranks=world)


def weights(source: str, target: str) -> None:
    """Write other weights, from parts of all ranks; two graphs in one directory."""
    world = ranks.world()
    graph = ShardedGraph.open(source)
    part = graph.part(world.rank, ranges=graph.vertex_ranges(world.size))
    with staged(world, target, overwrite=True) as folder:
        write_weights(world, folder / "0", graph, part, new_weight(part.i, part.j))
        write_weights(world, folder / "1", graph, part, 2 * part.w, name="twice")
        if world.rank == 0:
            atomic.save(folder / "coupling.json", json.dumps({"views": 2}).encode(), overwrite=False)


def weights_with_death(source: str, target: str) -> None:
    """Rank 1 is killed in the middle of writing."""
    world = ranks.world()
    graph = ShardedGraph.open(source)
    part = graph.part(world.rank, world.size)
    with staged(world, target, overwrite=True) as folder:
        write_weights(world, folder / "0", graph, part, part.w)
        if world.rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        write_weights(world, folder / "1", graph, part, part.w)


def weights_with_a_full_disk(source: str, target: str) -> None:
    """Rank 1 may write only small files, as on a disk that is full."""
    world = ranks.world()
    graph = ShardedGraph.open(source)
    part = graph.part(world.rank, world.size)
    if world.rank == 1:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))
    with staged(world, target, overwrite=True) as folder:
        write_weights(world, folder / "0", graph, part, part.w)


def weights_with_a_bug(source: str, target: str) -> None:
    """Rank 1 fails where the others do not wait for it together."""
    world = ranks.world()
    graph = ShardedGraph.open(source)
    part = graph.part(world.rank, world.size)
    with staged(world, target, overwrite=True) as folder:
        if world.rank == 1:
            raise ct.CothermError("u", "a weight that went wrong", "one that did not")
        write_weights(world, folder / "0", graph, part, part.w)


def weights_with_a_gap(source: str, target: str) -> None:
    """Parts that are not all vertices; unequal weights; each is refused on all ranks."""
    world = ranks.world()
    graph = ShardedGraph.open(source)
    part = graph.part(0, world.size)
    with staged(world, target, overwrite=True) as folder:
        write_weights(world, folder / "0", graph, part, part.w)


def parts(source: str) -> None:
    """Every rank reads its part."""
    world = ranks.world()
    with ranks.together(world):
        graph = ShardedGraph.open(source)
        graph.part(world.rank, world.size)


def knn(points: str, target: str, recipe: str) -> None:
    """The graph of nearest neighbors."""
    ct.shard_knn_graph(points, target, overwrite=True, ranks=ranks.world(), **json.loads(recipe))


def limited_knn(points: str, target: str, bytes_more: str, how: str) -> None:
    """The same where each process may take only so many bytes more than it has; "whole" by knn_graph."""
    world = ranks.world()
    few = f"{target}.few.npy"
    with ranks.together(world):
        if world.rank == 0:
            np.save(few, np.random.default_rng(0).normal(size=(300, 3)))
    # All that is loaded on first use, pyarrow and its threads among it.
    ct.shard_knn_graph(few, f"{target}.few", 5, ranks=world).graph.to_graph()
    limit = _private_bytes() + int(bytes_more)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    if how == "whole":
        ct.knn_graph(np.load(points), 5, scale=None)
    else:
        more: dict[str, Any] = {"parts": 16, "scale": None, "order": "cells", "options": {"block": 4096}}
        ct.shard_knn_graph(points, target, 5, ranks=world, **more)


def limited_conversion(source: str, target: str, bytes_more: str, how: str) -> None:
    """A graph into shards under the same limit; "whole" by read_graph."""
    world = ranks.world()
    small = f"{target}.small.csv"
    with ranks.together(world):
        if world.rank == 0:
            ct.write_graph(grid(50, 50), small)
    ct.shard_graph(small, f"{target}.small", 64, ranks=world).to_graph()  # loads pyarrow, its reader and its threads
    limit = _private_bytes() + int(bytes_more)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    if how == "whole":
        ct.read_graph(source)
    else:
        ct.shard_graph(source, target, 64, ranks=world)


def limited_coupling(folder: str, bytes_more: str, how: str) -> None:
    """Two graphs coupled where each process may take only so many bytes more, as with ulimit -v; "whole" in memory."""
    world, paths = ranks.world(), [f"{folder}/{k}.shards" for k in range(2)]
    marks = np.column_stack([np.arange(3) * ShardedGraph.open(paths[0]).n // 3] * 2)
    small = [grid(50, 50), grid(50, 50)]
    ct.shard_graph(small[0], f"{folder}/small", 2, overwrite=True, ranks=world).to_graph()
    for engine in ("cpu", "petsc"):  # loads compiled kernels, PETSc and, above, pyarrow
        ct.couple(
            small, [ct.landmark_functions(g, [3, 999]) for g in small], options={"max_iterations": 2}, engine=engine
        )
    limit = _bytes_of("VmSize") + int(bytes_more)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    if how == "whole":
        graphs = [ShardedGraph.open(path).to_graph() for path in paths]
        ct.couple(graphs, [ct.landmark_functions(g, marks[:, 0]) for g in graphs], options={"max_iterations": 2})
        return
    found = ct.couple(
        paths, {"landmarks": marks}, engine="petsc", options={"out": f"{folder}/{world.size}", "max_iterations": 2}
    )
    most = max(world.gather(max(len(part.w) + len(part.mirror_e) for part in found.parts)))
    if world.rank == 0:
        sys.stdout.write(json.dumps({"most": most, "cost": found.cost}))


def memory_of_pairs(folder: str) -> None:
    """Couple two graphs by pairs; the most that a rank has taken, and the forecast of it."""
    world = ranks.world()
    for name in ("small", "large"):  # the first compiles kernels
        before = settled()
        found = ct.couple_pairs(
            [f"{folder}/{name}{k}.shards" for k in range(2)], "same", engine="petsc", options={"max_iterations": 40}
        )
    taken = max(world.gather((memory.peak() or 0) - before))
    edges = max(world.gather(sum(map(len, found.weights))))
    if world.rank == 0:
        forecast = found.settings["forecast"]
        sys.stdout.write(
            json.dumps({"taken": taken, "forecast": forecast, "edges": edges, "steps": len(found.history)})
        )


def grid(rows: int, columns: int, seed: int = 0) -> ct.Graph:
    """A grid with diagonals, of random weights."""
    v = np.arange(rows * columns).reshape(rows, columns)
    i = np.concatenate([v[:, :-1].ravel(), v[:-1].ravel(), v[:-1, :-1].ravel()])
    j = np.concatenate([v[:, 1:].ravel(), v[1:].ravel(), v[1:, 1:].ravel()])
    return ct.Graph(v.size, i, j, 0.5 + np.random.default_rng(seed).random(len(i)))


def _private_bytes() -> int:
    """What the limit of data counts."""
    return _bytes_of("VmData")


def _bytes_of(name: str) -> int:
    with open("/proc/self/status") as status:  # noqa: PTH123
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(name))


def endless(pid: str) -> None:
    """Never ends; each rank leaves its number."""
    world = ranks.world()
    Path(f"{pid}{world.rank}").write_text(str(os.getpid()))
    while True:
        pass


def death_while_merging(source: str, target: str) -> None:
    """Rank 1 is killed while it sorts its shards."""
    from cotherm.graphs.sharded import writing

    world = ranks.world()
    if world.rank == 1:
        setattr(writing.ShardWriter, "_sorted", lambda *_: os.kill(os.getpid(), signal.SIGKILL))  # noqa: B010
    ct.shard_graph(source, target, 6, overwrite=True, ranks=world)


def full_disk_while_sorting(source: str, target: str) -> None:
    """Rank 1 finds no more space for the edges that it sorts into shards."""
    world = ranks.world()
    if world.rank == 1:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000))
    ct.shard_graph(source, target, 6, overwrite=True, ranks=world)


def full_disk_in_knn(points: str, target: str) -> None:
    """The same while points are sorted into cells."""
    world = ranks.world()
    if world.rank == 1:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000))
    ct.shard_knn_graph(points, target, 5, overwrite=True, ranks=world, options={"block": 100})


def unequal_points(points: str, target: str) -> None:
    """Each rank is given another file."""
    world = ranks.world()
    ct.shard_knn_graph(f"{points}{world.rank}.npy", target, 5, ranks=world)


if __name__ == "__main__":
    name, *arguments = sys.argv[1:]
    run_program("program", lambda: globals()[name](*arguments))
