"""``cotherm view`` and ``cotherm show --out page.html``: where the page is, and what goes into it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import Run
from tests.viewer.reading import Read


def read(place: Path) -> Read:
    return Read(place.read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def no_browser(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What would have been opened."""
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setenv("DISPLAY", ":0")
    return opened


def test_view(run: Run, coupled: Path, tmp_path: Path, no_browser: list[str]) -> None:
    answer = run("view", coupled / "coupled.npz", "--out", tmp_path / "page.html")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.splitlines()[-1] == f"Page: {tmp_path / 'page.html'}"
    header = read(tmp_path / "page.html").header
    assert header["views"][0]["names"][0] == "item-0"
    assert header["views"][0]["labels"]["classes"] == ["blue", "green", "red"]
    assert [one["name"] for one in header["functions"]] == ["blue", "green", "red"]
    assert no_browser == []  # this is no terminal


def test_a_browser_on_a_terminal(
    run: Run, coupled: Path, tmp_path: Path, no_browser: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cotherm.cli.commands.pictures.is_terminal", lambda _: True)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    answer = run("view", coupled / "coupled.npz")
    (page,) = tmp_path.glob("*.html")
    assert f"Page: {page}" in answer.out
    assert no_browser == [page.as_uri()]
    assert run("view", coupled / "coupled.npz", "--no-open").code == 0
    assert run("view", coupled / "coupled.npz", "--json").code == 0
    assert len(no_browser) == 1


def test_view_for_machines(run: Run, coupled: Path, tmp_path: Path) -> None:
    answer = run("view", coupled / "coupled.npz", "--out", tmp_path / "page.html", "--json")
    report = json.loads(answer.out)
    assert report == {
        "out": str(tmp_path / "page.html"),
        "bytes": (tmp_path / "page.html").stat().st_size,
        "notes": report["notes"],
        "opened": False,
    }


def test_show_writes_the_page_too(run: Run, coupled: Path, tmp_path: Path) -> None:
    assert run("show", coupled / "coupled.npz", "--out", tmp_path / "shown.html").code == 0
    assert run("view", coupled / "coupled.npz", "--out", tmp_path / "viewed.html").code == 0
    assert (tmp_path / "shown.html").read_bytes() == (tmp_path / "viewed.html").read_bytes()
    answer = run("show", coupled / "coupled.npz", "--kind", "heat", "--out", tmp_path / "heat.html")
    assert answer.code == 2
    assert "--kind: heat, with a page" in answer.err


def test_files_beside_the_result(run: Run, coupled: Path, tmp_path: Path) -> None:
    points = np.random.default_rng(0).random((60, 2))
    np.savetxt(tmp_path / "places.csv", points, delimiter=",", header="x,y", comments="")
    (tmp_path / "names.csv").write_text(
        "id,name\n" + "".join(f"item-{k},<b>{k}</b>\n" for k in range(60)), encoding="utf-8"
    )
    (tmp_path / "other.csv").write_text("id,kind\n" + "".join(f"item-{k},{k % 2}\n" for k in range(60)))
    options = ["--positions", tmp_path / "places.csv", "--names", tmp_path / "names.csv", "--pairs", "names"]
    options += ["--labels", tmp_path / "other.csv", "--title", "Mine", "--out", tmp_path / "page.html"]
    answer = run("view", coupled / "coupled.npz", *options)
    assert (answer.err, answer.code) == ("", 0)
    page = read(tmp_path / "page.html")
    np.testing.assert_allclose(page.view(1, "position"), points, rtol=1e-6)
    view = page.header["views"][0]
    assert (view["names"][7], view["layout"], view["labels"]["classes"]) == ("<b>7</b>", "given", ["0", "1"])
    assert page.header["title"] == "Mine"
    assert len(page.array(page.header["pairs"][0]["a"])) == 60


def test_a_mesh_beside_the_result(run: Run, coupled: Path, tmp_path: Path) -> None:
    lines = ["OFF", "60 1 0", *(f"{k} {k % 7} {k % 5}" for k in range(60)), "3 0 1 2"]
    (tmp_path / "shape.off").write_text("\n".join(lines) + "\n")
    options = ["--positions", tmp_path / "shape.off", "--out", tmp_path / "page.html"]
    assert run("view", coupled / "coupled.npz", *options).code == 0
    page = read(tmp_path / "page.html")
    assert page.view(0, "faces").tolist() == [[0, 1, 2]]
    assert page.header["views"][0]["dimensions"] == 3


def test_refusals(run: Run, coupled: Path, tmp_path: Path) -> None:
    result = coupled / "coupled.npz"
    (tmp_path / "page.html").write_text("mine")
    (tmp_path / "few.csv").write_text("x,y\n1,2\n3,4\n")
    (tmp_path / "nan.csv").write_text("x,y\n" + "1,nan\n" * 60)
    assert run("graph", coupled / "first.csv", "--out", tmp_path / "graph.npz").code == 0
    for arguments, message in (
        ([result, "--out", tmp_path / "page.html"], "the file exists; needed: a new name. Pass --force"),
        ([result, "--out", tmp_path / "page.png"], "the suffix .png; needed: .html"),
        ([tmp_path / "graph.npz", "--out", tmp_path / "a.html"], "a graph; needed: a coupling"),
        ([coupled / "first.csv", "--out", tmp_path / "a.html"], "neither a coupling nor a graph"),
        ([result, "--positions", tmp_path / "few.csv", "--out", tmp_path / "a.html"], "2 rows in"),
        ([result, "--positions", tmp_path / "nan.csv", "--out", tmp_path / "a.html"], "nan.csv"),
        ([result, "--positions", *["x.csv"] * 3, "--out", tmp_path / "a.html"], "--positions: 3 files"),
        ([result, "--names", tmp_path / "few.csv", "--out", tmp_path / "a.html"], "few.csv"),
    ):
        answer = run("view", *arguments)
        assert answer.code == 2, message
        assert message in answer.err
        assert len(answer.err.splitlines()) == 1
    assert (tmp_path / "page.html").read_text() == "mine"
    assert not (tmp_path / "a.html").exists()
