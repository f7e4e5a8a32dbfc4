"""Nearest neighbors of points in files: the graph that knn_graph makes, to the last bit, whatever the blocks."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cotherm as ct
from cotherm.graphs.sharded import number_text
from cotherm.graphs.sharded.knn.build import _median as median
from cotherm.graphs.sharded.knn.layout import lay_out
from cotherm.graphs.sharded.knn.points import PointFiles
from cotherm.graphs.sharded.knn.search import BlockSearch
from cotherm.ranks import ONE

OPTIONS = {"scale_neighbor", "scale_factor", "symmetrize", "probes", "block", "seed", "name"}


def shard_knn_graph(points: Any, path: Path, k: int = 10, **more: Any) -> ct.NeighborShards:
    """With what few need in options."""
    options = {name: more.pop(name) for name in OPTIONS & set(more)}
    return ct.shard_knn_graph(points, path, k, **{"options": options, **more})


def saved(folder: Path, X: np.ndarray) -> Path:
    np.save(folder / "points.npy", X)
    return folder / "points.npy"


RECIPES: dict[str, dict[str, Any]] = {
    "default": {},
    "median, mean": {"scale": "median", "symmetrize": "mean"},
    "cosine, min": {"metric": "cosine", "symmetrize": "min"},
    "a number": {"scale": 0.3, "scale_factor": 2.0},
    "unweighted": {"scale": None},
    "a far scale": {"scale_neighbor": 15},
}


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize(("n", "d"), [(1_500, 1), (1_500, 2), (900, 3), (700, 10), (600, 30)])
def test_the_graph_is_that_of_knn_graph(tmp_path: Path, n: int, d: int, recipe: str) -> None:
    rng = np.random.default_rng(d)
    X = rng.normal(size=(n, d)) + 5 * rng.integers(0, 3, (n, 1))
    expected = ct.knn_graph(X, 6, **RECIPES[recipe])
    graph, recall = shard_knn_graph(saved(tmp_path, X), tmp_path / "g.shards", 6, parts=4, block=97, **RECIPES[recipe])
    graph.verify()
    if d == 1 and recipe == "cosine, min":  # all points of a sign coincide: which of them are taken is arbitrary
        assert graph.n == n
        return
    assert graph.to_graph() == expected
    assert recall == 1.0
    assert sorted(one.name for one in tmp_path.iterdir()) == ["g.shards", "points.npy"]


@pytest.mark.parametrize("recipe", ["default", "cosine, min"])
def test_cells_give_the_same_graph_under_other_numbers(tmp_path: Path, recipe: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000, 3))
    labels = rng.integers(0, 9, 1_000).astype(str)
    np.save(tmp_path / "labels.npy", labels)
    expected = ct.knn_graph(X, 6, labels=labels, **RECIPES[recipe])
    graph, _ = shard_knn_graph(
        saved(tmp_path, X),
        tmp_path / "g.shards",
        6,
        parts=4,
        block=97,
        order="cells",
        labels=tmp_path / "labels.npy",
        **RECIPES[recipe],
    )
    graph.verify()
    original = graph.part(0, 1).original
    assert original is not None
    found, renumbered = graph.to_graph(), expected.subgraph(original)
    order = np.lexsort((renumbered.j, renumbered.i))
    assert found == renumbered.with_edges(renumbered.i[order], renumbered.j[order], renumbered.w[order])
    given, _ = shard_knn_graph(tmp_path / "points.npy", tmp_path / "given.shards", 6, parts=4, **RECIPES[recipe])
    assert graph.header.mirrors.sum() < 0.5 * given.header.mirrors.sum()


def test_several_files_are_one_table(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4)).astype(np.float32)
    (tmp_path / "points").mkdir()
    for k, part in enumerate(np.split(X, [10, 10, 200, 450])):
        np.save(tmp_path / "points" / f"{k}.npy", part)
    expected = ct.knn_graph(X, 5)
    for given in (tmp_path / "points", sorted((tmp_path / "points").iterdir())):
        graph, _ = shard_knn_graph(given, tmp_path / "g.shards", 5, block=64, overwrite=True)
        assert graph.to_graph() == expected


@pytest.mark.parametrize("chunk", [2**22, 300])
@pytest.mark.parametrize("form", ["x,y,z\n{}", "{}", "# made by hand\n\n{}", "x\ty\tz\n{}", "{}.gz", "spaces {}"])
def test_text_tables_are_streamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, chunk: int) -> None:
    monkeypatch.setattr(number_text, "_BLOCK", chunk)
    X = np.random.default_rng(0).normal(size=(300, 3))
    mark = "\t" if "\t" in form else " " if "spaces" in form else ","
    rows = "\n".join(mark.join(map(repr, row)) for row in X.tolist()) + "\n"
    text = form.removesuffix(".gz").removeprefix("spaces ").format(rows).encode()
    place = tmp_path / ("points.csv.gz" if form.endswith(".gz") else "points.txt")
    place.write_bytes(gzip.compress(text) if form.endswith(".gz") else text)
    graph, _ = shard_knn_graph(place, tmp_path / "g.shards", 5, block=64)
    assert graph.to_graph() == ct.knn_graph(X, 5)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["g.shards", place.name]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "an empty file"),
        ("# nothing\n", "no rows"),
        ("id,x\na,1\nb,2\n", "line 2: 'a,1'; needed: a row of numbers"),
        ("x,y\n", "line 1: 'x,y'; needed: a row of numbers"),
        ("1,2\n3,4\n5\n", "Expected 2 columns, got 1: 5; needed: 2 numbers in every row"),
        ("1,2\n3,four\n", "invalid value 'four'; needed: 2 numbers in every row"),
        ("1,2\n3,4\n5,6\n7,nan\n8,9\n", "point 3 that is not finite"),
    ],
)
def test_bad_text_tables(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "points.csv").write_text(text)
    with pytest.raises(ct.CothermError) as caught:
        shard_knn_graph(tmp_path / "points.csv", tmp_path / "g.shards", 2, scale=None)
    assert message in str(caught.value)
    assert [one.name for one in tmp_path.iterdir()] == ["points.csv"]


def test_copies_and_zero_rows(tmp_path: Path) -> None:
    """Points with many copies get their scales from others; rows without a direction have no neighbors."""
    rng = np.random.default_rng(0)
    X = np.concatenate([np.repeat(rng.normal(size=(3, 2)), 12, axis=0), rng.normal(size=(200, 2))])
    expected = ct.nearest_neighbors(X, 7)
    layout = lay_out(
        ONE, PointFiles.open(saved(tmp_path, X), tmp_path), "euclidean", 50, _made(tmp_path / "scratch"), 0
    )
    search = BlockSearch(layout, 7, None)
    for block in range(layout.blocks):
        found, ids = search.of_block(block), layout.ids.read(*layout.span(block))
        np.testing.assert_array_equal(found.distance, expected.distances[ids])
    far = np.concatenate([np.full((5, 2), 20.0), X[36:]])  # five copies, which nobody else has for neighbors
    for k in (4, 6):  # scales from all other points, or from the neighbors that are no copies
        graph, _ = shard_knn_graph(
            saved(tmp_path, far), tmp_path / "g.shards", k, block=50, scale_neighbor=3, overwrite=True
        )
        assert graph.to_graph() == ct.knn_graph(far, k, scale_neighbor=3)
    Y = rng.normal(size=(300, 5))
    Y[[0, 17, 299]] = 0.0
    with pytest.warns(ct.CothermWarning, match="3 of 300 rows are zero"):
        expected_graph = ct.knn_graph(Y, 5, metric="cosine")
    for order in ("given", "cells"):
        with pytest.warns(ct.CothermWarning, match="3 of 300 rows are zero"):
            graph, _ = shard_knn_graph(
                saved(tmp_path, Y), tmp_path / "g.shards", 5, metric="cosine", block=40, order=order, overwrite=True
            )
        if order == "given":
            assert graph.to_graph() == expected_graph
        else:
            assert graph.part(0, 1).original[-3:].tolist() == [0, 17, 299]  # type: ignore[index]


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


@pytest.mark.parametrize("copies", [500, 40])
def test_points_that_all_coincide(tmp_path: Path, copies: int) -> None:
    X = np.repeat(np.arange(500 // copies)[:, np.newaxis] + np.zeros((1, 2)), copies, axis=0)
    graph, _ = shard_knn_graph(saved(tmp_path, X), tmp_path / "g.shards", 5, block=64)
    assert np.all(graph.to_graph().w == 1.0)


def test_few_points_in_many_blocks(tmp_path: Path) -> None:
    """More neighbors are asked for than a block has points."""
    X = np.random.default_rng(0).normal(size=(40, 2))
    graph, _ = shard_knn_graph(saved(tmp_path, X), tmp_path / "g.shards", 12, block=3, parts=7)
    assert graph.to_graph() == ct.knn_graph(X, 12)
    graph, _ = shard_knn_graph(tmp_path / "points.npy", tmp_path / "h.shards", 39, block=2)
    assert graph.to_graph() == ct.knn_graph(X, 39)


def test_blocks_that_cannot_hold_a_neighbor_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bounds prune: in the plane a block needs only those around it."""
    X = np.random.default_rng(0).uniform(size=(6_400, 2))
    layout = lay_out(
        ONE, PointFiles.open(saved(tmp_path, X), tmp_path), "euclidean", 100, _made(tmp_path / "scratch"), 0
    )
    search = BlockSearch(layout, 5, None)
    looked: set[int] = set()
    points = search._block
    monkeypatch.setattr(search, "_block", lambda block: points(block) if looked.add(block) is None else None)  # type: ignore[func-returns-value]
    search.of_block(10)
    assert layout.blocks >= 64
    assert 1 < len(looked) < 25


