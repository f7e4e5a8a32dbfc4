"""Ids on the command line: which column holds them, and what is said where they do not match."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import Run


def write(place: Path, titles: str, ids: list[object], seed: int, columns: int = 3) -> None:
    """A table of noise behind these ids."""
    noise = np.random.default_rng(seed).standard_normal((len(ids), columns))
    rows = [",".join([str(one), *map(str, row)]) for one, row in zip(ids, noise.tolist(), strict=True)]
    place.write_text("\n".join([titles, *rows]) + "\n", encoding="utf-8")


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("title", ["eid", "SUBJID", "PTID", "MRN", "uid", "code", "gene", "Kennung", "编号"])
def test_ids_under_any_title_pair_or_are_asked_for(run: Run, there: Path, title: str) -> None:
    ids: list[object] = (10**6 + np.random.default_rng(0).permutation(10**6)[:40]).tolist()
    for seed, name in enumerate(("a.csv", "b.csv")):
        write(there / name, f"{title},x,y,z", ids, seed)
    answer = run("couple", "a.csv", "b.csv", "--paired", "--out", "c.npz")
    if answer.code:
        assert answer.code == 2
        assert f"a.csv: column 1 ({title}): 40 different whole numbers" in answer.err
        assert f'--id-column "{title}"' in answer.err
        answer = run("couple", "a.csv", "b.csv", "--paired", "--id-column", title, "--out", "c.npz")
    assert answer.code == 0, answer.err
    assert f"names from the column {title!r}" in answer.out
    assert "paired: 40 items by id\n" in answer.out


def test_ids_of_two_tables_under_two_titles(run: Run, there: Path) -> None:
    ids: list[object] = (10**6 + np.random.default_rng(0).permutation(10**6)[:40]).tolist()
    write(there / "a.csv", "Kennung,x,y,z", ids, 0)
    write(there / "b.csv", "code,x,y,z", ids[::-1], 1)
    answer = run("couple", "a.csv", "b.csv", "--id-column", "Kennung,code", "--out", "c.npz")
    assert answer.code == 0, answer.err
    assert "paired: 40 items by id\n" in answer.out
    known = run("couple", "a.csv", "b.csv", "--id-column", "elsewhere", "--out", "d.npz")
    assert known.code == 2


def test_the_same_numbers_in_two_tables_are_refused_in_any_column(run: Run, there: Path) -> None:
    random = np.random.default_rng(0)
    numbers, noise = random.permutation(10**6)[:40], random.standard_normal((2, 40))
    for name, x in zip(("a.csv", "b.csv"), noise, strict=True):
        rows = [f"{value},{number}" for value, number in zip(x.tolist(), numbers.tolist(), strict=True)]
        (there / name).write_text("\n".join(["x,code", *rows]) + "\n")
    refused = run("couple", "a.csv", "b.csv", "--paired", "--out", "c.npz")
    assert refused.code == 2
    assert "a.csv: column 2 (code) and b.csv: column 2 (code): whole numbers, all different, 40 of which" in refused.err
    said = run("couple", "a.csv", "b.csv", "--id-column", "code", "--out", "c.npz")
    assert said.code == 0, said.err
    feature = run("couple", "a.csv", "b.csv", "--paired", "--id-column", "none", "--out", "d.npz")
    assert feature.code == 0, feature.err
    assert "paired: 40 rows of every view, row by row" in feature.out


def test_counts_are_features(run: Run, there: Path) -> None:
    for name, seed in (("a.csv", 0), ("b.csv", 1)):
        counts = np.random.default_rng(seed).negative_binomial(2, 1e-4, (40, 20))
        titles = ",".join(f"g{k}" for k in range(20))
        (there / name).write_text("\n".join([titles, *(",".join(map(str, row)) for row in counts.tolist())]) + "\n")
    answer = run("couple", "a.csv", "b.csv", "--paired", "--out", "c.npz", "--json")
    assert answer.code == 0, answer.err
    assert "all different and taken as features" in json.loads(answer.out)["read"][0]


def test_missing_ids_do_not_pair(run: Run, there: Path) -> None:
    ids: list[object] = [*(f"s-{k}" for k in range(30)), "NA"]
    for seed, name in enumerate(("a.csv", "b.csv")):
        write(there / name, "id,x,y,z", ids, seed)
    answer = run("couple", "a.csv", "b.csv", "--out", "c.npz")
    assert answer.code == 2
    assert "a.csv: line 32, column 1: 'NA', which marks a missing value" in answer.err
    assert "--missing drop" in answer.err
    left = run("couple", "a.csv", "b.csv", "--missing", "drop", "--out", "c.npz")
    assert left.code == 0, left.err
    assert "less 1 row with missing values (row 30 from 0, which has no name)" in left.out
    assert "paired: 30 items by id\n" in left.out


def test_the_cause_of_ids_that_do_not_match_is_said(run: Run, there: Path) -> None:
    ids: list[object] = [f"Cell-{k}x" for k in range(40)]
    write(there / "a.csv", "id,x,y,z", ids, 0)
    write(there / "b.csv", "id,x,y,z", [*ids[:20], *(str(one).lower() for one in ids[20:])], 1)
    answer = run("couple", "a.csv", "b.csv", "--out", "c.npz")
    assert answer.code == 0, answer.err
    assert "paired: 20 items by id; in one view only: 20 of a, 20 of b\n" in answer.out
    assert "Note: 20 more would pair but for case: 'Cell-20x' in a, 'cell-20x' in b\n" in answer.out
    write(there / "b.csv", "id,x,y,z", [str(one).lower() for one in ids], 1)
    none = run("couple", "a.csv", "b.csv", "--out", "d.npz")
    assert none.code == 2
    assert "40 more would pair but for case: 'Cell-0x' in a, 'cell-0x' in b." in none.err


def test_ids_counted_from_0_and_from_1(run: Run, there: Path) -> None:
    random = np.random.default_rng(0)
    write(there / "a.csv", "id,x,y,z", [f"s{k}" for k in random.permutation(30)], 0)
    write(there / "b.csv", "id,x,y,z", [f"s{k + 1}" for k in random.permutation(30)], 1)
    answer = run("couple", "a.csv", "b.csv", "--out", "c.npz")
    assert answer.code == 2
    assert "b: rows counted from 1, where those of a are counted from 0" in answer.err
    write(there / "b.csv", "id,x,y,z", [f"s{k + 1}" for k in random.permutation(20)], 1)
    told = run("couple", "a.csv", "b.csv", "--out", "c.npz")
    assert told.code == 0, told.err
    assert "Note: rows of b seem to be counted from 1, those of a from 0" in told.out
