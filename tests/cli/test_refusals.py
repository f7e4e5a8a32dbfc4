"""Bad input: one line, exit code 2, nothing printed but how files were read before, nothing written."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import cotherm as ct
from cotherm.engines.gpu.device import cuda_device
from tests.cli.conftest import Run

JUNK = np.random.default_rng(0).bytes(3_000)


def state(directory: Path) -> dict[str, bytes]:
    return {place.name: place.read_bytes() for place in directory.iterdir() if place.is_file()}


def only_readings(out: str) -> bool:
    """Whether no more was printed than how files were read, which comes before the work."""
    return all(re.match(r"(\S+\.\w+|paired|--\w+|\w+): ", line) for line in out.splitlines())


def refused(run: Run, directory: Path, *arguments: object) -> str:
    """The one line that was said; nothing else may have happened."""
    before = state(directory)
    answer = run(*arguments)
    assert answer.code == 2, answer
    assert only_readings(answer.out)
    assert answer.err.count("\n") == 1, answer.err
    assert "Traceback" not in answer.err
    assert state(directory) == before
    return answer.err


@pytest.fixture
def place(tables: Path) -> Path:
    """Good tables beside bad ones."""
    (tables / "junk.csv").write_bytes(JUNK)
    for suffix in ("npz", "npy", "off", "ply", "obj", "mtx"):
        (tables / f"junk.{suffix}").write_bytes(JUNK)
    good = (tables / "first.csv").read_text().splitlines()
    (tables / "nan.csv").write_text("\n".join([*good[:7], "item-x,nan,1.0", *good[8:]]))
    (tables / "short.csv").write_text("\n".join(good[:20]))
    (tables / "ragged.csv").write_text("\n".join([*good[:7], "item-x,1.0", *good[8:]]))
    (tables / "empty.csv").write_text("")
    (tables / "few.csv").write_text("kind\nred\ngreen\nred\n")
    return tables


@pytest.mark.parametrize("bad", ["junk.csv", "junk.npz", "junk.npy", "junk.off", "junk.ply", "junk.obj", "junk.mtx"])
@pytest.mark.parametrize("command", ["graph", "couple", "average", "diagonalize", "commute", "info", "cluster"])
def test_binary_junk(run: Run, place: Path, bad: str, command: str) -> None:
    out = ["--out", place / ("x.csv" if command in ("diagonalize", "cluster") else "x.npz")]
    files = [place / bad, place / "second.csv"]
    arguments: dict[str, list[object]] = {
        "graph": [place / bad, *out],
        "couple": [*files, "--labels", place / "labels.csv", *out],
        "average": [*files, *out],
        "diagonalize": [*files, *out],
        "commute": [*files, "--out", place / "x.npy", place / "y.npy"],
        "info": [place / bad],
        "cluster": [place / bad, "--clusters", 3, *out],
    }
    assert bad in refused(run, place, command, *arguments[command])


@pytest.mark.parametrize("bad", ["nan.csv", "short.csv", "ragged.csv", "empty.csv", "missing.csv", "junk.xyz", ""])
def test_couple_names_the_file(run: Run, place: Path, bad: str) -> None:
    (place / "junk.xyz").write_bytes(JUNK)
    given = ["couple", place / bad, place / "second.csv", "--labels", place / "few.csv", "--out", place / "x.npz"]
    said = refused(run, place, *given)
    assert bad in said or "few.csv" in said


@pytest.mark.parametrize("labels", ["few.csv", "junk.csv", "missing.csv", "empty.csv", "second.csv"])
def test_labels_that_do_not_fit(run: Run, place: Path, labels: str) -> None:
    views = [place / "first.csv", place / "second.csv"]
    assert labels in refused(run, place, "couple", *views, "--labels", place / labels, "--out", place / "x.npz")


@pytest.mark.parametrize("out", ["x.txt", "x", "nowhere/x.npz", "first.csv", "."])
def test_outputs_that_cannot_be(run: Run, place: Path, out: str) -> None:
    views = [place / "first.csv", place / "second.csv"]
    refused(run, place, "couple", *views, "--labels", place / "labels.csv", "--out", place / out)


def test_outputs_that_cannot_be_written_to_are_refused_before_the_work(run: Run, place: Path) -> None:
    # Nobody, not even root, makes files there; where there is no such place, there is none to make them in.
    refused(run, place, "graph", place / "first.csv", "--out", "/proc/self/x.npz")


def test_existing_outputs_are_kept_without_force(run: Run, place: Path) -> None:
    (place / "x.npz").write_bytes(b"mine")
    assert "--force" in refused(run, place, "graph", place / "first.csv", "--out", place / "x.npz")
    assert run("graph", place / "first.csv", "--out", place / "x.npz", "--force").code == 0
    assert (place / "x.npz").read_bytes() != b"mine"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--neighbors", "0"], "--neighbors"),
        (["--neighbors", "60"], "--neighbors"),
        (["--neighbors", "many"], "--neighbors"),
        (["--scale", "wide"], "--scale"),
        (["--scale", "-1"], "--scale"),
        (["--times", "1,two"], "--times"),
        (["--times", "-1"], "--times"),
        (["--alpha", "nan"], "--alpha"),
        (["--alpha", "0"], "--alpha"),
        (["--graph-weights", "1"], "--graph-weights"),
        (["--function-weights", "1,-1"], "--function-weights"),
        (["--tolerance", "0"], "--tolerance"),
        (["--max-iterations", "0"], "--max-iterations"),
        (["--continuation", "scenic"], "--continuation"),
        (["--rigidity", "1"], "--rigidity"),
        (["--rigidity", "1,-1"], "--rigidity"),
        (["--known", "0"], "--known"),
        (["--known", "2"], "--known"),
        (["--seed", "-1", "--known", "0.5"], "--seed"),
        (["--column", "color"], "color"),
        (["--metric", "taxi"], "--metric"),
        (["--landmarks", "x.csv"], "--landmarks"),
        (["--bogus"], "--bogus"),
        (["--neighbors", "1_0"], "--neighbors"),
        (["--neighbors", "\u0661"], "--neighbors"),
        (["--neighbors", "9" * 5_000], "--neighbors"),
        (["--times", "1_0,20"], "--times"),
        (["--alpha", "\uff11"], "--alpha"),
        (["--known", "0_1.5"], "--known"),
        (["--header", "elsewhere.csv"], "--header"),
        (["--no-header", "elsewhere.csv"], "--no-header"),
    ],
)
def test_options_of_couple(run: Run, place: Path, arguments: list[str], named: str) -> None:
    views = [place / "first.csv", place / "second.csv"]
    given = ["--labels", place / "labels.csv", "--out", place / "x.npz"]
    assert named in refused(run, place, "couple", *views, *given, *arguments)


def test_a_gpu_that_is_not_there(run: Run, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neighbors would be searched for on it: no file is to blame."""
    monkeypatch.setitem(__import__("sys").modules, "cupy", None)
    cuda_device.cache_clear()
    views = [place / "first.csv", place / "second.csv"]
    said = refused(run, place, "couple", *views, "--engine", "gpu", "--out", place / "x.npz")
    assert "--engine gpu" in said
    assert "first.csv" not in said


