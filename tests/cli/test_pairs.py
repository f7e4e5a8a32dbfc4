"""``cotherm couple`` without labels: rows with the same id are the same item."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import cotherm as ct
from tests.cli.conftest import Run, write_tables


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_tables(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rewrite(place: Path, change: str) -> None:
    """Tables as people have them: in another order, cut, without ids, with an id twice."""
    title, *rows = place.read_text(encoding="utf-8").splitlines()
    if change == "shuffled":
        rows = [rows[k] for k in np.random.default_rng(1).permutation(len(rows))]
    if change == "cut":
        rows = rows[:40]
    if change == "without ids":
        title, rows = title.partition(",")[2], [row.partition(",")[2] for row in rows]
    if change == "twice":
        rows[7] = rows[3].partition(",")[0] + "," + rows[7].partition(",")[2]
    if change == "other ids":
        rows = [f"other-{row}" for row in rows]
    place.write_text("\n".join([title, *rows]) + "\n", encoding="utf-8")


def test_rows_are_paired_by_id(run: Run, tables: Path) -> None:
    rewrite(tables / "second.csv", "shuffled")
    answer = run("couple", "first.csv", "second.csv", "--out", "c.npz")
    assert answer.code == 0, answer.err
    assert "paired: 60 items by id\n" in answer.out
    assert "borrowed  coupled" in answer.out
    result = ct.Coupling.load(tables / "c.npz")
    assert result.pairs is not None
    first, second = ((tables / name).read_text().splitlines()[1:] for name in ("first.csv", "second.csv"))
    for a, b in result.pairs.table:
        assert first[a].split(",")[0] == second[b].split(",")[0]


def test_items_in_one_view_only_are_counted(run: Run, tables: Path) -> None:
    rewrite(tables / "second.csv", "cut")
    answer = run("couple", "first.csv", "second.csv", "--out", "c.npz", "--json")
    report = json.loads(answer.out)
    assert "paired: 40 items by id; in one view only: 20 of first" in report["read"]
    assert report["pairs"]["items"] == 40
    assert report["pairs"]["agreement"][0]["shared"] == 40


def test_labels_beside_pairs_only_judge(run: Run, tables: Path) -> None:
    alone = run("couple", "first.csv", "second.csv", "--out", "alone.npz")
    beside = run("couple", "first.csv", "second.csv", "--paired", "--labels", "labels.csv", "--out", "beside.npz")
    assert alone.code == beside.code == 0, beside.err
    assert "the coupling does not use them" in beside.out
    one, two = (ct.Coupling.load(tables / name) for name in ("alone.npz", "beside.npz"))
    for a, b in zip(one.graphs, two.graphs, strict=True):
        np.testing.assert_array_equal(a.w, b.w)
        assert a.labels is None
        assert b.labels is not None
    assert run("retrieve", "beside.npz").code == 0


def test_row_by_row_where_there_are_no_ids(run: Run, tables: Path) -> None:
    for name in ("first.csv", "second.csv"):
        rewrite(tables / name, "without ids")
    refused = run("couple", "first.csv", "second.csv", "--out", "c.npz")
    assert refused.code == 2
    assert "--paired" in refused.err
    assert not (tables / "c.npz").exists()
    answer = run("couple", "first.csv", "second.csv", "--paired", "--out", "c.npz")
    assert answer.code == 0, answer.err
    assert "paired: 60 rows of every view, row by row" in answer.out


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"second.csv": "twice"}, "second.csv: line 9: the name 'item-3' more than once"),
        ({"second.csv": "other ids"}, "no id that is in two views"),
        ({"second.csv": "without ids"}, "second: no ids, though another view has some"),
    ],
)
def test_tables_that_cannot_be_paired(run: Run, tables: Path, changes: dict[str, str], message: str) -> None:
    for name, change in changes.items():
        rewrite(tables / name, change)
    answer = run("couple", "first.csv", "second.csv", "--out", "c.npz")
    assert answer.code == 2
    assert message in answer.err
    assert not (tables / "c.npz").exists()


def test_unequal_tables_without_ids_are_refused(run: Run, tables: Path) -> None:
    rewrite(tables / "second.csv", "cut")
    for name in ("first.csv", "second.csv"):
        rewrite(tables / name, "without ids")
    answer = run("couple", "first.csv", "second.csv", "--paired", "--out", "c.npz")
    assert answer.code == 2
    assert "no ids, and 60 and 40 rows" in answer.err


@pytest.mark.parametrize("option", [("--memory", "8GiB"), ("--graph-weights", "1,1"), ("--continuation", "direct")])
def test_options_without_meaning_for_pairs_are_refused(run: Run, tables: Path, option: tuple[str, str]) -> None:
    answer = run("couple", "first.csv", "second.csv", *option, "--out", "c.npz")
    assert answer.code == 2
    assert answer.err.startswith(f"cotherm: error: {option[0]}: ")
    assert "it has no meaning for coupling by pairs" in answer.err


def test_the_share_to_borrow_can_be_said(run: Run, tables: Path) -> None:
    answer = run("couple", "first.csv", "second.csv", "--borrow", "0.2", "--out", "c.npz", "--json")
    assert answer.code == 0, answer.err
    assert json.loads(answer.out)["pairs"]["shares"] == [0.2, 0.2]
    too_much = run("couple", "first.csv", "second.csv", "--borrow", "2", "--out", "d.npz")
    assert too_much.code == 2
    assert too_much.err.startswith("cotherm: error: --borrow: 2")
    by = ("--by", "labels", "--labels", "labels.csv")
    by_labels = run("couple", "first.csv", "second.csv", *by, "--borrow", "0.2", "--out", "d.npz")
    assert by_labels.code == 2
    assert "it applies to coupling by pairs only" in by_labels.err