def test_the_approximate_search_measures_its_recall(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(2_000, 20))
    truth = ct.nearest_neighbors(X, 8)
    recalls = []
    for probes in (1, 6, 100):
        path = tmp_path / f"{probes}.shards"
        if probes < 100:
            with pytest.warns(ct.CothermWarning, match="of the true neighbors were found"):
                graph, recall = shard_knn_graph(
                    saved(tmp_path, X), path, 8, search="approximate", probes=probes, block=100, scale=None
                )
        else:
            graph, recall = shard_knn_graph(
                saved(tmp_path, X), path, 8, search="approximate", probes=probes, block=100, scale=None
            )
        recalls.append(recall)
        adjacency = graph.to_graph().adjacency()
        rows = np.repeat(np.arange(2_000), 8)
        kept = np.asarray(adjacency[rows, truth.indices.ravel()]).mean()
        assert kept >= recall - 0.05  # an edge may also be there from the other side
    assert recalls[0] < recalls[1] < recalls[2] == 1.0


def test_the_median_is_exact() -> None:
    rng = np.random.default_rng(0)
    for count in (1, 2, 3, 10, 1_001, 1_000):
        for values in (rng.exponential(size=count), np.repeat(0.25, count), rng.integers(0, 3, count) * 1e-300):
            blocks = np.array_split(values, 3)
            assert median(ONE, lambda blocks=blocks: blocks, count) == np.median(values)  # type: ignore[misc]


