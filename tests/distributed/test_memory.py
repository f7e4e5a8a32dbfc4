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
