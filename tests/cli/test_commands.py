"""Every command as a newcomer would call it: what it writes, what it prints, and that machines can read it."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import numpy as np
import pytest

import cotherm as ct
from cotherm.cli.main import GROUPS
from cotherm.progress import Meter
from tests.cli.conftest import Run

COMMANDS = [name for names in GROUPS.values() for name in names]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples(run: Run, command: str) -> None:
    answer = run(command, "--help")
    assert answer.code == 0
    assert f"cotherm {command} " in answer.out.partition("example")[2]
    assert max(map(len, answer.out.splitlines())) <= 120


def test_overview_names_every_command(run: Run) -> None:
    answer = run("--help")
    assert all(f"\n  {command} " in answer.out for command in COMMANDS)


def test_three_commands_from_tables_to_scores(run: Run, tables: Path) -> None:
    """The quick start."""
    files = [tables / name for name in ("first.csv", "second.csv")]
    assert run("couple", *files, "--labels", tables / "labels.csv", "--out", tables / "c.npz").code == 0
    assert run("show", tables / "c.npz", "--out", tables / "c.png").code == 0
    answer = run("retrieve", tables / "c.npz", "--json")
    assert (tables / "c.png").read_bytes().startswith(b"\x89PNG")
    scores = {row["row"]: row["mAP"][1] for row in json.loads(answer.out)["scores"]}
    assert scores["first, coupled"] > scores["first, before"] + 5
    assert scores["second, coupled"] > scores["second, before"] + 5


def test_couple_is_couple(coupled: Path) -> None:
    """The file holds what the library would have given for the same tables."""
    result = ct.Coupling.load(coupled / "coupled.npz")
    X = np.loadtxt(coupled / "first.csv", delimiter=",", skiprows=1, usecols=(1, 2))
    labels = np.loadtxt(coupled / "labels.csv", delimiter=",", skiprows=1, usecols=1, dtype=str)
    names = [f"item-{k}" for k in range(60)]
    graph = ct.knn_graph(X, 10, labels=labels, vertex_names=names, name="first")
    assert result.originals[0] == graph
    F = ct.label_functions(labels)
    np.testing.assert_array_equal(result.functions[0], F / np.linalg.norm(F, axis=0))
    assert result.settings["times"] == result.settings["alpha"] == "auto"


def test_known_share_keeps_labels_back(run: Run, tables: Path) -> None:
    files = [tables / name for name in ("first.csv", "second.csv")]
    given = ["--labels", tables / "labels.csv", "--known", "0.25", "--max-iterations", "5"]
    said = run("couple", *files, *given, "--out", tables / "c.npz").out
    assert "--known 0.25: 15 of 60 labels used, 45 kept back" in said
    result = ct.Coupling.load(tables / "c.npz")
    assert [np.count_nonzero(F) for F in result.functions] == [15, 15]
    np.testing.assert_array_equal(result.functions[0], result.functions[1])
    assert result.graphs[0].labels is not None
    assert np.all(result.graphs[0].labels != "")
    report = json.loads(run("retrieve", tables / "c.npz", "--json").out)
    assert {row["items"] for row in report["scores"]} == {45}  # only what was kept back is judged
    assert "kept back" in report["note"]
    assert "  45  " in run("retrieve", tables / "c.npz").out
    clustered = json.loads(run("cluster", tables / "c.npz", "--clusters", 3, "--json").out)
    assert [score["items"] for score in clustered["scores"]] == [45, 45]
    assert "kept back" in clustered["note"]


def test_an_interrupt_before_anything_is_found_leaves_nothing(
    run: Run, tables: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cotherm.methods.coupling.search.descend", interrupted)
    files = [tables / name for name in ("first.csv", "second.csv")]
    by = ("--by", "labels", "--labels", tables / "labels.csv")
    answer = run("couple", *files, *by, "--out", tables / "c.npz")
    assert (answer.code, answer.err) == (130, "cotherm: interrupted\n")
    assert not (tables / "c.npz").exists()


@pytest.mark.parametrize("by_pairs", [True, False])
def test_an_interrupted_coupling_is_saved_as_such(
    run: Run, tables: Path, monkeypatch: pytest.MonkeyPatch, by_pairs: bool
) -> None:
    """Ctrl-C at the third step: the best so far is in the file, and every command that reads it says so."""
    steps = []

    def show(self: Meter, **figures: float) -> None:
        steps.append(figures)
        if len(steps) == 3:
            signal.raise_signal(signal.SIGINT)

    files = [tables / name for name in ("first.csv", "second.csv")]
    more = [] if by_pairs else ["--by", "labels", "--labels", tables / "labels.csv"]
    # What a shell runs in the background ignores interrupts, and so would this.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(Meter, "show", show)
            answer = run("couple", *files, *more, "--out", tables / "c.npz")
    finally:
        signal.signal(signal.SIGINT, before)
    assert answer.code == 130
    assert "Heat kernel coupling of 2 graphs: interrupted" in answer.out
    said = answer.err.splitlines()[-1]
    assert said.startswith("cotherm: interrupted: the best so far is in ")
    assert said.endswith(f"cotherm info {tables / 'c.npz'}")
    assert ct.Coupling.load(tables / "c.npz").status == "interrupted"
    assert "interrupted" in run("info", tables / "c.npz").out
    assert run("info", tables / "c.npz").err == ""
    for command in (
        ["retrieve", tables / "c.npz", "--query", "item-1", "--json"],
        ["cluster", tables / "c.npz", "--clusters", 3],
        ["show", tables / "c.npz", "--kind", "convergence", "--out", tables / "c.png"],
    ):
        told = run(*command)
        assert told.code == 0
        assert told.err == (
            f"cotherm: note: {tables / 'c.npz'}: status interrupted. The best weights found until the interruption.\n"
        )


def test_a_time_limit_is_a_result(run: Run, tables: Path) -> None:
    files = [tables / name for name in ("first.csv", "second.csv")]
    answer = run("couple", *files, "--max-seconds", 1e-9, "--out", tables / "c.npz")
    assert answer.code == 0
    assert ": time limit," in answer.out
    assert ct.Coupling.load(tables / "c.npz").settings["max_seconds"] == 1e-9
    assert "status time limit" in run("cluster", tables / "c.npz", "--clusters", 3).err


def test_how_files_were_read_comes_before_the_work(run: Run, tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object, **__: object) -> None:
        raise ct.CothermError("X", "a stop", "none")

    monkeypatch.setattr("cotherm.graphs.build.knn_graph", stop)
    views = [tables / "first.csv", tables / "second.csv"]
    for command in ("couple", "average", "diagonalize", "graph"):
        given = views[:1] if command == "graph" else views
        for as_json, expected in (([], f"{views[0]}: 60 rows"), (["--json"], "")):
            answer = run(
                command, *given, "--out", tables / ("o.npy" if command == "diagonalize" else "o.npz"), *as_json
            )
            assert answer.code == 2
            first = "coupling: by pairs, rows that are the same item\n" if command == "couple" and not as_json else ""
            assert answer.out.startswith(first + expected)
            assert answer.out.count("\n") == (0 if as_json else 1 + bool(first))


def test_views_of_different_sizes(run: Run, tables: Path) -> None:
    """By names, by a column for each, by a file for each: the same labels."""
    lines = (tables / "second.csv").read_text().splitlines()
    (tables / "fewer.csv").write_text("\n".join([lines[0], *lines[11:]]) + "\n")
    names = (tables / "labels.csv").read_text().splitlines()[1:]
    kinds = [name.split(",")[1] for name in names]
    shorter = [*kinds[10:], *[""] * 10]
    (tables / "columns.csv").write_text("\n".join(["one,two", *map(",".join, zip(kinds, shorter, strict=True))]))
    (tables / "one.csv").write_text("\n".join(["kind", *kinds]))
    (tables / "two.csv").write_text("\n".join(["kind", *kinds[10:]]))
    found = []
    for labels in (["labels.csv"], ["columns.csv"], ["one.csv", "two.csv"]):
        out = ["--out", tables / "a.npy", tables / "b.npy", "--force"]
        files = [tables / name for name in labels]
        answer = run("functions", tables / "first.csv", tables / "fewer.csv", "--labels", *files, *out)
        assert answer.code == 0, answer.err
        found.append(np.load(tables / "b.npy"))
        assert found[-1].shape == (50, 3)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_landmarks_by_name_and_by_number(run: Run, tables: Path) -> None:
    graphs = [tables / "first.csv", tables / "second.csv"]
    (tables / "names.csv").write_text("first,second\nitem-3,item-3\nitem-40,item-41\n")
    (tables / "numbers.csv").write_text("3,3\n40,41\n")
    found = []
    for name in ("names.csv", "numbers.csv"):
        out = ["--out", tables / "a.csv", tables / "b.csv", "--force"]
        assert run("functions", *graphs, "--landmarks", tables / name, *out).code == 0
        found.append(ct.io.read_table(tables / "b.csv").values)
    np.testing.assert_array_equal(found[0], found[1])
    assert found[0].argmax(axis=0).tolist() == [3, 41]


def test_landmarks_that_heat_spreads_unalike_couple_weakly(run: Run, tables: Path) -> None:
    (tables / "marks.csv").write_text("3,3\n40,40\n20,20\n")
    command = ["couple", tables / "first.csv", tables / "second.csv", "--landmarks", tables / "marks.csv"]
    answer = run(*command, "--out", tables / "marked.npz", "--max-iterations", 3)
    assert answer.code == 0
    assert "coupled weakly" in answer.out
    report = json.loads(run("info", tables / "marked.npz", "--json").out)
    assert report["settings"]["strength"] == 1.0
    matched = run("match", tables / "marked.npz", "--out", tables / "match.csv")
    assert matched.code == 0
    assert "couple the graphs first" not in matched.out


def test_graphs_in_all_formats(run: Run, tables: Path) -> None:
    found = []
    for suffix in ("npz", "csv", "mtx"):
        place = tables / f"graph.{suffix}"
        assert run("graph", tables / "first.csv", "-k", 5, "--out", place).code == 0
        described = json.loads(run("info", place, "--json").out)
        found.append((described["kind"], described["vertices"], described["edges"]))
    assert len(set(found)) == 1
    assert found[0][:2] == ("graph", 60)


def test_recipe_options_reach_the_graph(run: Run, tables: Path) -> None:
    options = ["--neighbors", 4, "--scale", "median", "--symmetrize", "mean", "--standardize"]
    run("graph", tables / "second.csv", *options, "--out", tables / "g.npz")
    X = np.loadtxt(tables / "second.csv", delimiter=",", skiprows=1, usecols=(1, 2, 3))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    written = ct.read_graph(tables / "g.npz")
    assert written.bare() == ct.knn_graph(X, 4, scale="median", symmetrize="mean", name="second").bare()
    assert written.vertex("item-7") == 7


def test_meshes_are_views(run: Run, tmp_path: Path) -> None:
    points = np.random.default_rng(0).random((40, 3))
    faces = np.array([[k, k + 1, k + 2] for k in range(38)])
    ct.write_mesh(ct.Mesh(points, faces), tmp_path / "body.off")
    assert run("graph", tmp_path / "body.off", "--out", tmp_path / "g.npz").code == 0
    assert ct.read_graph(tmp_path / "g.npz").n == 40
    assert json.loads(run("info", tmp_path / "body.off", "--json").out)["faces"] == 38


def test_average_diagonalize_commute(run: Run, tables: Path) -> None:
    views = [tables / "first.csv", tables / "second.csv"]
    graphs = [ct.knn_graph(np.loadtxt(v, delimiter=",", skiprows=1)[:, 1:], 5) for v in _without_names(views)]
    assert run("average", *views, "-k", 5, "--out", tables / "mean.npz").code == 0
    np.testing.assert_allclose(ct.read_graph(tables / "mean.npz").w, ct.average(graphs).graph.w)
    assert run("diagonalize", *views, "-k", 5, "--modes", 4, "--out", tables / "modes.csv").code == 0
    modes = ct.io.read_table(tables / "modes.csv")
    assert modes.names == tuple(f"item-{k}" for k in range(60))
    np.testing.assert_allclose(modes.values, ct.joint_diagonalize(graphs).basis[:, :4], atol=1e-6)
    out = [tables / "a.npy", tables / "b.npy"]
    assert run("commute", *views, "-k", 5, "--out", *out).code == 0
    A, B = map(np.load, out)
    assert np.linalg.norm(A @ B - B @ A) < 1e-8 * np.linalg.norm(A) * np.linalg.norm(B)


def _without_names(views: list[Path]) -> list[Path]:
    """The same tables with numbers for names, for numpy to read."""
    found = []
    for view in views:
        plain = view.with_suffix(".plain")
        plain.write_text(view.read_text().replace("item-", ""))
        found.append(plain)
    return found


def test_commute_writes_graphs(run: Run, tmp_path: Path) -> None:
    for k, graph in enumerate(ct.datasets.ring(20).graphs):
        ct.write_graph(graph, tmp_path / f"{k}.npz")
    out = [tmp_path / "a.npz", tmp_path / "b.npz"]
    answer = run("commute", tmp_path / "0.npz", tmp_path / "1.npz", "--valid", "--out", *out, "--json")
    assert answer.code == 0
    report = json.loads(answer.out)
    assert report["distance"] <= report["distance_equal"]
    assert report["relation"] in ("equal", "proportional", "different")
    assert len(report["moved"]) == 2
    A, B = (ct.read_graph(place).laplacian().toarray() for place in out)
    assert np.linalg.norm(A @ B - B @ A) < 1e-8


def test_distances(run: Run, coupled: Path, tmp_path: Path) -> None:
    result = ct.Coupling.load(coupled / "coupled.npz")
    expected = ct.diffusion_distance(result.graphs[1], 0.5)
    given = ["distances", coupled / "coupled.npz", "--view", 2, "--time", 0.5]
    assert run(*given, "--out", tmp_path / "d.npy").code == 0
    np.testing.assert_allclose(np.load(tmp_path / "d.npy"), expected)
    for number, sources in enumerate(("0,7", "item-0,item-7", "item-0,7")):
        place = tmp_path / f"d{number}.csv"
        assert run(*given, "--sources", sources, "--out", place).code == 0
        rows = ct.io.read_table(place)
        assert (rows.names, rows.titles) == (("item-0", "item-7"), tuple(f"item-{k}" for k in range(60)))
        np.testing.assert_allclose(rows.values, expected[[0, 7]], atol=1e-12)
    assert run(*given[:2], "--view", "second", *given[4:], "--nearest", 3, "--out", tmp_path / "n.csv").code == 0
    near = ct.diffusion_distance(result.graphs[1], 0.5, nearest=3)
    lines = [line.split(",") for line in (tmp_path / "n.csv").read_text().splitlines()]
    assert lines[0] == ["id", "neighbor", "distance"]
    assert [line[0] for line in lines[1:]] == [f"item-{k}" for k in range(60) for _ in range(3)]
    assert [line[1] for line in lines[1:]] == [f"item-{k}" for k in near.indices.ravel()]


def test_retrieve_a_query(run: Run, coupled: Path) -> None:
    graph = ct.Coupling.load(coupled / "coupled.npz").graphs[0]
    d = ct.diffusion_distance(graph, 1.0, sources=[5])[0]
    d[5] = np.inf
    for query, view in ((5, 1), ("item-5", "first")):
        given = ["retrieve", coupled / "coupled.npz", "--top", 4, "--times", "1"]
        found = json.loads(run(*given, "--query", query, "--view", view, "--json").out)["nearest"]
        assert [row["vertex"] for row in found] == np.argsort(d)[:4].tolist()
        assert [row["id"] for row in found] == [f"item-{v}" for v in np.argsort(d)[:4]]


def test_retrieve_scores_are_those_of_evaluate(run: Run, coupled: Path) -> None:
    answer = run("retrieve", coupled / "coupled.npz", "--times", "0.7", "--json")
    rows = json.loads(answer.out)["scores"]
    assert [row["row"] for row in rows] == ["first, before", "first, coupled", "second, before", "second, coupled"]
    graph = ct.Coupling.load(coupled / "coupled.npz").graphs[1]
    assert graph.labels is not None
    expected = ct.evaluate.retrieval(ct.diffusion_distance(graph, 0.7), graph.labels)
    assert rows[3]["mAP"] == pytest.approx([100 * expected.mean_average_precision])
    assert rows[3]["P@5"] == pytest.approx([100 * expected.precision_at(5)])


def test_cluster(run: Run, coupled: Path, tmp_path: Path) -> None:
    answer = run("cluster", coupled / "coupled.npz", "--clusters", 3, "--out", tmp_path / "c.csv", "--json")
    report = json.loads(answer.out)
    assert min(score["ACC"] for score in report["scores"]) > 0.85
    written = ct.io.read_table(tmp_path / "c.csv")
    assert (written.names, written.titles) == (tuple(f"item-{k}" for k in range(60)), ("first", "second"))
    assert written.values.T.tolist() == report["clusters"]
    first, second = report["clusters"]
    assert np.mean(np.array(first) == second) > 0.85  # the same number means the same cluster
    views = [coupled / "first.csv", coupled / "second.csv"]
    for way in ("average", "diagonalize"):
        answer = run("cluster", *views, "--by", way, "-c", 3, "--labels", coupled / "labels.csv", "--json")
        assert json.loads(answer.out)["scores"][0]["ACC"] > 0.85


@pytest.mark.parametrize("kind", ["graphs", "heat", "coupling", "convergence"])
def test_show_draws_every_kind(run: Run, coupled: Path, tmp_path: Path, kind: str) -> None:
    answer = run("show", coupled / "coupled.npz", "--kind", kind, "--out", tmp_path / "p.svg")
    assert answer.code == 0, answer.err
    assert b"<svg" in (tmp_path / "p.svg").read_bytes()


def test_info_of_a_coupling_is_enough_for_a_methods_section(run: Run, coupled: Path) -> None:
    text = run("info", coupled / "coupled.npz").out
    for needed in ("rigidity", "tolerance", "numpy", "cotherm", "α = "):
        assert needed in text
    report = json.loads(run("info", coupled / "coupled.npz", "--json").out)
    assert report["functions"] == 3
    assert len(report["views"]) == 2


def test_match_is_match(run: Run, coupled: Path, tmp_path: Path) -> None:
    answer = run("match", coupled / "coupled.npz", "--source", 2, "--target", 1, "--out", tmp_path / "m.csv", "--json")
    assert answer.code == 0, answer.err
    rows = [line.split(",") for line in (tmp_path / "m.csv").read_text().splitlines()]
    expected = ct.match(ct.Coupling.load(coupled / "coupled.npz"), source=1, target=0)
    assert rows[0] == ["source", "target", "agreement", "round_trip"]
    assert [row[0] for row in rows[1:]] == [f"item-{v}" for v in range(60)]
    assert [row[1] for row in rows[1:]] == [f"item-{w}" for w in expected.hard]
    assert json.loads(answer.out)["agreement"] == pytest.approx(expected.agreement.mean())


def test_demo_tables_go_through(run: Run, tmp_path: Path) -> None:
    assert run("demo", "--tables", tmp_path).code == 0
    report = json.loads(run("info", tmp_path / "words.csv", "--json").out)
    assert report["rows"] == 145
    assert run("demo", "--tables", tmp_path).code == 2


@pytest.mark.parametrize("titles", ["source,target,weight", "from,to,weight", "i,j,w", "Source,Target,Weight"])
@pytest.mark.parametrize(("mark", "suffix"), [(",", "csv"), (";", "csv"), ("\t", "csv"), ("\t", "tsv"), (";", "tsv")])
def test_edge_lists_are_never_points(run: Run, tmp_path: Path, titles: str, mark: str, suffix: str) -> None:
    place = tmp_path / f"edges.{suffix}"
    place.write_text("\n".join(row.replace(",", mark) for row in (titles, "0,1,0.5", "1,2,2.5", "0,3,1")) + "\n")
    report = json.loads(run("info", place, "--json").out)
    assert (report["kind"], report["vertices"], report["edges"]) == ("graph", 4, 3)
    assert report["weight_greatest"] == 2.5
    assert run("graph", place, "--out", tmp_path / "g.npz").code == 0


def test_edges_in_a_file_of_another_kind_are_refused(run: Run, tmp_path: Path) -> None:
    place = tmp_path / "edges.txt"
    place.write_text("source,target\n0,1\n1,2\n")
    answer = run("graph", place, "--out", tmp_path / "g.npz")
    assert (answer.code, ".tsv" in answer.err) == (2, True)


def test_without_a_clone_reproduce_says_where_the_experiments_are(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cotherm.__file__", str(tmp_path / "lib" / "cotherm" / "__init__.py"))
    answer = run("reproduce", "circles")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("cotherm: error: reproduce: an installation without the experiments; needed: a clone")
