"""``cotherm common``: one answer for all items of a coupling by pairs."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import cotherm as ct
from cotherm import cli
from cotherm.arrays import Floats
from tests.cli.conftest import Run, write_tables

# Of sixty items, the first view has all but the last fifteen and the second all but the first fifteen.
ROWS = {"first.csv": slice(0, 45), "second.csv": slice(15, 60)}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with pairs.npz, plain.npz (without labels) and functions.npz, which knows no pairs."""
    directory = tmp_path_factory.mktemp("cohorts")
    write_tables(directory)
    for name, rows in ROWS.items():
        title, *lines = (directory / name).read_text(encoding="utf-8").splitlines()
        (directory / name).write_text("\n".join([title, *lines[rows]]) + "\n", encoding="utf-8")
    views, labels = [str(directory / name) for name in ROWS], ["--labels", str(directory / "labels.csv")]
    cli.main(["couple", *views, "--paired", *labels, "--out", str(directory / "pairs.npz"), "--json"])
    result = ct.Coupling.load(directory / "pairs.npz")
    assert result.pairs is not None
    bare = [graph.replace(labels=None) for graph in result.originals]
    ct.couple_pairs(bare, result.pairs.table, options={"kept_back": 0.0}).save(directory / "plain.npz")
    ct.couple(bare, [np.ones((graph.n, 1)) for graph in bare], [1.0], 1.0).save(directory / "functions.npz")
    return directory


