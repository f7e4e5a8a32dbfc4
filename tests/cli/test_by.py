"""By what is coupled: said first, decided by ids or by ``--by``, and never changed without a word."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import cotherm as ct
from tests.cli.conftest import Run, write_tables
from tests.cli.test_pairs import rewrite

VIEWS = ("first.csv", "second.csv")
FAST = ("--max-iterations", "2")


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_tables(tmp_path)
    (tmp_path / "marks.csv").write_text("item-1,item-1\nitem-2,item-2\nitem-3,item-3\n")
    for name in ("f.csv", "g.csv"):
        rows = np.random.default_rng(0).standard_normal((60, 2)).tolist()
        (tmp_path / name).write_text("\n".join(["u,v", *(f"{a},{b}" for a, b in rows)]) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_labels_only_judge_where_ids_match(run: Run, there: Path) -> None:
    alone = run("couple", *VIEWS, "--out", "alone.npz")
    beside = run("couple", *VIEWS, "--labels", "labels.csv", "--out", "beside.npz")
    assert alone.code == beside.code == 0, beside.err
    first = "coupling: by pairs, rows that are the same item"
    assert alone.out.splitlines()[0] == first
    assert beside.out.splitlines()[0] == f"{first}; labels only judge (--by labels couples by them)"
    one, two = (ct.Coupling.load(there / name) for name in ("alone.npz", "beside.npz"))
    for a, b in zip(one.graphs, two.graphs, strict=True):
        np.testing.assert_array_equal(a.w, b.w)
        assert b.labels is not None


@pytest.mark.parametrize(
    ("given", "by"),
    [
        ((), "pairs"),
        (("--paired",), "pairs"),
        (("--by", "pairs"), "pairs"),
        (("--by", "pairs", "--labels", "labels.csv"), "pairs"),
        (("--by", "labels", "--labels", "labels.csv"), "labels"),
        (("--labels", "labels.csv", "--known", "0.5"), "labels"),
        (("--landmarks", "marks.csv"), "landmarks"),
        (("--by", "landmarks", "--landmarks", "marks.csv"), "landmarks"),
        (("--functions", "f.csv", "g.csv"), "functions"),
        (("--by", "features", "--features", "f.csv", "g.csv"), "features"),
    ],
)
def test_the_first_line_says_by_what(run: Run, there: Path, given: tuple[str, ...], by: str) -> None:
    answer = run("couple", *VIEWS, *given, *FAST, "--out", "c.npz")
    assert answer.code == 0, answer.err
    assert answer.out.startswith(f"coupling: by {by}")
    report = json.loads(run("couple", *VIEWS, *given, *FAST, "--out", "d.npz", "--json").out)
    assert report["by"] == by
    assert (ct.Coupling.load(there / "c.npz").pairs is not None) == (by == "pairs")


def test_labels_couple_where_no_ids_match(run: Run, there: Path) -> None:
    rewrite(there / "second.csv", "without ids")
    labels = (there / "labels.csv").read_text().splitlines()
    (there / "plain.csv").write_text("\n".join(line.partition(",")[2] for line in labels) + "\n")
    answer = run("couple", *VIEWS, "--labels", "plain.csv", *FAST, "--out", "c.npz")
    assert answer.code == 0, answer.err
    assert answer.out.startswith("coupling: by labels, classes that all views have (no ids in common)\n")


def test_numbers_of_rows_of_other_tables_are_no_pairs(run: Run, there: Path) -> None:
    """Pandas writes them: tables of 60 and of 40 rows, which say nothing of the same items."""
    for name, rows in zip(VIEWS, (60, 40), strict=True):
        title, *lines = (there / name).read_text().splitlines()
        counted = [f"{k},{line.partition(',')[2]}" for k, line in enumerate(lines[:rows])]
        (there / name).write_text("\n".join([f",{title.partition(',')[2]}", *counted]) + "\n")
        kinds = [line.partition(",")[2] for line in (there / "labels.csv").read_text().splitlines()]
        (there / f"labels-{name}").write_text("\n".join(kinds[: rows + 1]) + "\n")
    answer = run("couple", *VIEWS, "--labels", *(f"labels-{name}" for name in VIEWS), *FAST, "--out", "c.npz")
    assert answer.code == 0, answer.err
    assert answer.out.startswith("coupling: by labels")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--by", "labels", "--labels", "labels.csv", "--paired"), "--by labels: beside --paired"),
        (("--by", "labels"), "--by labels: without --labels; needed: --labels FILE"),
        (("--by", "landmarks", "--labels", "labels.csv"), "--by landmarks: without --landmarks, beside --labels"),
        (("--by", "pairs", "--landmarks", "marks.csv"), "--by pairs: beside --landmarks; needed: one of the two"),
        (("--by", "features", "--functions", "f.csv", "g.csv"), "--by features: without --features"),
        (("--by", "pairs", "--labels", "labels.csv", "--known", "0.5"), "--known: 0.5; needed: to be left out"),
        (("--labels", "labels.csv", "--memory", "8GiB"), "Or couple by labels: --by labels."),
        (("--by", "colors"), "invalid choice: 'colors'"),
    ],
)
def test_contradictions_are_refused(run: Run, there: Path, given: tuple[str, ...], message: str) -> None:
    answer = run("couple", *VIEWS, *given, "--out", "c.npz")
    assert answer.code == 2
    assert message in answer.err
    assert not (there / "c.npz").exists()


def test_by_pairs_is_paired(run: Run, there: Path) -> None:
    for name in VIEWS:
        rewrite(there / name, "without ids")
    answer = run("couple", *VIEWS, "--by", "pairs", *FAST, "--out", "c.npz")
    assert answer.code == 0, answer.err
    assert "paired: 60 rows of every view, row by row" in answer.out
