"""Spreadsheets, ``.xlsx``: the cells of a sheet as text.

openpyxl reads, the extra ``cotherm[tables]``. Of formulas there are the values that were saved with them.
"""

from __future__ import annotations

import datetime
import re
import warnings
import zipfile
from pathlib import Path
from typing import Any

from cotherm.errors import CothermError
from cotherm.io import atomic
from cotherm.io.foreign import readable, require_proportion
from cotherm.optional import require
from cotherm.progress import track

# A sheet of any program has no more rows.
_MOST_ROWS = 2**20
# Cells, empty ones among them, beside those that the bytes of the file pay for.
_FREE_CELLS = 10**6


def read_sheet(path: Path, name: str | None = None) -> tuple[list[list[str]], str]:
    """The rows of the sheet of a name, or of the first, without columns that are empty at either side; its name."""
    atomic.require_content(path)
    size = _unpacked_size(path)
    openpyxl = require("openpyxl", "tables")
    with (
        readable(path, "an .xlsx file", advice="The file may be damaged, or not be an .xlsx file."),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # the table does not need what openpyxl skips
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        try:
            sheet = _chosen(path, book, name)
            return _squared(_rows(path, sheet, size)), str(sheet.title)
        finally:
            book.close()


def _unpacked_size(path: Path) -> int:
    """Bytes of all parts of a workbook, as declared; no part is read further than that."""
    with (
        readable(path, "an .xlsx file", advice="The file may be damaged, or not be an .xlsx file."),
        zipfile.ZipFile(path) as archive,
    ):
        size = sum(entry.file_size for entry in archive.infolist())
        require_proportion(path, size, path.stat().st_size, "Save it as .csv.")
        return size


def _chosen(path: Path, book: Any, name: str | None) -> Any:
    sheets = {str(sheet.title): sheet for sheet in book.worksheets}
    if not sheets or (name is not None and name not in sheets):
        given = "no sheet" if name is None else f"no sheet {name!r}"
        raise CothermError(str(path), given, "one of its sheets: " + (", ".join(map(repr, sheets)) or "it has none"))
    return next(iter(sheets.values())) if name is None else sheets[name]


def _rows(path: Path, sheet: Any, size: int) -> list[list[str]]:
    """The cells of every row up to the last that is filled, as far as the sheet says where they are."""
    sheet.reset_dimensions()  # a declared size may be wrong, and rows would be filled up to it
    rows: list[list[str]] = []
    cells = 0
    for number, row in enumerate(track(sheet.iter_rows(values_only=True), total=0, label=f"reading {path.name}"), 1):
        cells += len(row)
        if number > _MOST_ROWS or cells > _FREE_CELLS + size:
            raise CothermError(str(path), f"{number:,} rows and {cells:,} cells, most of them empty", "a full table")
        found = [_cell(value) for value in row]
        while found and not found[-1]:
            found.pop()
        rows.append(found)
    return rows


def _cell(value: object) -> str:
    """A cell as text: numbers to the last digit, True and False as 1 and 0."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    text = re.sub(r"\s+", " ", str(value)).strip()
    return text.encode("utf-8", "backslashreplace").decode()  # without lone surrogates


def _squared(rows: list[list[str]]) -> list[list[str]]:
    """The rows between the first column and the last that hold anything; gaps between rows stay empty."""
    width = max(map(len, rows), default=0)
    first = min((next(c for c, cell in enumerate(row) if cell) for row in rows if row), default=0)
    return [[*row[first:], *[""] * (width - max(len(row), first))] if row else [] for row in rows]
