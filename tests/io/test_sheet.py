"""Spreadsheets: the same rules as for text, with the sheet and the row named."""

from __future__ import annotations

import datetime
import io
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cotherm as ct
from cotherm import CothermError, limits

openpyxl = pytest.importorskip("openpyxl")


def write(tmp_path: Path, *sheets: tuple[str, Sequence[Any]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets:
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    place = tmp_path / "table.xlsx"
    book.save(place)
    return place


ROWS: list[list[Any]] = [["id", "x", "y"], ["a", 0.1, 2], ["b", 1 / 3, -4.5e-300]]


def test_a_sheet(tmp_path: Path) -> None:
    place = write(tmp_path, ("first", ROWS), ("other", [["u"], [1], [True], [3.5]]))
    table = ct.io.read_table(place)
    assert (table.names, table.titles) == (("a", "b"), ("x", "y"))
    np.testing.assert_array_equal(table.values, [[0.1, 2], [1 / 3, -4.5e-300]])
    assert table.reading == "2 rows, 2 columns (x, y), names from the column 'id', sheet 'first'"
    assert ct.io.read_table(place, sheet="other").values.tolist() == [[1], [1], [3.5]]
    with pytest.raises(CothermError, match="no sheet 'third'; needed: one of its sheets: 'first', 'other'"):
        ct.io.read_table(place, sheet="third")


def test_tables_that_do_not_begin_in_the_corner(tmp_path: Path) -> None:
    rows: list[list[Any]] = [
        [],
        [None, None, "x", "y", None],
        [None, None, 1, 2],
        [],
        [None, None, 3, 4, None, None],
        [],
        [],
    ]
    table = ct.io.read_table(write(tmp_path, ("s", rows)))
    assert (table.titles, table.values.tolist()) == (("x", "y"), [[1, 2], [3, 4]])


def test_the_row_is_named(tmp_path: Path) -> None:
    rows: list[list[Any]] = [["x", "y"], [1, 2], [], [None, 4], [5, "#DIV/0!"]]
    place = write(tmp_path, ("my data", rows))
    with pytest.raises(CothermError, match=r"sheet 'my data', row 4, column 1 \(x\): an empty cell, the first of 2"):
        ct.io.read_table(place)
    assert ct.io.read_table(place, missing="median").values.tolist() == [[1, 2], [3, 4], [5, 3]]


def test_text_and_dates_are_named(tmp_path: Path) -> None:
    day = datetime.datetime(2020, 5, 17)
    rows: list[list[Any]] = [["x", "day", "note"], [1, day, "a\nb"], [2, day, "c, d"]]
    with pytest.raises(CothermError, match=r"text in 2 columns: day \('2020-05-17T00:00:00'\), note \('a b'\)"):
        ct.io.read_table(write(tmp_path, ("s", rows)))
    table = ct.io.read_table(tmp_path / "table.xlsx", label_column="note", drop=["day"])
    assert table.labels is not None
    assert table.labels.tolist() == ["a b", "c, d"]


def test_labels(tmp_path: Path) -> None:
    place = write(tmp_path, ("s", [["id", "kind"], ["b", "cat"], ["a", 7], ["c", None]]))
    assert ct.io.read_labels(place, names=["a", "b", "c"]).tolist() == ["7", "cat", ""]


def test_an_empty_sheet(tmp_path: Path) -> None:
    with pytest.raises(CothermError, match="no rows"):
        ct.io.read_table(write(tmp_path, ("s", [])))


def test_large_sheets_are_parsed_in_bulk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = write(tmp_path, ("s", [*ROWS, ["c", None, 4]]))
    expected = ct.io.read_table(place, missing="median")
    monkeypatch.setattr(limits, "COMPILED_TABLE_BYTES", 1)
    found = ct.io.read_table(place, missing="median")
    np.testing.assert_array_equal(found.values, expected.values)
    assert (found.names, found.reading) == (expected.names, expected.reading)


def rezipped(data: bytes, member: str, content: bytes) -> bytes:
    """A workbook with another content of one of its parts."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            new.writestr(entry.filename, content if entry.filename == member else old.read(entry))
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<worksheet", "unreadable"),
        (b" " * (30 * limits.UNPACKED_BYTES // 8), "at most 100 times the size"),
        (b'<sheetData><row r="99999999999"><c r="A1"><v>1</v></c></row></sheetData>', "most of them empty"),
        (b"<sheetData>%s</sheetData>" % (b'<row><c r="XFD1"><v>1</v></c></row>' * 2_000), "most of them empty"),
    ],
)
def test_forged_workbooks(content: bytes, message: str, tmp_path: Path) -> None:
    place = write(tmp_path, ("s", ROWS))
    space = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">%s</worksheet>'
    body = space % content if content.startswith(b"<sheetData") else content
    place.write_bytes(rezipped(place.read_bytes(), "xl/worksheets/sheet1.xml", body))
    with pytest.raises(CothermError, match=message):
        ct.io.read_table(place)


def test_what_is_no_workbook(tmp_path: Path) -> None:
    place = tmp_path / "table.xlsx"
    for data in (b"x,y\n1,2\n", b"PK\x03\x04junk"):
        place.write_bytes(data)
        with pytest.raises(CothermError, match=r"table.xlsx: unreadable"):
            ct.io.read_table(place)
    with pytest.raises(CothermError, match=r"sheet: s for a .csv file"):
        ct.io.read_table(tmp_path / "table.csv", sheet="s")


def test_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = write(tmp_path, ("s", ROWS))
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(CothermError, match=r"pip install 'cotherm\[tables\]'"):
        ct.io.read_table(place)
