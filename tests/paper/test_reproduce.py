"""The experiments: their parts on small cases, the quick ones whole, and what happens when a claim fails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from paper import cli
from paper.data import nus
from paper.experiments import circles, man, ring, scnmt
from paper.experiments.cards import draw_neighbors
from paper.page import write_page, write_pictures
from paper.report import Claim, Experiment, Picture, Table
from paper.reproduce import reproduce
from tests import problems


def test_claims_hold_or_not() -> None:
    assert Claim("a", 1.0, "<=", 1.0).holds
    assert not Claim("a", 1.1, "<=", 1.0).holds
    assert Claim("a", 1.1, ">=", 1.0).holds
    assert not Claim("a", float("nan"), ">=", 1.0).holds
    assert "DOES NOT HOLD" in str(Claim("a", 1.1, "<=", 1.0))


def test_tables_for_people_and_pages() -> None:
    table = Table("Title", ["", "here", "paper"], [["cost", "1.0", "-"]])
    assert table.text().splitlines() == ["Title", "        here  paper", "  cost  1.0   -"]
    assert table.markdown().splitlines()[2:] == ["|  | here | paper |", "| --- | --- | --- |", "| cost | 1.0 | - |"]


def test_a_page_leaves_out_what_is_not_ours_to_share(tmp_path: Path) -> None:
    pictures = [Picture("mine", "caption one", Figure), Picture("theirs", "caption two", Figure, shareable=False)]
    experiment = Experiment("x", "X", "About x.", claims=[Claim("a", 1.0, "<=", 2.0)], pictures=pictures)
    written = write_pictures(experiment, tmp_path / "images")
    assert [path.name for path in written] == ["x-mine.png", "x-theirs.png"]
    write_page([experiment], tmp_path / "page.md", tmp_path / "images", all_pictures=False)
    text = (tmp_path / "page.md").read_text()
    assert "images/x-mine.png" in text
    assert "theirs" not in text
    assert "holds" in text


def test_cards_show_the_query_and_what_was_found() -> None:
    figure = draw_neighbors([("tags", "tiger, cat", [("lion", False), ("tiger", True)])])
    assert [text.get_text() for text in figure.axes[0].texts] == ["tags", "tiger,\ncat", "lion\n✗", "tiger\n✓"]


@pytest.mark.parametrize("experiment", [circles, ring])
def test_the_embedded_experiments_hold(experiment: Any, tmp_path: Path) -> None:
    found = experiment.run()
    assert found.holds
    assert all(path.stat().st_size > 5_000 for path in write_pictures(found, tmp_path, kinds=["png"]))


def test_man_on_the_modeled_body(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COTHERM_DATA", raising=False)
    found = man.run()
    assert found.holds
    assert len(found.notes) == 2  # the scanned bodies are not there, and it says so
    assert write_pictures(found, tmp_path, kinds=["png"])


def test_everything_is_written_and_the_same_twice(tmp_path: Path) -> None:
    said: list[str] = []
    for folder in ("a", "b"):
        reproduce(["ring"], out=tmp_path / folder, say=said.append)
    assert "Ring" in said[0]
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert names == ["results.json", "results.md", "ring-heat.pdf", "ring-heat.png"]
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_a_claim_that_fails_is_loud(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = Experiment("ring", "Ring", "", claims=[Claim("the moon is near", 1.0, "<=", 0.0)])
    monkeypatch.setattr(ring, "run", lambda _data: bad)
    with pytest.raises(SystemExit) as stop:
        cli.main(["ring", "--out", str(tmp_path), "--json"])
    assert stop.value.code == 1
    streams = capsys.readouterr()
    assert "the moon is near" in streams.err
    assert json.loads(streams.out)[0]["holds"] is False


def test_bad_names_are_refused(tmp_path: Path) -> None:
    assert problems.refused(lambda: reproduce(["moon"], out=tmp_path)) == "names"
    assert problems.refused(lambda: reproduce([], out=tmp_path)) == "names"
    assert problems.refused(lambda: reproduce("ring", out=tmp_path)) == "names"


def test_a_place_that_cannot_be_written_to_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    inside = tmp_path / "file" / "folder"
    assert problems.refused(lambda: reproduce(["ring"], out=inside)) == "out"
    assert problems.refused(lambda: reproduce(["ring"], out=tmp_path / "out", page=inside / "page.md")) == "page"


def test_shuffled_images_are_the_same_images(data_file: Any) -> None:
    data = data_file("nus/NUS_results.mat").parents[1]
    plain, mixed = nus(recipe="cosine", data=data), nus(recipe="cosine", shuffle=3, data=data)
    assert plain.labels is not None
    assert mixed.labels is not None
    assert sorted(plain.labels) == sorted(mixed.labels)
    assert plain.graphs[1].w.sum() == pytest.approx(mixed.graphs[1].w.sum(), rel=1e-9)
    assert problems.refused(lambda: nus(stored=True, shuffle=1, data=data)) == "shuffle"
    assert problems.refused(lambda: nus(recipe="plain", data=data)) == "recipe"


def test_scnmt_is_reproduced_without_a_warning(
    data_file: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Coupled, its views fall into pieces that no function reaches: 0/0 and singular systems in coupled bases."""
    monkeypatch.setattr(scnmt, "_SEEDS", 1)
    data = data_file("scnmt/rna_30.txt").parents[1]
    cli.main(["scnmt", "--data", str(data), "--out", str(tmp_path)])
    assert capsys.readouterr().err == ""
