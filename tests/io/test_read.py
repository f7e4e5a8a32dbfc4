"""cotherm.io as Python users call it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cotherm as ct
from cotherm import CothermError


def write(tmp_path: Path, text: str, name: str = "table.csv") -> Path:
    place = tmp_path / name
    place.write_text(text, encoding="utf-8")
    return place


def test_a_table(tmp_path: Path) -> None:
    place = write(tmp_path, "id,x,y\na,1,2\nb,3,4.5\n")
    for path in (place, str(place)):
        table = ct.io.read_table(path)
        assert (table.names, table.titles) == (("a", "b"), ("x", "y"))
        np.testing.assert_array_equal(table.values, [[1, 2], [3, 4.5]])
        assert table.values.dtype == np.float64
        assert table.values.flags.writeable
        assert table.reading == "2 rows, 2 columns (x, y), names from the column 'id'"
    bare = ct.io.read_table(write(tmp_path, "1 2\n3 4\n", "bare.txt"))
    assert (bare.names, bare.titles) == (None, None)


def test_an_array(tmp_path: Path) -> None:
    values = np.arange(6, dtype=np.int16).reshape(3, 2)
    np.save(tmp_path / "a.npy", values)
    table = ct.io.read_table(tmp_path / "a.npy")
    np.testing.assert_array_equal(table.values, values)
    assert table.values.dtype == np.float64
    assert (table.names, table.titles) == (None, None)
    assert table.values.flags.writeable
    with pytest.raises(CothermError, match="header"):
        ct.io.read_table(tmp_path / "a.npy", header=True)
    np.save(tmp_path / "a.npy", np.array([[1.0, np.nan]]))
    with pytest.raises(CothermError, match="row 0, column 1"):
        ct.io.read_table(tmp_path / "a.npy")
    np.save(tmp_path / "a.npy", np.array([[{}]]), allow_pickle=True)
    with pytest.raises(CothermError, match="pickled"):
        ct.io.read_table(tmp_path / "a.npy")


def test_the_header_can_be_said(tmp_path: Path) -> None:
    place = write(tmp_path, "0,1\n0.5,1.5\n2.5,0.1\n")
    with pytest.raises(CothermError, match=r"Say which: header=True or header=False\."):
        ct.io.read_table(place)
    assert ct.io.read_table(place, header=True).titles == ("0", "1")
    assert len(ct.io.read_table(place, header=False).values) == 3
    wrong: Any = "yes"
    with pytest.raises(CothermError, match="header: 'yes'"):
        ct.io.read_table(place, header=wrong)


def test_a_wrong_cell_is_named_with_advice_for_python(tmp_path: Path) -> None:
    with pytest.raises(CothermError, match=r"line 1, column 2: 'NA'.*If the first row holds titles: header=True\."):
        ct.io.read_table(write(tmp_path, "1,NA\n2,3\n"))
    with pytest.raises(CothermError, match="the suffix"):
        ct.io.read_table(write(tmp_path, "1\n", "table.dat"))
    with pytest.raises(CothermError, match="no such file"):
        ct.io.read_table(tmp_path / "none.csv")
    wrong: Any = 3
    with pytest.raises(CothermError, match="path: 3"):
        ct.io.read_table(wrong)


def test_labels_by_name_and_row_by_row(tmp_path: Path) -> None:
    named = write(tmp_path, "id,kind\nb,cat\na,dog\nc,NA\nz,cat\n")
    assert ct.io.read_labels(named, names=["a", "b", "c", "d"]).tolist() == ["dog", "cat", "", ""]
    rows = write(tmp_path, "cat\ndog\ncat\n?\n", "rows.csv")
    found = ct.io.read_labels(rows, 4)
    assert found.tolist() == ["cat", "dog", "cat", ""]
    assert found.dtype.kind == "U"
    assert ct.label_functions(found, unlabeled="").shape == (4, 2)


def test_a_column_of_labels_can_be_chosen(tmp_path: Path) -> None:
    place = write(tmp_path, "kind,batch\nx,1\ny,2\nx,1\n")
    with pytest.raises(CothermError, match=r"Choose one with column=TITLE\."):
        ct.io.read_labels(place, 3)
    assert ct.io.read_labels(place, 3, column="batch").tolist() == ["1", "2", "1"]
    with pytest.raises(CothermError, match="no single column 'sex'"):
        ct.io.read_labels(place, 3, column="sex", header=True)


def test_the_header_of_labels_can_be_said(tmp_path: Path) -> None:
    place = write(tmp_path, "x\nx\ny\n")
    with pytest.raises(CothermError, match="header=True or header=False"):
        ct.io.read_labels(place, 2)
    assert ct.io.read_labels(place, 2, header=True).tolist() == ["x", "y"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "n: neither n nor names"),
        ({"n": 0}, "n: 0"),
        ({"n": 2, "names": ["a", "b", "c"]}, "3 names; needed: n = 2 names"),
        ({"names": "abc"}, "a sequence of strings"),
        ({"names": ["a", "a", "b"]}, "each once"),
        ({"names": ["a", 1, 2]}, "a sequence of strings"),
        ({"names": []}, "0 names"),
        ({"n": 3, "column": 1}, "column: 1"),
        ({"n": 3, "header": 1}, "header: 1"),
        ({"n": 5}, "3 labels for the items; needed: 5"),
    ],
)
def test_what_labels_need(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(CothermError, match=message):
        ct.io.read_labels(write(tmp_path, "x\ny\nx\n"), **options)


def test_the_advice_on_labels_is_for_python(tmp_path: Path) -> None:
    named = write(tmp_path, "id,kind\na,x\nb,x\n")
    with pytest.raises(CothermError, match="Pass the names of the items"):
        ct.io.read_labels(named, 2)
    values = write(tmp_path, "\n".join(f"{k}.5" for k in range(6)), "values.csv")
    with pytest.raises(CothermError, match="landmarks, quantities are functions") as caught:
        ct.io.read_labels(values, 6)
    assert "--" not in str(caught.value)