def test_one_view_is_not_enough(run: Run, place: Path) -> None:
    refused(run, place, "couple", place / "first.csv", "--labels", place / "labels.csv", "--out", place / "x.npz")


def test_landmarks_that_are_not_there(run: Run, place: Path) -> None:
    views = [place / "first.csv", place / "second.csv"]
    for text, named in (("3,99\n", "'99'"), ("3,item-99\n", "item-99"), ("1,2,3\n", "3 columns")):
        (place / "pairs.csv").write_text(text)
        said = refused(run, place, "couple", *views, "--landmarks", place / "pairs.csv", "--out", place / "x.npz")
        assert named in said


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("99,98\n1,2\n3,4\n", "line 1"),
        ("item-99,item-98\nitem-1,item-1\n", "line 1"),
        ("left,right\nitem-1,item-1\nitem-x,item-2\n", "line 3"),
        ("1,2\n,\n3,4\n", "line 2"),
        ("1,2\n" + "7" * 5_000 + ",3\n", "line 2"),
        ("1,2\n\u0663,3\n", "line 2"),
        ("1,2\n1_0,3\n", "line 2"),
        ("1\n\n3\n", "line 2"),
    ],
)
def test_no_landmark_is_passed_over(run: Run, place: Path, text: str, where: str) -> None:
    (place / "pairs.csv").write_text(text, encoding="utf-8")
    views = [place / "first.csv", place / "second.csv"]
    said = refused(run, place, "couple", *views, "--landmarks", place / "pairs.csv", "--out", place / "x.npz")
    assert f"pairs.csv: {where}" in said


