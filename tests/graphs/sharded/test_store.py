"""Sharded graphs: parts of any number of processes are the whole graph, and every kind of damage is one error."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cotherm as ct
from cotherm.graphs.sharded import store
from cotherm.graphs.sharded.store import GraphPart, ShardedGraph
from cotherm.io import array_file


def random_graph(n: int, m: int, seed: int = 0, *, extras: bool = False) -> ct.Graph:
    rng = np.random.default_rng(seed)
    key = np.unique(rng.integers(0, n * n, 4 * m))
    i, j = key // n, key % n
    kept = rng.permutation(np.flatnonzero(i < j))[:m]
    more: dict[str, Any] = {
        "coordinates": rng.normal(size=(n, 2)),
        "labels": rng.integers(0, 4, n),
        "vertex_names": [f"näme {v}" for v in rng.permutation(n)],
        "name": "random",
    }
    return ct.Graph(n, i[kept], j[kept], rng.exponential(size=len(kept)), **(more if extras else {}))


def in_order(graph: ct.Graph) -> ct.Graph:
    """The same graph with its edges sorted by (i, j), as shards have them."""
    order = np.lexsort((graph.j, graph.i))
    return graph.with_edges(graph.i[order], graph.j[order], graph.w[order])


@pytest.fixture
def sharded(tmp_path: Path) -> ShardedGraph:
    return ct.shard_graph(random_graph(60, 200, extras=True), tmp_path / "g.shards", 4)


def test_all_of_a_graph_comes_back(tmp_path: Path) -> None:
    graph = random_graph(60, 200, extras=True)
    sharded = ct.shard_graph(graph, tmp_path / "g.shards", 7)
    assert ShardedGraph.open(tmp_path / "g.shards").to_graph() == in_order(graph)
    assert (sharded.n, sharded.m, sharded.name, sharded.shards) == (60, graph.m, "random", 7)
    sharded.verify()


def assert_part(graph: ct.Graph, part: GraphPart, start: int, stop: int) -> None:
    """A part is what its definition says; the edges of the graph are sorted."""
    i, j = graph.i, graph.j
    own = np.flatnonzero((i >= start) & (i < stop))
    mirror = np.flatnonzero((i < start) & (j >= start) & (j < stop))
    assert (part.start, part.stop, part.first_edge) == (start, stop, int(np.count_nonzero(i < start)))
    for found, whole in ((part.i, graph.i), (part.j, graph.j), (part.w, graph.w)):
        np.testing.assert_array_equal(found, whole[own])
        assert not found.flags.writeable
    for found, whole in ((part.mirror_i, graph.i), (part.mirror_j, graph.j)):
        np.testing.assert_array_equal(found, whole[mirror])
    np.testing.assert_array_equal(part.mirror_e, mirror)
    assert [part.i.dtype, part.w.dtype, part.mirror_e.dtype] == [np.int32, np.float64, np.int64]


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 9, 61, 100])
def test_parts_are_all_edges_that_touch_a_range(sharded: ShardedGraph, size: int) -> None:
    graph = sharded.to_graph()
    ranges = sharded.vertex_ranges(size)
    assert (len(ranges), ranges[0], ranges[-1]) == (size + 1, 0, 60)
    for rank in range(size):
        start, stop = ranges[rank : rank + 2].tolist()
        part = sharded.part(rank, ranges=ranges)
        assert_part(graph, part, start, stop)
        for extra in ("coordinates", "labels", "vertex_names"):
            np.testing.assert_array_equal(getattr(part, extra), getattr(graph, extra)[start:stop])
        assert part.original is None


@given(st.integers(1, 12), st.integers(0, 30), st.integers(1, 15), st.integers(1, 15), st.integers(0, 99))
def test_any_cut_of_any_graph(n: int, m: int, shards: int, size: int, seed: int) -> None:
    import tempfile

    graph = in_order(random_graph(n, m, seed))
    rng = np.random.default_rng(seed)
    ranges = np.sort(np.concatenate([[0, n], rng.integers(0, n + 1, size - 1)]))
    with tempfile.TemporaryDirectory() as folder:
        sharded = ct.shard_graph(graph, Path(folder) / "g.shards", shards)
        sharded.verify()
        for rank in range(size):
            assert_part(graph, sharded.part(rank, ranges=ranges), *ranges[rank : rank + 2].tolist())


def test_ranges_balance_edges(tmp_path: Path) -> None:
    """A star with its center last: half of the work is at the leaves with edges, none at the others."""
    n = 4_000
    star = ct.Graph(n, np.zeros(n // 2, int), np.arange(1, n // 2 + 1), np.ones(n // 2))
    sharded = ct.shard_graph(star, tmp_path / "star.shards", 16)
    ranges = sharded.vertex_ranges(4)
    work = [len(p.w) + len(p.mirror_e) + p.stop - p.start for p in (sharded.part(r, ranges=ranges) for r in range(4))]
    assert max(work) < 1.6 * sum(work) / 4


def test_others_read_the_edges(sharded: ShardedGraph) -> None:
    import pyarrow.dataset

    table = pyarrow.dataset.dataset(sharded.path / "edges").to_table()
    graph = sharded.to_graph()
    assert table.column_names == ["i", "j", "w"]
    for name in "ijw":
        np.testing.assert_array_equal(table[name].to_numpy(), getattr(graph, name))


def test_a_flipped_bit_is_found(sharded: ShardedGraph) -> None:
    for what in ("edges", "mirrors", "vertices"):
        place = sharded.path / store.file_name(what, 1)
        data = bytearray(place.read_bytes())
        for at in (20, len(data) // 2, -30):
            data[at] ^= 4
            place.write_bytes(data)
            opened = ShardedGraph.open(sharded.path)
            with pytest.raises(ct.CothermError, match=f"{what}/part-00001.parquet: content that does not fit"):
                opened.part(0, 1)
            with pytest.raises(ct.CothermError, match="checksum"):
                opened.verify()
            data[at] ^= 4
            place.write_bytes(data)
    ShardedGraph.open(sharded.path).verify()


def test_a_shard_cut_short_or_missing_is_found_at_once(sharded: ShardedGraph) -> None:
    place = sharded.path / store.file_name("edges", 2)
    data = place.read_bytes()
    place.write_bytes(data[:-4])
    with pytest.raises(ct.CothermError, match=r"edges/part-00002.parquet: \d+ bytes; needed: \d+ bytes, as written"):
        ShardedGraph.open(sharded.path)
    place.unlink()
    with pytest.raises(ct.CothermError, match=r"edges/part-00002.parquet: missing; needed: all files of the shards"):
        ShardedGraph.open(sharded.path)
    with pytest.raises(ct.CothermError, match="no such file"):
        sharded.part(0, 1)


def rewrite_header(sharded: ShardedGraph, **changes: object) -> None:
    fields = json.loads((sharded.path / store.FILE).read_text())
    fields |= changes
    fields.pop("crc32")
    fields["crc32"] = store._checksum(fields)
    (sharded.path / store.FILE).write_text(json.dumps(fields))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 2}, "version 2 of the format; needed: version 1. A newer cotherm wrote it: update."),
        ({"version": "1"}, "version: '1'"),
        ({"n": 0}, "contradict"),
        ({"n": 60.0}, "contradict"),
        ({"m": -1}, "contradict"),
        ({"m": 3}, "contradict"),
        ({"starts": [0, 60]}, "contradict"),
        ({"starts": [0, 30, 20, 40, 60]}, "contradict"),
        ({"starts": [[0], [15, 30], 45]}, "contradict"),
        ({"edges": "many"}, "contradict"),
        ({"edges": [10**30, 0, 0, 0]}, "contradict"),
        ({"edges": []}, "contradict"),
        ({"extras": ["coordinates", "pickles"]}, "contradict"),
        ({"extras": 7}, "contradict"),
        ({"order": "cells"}, "contradict"),
        ({"order": []}, "contradict"),
        ({"files": {}}, "contradict"),
        ({"files": {"edges/part-00000.parquet": 3}}, "contradict"),
        ({"name": 3}, "contradict"),
        ({"more": 1}, "fields that do not fit"),
    ],
)
def test_headers_that_are_wrong(sharded: ShardedGraph, changes: dict[str, object], message: str) -> None:
    rewrite_header(sharded, **changes)
    with pytest.raises(ct.CothermError) as caught:
        ShardedGraph.open(sharded.path)
    assert message in str(caught.value)
    assert "header.json" in str(caught.value)


def test_headers_that_are_damaged(sharded: ShardedGraph) -> None:
    place = sharded.path / store.FILE
    data = place.read_bytes()
    for broken in (b"", b"{", data[:-20], b"[1]", data.replace(b'"random"', b'"Random"'), b"\xff" * 20):
        place.write_bytes(broken)
        with pytest.raises(ct.CothermError, match=r"header\.json"):
            ShardedGraph.open(sharded.path)
    place.unlink()
    with pytest.raises(ct.CothermError, match=r"no header\.json in it"):
        ShardedGraph.open(sharded.path)
    with pytest.raises(ct.CothermError, match="no such directory"):
        ShardedGraph.open(sharded.path / "elsewhere")


def forge(sharded: ShardedGraph, what: str, shard: int, columns: dict[str, Any]) -> ShardedGraph:
    """Put other values into a file, with a checksum that fits."""
    place = sharded.path / store.file_name(what, shard)
    pq.write_table(pa.table(columns), place)
    files = {**sharded.header.files, store.file_name(what, shard): array_file.checksum(place)}
    header = replace(sharded.header, files=files)
    (sharded.path / store.FILE).write_bytes(store.render(header))
    return ShardedGraph.open(sharded.path)


def columns_of(sharded: ShardedGraph, what: str, shard: int) -> dict[str, Any]:
    table = pq.read_table(sharded.path / store.file_name(what, shard))
    return {name: table[name].to_numpy() for name in table.column_names}


@pytest.mark.parametrize(("what", "column"), [*(("edges", one) for one in "ijw"), *(("mirrors", one) for one in "ije")])
def test_forged_values_are_refused_whatever_the_checksum_says(sharded: ShardedGraph, what: str, column: str) -> None:
    original = columns_of(sharded, what, 2)
    for value in (-1, 59 if column != "w" else -0.5, np.nan if column == "w" else 10**6):
        values = original[column].copy()
        values[len(values) // 2] = value
        forged = forge(sharded, what, 2, {**original, column: values})
        with pytest.raises(ct.CothermError, match=r"00002.*other edges"):
            forged.part(0, 1)
    for changed, message in (
        (original[column].astype(np.float32), "other columns"),
        ([str(one) for one in original[column]], "other columns"),
        (pa.array([None, *original[column][1:]], pa.from_numpy_dtype(original[column].dtype)), "unreadable"),
    ):
        with pytest.raises(ct.CothermError, match=message):
            forge(sharded, what, 2, {**original, column: changed}).part(0, 1)
    fewer = {name: values[1:] for name, values in original.items()}
    with pytest.raises(ct.CothermError, match=r"\d+ rows; needed: \d+, as the header says"):
        forge(sharded, what, 2, fewer).part(0, 1)


def test_forged_rows_of_vertices_are_refused(sharded: ShardedGraph) -> None:
    original = columns_of(sharded, "vertices", 1)
    for changes, message in (
        ({"x0": original["labels"].astype(str)}, "coordinates"),
        ({"labels": original["x0"]}, "labels of shape"),
        ({"labels": pa.array([None] * len(original["x0"]), pa.int64())}, "no labels, or missing ones"),
        ({"vertex_names": original["x0"]}, "vertex_names of shape"),
    ):
        with pytest.raises(ct.CothermError, match=message):
            forge(sharded, "vertices", 1, {**original, **changes}).part(0, 1)
    del original["vertex_names"]
    with pytest.raises(ct.CothermError, match=r"part-00001\.parquet"):
        forge(sharded, "vertices", 1, original).part(0, 1)


def test_any_damage_is_one_error(sharded: ShardedGraph) -> None:
    """Bytes of any file changed, cut off or added: a CothermError, or the same graph; never anything else."""
    rng = np.random.default_rng(0)
    expected = sharded.to_graph()
    places = sorted(one for one in sharded.path.rglob("*") if one.is_file())
    for _ in range(400):
        place = places[int(rng.integers(len(places)))] if rng.random() < 0.7 else sharded.path / store.FILE
        whole = place.read_bytes()
        data, at = bytearray(whole), int(rng.integers(len(whole)))
        kind = int(rng.integers(4))
        if kind == 0:
            data[at] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            del data[at:]
        elif kind == 2:
            data[at:at] = rng.bytes(int(rng.integers(1, 9)))
        else:
            data[at : at + 8] = rng.bytes(len(data[at : at + 8]))
        place.write_bytes(data)
        with suppress(ct.CothermError):
            assert ShardedGraph.open(sharded.path).to_graph() == expected
        place.write_bytes(whole)
    assert ShardedGraph.open(sharded.path).to_graph() == expected


def test_a_missing_mirror_is_found_by_verify(sharded: ShardedGraph) -> None:
    counts = sharded.header.mirrors.copy()
    counts[3] -= 1
    other = ShardedGraph(sharded.path, replace(sharded.header, mirrors=counts))
    kept = {name: values[1:] for name, values in columns_of(sharded, "mirrors", 3).items()}
    with pytest.raises(ct.CothermError, match=r"mirrors of \d+ edges between shards"):
        forge(other, "mirrors", 3, kept).verify()


def test_arguments(sharded: ShardedGraph) -> None:
    for arguments in ({"rank": 0}, {"rank": 2, "size": 2}, {"rank": 0, "ranges": [0, 5]}, {"rank": 0, "size": 0}):
        with pytest.raises(ct.CothermError):
            sharded.part(**arguments)
    with pytest.raises(ct.CothermError, match="no original"):
        sharded.read_vertices("original", 0, 1)
    with pytest.raises(ct.CothermError, match="a range of the 60 vertices"):
        sharded.read_vertices("labels", 3, 61)


def test_a_moved_directory_is_the_same_graph(sharded: ShardedGraph, tmp_path: Path) -> None:
    graph = sharded.to_graph()
    shutil.move(sharded.path, tmp_path / "moved")
    assert ShardedGraph.open(tmp_path / "moved").to_graph() == graph
