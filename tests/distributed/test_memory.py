"""Ranks couple where each of them may not take the memory that one process would need."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

import cotherm as ct
from tests.distributed.launch import needs_mpi, run_ranks
from tests.distributed.programs import grid
from tests.distributed.test_shards import PROGRAMS, refused

pytestmark = [
    needs_mpi,
    pytest.mark.skipif(importlib.util.find_spec("petsc4py") is None, reason="needs petsc4py (make test-mpi)"),
]

# Bytes that each process may take beyond what it has at the start.
ROOM = 300_000_000


# Of coupling by pairs, a rank takes at most the forecast, and at least this part of it beyond what is fixed.
FIXED, PART = 80_000_000, 0.5


def test_the_forecast_of_coupling_by_pairs(tmp_path: Path) -> None:
    """On two ranks, with so many functions that derivatives are only applied: no vector is as long as all edges."""
    edges = 0
    for name, n in (("small", 2_500), ("large", 20_000)):
        for k, graph in enumerate(ct.datasets.shortcuts(n).graphs):
            ct.shard_graph(graph, tmp_path / f"{name}{k}.shards", 4)
            edges += graph.m * (name == "large")
    done = run_ranks(2, *PROGRAMS, "memory_of_pairs", tmp_path, seconds=900)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["steps"] > 10
    assert found["edges"] < 0.8 * edges  # in no good order one rank has more than half
    assert found["taken"] <= found["forecast"]
    assert found["taken"] >= PART * (found["forecast"] - FIXED)


def test_ranks_couple_where_one_process_is_refused(tmp_path: Path) -> None:
    """One process is refused, through shards too; two ranks couple, and none of them has the whole graph."""
    graphs = [grid(400, 250, seed) for seed in range(2)]
    for k, graph in enumerate(graphs):
        ct.shard_graph(graph, tmp_path / f"{k}.shards", 8)
    for how in ("whole", "shards"):
        said = refused(tmp_path, "limited_coupling", tmp_path, str(ROOM), how, size=1)
        assert "error: memory: " in said
        assert "the least this coupling takes" in said
    assert not (tmp_path / "1").exists()
    done = run_ranks(2, *PROGRAMS, "limited_coupling", tmp_path, str(ROOM), "shards")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["most"] < 0.55 * graphs[0].m
    for k, graph in enumerate(graphs):
        coupled = ct.ShardedGraph.open(tmp_path / "2" / str(k))
        coupled.verify()
        assert (coupled.n, coupled.m) == (graph.n, graph.m)