def test_landmarks_are_names_where_names_are_numbers(run: Run, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    rows = [f"{k + 1},{x},{y}" for k, (x, y) in enumerate(random.random((15, 2)).round(3).tolist())]
    (tmp_path / "r.csv").write_text("\n".join(["id,x,y", *rows]) + "\n")
    out = [tmp_path / "a.npy", tmp_path / "b.npy"]
    views = [tmp_path / "r.csv", tmp_path / "r.csv"]
    (tmp_path / "pairs.csv").write_text("1,1\n5,5\n")
    assert run("functions", *views, "--landmarks", tmp_path / "pairs.csv", "--out", *out).code == 0
    assert np.load(out[0]).argmax(axis=0).tolist() == [0, 4]
    (tmp_path / "pairs.csv").write_text("0,0\n1,1\n5,5\n")
    given = ["functions", *views, "--landmarks", tmp_path / "pairs.csv", "--out", *out, "--force"]
    assert "line 1: '0'" in refused(run, tmp_path, *given)
    (tmp_path / "pairs.csv").write_text("1\n" * 100)
    assert "100 rows" in refused(run, tmp_path, *given)


def test_functions_are_matched_by_name(run: Run, place: Path) -> None:
    values = np.random.default_rng(0).random(60).round(4)
    named = [f"item-{k},{x}" for k, x in enumerate(values.tolist())]
    (place / "f.csv").write_text("\n".join(named) + "\n")
    (place / "turned.csv").write_text("\n".join(named[::-1]) + "\n")
    views = [place / "first.csv", place / "second.csv"]
    out = [place / "a.npy", place / "b.npy"]
    answer = run("functions", *views, "--features", place / "f.csv", place / "turned.csv", "--out", *out)
    assert answer.code == 0
    assert answer.out.count("matched by name") == 2
    couple = ["couple", *views, "--functions", place / "f.csv", place / "turned.csv", "--max-iterations", 1]
    assert run(*couple, "--out", place / "c.npz").code == 0
    for F in ct.Coupling.load(place / "c.npz").functions:
        np.testing.assert_array_equal(F[:, 0], values)
    (place / "turned.csv").write_text("\n".join([*named[:0:-1], "stranger,1"]) + "\n")
    assert "stranger" in refused(run, place, *couple, "--out", place / "d.npz")


def test_titles_of_landmarks(run: Run, place: Path) -> None:
    views = [place / "first.csv", place / "second.csv"]
    out = [place / "a.npy", place / "b.npy"]
    for titles in ("left,right", "first,second", "item_a,item_b"):
        (place / "pairs.csv").write_text(f"{titles}\nitem-1,item-1\nitem-5,5\n")
        answer = run("functions", *views, "--landmarks", place / "pairs.csv", "--out", *out, "--force")
        assert answer.code == 0
        assert f"2 landmarks (titles {titles.replace(',', ', ')})" in answer.out
        assert np.load(out[0]).argmax(axis=0).tolist() == [1, 5]
    (place / "pairs.csv").write_text("item-a,item-b\nitem-1,item-1\nitem-5,5\n")
    given = ["functions", *views, "--landmarks", place / "pairs.csv", "--out", *out, "--force"]
    assert run(*given, "--header", place / "pairs.csv").code == 0


def test_functions_that_do_not_fit(run: Run, place: Path) -> None:
    views = [place / "first.csv", place / "second.csv"]
    for files in ([place / "first.csv"], [place / "first.csv", place / "short.csv"], views):
        refused(run, place, "couple", *views, "--functions", *files, "--out", place / "x.npz")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["retrieve", "first.csv"], "first.csv"),
        (["retrieve", "coupled.npz", "--view", "3"], "--view"),
        (["retrieve", "coupled.npz", "--query", "60"], "--query"),
        (["retrieve", "coupled.npz", "--times", "-1"], "--times"),
        (["retrieve", "coupled.npz", "--top", "0"], "--top"),
        (["cluster", "coupled.npz", "--clusters", "0"], "--clusters"),
        (["cluster", "coupled.npz", "--clusters", "61"], "--clusters"),
        (["distances", "coupled.npz", "--out", "d.csv"], "--view"),
        (["show", "coupled.npz", "--kind", "heat", "--function", "4", "--out", "p.png"], "--function"),
        (["show", "coupled.npz", "--out", "p.gif"], "p.gif"),
        (["match", "coupled.npz", "--target", "1", "--out", "m.csv"], "--target"),
        (["match", "coupled.npz", "--source", "3", "--out", "m.csv"], "--source"),
        (["show", "first.csv", "--out", "p.png"], "first.csv"),
        (["info", "nothing.npz"], "nothing.npz"),
        (["nonsense"], "nonsense"),
        ([], "COMMAND"),
    ],
)
def test_other_commands(run: Run, coupled: Path, arguments: list[str], named: str) -> None:
    files = ("first.csv", "coupled.npz", "d.csv", "p.png", "p.gif", "m.csv", "nothing.npz")
    given = [coupled / word if word in files else word for word in arguments]
    assert named in refused(run, coupled, *given)


