"""From files to a coupling by two ranks, with commands alone, and what is said where something is missing."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import cotherm as ct
from tests.distributed.launch import needs_mpi, run_ranks
from tests.distributed.programs import grid

pytestmark = [
    needs_mpi,
    pytest.mark.skipif(importlib.util.find_spec("petsc4py") is None, reason="needs petsc4py (make test-mpi)"),
]


def said(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("cotherm: error: ")]


@pytest.fixture
def shards(tmp_path: Path) -> list[Path]:
    """Two small graphs with names, of which the first vertices correspond."""
    places = []
    for k in range(2):
        names = [f"item-{v}" for v in range(48)]
        graph = grid(8, 6, k).replace(vertex_names=names)
        places.append(tmp_path / f"{k}.shards")
        ct.shard_graph(graph, places[-1], 3)
    (tmp_path / "marks.csv").write_text("left,right\nitem-3,item-3\nitem-40,item-41\n")
    return places


def test_couple_and_describe(tmp_path: Path, shards: list[Path]) -> None:
    more = ("--landmarks", tmp_path / "marks.csv", "--out", tmp_path / "out", "--json")
    done = run_ranks(2, "-m", "cotherm", "couple", *shards, *more)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    graphs = [ct.ShardedGraph.open(place).to_graph() for place in shards]
    marks = np.array([[3, 3], [40, 41]])
    one = ct.couple(graphs, [ct.landmark_functions(g, marks[:, k]) for k, g in enumerate(graphs)])
    assert report["cost"] == pytest.approx(one.cost, rel=1e-8)
    for k, graph in enumerate(one.graphs):
        coupled = ct.ShardedGraph.open(tmp_path / "out" / str(k)).to_graph()
        np.testing.assert_allclose(coupled.w, graph.w, atol=1e-8 * float(graph.w.max()))
    told = run_ranks(1, "-m", "cotherm", "info", tmp_path / "out")
    assert told.stdout.startswith(f"Coupling of 2 sharded graphs: {one.status}, cost ")
    (tmp_path / "out" / "coupling.json").write_text('{"graphs": 3}')
    assert "what a coupling of shards wrote" in run_ranks(1, "-m", "cotherm", "info", tmp_path / "out").stderr


def test_couple_by_pairs(tmp_path: Path, shards: list[Path]) -> None:
    """Vertices with the same name are the same item."""
    done = run_ranks(2, "-m", "cotherm", "couple", *shards, "--paired", "--out", tmp_path / "out", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    graphs = [ct.ShardedGraph.open(place).to_graph() for place in shards]
    assert (report["settings"]["items"], report["settings"]["n_modes"]) == (48, 8)
    scaled = [g.with_weights(g.w / unit) for g, unit in zip(graphs, report["settings"]["units"], strict=True)]
    functions = ct.pair_functions(graphs, "names", n_modes=8)[0, 1]
    one = ct.couple(scaled, functions, report["times"], report["alpha"], options={"continuation": "direct"})
    assert report["cost"] == pytest.approx(one.cost, rel=1e-8)


def test_what_is_missing_is_named(tmp_path: Path, shards: list[Path]) -> None:
    marks = ("--landmarks", tmp_path / "marks.csv", "--out", tmp_path / "out")
    for views, more, expected in (
        ([tmp_path / "none.shards", shards[1]], marks, f"{tmp_path / 'none.shards'}: no such directory"),
        ([tmp_path, shards[1]], marks, f"{tmp_path}: a directory without header.json"),
        (shards, ("--out", tmp_path / "out"), "nothing that says what corresponds"),
        (shards, ("--paired", *marks), "--paired: beside --landmarks; needed: one of them"),
    ):
        done = run_ranks(2, "-m", "cotherm", "couple", *views, *more)
        assert done.returncode != 0
        assert len(said(done.stderr)) == 1, done.stderr
        assert expected in said(done.stderr)[0]
    assert not (tmp_path / "out").exists()
