"""Shards that PETSc's graph partitioner cuts: the same graph, and few edges between shards."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import cotherm as ct
from cotherm.graphs.sharded import partition
from tests.distributed.launch import needs_mpi, run_ranks
from tests.distributed.programs import grid
from tests.distributed.test_engine import SIZES
from tests.distributed.test_shards import PROGRAMS

pytestmark = [
    needs_mpi,
    pytest.mark.skipif(importlib.util.find_spec("petsc4py") is None, reason="needs petsc4py (make test-mpi)"),
]


@pytest.fixture(scope="module")
def _has_one() -> None:
    if partition.partitioner() is None:
        pytest.skip("this PETSc has neither ParMETIS nor PT-Scotch")


def shuffled(graph: ct.Graph) -> ct.Graph:
    number = np.random.default_rng(0).permutation(graph.n)
    return ct.Graph(graph.n, number[graph.i], number[graph.j], graph.w)


def original(sharded: ct.ShardedGraph) -> np.ndarray:
    return np.asarray(sharded.read_vertices("original", 0, sharded.n))


def in_given_numbers(sharded: ct.ShardedGraph) -> ct.Graph:
    graph, number = sharded.to_graph(), original(sharded)
    i, j = number[graph.i], number[graph.j]
    return sorted_edges(ct.Graph(graph.n, i, j, graph.w))


def sorted_edges(graph: ct.Graph) -> ct.Graph:
    i, j = np.minimum(graph.i, graph.j), np.maximum(graph.i, graph.j)
    order = np.lexsort((j, i))
    return ct.Graph(graph.n, i[order], j[order], graph.w[order])


def between(sharded: ct.ShardedGraph, processes: int) -> int:
    """Edges between the parts of so many processes."""
    ranges, graph = sharded.vertex_ranges(processes), sharded.to_graph()
    a, b = (np.searchsorted(ranges[1:], ends, side="right") for ends in (graph.i, graph.j))
    return int(np.sum(a != b))


@pytest.mark.usefixtures("_has_one")
@pytest.mark.parametrize("size", SIZES)
def test_few_edges_join_parts(tmp_path: Path, size: int) -> None:
    """Of a grid of 60 by 40 in random order: a straight cut meets 79 edges."""
    graph = shuffled(grid(60, 40))
    ct.write_graph(graph, tmp_path / "g.npz")
    done = run_ranks(size, *PROGRAMS, "convert", tmp_path / "g.npz", tmp_path / "g.shards", "8", "partition")
    assert done.returncode == 0, done.stderr
    sharded = ct.ShardedGraph.open(tmp_path / "g.shards")
    sharded.verify()
    assert sharded.header.order == "partition"
    assert in_given_numbers(sharded) == sorted_edges(graph)
    assert between(sharded, 2) < 200
    assert between(sharded, 4) < 400
    ct.shard_graph(graph, tmp_path / "given.shards", 8)
    assert between(ct.ShardedGraph.open(tmp_path / "given.shards"), 2) > 3_000
    for processes in (2, 4, 8):
        sizes = np.diff(sharded.vertex_ranges(processes))
        assert sizes.max() < 1.15 * graph.n / processes
    moved = sharded.to_graph()
    assert np.median(np.abs(moved.i - moved.j)) < 60  # neighbors are near each other within parts too


@pytest.mark.usefixtures("_has_one")
@pytest.mark.parametrize(
    "graph",
    [
        ct.Graph(3, [0, 1], [1, 2], [1.0, 2.0]),
        ct.Graph(2, [], [], []),
        ct.Graph(900, grid(20, 20).i + 100, grid(20, 20).j + 100, grid(20, 20).w),
    ],
    ids=["fewer vertices than parts", "no edges", "isolated vertices"],
)
def test_odd_graphs(tmp_path: Path, graph: ct.Graph) -> None:
    sharded = ct.shard_graph(graph, tmp_path / "g.shards", 5, order="partition")
    sharded.verify()
    assert in_given_numbers(sharded) == sorted_edges(graph)


def test_without_a_partitioner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition, "PARTITIONERS", ("no_such_type",))
    graph = grid(10, 10)
    with pytest.warns(ct.CothermWarning, match="neither ParMETIS nor PT-Scotch; the order is 'given'"):
        plain = ct.shard_graph(graph, tmp_path / "plain.shards", 2, order="partition")
    assert plain.header.order == "given"