def test_graphs_without_labels_say_so(run: Run, place: Path) -> None:
    run("graph", place / "first.csv", "--out", place / "g.npz")
    assert "--labels" in refused(run, place, "retrieve", place / "g.npz")


def test_several_graphs_need_a_way_to_be_clustered_by(run: Run, place: Path) -> None:
    views = [place / "first.csv", place / "second.csv"]
    assert "--by" in refused(run, place, "cluster", *views, "--clusters", 3)


def test_a_command_never_replaces_what_it_reads(run: Run, place: Path) -> None:
    assert "reads" in refused(run, place, "graph", place / "first.csv", "--out", place / "first.csv", "--force")


def test_two_names_of_one_output_are_refused(run: Run, place: Path) -> None:
    views = [place / "first.csv", place / "second.csv"]
    out = [place / "a.csv", place / "." / "a.csv"]
    refused(run, place, "functions", *views, "--labels", place / "labels.csv", "--out", *out)


def test_views_of_the_same_items_in_another_order(run: Run, place: Path) -> None:
    lines = (place / "second.csv").read_text().splitlines()
    (place / "turned.csv").write_text("\n".join([lines[0], *lines[:0:-1]]))
    views = [place / "first.csv", place / "second.csv"]
    answer = run("average", views[0], place / "turned.csv", "--out", place / "turned.npz")
    assert "put in the order of the first view, by name" in answer.out
    run("average", *views, "--out", place / "straight.npz")
    turned, straight = (ct.read_graph(place / f"{name}.npz") for name in ("turned", "straight"))
    assert turned == straight
    (place / "others.csv").write_text("\n".join([lines[0], *lines[2:], "stranger,1,2,3"]))
    said = refused(run, place, "average", views[0], place / "others.csv", "--out", place / "x.npz")
    assert "other items than in the first view, such as 'item-0'" in said
    (place / "nameless.csv").write_text("\n".join(line.partition(",")[2] for line in lines))
    said = refused(run, place, "average", views[0], place / "nameless.csv", "--out", place / "x.npz")
    assert "no names of items" in said


def test_labels_row_by_row_for_items_in_another_order(run: Run, place: Path) -> None:
    lines = (place / "second.csv").read_text().splitlines()
    (place / "turned.csv").write_text("\n".join([lines[0], *lines[:0:-1]]))
    labels = [line.partition(",")[2] for line in (place / "labels.csv").read_text().splitlines()]
    (place / "nameless.csv").write_text("\n".join(labels))
    views = [place / "first.csv", place / "turned.csv"]
    said = refused(run, place, "couple", *views, "--labels", place / "nameless.csv", "--out", place / "x.npz")
    assert "labels without names" in said


def test_landmarks_without_titles_keep_their_first_pair(run: Run, place: Path) -> None:
    (place / "pairs.csv").write_text("item-1,item-1\nitem-5,item-5\nitem-9,item-9\n")
    views = [place / "first.csv", place / "second.csv"]
    out = [place / "a.npy", place / "b.npy"]
    run("functions", *views, "--landmarks", place / "pairs.csv", "--out", *out)
    assert np.load(out[0]).argmax(axis=0).tolist() == [1, 5, 9]


def test_few_items_are_enough(run: Run, tmp_path: Path) -> None:
    (tmp_path / "five.csv").write_text("1,2\n3,4\n5,6\n9,8\n1,1\n")
    assert run("graph", tmp_path / "five.csv", "-k", 2, "--out", tmp_path / "g.npz").code == 0


@pytest.mark.parametrize("command", ["info", "distances", "retrieve"])
def test_a_forged_number_of_vertices_takes_no_memory(run: Run, tmp_path: Path, command: str) -> None:
    ct.write_graph(ct.Graph(2_000_000_000, [0], [1], [1.0]), tmp_path / "g.npz")
    out = ["--out", tmp_path / "d.csv"] if command == "distances" else []
    assert "2000000000 vertices" in refused(run, tmp_path, command, tmp_path / "g.npz", *out)
