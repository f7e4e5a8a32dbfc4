"""``cotherm shard`` and ``cotherm info`` of what it writes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import cotherm as ct
from tests.cli.conftest import Run


@pytest.fixture
def points(tmp_path: Path) -> np.ndarray:
    X = np.random.default_rng(0).normal(size=(200, 2))
    np.save(tmp_path / "points.npy", X)
    ct.write_graph(ct.knn_graph(X, 5, name="cloud"), tmp_path / "graph.npz")
    return X


@pytest.mark.usefixtures("points")
def test_a_graph_file(run: Run, tmp_path: Path) -> None:
    answer = run("shard", tmp_path / "graph.npz", "--parts", 3, "--out", tmp_path / "g.shards")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("Sharded graph cloud: 200 vertices, ")
    assert f"Written: {tmp_path / 'g.shards'}" in answer.out
    opened = ct.ShardedGraph.open(tmp_path / "g.shards")
    told = json.loads(run("info", tmp_path / "g.shards", "--json").out)
    assert told["kind"] == "sharded graph"
    assert (told["vertices"], told["edges"], told["shards"]) == (200, opened.m, 3)
    assert told["edges_between_shards"] == opened.header.mirrors.sum()
    assert (told["order"], told["extras"]) == ("given", ["coordinates"])
    assert "3 shards of at most" in run("info", tmp_path / "g.shards").out
    again = run("shard", tmp_path / "graph.npz", "--out", tmp_path / "g.shards")
    assert again.code == 2
    assert "the directory exists; needed: a new name. Pass --force to replace it." in again.err
    assert run("shard", tmp_path / "graph.npz", "--out", tmp_path / "g.shards", "--force").code == 0
    assert ct.ShardedGraph.open(tmp_path / "g.shards").shards == 1


def test_points(run: Run, tmp_path: Path, points: np.ndarray) -> None:
    options = ("--neighbors", 4, "--scale", "median", "--symmetrize", "mean", "--parts", 2)
    answer = run("shard", tmp_path / "points.npy", *options, "--out", tmp_path / "g.shards", "--json")
    assert answer.code == 0
    assert json.loads(answer.out)["recall"] == 1.0
    expected = ct.knn_graph(points, 4, scale="median", symmetrize="mean", name="points")
    assert ct.ShardedGraph.open(tmp_path / "g.shards").to_graph() == expected
    np.savetxt(tmp_path / "points.csv", points, delimiter=",", fmt="%.17g")
    assert run("shard", tmp_path / "points.csv", *options, "--out", tmp_path / "h.shards").code == 0
    assert ct.ShardedGraph.open(tmp_path / "h.shards").to_graph() == expected
    rough = run("shard", tmp_path / "points.npy", "--search", "approximate", "--probes", 1, "--out", tmp_path / "r")
    assert "recall of the search 1" in rough.out  # one block holds all points


@pytest.mark.usefixtures("points")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("graph.npz", "--metric", "cosine"), "--metric: given with"),
        (("graph.npz", "graph.npz"), "2 files; needed: one graph, or points"),
        (("graph.npz", "--order", "cells"), "--order: cells; needed: given or partition"),
        (("points.npy", "--order", "partition"), "--order: partition; needed: given or cells"),
        (("points.npy", "--probes", "3"), "--probes: 3 for an exact search"),
        (("points.npy", "--neighbors", "0"), "k: 0; needed"),
        (("graph.npz", "--parts", "0"), "parts: 0; needed"),
        (("missing.csv",), "no such file"),
        (("graph.obj",), "suffix '.obj'"),
    ],
)
def test_refusals(run: Run, tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    files = [tmp_path / one if "." in one else one for one in arguments]
    answer = run("shard", *files, "--out", tmp_path / "g.shards")
    assert answer.code == 2
    assert message in answer.err
    assert len(answer.err.splitlines()) == 1
    assert not (tmp_path / "g.shards").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_conversion_that_is_ended_leaves_nothing(tmp_path: Path) -> None:
    """SIGTERM while the file is read: what was there before is whole, and no scratch is left."""
    graph = ct.Graph(3, [0], [1], [1.0])
    ct.shard_graph(graph, tmp_path / "g.shards")
    (tmp_path / "edges.csv").write_bytes(b"0,1\n" * 20_000_000)  # takes seconds to read
    command = [sys.executable, "-m", "cotherm", "shard", "edges.csv", "--out", "g.shards", "--force"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE)
    while not list(tmp_path.glob(".cotherm-*/scratch/edges.bin")) and process.poll() is None:
        time.sleep(0.01)
    process.terminate()
    process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    assert sorted(one.name for one in tmp_path.iterdir()) == ["edges.csv", "g.shards"]
    assert ct.ShardedGraph.open(tmp_path / "g.shards").to_graph().n == 3


def test_info_of_a_directory_that_is_no_graph(run: Run, tmp_path: Path) -> None:
    answer = run("info", tmp_path)
    assert answer.code == 2
    assert "no header.json in it" in answer.err
