"""Decimal commas: recognized where nothing else can be meant, refused where it can, the same in bulk."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest

import cotherm as ct
from cotherm import CothermError, limits


@pytest.fixture(params=["in Python", "in bulk"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Small tables are read in Python, large ones in bulk."""
    if request.param == "in bulk":
        monkeypatch.setattr(limits, "COMPILED_TABLE_BYTES", 1)
    return str(request.param)


def write(tmp_path: Path, text: str) -> Path:
    place = tmp_path / "table.csv"
    place.write_text(text, encoding="utf-8")
    return place


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize(
    "text",
    [
        "1,5;2,25\n-3;4e1\n",
        "a;b\n1,5;2,25\n-3,0;4e1\n",
        "id;a;b\nx;1,5;2,25\ny;-3;40,00\n",
        "1,5\t2,25\n-3\t40\n",
        "a\tb\r\n1,5\t2,25\r\n-3\t4,0E+1\r\n",
        "1,5 2,25\n-3,0 40,0\n",
        "a b\n1,5 2,25\n-3,0 40\n",
        '"a";"b"\n"1,5";"2,25"\n"-3";"40"\n',
        "1,5;2,25\n-3;40\n;\n",
        '"Smith, J";1,5;2,25\n"Wu, K";-3;40\n',
    ],
)
def test_all_ways_to_write_the_same_numbers(text: str, tmp_path: Path) -> None:
    table = ct.io.read_table(write(tmp_path, text))
    np.testing.assert_array_equal(table.values, [[1.5, 2.25], [-3.0, 40.0]])
    assert table.reading.endswith("decimal commas")


@pytest.mark.usefixtures("way")
def test_names_keep_their_commas(tmp_path: Path) -> None:
    table = ct.io.read_table(write(tmp_path, "id;a\n7,5;1,5\n8,25;2,5\n"))
    assert table.names == ("7,5", "8,25")
    assert table.values.tolist() == [[1.5], [2.5]]


@pytest.mark.usefixtures("way")
def test_commas_that_separate_cells_stay_so(tmp_path: Path) -> None:
    table = ct.io.read_table(write(tmp_path, "1,5\n2,25\n"))
    assert table.values.tolist() == [[1, 5], [2, 25]]
    assert "decimal" not in table.reading
    said = ct.io.read_table(tmp_path / "table.csv", decimal=",")
    assert said.values.tolist() == [[1.5], [2.25]]
    quoted = ct.io.read_table(write(tmp_path, 'a,b\n"1,5","2"\n"2,25","3,5"\n'), decimal=",")
    assert quoted.values.tolist() == [[1.5, 2.0], [2.25, 3.5]]


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a;b\n1,5;2\n1.5;2\n", r"line 3, column 1 \(a\): '1.5', where other numbers have a decimal comma"),
        ("a;b\n1.234,5;2\n1,5;2\n", r"line 2, column 1 \(a\): '1.234,5'"),
        ("a;b\n1,234;2\n2,345;2\n", 'may mark decimals or thousands.*decimal=","'),
        ("a;b\n1,234,567;2\n2,5;2\n", r"line 2, column 1 \(a\): '1,234,567'"),
    ],
)
def test_mixtures_are_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(CothermError, match=message) as caught:
        ct.io.read_table(write(tmp_path, text))
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("way")
def test_the_mark_can_be_said(tmp_path: Path) -> None:
    place = write(tmp_path, "a;b\n1,234;2\n2,345;2\n")
    assert ct.io.read_table(place, decimal=",").values.tolist() == [[1.234, 2], [2.345, 2]]
    with pytest.raises(CothermError, match=r"'1,234'.*If commas mark decimals"):
        ct.io.read_table(place, decimal=".")
    with pytest.raises(CothermError, match="decimal: ';'"):
        ct.io.read_table(place, decimal=";")
    table = ct.io.read_table(write(tmp_path, "a;list\n1.5;1,2\n2.5;3,4\n"), decimal=".", drop=["list"])
    assert table.values.tolist() == [[1.5], [2.5]]


def test_large_tables_are_parsed_in_bulk(tmp_path: Path) -> None:
    values = np.random.default_rng(0).standard_normal((20_000, 8))
    lines = [";".join(map(repr, row)).replace(".", ",") for row in values.tolist()]
    place = write(tmp_path, "\n".join(lines))
    assert place.stat().st_size > limits.COMPILED_TABLE_BYTES
    np.testing.assert_array_equal(ct.io.read_table(place).values, values)


def test_random_tables_are_the_same_in_both_ways(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(300):
        random = Random(seed)
        cells = ["1,5", "2", "-0,25", "NA", "", "1,234", "3.5", "x", "2e3", '"4,5"', "1,5e-3"]
        shape = random.randint(1, 5), random.randint(1, 3)
        mark = random.choice([";", "\t", " "])
        rows = [
            mark.join(random.choices(cells, [8, 8, 8, 1, 1, 1, 1, 1, 4, 2, 4], k=shape[1])) for _ in range(shape[0])
        ]
        place = write(tmp_path, "\n".join(rows) + "\n")
        answers = []
        for size in (2**60, 1):
            monkeypatch.setattr(limits, "COMPILED_TABLE_BYTES", size)
            try:
                table = ct.io.read_table(place, missing="median")
                answers.append((table.reading, table.names, table.values.tobytes()))
            except CothermError as error:
                answers.append((str(error), None, b""))
        assert answers[0] == answers[1], place.read_text()