def test_bad_points(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(50, 2))
    place = saved(tmp_path, X)

    def refused(message: str, points: Any = place, **more: Any) -> None:
        with pytest.raises(ct.CothermError) as caught:
            shard_knn_graph(points, tmp_path / "g.shards", **{"k": 3, **more})
        assert message in str(caught.value)
        assert not (tmp_path / "g.shards").exists()
        assert not list(tmp_path.glob(".cotherm*"))

    refused("k: 50 neighbors among n = 50 points", k=50)
    refused("scale_neighbor: 60 neighbors", scale_neighbor=60)
    refused("metric", metric="manhattan")
    refused("order", order="curve")
    refused("block", block=1)
    refused("options: the key 'blocks'; needed: a dict whose keys are among block,", options={"blocks": 3})
    refused("no such file", tmp_path / "none.npy")
    refused("the suffix .xyz", tmp_path / "points.xyz")
    refused("no such file", tmp_path / "points.csv")
    refused("no files", [])
    (tmp_path / "empty").mkdir()
    refused("a directory without .npy files", tmp_path / "empty")
    X[31, 1] = np.nan
    np.save(tmp_path / "nan.npy", X)
    refused("an entry of point 31 that is not finite", tmp_path / "nan.npy")
    np.save(tmp_path / "large.npy", np.nan_to_num(X) * 1e200)
    refused("numbers up to", tmp_path / "large.npy")
    np.save(tmp_path / "flat.npy", X[:, 0])
    refused("an array of shape (50,)", tmp_path / "flat.npy")
    np.save(tmp_path / "wide.npy", np.ones((4, 3)))
    refused("3 columns; needed: as many as", [place, tmp_path / "wide.npy"])
    np.save(tmp_path / "objects.npy", np.array([[{}]], dtype=object), allow_pickle=True)
    refused("perhaps of pickled objects", tmp_path / "objects.npy")
    np.save(tmp_path / "labels.npy", np.arange(49))
    refused("labels: an array of shape (49,)", labels=tmp_path / "labels.npy")
    (tmp_path / "cut.npy").write_bytes(place.read_bytes()[:-5])
    refused("The file may have been cut short", tmp_path / "cut.npy")
    np.save(tmp_path / "columns.npy", np.asfortranarray(np.ones((5, 2))))
    refused("in the order of columns", tmp_path / "columns.npy")
    np.save(tmp_path / "zeros.npy", np.zeros((50, 2)))
    refused("zero rows", tmp_path / "zeros.npy", metric="cosine")