@pytest.fixture
def place(tmp_path: Path, made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of one's own with these files."""
    for name in ("pairs.npz", "plain.npz", "functions.npz"):
        (tmp_path / name).write_bytes((made / name).read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read(place: Path) -> list[dict[str, str]]:
    with place.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def loaded(place: Path) -> ct.CommonGraph:
    return ct.Coupling.load(place).common_graph()


def test_a_row_for_each_item(run: Run, place: Path) -> None:
    answer = run("common", "pairs.npz", "--out", "items.csv")
    assert answer.code == 0, answer.err
    rows, common = read(place / "items.csv"), loaded(place / "pairs.npz")
    assert list(rows[0]) == ["id", "first", "second", "label", "weight of first", "weight of second", "x1", "x2"]
    assert common.graph.vertex_names is not None
    assert [row["id"] for row in rows] == common.graph.vertex_names.tolist()
    assert sorted(row["id"] for row in rows) == sorted(f"item-{k}" for k in range(60))
    found = [[int(row[name]) if row[name] else -1 for name in ("first", "second")] for row in rows]
    np.testing.assert_array_equal(found, common.items)
    assert common.graph.labels is not None
    assert [row["label"] for row in rows] == common.graph.labels.tolist()
    np.testing.assert_array_equal([[float(row["x1"]), float(row["x2"])] for row in rows], common.embedding(2))
    weights = [[float(row[f"weight of {name}"]) for name in ("first", "second")] for row in rows]
    np.testing.assert_array_equal(weights, common.view_weights)
    assert "60 items, 30 of them in several views" in answer.out
    assert "Written: items.csv" in answer.out


def test_without_labels_and_with_more_coordinates(run: Run, place: Path) -> None:
    answer = run("common", "plain.npz", "--components", 3, "--time", 2, "--out", "items.csv")
    assert answer.code == 0, answer.err
    rows = read(place / "items.csv")
    assert list(rows[0]) == ["id", "first", "second", "weight of first", "weight of second", "x1", "x2", "x3"]
    expected = loaded(place / "plain.npz").embedding(3, t=2.0)
    np.testing.assert_array_equal([[float(row[f"x{c}"]) for c in (1, 2, 3)] for row in rows], expected)
    assert "mAP" not in answer.out


@pytest.mark.parametrize("method", ["auto", "heat", "spectral", "leiden"])
def test_the_number_of_clusters_is_chosen_and_the_report_says_how(run: Run, place: Path, method: str) -> None:
    answer = run("common", "pairs.npz", "--clusters", "auto", "--method", method, "--out", "items.csv")
    assert answer.code == 0, answer.err
    found = loaded(place / "pairs.npz").clustering("auto", method=method)
    assert [int(row["cluster"]) for row in read(place / "items.csv")] == found.labels.tolist()
    assert f"{found.labels.max() + 1} clusters by {found.method}: sizes" in answer.out


def test_clusters_and_their_scores(run: Run, place: Path) -> None:
    answer = run("common", "pairs.npz", "--clusters", 3, "--seed", 1, "--out", "items.csv", "--json")
    report, common = json.loads(answer.out), loaded(place / "pairs.npz")
    clusters = common.clusters(3, random_state=1)
    assert [int(row["cluster"]) for row in read(place / "items.csv")] == clusters.tolist()
    assert report["sizes"] == sorted(np.bincount(clusters).tolist(), reverse=True)
    assert (report["items"], report["several"]) == (60, 30)
    assert report["views"] == [{"name": name, "items": 45, "only": 15, "merged": True} for name in ("first", "second")]
    rows = {row["row"]: row for row in report["scores"]}
    states = [f"{name}, {state}" for name in ("first", "second") for state in ("before", "coupled", "common graph")]
    assert list(rows) == [*states, "all items, merged, not coupled", "all items, common graph"]
    whole = rows["all items, common graph"]
    assert common.graph.labels is not None
    expected = ct.evaluate.clustering_scores(common.graph.labels, clusters)
    assert {title: whole[title] for title in expected} == expected
    assert whole["items"] == 60
    assert rows["first, common graph"]["mAP"] > rows["first, before"]["mAP"]
    assert report["out"] == "items.csv"


def _eight_moves(graph: ct.Graph) -> float:
    return 8.0 / float(np.median(graph.degrees))


def test_scores_are_those_of_the_library(run: Run, place: Path) -> None:
    rows = {row["row"]: row for row in json.loads(run("common", "pairs.npz", "--out", "i.csv", "--json").out)["scores"]}
    result, common = ct.Coupling.load(place / "pairs.npz"), loaded(place / "pairs.npz")
    merged = replace(result, graphs=result.originals).common_graph()
    graphs = {"first, before": result.originals[0], "second, coupled": result.graphs[1]}
    commons = {"all items, common graph": common, "all items, merged, not coupled": merged}
    judged = {name: (graph, ct.diffusion_distance(graph, _eight_moves(graph))) for name, graph in graphs.items()}
    judged |= {name: (one.graph, one.distances(_eight_moves(one.graph))) for name, one in commons.items()}
    for name, (graph, apart) in judged.items():
        assert graph.labels is not None
        expected = ct.evaluate.retrieval(apart, graph.labels).mean_average_precision
        assert rows[name]["mAP"] == pytest.approx(100.0 * expected)


def test_other_commands_take_the_common_graph(run: Run, place: Path) -> None:
    answer = run("common", "pairs.npz", "--out", "items.csv", "--graph", "common.npz", "--json")
    assert json.loads(answer.out)["graph"] == "common.npz"
    assert ct.read_graph(place / "common.npz") == loaded(place / "pairs.npz").graph
    assert run("retrieve", "common.npz", "--query", "item-59").code == 0
    assert run("distances", "common.npz", "--out", "distances.csv").code == 0
    assert run("cluster", "common.npz", "--clusters", 3, "--json").code == 0
    assert run("show", "common.npz", "--out", "common.png").code == 0


def test_neighbors_in_a_view_that_items_are_missing_from(run: Run, place: Path) -> None:
    answer = run("common", "pairs.npz", "--out", "i.csv", "--neighbors", "n.csv", "--view", 2, "--top", 4)
    assert answer.code == 0, answer.err
    rows, common = read(place / "n.csv"), loaded(place / "pairs.npz")
    assert list(rows[0]) == ["id", "place", "neighbor", "row in second", "distance"]
    near = common.neighbors(1, 4)
    names = ct.Coupling.load(place / "pairs.npz").graphs[1].vertex_names
    assert names is not None
    assert [row["id"] for row in rows] == [f"item-{k}" for k in range(15) for _ in range(4)]
    assert [int(row["place"]) for row in rows] == [1, 2, 3, 4] * 15
    np.testing.assert_array_equal([int(row["row in second"]) for row in rows], near.indices.ravel())
    assert [row["neighbor"] for row in rows] == names[near.indices.ravel()].tolist()
    np.testing.assert_array_equal([float(row["distance"]) for row in rows], near.distances.ravel())


def test_neighbors_of_all_items(run: Run, place: Path) -> None:
    assert run("common", "pairs.npz", "-o", "i.csv", "--neighbors", "n.csv", "--view", 1, "--all", "-t", 3).code == 0
    rows, common = read(place / "n.csv"), loaded(place / "pairs.npz")
    near = common.neighbors(0, 5, items=np.arange(60), t=3.0)
    np.testing.assert_array_equal([int(row["row in first"]) for row in rows], near.indices.ravel())
    assert len({row["id"] for row in rows}) == 60


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["functions.npz"], "functions.npz: a coupling by functions"),
        (["pairs.npz", "--components", 0], "--components: 0"),
        (["pairs.npz", "--components", 60], "--components: 60"),
        (["pairs.npz", "--time", -1], "--time: -1"),
        (["pairs.npz", "--time", "nan"], "--time: nan"),
        (["pairs.npz", "--clusters", 0], "--clusters: 0"),
        (["pairs.npz", "--clusters", 61], "--clusters: 61"),
        (["pairs.npz", "--clusters", 3, "--seed", -1], "--seed: -1"),
        (["pairs.npz", "--clusters", "many"], "'many'; needed: a whole number or auto"),
        (["pairs.npz", "--seed", 1], "--seed: 1; needed: --clusters"),
        (["pairs.npz", "--method", "heat"], "--method: heat; needed: --clusters"),
        (["pairs.npz", "--view", 1], "--view: 1; needed: --neighbors"),
        (["pairs.npz", "--top", 3], "--top: 3; needed: --neighbors"),
        (["pairs.npz", "--all"], "--all: given; needed: --neighbors"),
        (["pairs.npz", "--neighbors", "n.csv"], "--view: none"),
        (["pairs.npz", "--neighbors", "n.csv", "--view", 3], "--view: '3'"),
        (["pairs.npz", "--neighbors", "n.csv", "--view", 1, "--top", 0], "--top: 0"),
        (["pairs.npz", "--neighbors", "n.csv", "--view", 1, "--top", 46], "--top: 46"),
        (["pairs.npz", "--neighbors", "n.txt", "--view", 1], "n.txt: the suffix .txt"),
        (["pairs.npz", "--neighbors", "i.csv", "--view", 1], "--neighbors i.csv: the same file as --out"),
        (["pairs.npz", "--graph", "g.csv"], "g.csv: the suffix .csv"),
        (["pairs.npz", "--graph", "nowhere/g.npz"], "nowhere"),
        (["pairs.npz", "--graph", "plain.npz"], "plain.npz: "),
        (["pairs.npz", "--graph", "pairs.npz", "--force"], "--graph pairs.npz: a file this command reads"),
        (["nothing.npz"], "nothing.npz"),
    ],
)
def test_what_is_refused_leaves_nothing(run: Run, place: Path, arguments: list[object], said: str) -> None:
    before = {file.name: file.read_bytes() for file in place.iterdir()}
    answer = run("common", *arguments, "--out", "i.csv")
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err
    assert answer.err.count("\n") == 1
    assert {file.name: file.read_bytes() for file in place.iterdir()} == before


