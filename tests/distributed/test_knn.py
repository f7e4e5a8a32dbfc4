"""Nearest neighbors over several ranks: the graph of one process, also where no rank could hold the points."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cotherm as ct
from cotherm.graphs.sharded.store import ShardedGraph
from tests.distributed.launch import needs_mpi, run_ranks
from tests.distributed.test_shards import PROGRAMS, refused, same_files

pytestmark = needs_mpi

RECIPES: list[dict[str, Any]] = [
    {"k": 7},
    {"k": 5, "scale": "median", "order": "cells", "options": {"symmetrize": "mean"}},
    {"k": 5, "metric": "cosine", "options": {"symmetrize": "min"}},
]


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("recipe", RECIPES, ids=["default", "median in cells", "cosine"])
@pytest.mark.parametrize("d", [3, 25])
def test_ranks_find_what_one_process_finds(tmp_path: Path, d: int, recipe: dict[str, Any], size: int) -> None:
    X = np.random.default_rng(0).normal(size=(1_200, d))
    np.save(tmp_path / "points.npy", X)
    options = {**recipe, "parts": 5, "options": {**recipe.get("options", {}), "block": 150, "name": "knn"}}
    done = run_ranks(size, *PROGRAMS, "knn", tmp_path / "points.npy", tmp_path / "ranks.shards", json.dumps(options))
    assert done.returncode == 0, done.stderr
    alone, _ = ct.shard_knn_graph(tmp_path / "points.npy", tmp_path / "alone.shards", **options)
    assert same_files(tmp_path / "alone.shards", tmp_path / "ranks.shards")
    if "order" not in recipe:
        given = {name: value for name, value in recipe.items() if name != "options"}
        assert alone.to_graph().replace(name=None) == ct.knn_graph(X, **given, **recipe.get("options", {}))


def test_more_ranks_than_blocks(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(30, 2))
    np.save(tmp_path / "points.npy", X)
    done = run_ranks(4, *PROGRAMS, "knn", tmp_path / "points.npy", tmp_path / "g.shards", '{"k": 4, "scale": "median"}')
    assert done.returncode == 0, done.stderr
    assert ShardedGraph.open(tmp_path / "g.shards").to_graph() == ct.knn_graph(X, 4, scale="median")


def test_points_that_no_rank_could_hold(tmp_path: Path) -> None:
    """Each may take 60 MB more than an empty program; the points take 96 MB, and their graph more."""
    n, d, limit = 1_000_000, 12, 60_000_000
    X = np.lib.format.open_memmap(tmp_path / "points.npy", mode="w+", dtype=np.float64, shape=(n, d))
    rng = np.random.default_rng(0)
    for start in range(0, n, 10_000):  # along a curve: few blocks are near each other
        t = np.arange(start, start + 10_000) / 1_000
        X[start : start + 10_000] = rng.normal(scale=0.01, size=(10_000, d))
        X[start : start + 10_000, 0] += t
    X.flush()
    arguments = (tmp_path / "points.npy", tmp_path / "g.shards", str(limit))
    said = refused(tmp_path, "limited_knn", *arguments, "whole", size=1)
    assert "memory" in said
    for size in (1, 2):
        done = run_ranks(size, *PROGRAMS, "limited_knn", tmp_path / "points.npy", tmp_path / f"{size}.shards",
                         str(limit), "shards", seconds=300)  # fmt: skip
        assert done.returncode == 0, done.stderr
    graph = ShardedGraph.open(tmp_path / "1.shards")
    assert same_files(tmp_path / "1.shards", tmp_path / "2.shards")
    part = graph.part(3, 16)  # some true neighbors, by comparing with all points
    original = graph.read_vertices("original", 0, n)
    for vertex in (part.start, (part.start + part.stop) // 2):
        d2 = ((np.load(tmp_path / "points.npy", mmap_mode="r") - X[original[vertex]]) ** 2).sum(axis=1)
        true = set(np.argsort(d2)[1:6].tolist())
        i, j = np.concatenate([part.i, part.mirror_i]), np.concatenate([part.j, part.mirror_j])
        ends = np.concatenate([j[i == vertex], i[j == vertex]])
        assert true <= set(original[ends].tolist())


def test_a_full_disk_while_points_are_sorted(tmp_path: Path) -> None:
    np.save(tmp_path / "points.npy", np.random.default_rng(0).normal(size=(2_000, 3)))
    said = refused(tmp_path, "full_disk_in_knn", tmp_path / "points.npy", tmp_path / "g.shards")
    assert "rank 1 of 3" in said
    assert "file too large" in said
    assert [one.name for one in tmp_path.iterdir()] == ["points.npy"]


def test_unequal_points(tmp_path: Path) -> None:
    for rank in range(3):
        np.save(tmp_path / f"{rank}.npy", np.random.default_rng(rank).normal(size=(50, 3)))
    said = refused(tmp_path, "unequal_points", f"{tmp_path}/", tmp_path / "g.shards")
    assert "on rank 0 and" in said
    assert "needed: the same on all ranks" in said


def test_points_that_are_not_finite(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(2_000, 3))
    X[1_500, 2] = np.inf
    np.save(tmp_path / "points.npy", X)
    said = refused(tmp_path, "knn", tmp_path / "points.npy", tmp_path / "g.shards", "{}")
    assert "point 1500 that is not finite" in said
    assert [one.name for one in tmp_path.iterdir()] == ["points.npy"]
