"""Missing values: refused with place and count, or left out, or filled in."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import cotherm as ct
from cotherm import CothermError

TEXT = "id,a,b,kind\nx,1,2,red\ny,NA,3,red\nz,5,,blue\nw,2,7,blue\n"


def test_refused_with_place_and_count(place: Path) -> None:
    message = r"line 3, column 2 \(a\): 'NA', the first of 2 missing values in 2 rows and 2 columns; needed"
    with pytest.raises(CothermError, match=message) as caught:
        ct.io.read_table(place, label_column="kind")
    assert 'missing="drop" leaves out such rows, missing="median" fills in' in str(caught.value)
    place.write_text("a,b\n1,2\n3,\n")
    with pytest.raises(CothermError, match=r"line 3, column 2 \(b\): an empty cell, the only missing value"):
        ct.io.read_table(place)


def test_rows_are_left_out(place: Path) -> None:
    table = ct.io.read_table(place, label_column="kind", missing="drop")
    assert table.names == ("x", "w")
    assert table.values.tolist() == [[1, 2], [2, 7]]
    assert table.labels is not None
    assert table.labels.tolist() == ["red", "blue"]
    assert table.reading.endswith("less 2 rows with missing values (y, z)")


def test_rows_without_names_are_then_named_by_their_numbers(place: Path) -> None:
    place.write_text("a,b\n1,2\n,3\n5,7\n")
    table = ct.io.read_table(place, missing="drop")
    assert table.names == ("0", "2")
    assert "less 1 row with missing values (1), the others named by their numbers from 0" in table.reading
    assert ct.io.read_table(place, missing="median").names is None


def test_medians_are_filled_in(place: Path) -> None:
    table = ct.io.read_table(place, label_column="kind", missing="median")
    assert table.values.tolist() == [[1, 2], [2, 3], [5, 3], [2, 7]]
    assert table.names == ("x", "y", "z", "w")
    assert table.reading.endswith("2 missing values replaced by the median (1 in a, 1 in b)")
    place.write_text("a\n1.5e308\n\n1.7e308\n")
    assert ct.io.read_table(place, missing="median").values.ravel().tolist() == [1.5e308, 1.6e308, 1.7e308]


@pytest.mark.parametrize("missing", [None, "drop", "median"])
def test_a_column_with_nothing_else_is_named(place: Path, missing: str | None) -> None:
    place.write_text("a,notes,b\n1,,2\n3,NA,4\n")
    with pytest.raises(CothermError, match=r"nothing but missing values in notes;.*drop="):
        ct.io.read_table(place, missing=missing)
    assert ct.io.read_table(place, drop=["notes"]).values.tolist() == [[1, 2], [3, 4]]


def test_no_row_is_left(place: Path) -> None:
    place.write_text("a,b\n1,\n,4\n")
    with pytest.raises(CothermError, match=r'a missing value in every row;.*missing="median"'):
        ct.io.read_table(place, missing="drop")


def test_what_is_no_missing_value(place: Path) -> None:
    for cell in ("inf", "-inf", "1e999", "2.O", "-"):
        place.write_text(f"a,b\n1,2\n3,{cell}\n5,6\n7,8\n")
        with pytest.raises(CothermError, match=r"line 3, column 2 \(b\)"):
            ct.io.read_table(place, missing="drop")
    with pytest.raises(CothermError, match="missing: 'mean'"):
        ct.io.read_table(place, missing="mean")


def test_every_way_to_write_them(place: Path) -> None:
    cells = ["", "?", "na", "NaN", "n/a", "N.A.", "<NA>", "None", "NULL", "-nan", "#N/A", "#DIV/0!", '"NA"', '""']
    place.write_text("a,b\n" + "".join(f"{cell},1\n" for cell in cells) + "3,4\n")
    table = ct.io.read_table(place, missing="drop")
    assert table.values.tolist() == [[3, 4]]
    assert f"less {len(cells)} rows" in table.reading


def test_arrays(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([[1.0, np.nan], [2.0, 3.0], [np.nan, 5.0]]))
    with pytest.raises(CothermError, match=r"row 0, column 1: nan, the first of 2 missing values"):
        ct.io.read_table(tmp_path / "a.npy")
    assert ct.io.read_table(tmp_path / "a.npy", missing="drop").values.tolist() == [[2, 3]]
    assert ct.io.read_table(tmp_path / "a.npy", missing="median").values.tolist() == [[1, 4], [2, 3], [1.5, 5]]
    np.save(tmp_path / "a.npy", np.array([[1.0, np.nan], [2.0, np.inf]]))
    with pytest.raises(CothermError, match="row 1, column 1: inf"):
        ct.io.read_table(tmp_path / "a.npy", missing="drop")