def test_graphs_are_refused(run: Run, place: Path) -> None:
    ct.write_graph(loaded(place / "pairs.npz").graph, place / "g.npz")
    answer = run("common", "g.npz", "--out", "i.csv")
    assert answer.code == 2
    assert "g.npz: a graph; needed: a coupling by pairs" in answer.err


def test_a_view_that_no_item_is_missing_from(run: Run, place: Path) -> None:
    graph = ct.Coupling.load(place / "plain.npz").originals[0]
    ct.couple_pairs([graph, graph], options={"kept_back": 0.0}).save(place / "same.npz")
    answer = run("common", "same.npz", "--out", "i.csv", "--neighbors", "n.csv", "--view", 1)
    assert answer.code == 2
    assert "--view: 1, which no item is missing from" in answer.err
    assert "--all" in answer.err


def test_existing_files_are_replaced_by_force_only(run: Run, place: Path) -> None:
    (place / "items.csv").write_text("mine", encoding="utf-8")
    refused = run("common", "pairs.npz", "--out", "items.csv", "--graph", "g.npz")
    assert refused.code == 2
    assert "--force" in refused.err
    assert not (place / "g.npz").exists()
    assert run("common", "pairs.npz", "--out", "items.csv", "--graph", "g.npz", "--force").code == 0
    assert len(read(place / "items.csv")) == 60


def test_cluster_points_to_common(run: Run) -> None:
    assert "cotherm common" in run("cluster", "--help").out


def write_table(place: Path, points: Floats) -> None:
    rows = "".join(f"item{v}," + ",".join(f"{x:.6f}" for x in row) + "\n" for v, row in enumerate(points))
    place.write_text("id,a,b,c\n" + rows, encoding="utf-8")


def test_a_view_of_noise_is_left_out_and_named(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By default; --include-unrelated merges it."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(3)
    groups = 4.0 * random.standard_normal((4, 3))[np.arange(80) % 4]
    for name in ("one", "two"):
        write_table(tmp_path / f"{name}.csv", groups + random.standard_normal((80, 3)))
    write_table(tmp_path / "noise.csv", random.standard_normal((95, 3)))
    answer = run("couple", "one.csv", "two.csv", "noise.csv", "--out", "pairs.npz")
    assert answer.code == 0, answer.err
    assert "noise has nothing in common with the others beyond chance (p = " in answer.out
    answer = run("common", "pairs.npz", "--out", "items.csv")
    assert answer.code == 0, answer.err
    assert "Not related enough to be merged. Left out: noise" in answer.out
    assert "15 vertices that are only in views left out" in answer.out
    assert len(read(tmp_path / "items.csv")) == 80
    answer = run("common", "pairs.npz", "--out", "all.csv", "--include-unrelated", "--json")
    assert answer.code == 0, answer.err
    assert len(read(tmp_path / "all.csv")) == 95
    assert [view["merged"] for view in json.loads(answer.out)["views"]] == [True, True, True]


def test_few_pairs_are_coupled_only_if_that_is_asked_for(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(4)
    for name in ("one", "two"):
        write_table(tmp_path / f"{name}.csv", random.standard_normal((15, 3)))
    answer = run("couple", "one.csv", "two.csv", "--out", "pairs.npz")
    assert "shares 15 items with another view, fewer than the 20" in answer.out
    result = ct.Coupling.load(tmp_path / "pairs.npz")
    assert all(np.array_equal(a.w, b.w) for a, b in zip(result.graphs, result.originals, strict=True))
    answer = run("couple", "one.csv", "two.csv", "--out", "asked.npz", "--include-unrelated")
    assert answer.code == 0, answer.err
    result = ct.Coupling.load(tmp_path / "asked.npz")
    assert not np.array_equal(result.graphs[0].w[: result.originals[0].m], result.originals[0].w)
