"""What happens to people every day, each case by itself: the right answer, or one line that says what is wrong.

Three classes of twenty items in two tables with ids. An answer is right if it is, item by item, that of the two clean
tables in one order.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import cotherm as ct
from tests.cli.conftest import Run, write_tables

ITEMS = [f"item-{k}" for k in range(60)]
ORDER = np.random.default_rng(7).permutation(60)
FAST = ["--max-iterations", "5"]


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The two tables as data frames, the labels, and the neighbors of every item on the common graph."""
    directory = tmp_path_factory.mktemp("clean")
    write_tables(directory)
    frames = [pd.read_csv(directory / name, index_col="id") for name in ("first.csv", "second.csv")]
    labels = pd.read_csv(directory / "labels.csv", index_col="id")
    result = ct.couple_pairs([ct.knn_graph(frame) for frame in frames], "names", options={"max_iterations": 5})
    return {"frames": frames, "labels": labels, "near": neighbors(result.common_graph().graph)}


@pytest.fixture
def place(tmp_path: Path, clean: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory with a.csv, b.csv and labels.csv."""
    monkeypatch.chdir(tmp_path)
    first, second = clean["frames"]
    first.to_csv("a.csv")
    second.to_csv("b.csv")
    clean["labels"].to_csv("labels.csv")
    return tmp_path


def neighbors(graph: ct.Graph) -> dict[str, list[str]]:
    """The five nearest items of every item, by name."""
    assert graph.vertex_names is not None
    names = graph.vertex_names.tolist()
    near = np.argsort(ct.diffusion_distance(graph, 1.0), axis=1, kind="stable")[:, 1:6]
    return {name: sorted(names[v] for v in row) for name, row in zip(names, near, strict=True)}


def coupled(run: Run, *arguments: object) -> dict[str, list[str]]:
    """Couple on the command line; the neighbors of every item."""
    answer = run("couple", *arguments, "--out", "c.npz", *FAST)
    assert answer.code == 0, answer.err
    return neighbors(ct.Coupling.load("c.npz").common_graph().graph)


def refused(run: Run, *arguments: object) -> str:
    """The one line that is said; nothing is written."""
    before = sorted(Path().iterdir())
    answer = run(*arguments)
    assert (answer.code, answer.err.count("\n")) == (2, 1), answer
    assert sorted(Path().iterdir()) == before
    return answer.err


# Ways to store the second table that make no difference.
def _shuffled(frame: pd.DataFrame) -> str:
    frame.iloc[ORDER].to_csv("b2.csv")
    return "b2.csv"


def _semicolons(frame: pd.DataFrame) -> str:
    frame.to_csv("b2.csv", sep=";")
    return "b2.csv"


def _tabs(frame: pd.DataFrame) -> str:
    frame.to_csv("b2.tsv", sep="\t")
    return "b2.tsv"


def _decimal_commas(frame: pd.DataFrame) -> str:
    frame.iloc[ORDER].to_csv("b2.csv", sep=";", decimal=",")
    return "b2.csv"


def _windows(frame: pd.DataFrame) -> str:
    frame.to_csv("b2.csv", lineterminator="\r\n", encoding="utf-8-sig")
    return "b2.csv"


def _spaces_around_ids(frame: pd.DataFrame) -> str:
    frame.set_axis([f" {name} " for name in frame.index]).rename_axis("id").to_csv("b2.csv")
    return "b2.csv"


def _quoted(frame: pd.DataFrame) -> str:
    frame.to_csv("b2.csv", quoting=csv.QUOTE_ALL)
    return "b2.csv"


def _empty_rows_at_the_end(frame: pd.DataFrame) -> str:
    Path("b2.csv").write_text(frame.to_csv() + ",,,\n,,,\n")
    return "b2.csv"


def _unnamed_index(frame: pd.DataFrame) -> str:
    frame.rename_axis(None).to_csv("b2.csv")
    return "b2.csv"


def _gzipped(frame: pd.DataFrame) -> str:
    frame.iloc[ORDER].to_csv("b2.csv.gz")
    return "b2.csv.gz"


def _spreadsheet(frame: pd.DataFrame) -> str:
    frame.iloc[ORDER].to_excel("b2.xlsx")
    return "b2.xlsx"


def _parquet(frame: pd.DataFrame) -> str:
    frame.iloc[ORDER].to_parquet("b2.parquet")
    return "b2.parquet"


def _graph_file(frame: pd.DataFrame) -> str:
    ct.write_graph(ct.knn_graph(frame.iloc[ORDER], name="b2"), "b2.npz")
    return "b2.npz"


def _graphml(frame: pd.DataFrame) -> str:
    ct.write_graph(ct.knn_graph(frame.iloc[ORDER], name="b2").replace(coordinates=None), "b2.graphml")
    return "b2.graphml"


SAME = [
    _shuffled,
    _semicolons,
    _tabs,
    _decimal_commas,
    _windows,
    _spaces_around_ids,
    _quoted,
    _empty_rows_at_the_end,
    _unnamed_index,
    _gzipped,
    _spreadsheet,
    _parquet,
    _graph_file,
    _graphml,
]


@pytest.mark.parametrize("store", SAME, ids=lambda store: store.__name__[1:])
def test_the_same_table_in_another_form(
    store: Callable[[pd.DataFrame], str], run: Run, place: Path, clean: dict[str, Any]
) -> None:
    assert place.exists()
    found = coupled(run, "a.csv", store(clean["frames"][1]))
    assert found.keys() == clean["near"].keys()
    same = [found[item] == clean["near"][item] for item in ITEMS]
    assert np.mean(same) > 0.9  # rows in another order are added up in another order


# Tables that must not be taken for what they are not: how they are made, and what is said.
def _duplicate_id(frame: pd.DataFrame) -> str:
    return frame.set_axis(["item-0", "item-0", *ITEMS[2:]]).rename_axis("id").to_csv()


def _ids_not_first(frame: pd.DataFrame) -> str:
    return frame.assign(id=frame.index).to_csv(index=False)


def _padded_ids(frame: pd.DataFrame) -> str:
    return frame.set_axis([f"Item-{k:03}" for k in range(60)]).rename_axis("id").to_csv()


def _no_ids(frame: pd.DataFrame) -> str:
    return frame.to_csv(index=False)


def _missing_value(frame: pd.DataFrame) -> str:
    return frame.mask(frame == frame.iloc[3, 1]).to_csv()


def _text_column(frame: pd.DataFrame) -> str:
    return frame.assign(color=["red", "blue"] * 30).to_csv()


def _infinite(frame: pd.DataFrame) -> str:
    return frame.replace(frame.iloc[3, 1], np.inf).to_csv()


def _mixed_decimals(frame: pd.DataFrame) -> str:
    lines = frame.to_csv(sep=";", decimal=",").splitlines()
    return "\n".join([*lines[:20], lines[20].replace(",", "."), *lines[21:]]) + "\n"


def _short_row(frame: pd.DataFrame) -> str:
    lines = frame.to_csv().splitlines()
    return "\n".join([*lines[:20], lines[20].rpartition(",")[0], *lines[21:]]) + "\n"


WRONG = [
    (_duplicate_id, "'item-0' more than once"),
    (_ids_not_first, "that is not the first"),
    (_padded_ids, "no id that is in two views"),
    (_no_ids, "no ids, though another view has some"),
    (_missing_value, "--missing"),
    (_text_column, "color"),
    (_infinite, "a finite number"),
    (_mixed_decimals, "line 21"),
    (_short_row, "line 21"),
    (lambda _: "", "empty"),
    (lambda _: "id,u,v,w\n", "no rows"),
    (lambda frame: frame.to_csv().encode("utf-16"), "UTF-16"),
    (lambda frame: frame.to_csv().replace("item-30", "item-30\x00"), "not text"),
]


@pytest.mark.parametrize(("make", "said"), WRONG, ids=lambda one: getattr(one, "__name__", "")[1:])
def test_a_table_that_is_not_what_it_should_be(
    make: Callable[[pd.DataFrame], str | bytes], said: str, run: Run, place: Path, clean: dict[str, Any]
) -> None:
    content = make(clean["frames"][1])
    (place / "b2.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    assert said in refused(run, "couple", "a.csv", "b2.csv", "--out", "c.npz", *FAST)


def test_rows_counted_from_0_and_from_1(run: Run, place: Path, clean: dict[str, Any]) -> None:
    first, second = clean["frames"]
    first.reset_index(drop=True).to_csv(place / "a0.csv")
    second.set_axis(range(1, 61)).to_csv(place / "b1.csv")
    assert "rows counted from 1" in refused(run, "couple", "a0.csv", "b1.csv", "--out", "c.npz")


def test_no_ids_and_as_many_rows(run: Run, place: Path, clean: dict[str, Any]) -> None:
    for name, frame in zip("ab", clean["frames"], strict=True):
        frame.to_csv(place / f"{name}3.csv", index=False)
    assert "--paired" in refused(run, "couple", "a3.csv", "b3.csv", "--out", "c.npz")
    answer = run("couple", "a3.csv", "b3.csv", "--paired", "--out", "c.npz", *FAST)
    assert "row by row" in answer.out


def test_a_missing_value_is_dropped_or_filled_if_asked_for(run: Run, place: Path, clean: dict[str, Any]) -> None:
    frame = clean["frames"][1].copy()
    frame.iloc[3, 1] = np.nan
    frame.to_csv(place / "holes.csv")
    answer = run("couple", "a.csv", "holes.csv", "--missing", "drop", "--out", "c.npz", *FAST)
    assert answer.code == 0, answer.err
    result = ct.Coupling.load("c.npz")
    assert [graph.n for graph in result.graphs] == [60, 59]
    names = result.graphs[1].vertex_names
    assert names is not None
    assert "item-3" not in names
    assert result.common_graph().graph.n == 60
    assert run("graph", "holes.csv", "--missing", "median", "--out", "g.npz").code == 0
    frame.iloc[3, 1] = frame.iloc[:, 1].median()
    assert ct.read_graph("g.npz").bare() == ct.knn_graph(frame, name="holes").bare()


# Labels.
def test_labels_in_another_order_are_matched_by_name(run: Run, place: Path, clean: dict[str, Any]) -> None:
    clean["labels"].iloc[ORDER].to_csv(place / "labels2.csv")
    run("couple", "a.csv", "b.csv", "--paired", "--labels", "labels2.csv", "--out", "c.npz", *FAST)
    result = ct.Coupling.load("c.npz")
    assert [graph.labels.tolist() for graph in result.graphs if graph.labels is not None] == [
        clean["labels"]["kind"].tolist()
    ] * 2


def test_labels_without_names_for_tables_in_different_orders(run: Run, place: Path, clean: dict[str, Any]) -> None:
    assert place.exists()
    _shuffled(clean["frames"][1])
    clean["labels"].to_csv("plain.csv", index=False)
    given = ["couple", "a.csv", "b2.csv", "--paired", "--labels", "plain.csv", "--out", "c.npz"]
    assert "labels without names" in refused(run, *given)


def test_labels_without_names_for_tables_in_one_order(run: Run, place: Path, clean: dict[str, Any]) -> None:
    clean["labels"].to_csv(place / "plain.csv", index=False)
    answer = run("couple", "a.csv", "b.csv", "--paired", "--labels", "plain.csv", "--out", "c.npz", *FAST)
    assert "row by row" in answer.out


def test_labels_of_other_items(run: Run, place: Path, clean: dict[str, Any]) -> None:
    clean["labels"].set_axis([f"other-{k}" for k in range(60)]).rename_axis("id").to_csv(place / "labels2.csv")
    given = ["couple", "a.csv", "b.csv", "--paired", "--labels", "labels2.csv", "--out", "c.npz"]
    assert "names such as 'other-0'" in refused(run, *given)


def test_labels_of_some_items_are_counted(run: Run, place: Path, clean: dict[str, Any]) -> None:
    clean["labels"].iloc[:25].to_csv(place / "labels2.csv")
    answer = run("couple", "a.csv", "b.csv", "--paired", "--labels", "labels2.csv", "--out", "c.npz", *FAST)
    assert "25 of 60 items of a have one of 3 labels" in answer.out


def test_values_for_labels(run: Run, place: Path, clean: dict[str, Any]) -> None:
    clean["frames"][0][["x"]].to_csv(place / "labels2.csv")
    given = ["couple", "a.csv", "b.csv", "--labels", "labels2.csv", "--out", "c.npz"]
    assert "different labels among" in refused(run, *given)


def test_scores_by_labels_that_come_later(run: Run, place: Path, clean: dict[str, Any]) -> None:
    """A coupling of shuffled tables, judged by labels in a third order."""
    assert place.exists()
    coupled(run, "a.csv", _shuffled(clean["frames"][1]))
    clean["labels"].sample(frac=1.0, random_state=3).to_csv("labels2.csv")
    scores = json.loads(run("retrieve", "c.npz", "--labels", "labels2.csv", "--times", "1", "--json").out)["scores"]
    assert scores[0]["mAP"][0] > 70.0
    graph = ct.knn_graph(clean["frames"][1])
    expected = ct.evaluate.retrieval(ct.diffusion_distance(graph, 1.0), clean["labels"]["kind"].to_numpy(dtype=str))
    assert scores[2]["mAP"][0] == pytest.approx(100.0 * expected.mean_average_precision, abs=0.2)


# What comes out is by name.
def test_clusters_are_joined_by_name(run: Run, place: Path, clean: dict[str, Any]) -> None:
    assert place.exists()
    coupled(run, "a.csv", _shuffled(clean["frames"][1]))
    assert run("cluster", "c.npz", "--clusters", 3, "--out", "clusters.csv").code == 0
    found = pd.read_csv("clusters.csv", index_col="id")
    result = ct.Coupling.load("c.npz")
    kind = clean["labels"]["kind"]
    for k, (name, graph) in enumerate(zip(("a", "b2"), result.graphs, strict=True)):
        own = pd.Series(result.clusters(3)[k], index=graph.vertex_names)
        joined = pd.crosstab(own.loc[found.index], found[name])
        assert (joined > 0).sum().max() == 1  # the same clusters, perhaps with other numbers
    assert pd.crosstab(found["b2"], kind.loc[found.index]).max(axis=1).sum() >= 55
    assert (found["a"] == found["b2"]).mean() > 0.8


def test_clusters_without_names_are_not_put_side_by_side(run: Run, place: Path, clean: dict[str, Any]) -> None:
    for name, frame in zip("ab", clean["frames"], strict=True):
        frame.to_csv(place / f"{name}3.csv", index=False)
    run("couple", "a3.csv", "b3.csv", "--paired", "--out", "c.npz", *FAST)
    assert run("cluster", "c.npz", "--clusters", 3, "--out", "clusters.csv").code == 0
    found = pd.read_csv("clusters.csv")
    assert list(found.columns) == ["view", "id", "cluster"]
    assert found["view"].tolist() == ["a3"] * 60 + ["b3"] * 60


@pytest.mark.parametrize("way", ["average", "diagonalize"])
def test_clusters_of_several_tables_in_different_orders(way: str, run: Run, place: Path, clean: dict[str, Any]) -> None:
    assert place.exists()
    _shuffled(clean["frames"][1])
    given = ["cluster", "--by", way, "--clusters", 3, "--json"]
    straight = json.loads(run(*given, "a.csv", "b.csv", "--labels", "labels.csv").out)
    turned = json.loads(run(*given, "a.csv", "b2.csv", "--labels", "labels.csv").out)
    assert turned["scores"] == straight["scores"]


def test_nearest_items_of_a_name(run: Run, place: Path, clean: dict[str, Any]) -> None:
    assert place.exists()
    coupled(run, "a.csv", _shuffled(clean["frames"][1]))
    report = json.loads(run("retrieve", "c.npz", "--query", "item-7", "--times", "1", "--view", "b2", "--json").out)
    graph = ct.Coupling.load("c.npz").graphs[1]
    d = pd.Series(ct.diffusion_distance(graph, 1.0, sources=[graph.vertex("item-7")])[0], index=graph.vertex_names)
    assert [row["id"] for row in report["nearest"]] == d.drop("item-7").sort_values(kind="stable").index[:5].tolist()


def test_names_that_nobody_has(run: Run, place: Path) -> None:
    assert place.exists()
    coupled(run, "a.csv", "b.csv")
    assert "'item-99'" in refused(run, "retrieve", "c.npz", "--query", "item-99")
    assert "one of a, b" in refused(run, "retrieve", "c.npz", "--query", "item-9", "--view", "c")
    assert "such as 'item-0'" in refused(run, "distances", "c.npz", "--view", "a", "--sources", "x", "--out", "d.csv")


def test_a_query_that_is_in_one_view_only(run: Run, place: Path, clean: dict[str, Any]) -> None:
    clean["frames"][1].iloc[:50].to_csv(place / "b2.csv")
    coupled(run, "a.csv", "b2.csv")
    answer = run("retrieve", "c.npz", "--query", "item-55", "--top", 2)
    assert (answer.code, "not in this view" in answer.out) == (0, True)


def test_numbers_are_names_where_names_are_numbers(run: Run, place: Path, clean: dict[str, Any]) -> None:
    for name, frame in zip("ab", clean["frames"], strict=True):
        frame.set_axis(range(100, 160)).rename_axis("id").to_csv(place / f"{name}4.csv")
    assert run("couple", "a4.csv", "b4.csv", "--out", "c.npz", *FAST).code == 0
    report = json.loads(run("retrieve", "c.npz", "--query", "107", "--view", "a4", "--json").out)
    assert all(100 <= int(row["id"]) < 160 for row in report["nearest"])
    assert "such as '100'" in refused(run, "retrieve", "c.npz", "--query", "7")


def test_landmarks_by_name_in_different_orders(run: Run, place: Path, clean: dict[str, Any]) -> None:
    assert place.exists()
    _shuffled(clean["frames"][1])
    Path("marks.csv").write_text("a,b2\nitem-3,item-3\nitem-40,item-40\n")
    assert run("functions", "a.csv", "b2.csv", "--landmarks", "marks.csv", "--out", "fa.csv", "fb.csv").code == 0
    for name in ("fa.csv", "fb.csv"):
        assert pd.read_csv(name, index_col="id").idxmax().tolist() == ["item-3", "item-40"]


def test_functions_in_another_order_than_their_table(run: Run, place: Path, clean: dict[str, Any]) -> None:
    values = pd.DataFrame({"f": np.arange(60.0)}, index=pd.Index(ITEMS, name="id"))
    values.iloc[ORDER].to_csv(place / "f.csv")
    values.to_csv(place / "g.csv")
    assert run("couple", "a.csv", "b.csv", "--functions", "f.csv", "g.csv", "--out", "c.npz", *FAST).code == 0
    result = ct.Coupling.load("c.npz")
    np.testing.assert_array_equal(result.functions[0], result.functions[1])
    np.testing.assert_array_equal(result.functions[0][:, 0], np.arange(60.0))
    assert clean


# In Python.
def test_data_frames_in_different_orders(clean: dict[str, Any]) -> None:
    first, second = clean["frames"]
    graphs = [ct.knn_graph(first), ct.knn_graph(second.iloc[ORDER])]
    by_name = ct.couple_pairs(graphs, options={"max_iterations": 5})
    assert by_name.pairs is not None
    np.testing.assert_array_equal(by_name.pairs.table, ct.pair_names([first.index, second.index[ORDER]]))
    found = neighbors(by_name.common_graph().graph)
    assert np.mean([found[item] == clean["near"][item] for item in ITEMS]) > 0.9


def test_an_estimator_pairs_data_frames_by_their_index(clean: dict[str, Any]) -> None:
    first, second = clean["frames"]
    clusters = []
    for other in (second, second.iloc[ORDER]):
        model = ct.HeatKernelCoupling(n_clusters=3, n_neighbors=10).fit([first, other])
        clusters.append(pd.Series(model.labels_, index=model.index_))
    joined = pd.crosstab(clusters[0].loc[ITEMS], clusters[1].loc[ITEMS])
    assert joined.max(axis=1).sum() >= 57


def test_one_table_for_an_estimator(clean: dict[str, Any]) -> None:
    with pytest.warns(ct.CothermWarning, match="one view and nothing to bring together"):
        ct.HeatKernelCoupling(n_neighbors=10).fit(clean["frames"][1].to_numpy())


def test_tables_in_place_of_graphs(clean: dict[str, Any]) -> None:
    for given, advice in (
        (clean["frames"][0].to_numpy(), r"knn_graph\(X\)"),
        (clean["frames"][0], r"knn_graph\(X\)"),
        (nx.path_graph(4), "from_networkx"),
    ):
        graphs: Any = [given, given]
        with pytest.raises(ct.CothermError, match=advice):
            ct.couple_pairs(graphs)
        with pytest.raises(ct.CothermError, match=advice):
            ct.couple(graphs, [np.eye(4)] * 2)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda frame: frame.mask(frame == frame.iloc[3, 1]), "X"),
        (lambda frame: frame.assign(color="red"), "X"),
        (lambda frame: frame.set_axis(["item-0"] * 60), "names more than once"),
        (lambda frame: frame.iloc[:0], "X"),
    ],
)
def test_data_frames_that_cannot_be_graphs(spoil: Any, said: str, clean: dict[str, Any]) -> None:
    with pytest.raises(ct.CothermError, match=said):
        ct.knn_graph(spoil(clean["frames"][1]))
