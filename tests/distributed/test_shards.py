"""Sharded graphs over several ranks: as one process writes them, and whole whatever happens to a rank."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

import cotherm as ct
from cotherm.graphs.sharded.store import ShardedGraph, file_name
from tests.distributed.launch import needs_mpi, run_ranks
from tests.distributed.programs import new_weight
from tests.graphs.sharded.test_store import in_order, random_graph

pytestmark = needs_mpi

PROGRAMS = ("-m", "tests.distributed.programs")
# The launcher itself takes a second or two to start and to end.
SECONDS = 30


@pytest.fixture
def graph() -> ct.Graph:
    return random_graph(2_000, 9_000, extras=True)


def same_files(a: Path, b: Path) -> bool:
    names, others = (sorted(one.relative_to(folder) for one in folder.rglob("*.*")) for folder in (a, b))
    return names == others and all((a / name).read_bytes() == (b / name).read_bytes() for name in names)


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("suffix", [".npz", ".csv"])
def test_ranks_convert_as_one_process_does(tmp_path: Path, graph: ct.Graph, size: int, suffix: str) -> None:
    """The directories are the same, byte by byte."""
    source = tmp_path / f"g{suffix}"
    ct.write_graph(graph if suffix == ".npz" else graph.bare(), source)
    ct.shard_graph(source, tmp_path / "alone.shards", 5)
    done = run_ranks(size, *PROGRAMS, "convert", source, tmp_path / "ranks.shards", "5")
    assert done.returncode == 0, done.stderr
    assert same_files(tmp_path / "alone.shards", tmp_path / "ranks.shards")


@pytest.mark.parametrize("size", [1, 2, 4])
def test_weights_of_all_ranks(tmp_path: Path, graph: ct.Graph, size: int) -> None:
    ct.shard_graph(graph, tmp_path / "g.shards", 3)
    done = run_ranks(size, *PROGRAMS, "weights", tmp_path / "g.shards", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    first, second = (ShardedGraph.open(tmp_path / "out" / view) for view in "01")
    first.verify()
    second.verify()
    expected = in_order(graph)
    assert first.to_graph() == expected.with_weights(new_weight(expected.i, expected.j))
    assert second.to_graph() == expected.with_weights(2 * expected.w).replace(name="twice")
    assert (tmp_path / "out" / "coupling.json").read_text() == '{"views": 2}'


def test_more_ranks_than_vertices(tmp_path: Path) -> None:
    graph = ct.Graph(3, [0, 1], [2, 2], [1.0, 2.0])
    ct.shard_graph(graph, tmp_path / "g.shards", 2)
    done = run_ranks(4, *PROGRAMS, "weights", tmp_path / "g.shards", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert ShardedGraph.open(tmp_path / "out" / "0").to_graph().w.tolist() == [0.002, 1.002]


def lines_of(text: str) -> list[str]:
    """What our program says, without what the launcher adds."""
    return [line for line in map(str.strip, text.splitlines()) if line.startswith("program: ")]


def refused(tmp_path: Path, program: str, *arguments: str | Path, size: int = 3) -> str:
    """Run a program that must fail, quickly, and say why in one line; what was there before is whole."""
    began = time.monotonic()
    done = run_ranks(size, *PROGRAMS, program, *arguments, seconds=SECONDS)
    assert done.returncode != 0
    assert time.monotonic() - began < SECONDS
    said = lines_of(done.stderr)
    assert len(said) == 1, done.stderr
    assert not list(tmp_path.glob(".cotherm-*")), "something was left behind"
    return said[0]


@pytest.fixture
def before(tmp_path: Path, graph: ct.Graph) -> Path:
    """A result of an earlier run, which must stay whole."""
    ct.shard_graph(graph, tmp_path / "g.shards", 3)
    done = run_ranks(1, *PROGRAMS, "weights", tmp_path / "g.shards", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    return tmp_path / "out"


def assert_whole(before: Path, graph: ct.Graph) -> None:
    expected = in_order(graph)
    for view, w in (("0", new_weight(expected.i, expected.j)), ("1", 2 * expected.w)):
        opened = ShardedGraph.open(before / view)
        opened.verify()
        np.testing.assert_array_equal(opened.to_graph().w, w)


def test_a_rank_that_is_killed(tmp_path: Path, before: Path, graph: ct.Graph) -> None:
    began = time.monotonic()
    done = run_ranks(3, *PROGRAMS, "weights_with_death", tmp_path / "g.shards", before, seconds=SECONDS)
    assert done.returncode != 0
    assert time.monotonic() - began < SECONDS
    assert "rank 1" in done.stdout + done.stderr or "signal 9" in done.stdout + done.stderr  # the launcher says so
    assert_whole(before, graph)


def test_a_full_disk_on_one_rank(tmp_path: Path, before: Path, graph: ct.Graph) -> None:
    said = refused(tmp_path, "weights_with_a_full_disk", tmp_path / "g.shards", before)
    assert "rank 1 of 3" in said
    assert "file too large; needed: a place that can be written to" in said
    assert_whole(before, graph)


def test_an_error_of_one_rank_alone(tmp_path: Path, before: Path, graph: ct.Graph) -> None:
    said = refused(tmp_path, "weights_with_a_bug", tmp_path / "g.shards", before)
    assert "error: rank 1: u: a weight that went wrong" in said
    assert_whole(before, graph)


def test_parts_with_gaps(tmp_path: Path, before: Path, graph: ct.Graph) -> None:
    said = refused(tmp_path, "weights_with_a_gap", tmp_path / "g.shards", before)
    assert "needed: parts that follow each other, from rank to rank" in said
    assert_whole(before, graph)


def test_unequal_arguments(tmp_path: Path, graph: ct.Graph) -> None:
    ct.write_graph(graph, tmp_path / "g.npz")
    said = refused(tmp_path, "convert_unequally", tmp_path / "g.npz", tmp_path / "g.shards")
    assert "parts: (1, 'given'" in said
    assert "on rank 0 and (2, 'given'" in said
    assert not (tmp_path / "g.shards").exists()


@pytest.mark.parametrize("damage", ["missing", "flipped"])
def test_a_bad_shard_of_one_rank(tmp_path: Path, graph: ct.Graph, damage: str) -> None:
    """One rank alone reads it; all stop."""
    ct.shard_graph(graph, tmp_path / "g.shards", 3)
    place = tmp_path / "g.shards" / file_name("edges", 2)
    if damage == "missing":
        place.unlink()
    else:
        data = bytearray(place.read_bytes())
        data[-1] ^= 1
        place.write_bytes(data)
    said = refused(tmp_path, "parts", tmp_path / "g.shards")
    assert file_name("edges", 2) in said
    assert ("missing" if damage == "missing" else "rank 2 of 3") in said


def test_a_rank_that_is_killed_while_converting(tmp_path: Path, graph: ct.Graph) -> None:
    ct.write_graph(graph, tmp_path / "g.npz")
    ct.shard_graph(tmp_path / "g.npz", tmp_path / "out.shards", 2)
    began = time.monotonic()
    arguments = ("death_while_merging", tmp_path / "g.npz", tmp_path / "out.shards")
    done = run_ranks(3, *PROGRAMS, *arguments, seconds=SECONDS)
    assert done.returncode != 0
    assert time.monotonic() - began < SECONDS
    before = ShardedGraph.open(tmp_path / "out.shards")
    before.verify()
    assert before.to_graph() == in_order(graph)


def test_a_full_disk_while_converting(tmp_path: Path, graph: ct.Graph) -> None:
    ct.write_graph(graph, tmp_path / "g.npz")
    ct.shard_graph(tmp_path / "g.npz", tmp_path / "out.shards", 2)
    said = refused(tmp_path, "full_disk_while_sorting", tmp_path / "g.npz", tmp_path / "out.shards")
    assert "rank 1 of 3" in said
    assert "file too large" in said
    assert ShardedGraph.open(tmp_path / "out.shards").to_graph() == in_order(graph)


def test_a_disk_that_is_really_full(tmp_path: Path) -> None:
    """A file system of some megabytes, where the user may make one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)], check=False, capture_output=True
    )
    if made.returncode:
        pytest.skip("a small file system: only root may mount one")
    try:
        ct.write_graph(random_graph(3_000, 60_000), tmp_path / "large.npz")
        ct.shard_graph(random_graph(50, 60), disk / "g.shards", 2)
        said = refused(disk, "convert", tmp_path / "large.npz", disk / "g.shards", "4")
        assert "no space left on device; needed: a place that can be written to" in said
        ShardedGraph.open(disk / "g.shards").verify()
        assert [one.name for one in disk.iterdir()] == ["g.shards"]
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_ranks_convert_what_one_process_cannot_read(tmp_path: Path) -> None:
    """With so little memory that the readers of whole graphs fail."""
    n, neighbors = 60_000, 20
    i = np.repeat(np.arange(n), neighbors)
    j = i + 1 + np.tile(np.arange(neighbors), n)
    inside = j < n
    source = tmp_path / "g.csv"
    ct.write_graph(ct.Graph(n, i[inside], j[inside], np.ones(int(inside.sum()))), source)
    arguments = (source, tmp_path / "g.shards", str(60_000_000))
    said = refused(tmp_path, "limited_conversion", *arguments, "whole", size=1)
    assert "memory" in said
    for size in (1, 2):
        target = tmp_path / f"{size}.shards"
        done = run_ranks(size, *PROGRAMS, "limited_conversion", source, target, str(60_000_000), "shards")
        assert done.returncode == 0, done.stderr
        assert ShardedGraph.open(target).m == int(inside.sum())


def test_a_launcher_that_runs_out_of_time_leaves_no_rank(tmp_path: Path) -> None:
    """What tests rely on: ranks that never end are gone with their launcher."""
    with pytest.raises(subprocess.TimeoutExpired):
        run_ranks(2, *PROGRAMS, "endless", tmp_path / "pid", seconds=6)
    began = [int(one.read_text()) for one in tmp_path.iterdir()]
    assert len(began) == 2
    deadline = time.monotonic() + 20
    while any(Path(f"/proc/{pid}").exists() for pid in began) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not any(Path(f"/proc/{pid}").exists() for pid in began)


def test_bad_input_while_converting(tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text("0,1\n1,2\n2,1\n")
    said = refused(tmp_path, "convert", tmp_path / "g.csv", tmp_path / "g.shards", "4")
    assert "vertices 1 and 2 joined more than once" in said
    assert [one.name for one in tmp_path.iterdir()] == ["g.csv"]
