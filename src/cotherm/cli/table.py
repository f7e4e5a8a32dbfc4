"""Tables people have: comma, semicolon or tab separated, with or without titles, with or without names of rows."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cotherm.arrays import Floats
from cotherm.errors import CothermError
from cotherm.graphs import disk
from cotherm.graphs.formats.text import decode, shown

SUFFIXES = (".csv", ".tsv", ".txt")
# Titles of a first column that holds the names of rows; the empty one is what pandas writes.
_NAME_TITLES = ("", "id", "index", "name", "cell", "barcode", "sample", "unnamed: 0")
# Titles in messages.
_SHOWN = 8
MISSING = ("", "na", "nan", "?")


@dataclass(frozen=True)
class Table:
    """The cells of a table as text, without the titles and the names of rows, which stand beside them."""

    path: Path
    titles: tuple[str, ...] | None
    names: tuple[str, ...] | None
    cells: tuple[tuple[str, ...], ...]
    first_line: int

    @property
    def rows(self) -> int:
        return len(self.cells)

    @property
    def columns(self) -> int:
        return len(self.cells[0])

    @property
    def known_titles(self) -> str:
        """The first few, to print."""
        titles = self.titles or ("without titles",)
        return ", ".join(titles[:_SHOWN]) + ", ..." * (len(titles) > _SHOWN)

    def column(self, key: str) -> tuple[str, ...]:
        """The column with a title."""
        titles = self.titles or ()
        if titles.count(key) != 1:
            raise CothermError(str(self.path), f"no single column {key!r}", f"one of its columns: {self.known_titles}")
        return tuple(row[titles.index(key)] for row in self.cells)

    def numbers(self) -> Floats:
        """All cells as finite numbers, or an error that names the line and the column."""
        try:
            values = np.array(self.cells, dtype=np.float64)
        except ValueError:
            values = None
        if values is not None and np.all(np.isfinite(values)):
            return values
        for k, row in enumerate(self.cells):
            for c, cell in enumerate(row):
                if not _finite(cell):
                    title = f" ({self.titles[c]})" if self.titles else ""
                    offset = 1 if self.names is None else 2
                    raise CothermError(
                        f"{self.path}: line {self.first_line + k}, column {c + offset}{title}",
                        "an empty cell" if not cell.strip() else shown(cell),
                        "a finite number",
                        "Fill in or leave out missing values first.",
                    )
        raise AssertionError("a table of finite cells is an array of numbers")


def read_table(path: Path, *, labels: bool = False) -> Table:
    """A table from a text file. With ``labels`` cells may be words, so that titles must be told otherwise."""
    text = decode_file(path)
    rows, lines = _rows(path, text)
    width = len(rows[0])
    for row, line in zip(rows, lines, strict=True):
        if len(row) != width:
            raise CothermError(f"{path}: line {line}", f"{len(row)} cells", f"{width}, as on line {lines[0]}")
    titled = _titled_labels(rows) if labels else _titled(rows[0])
    titles = tuple(rows[0]) if titled else None
    body = rows[1:] if titled else rows
    if not body:
        raise CothermError(str(path), "titles and no rows", "at least one row")
    named = width > 1 and _named(titles, [row[0] for row in body], labels)
    if named:
        titles = titles[1:] if titles is not None else None
    return Table(
        path,
        titles,
        tuple(row[0] for row in body) if named else None,
        tuple(tuple(row[1:] if named else row) for row in body),
        lines[1] if titled else lines[0],
    )


def decode_file(path: Path) -> str:
    """The text in a file, with the path in complaints."""
    data = disk.load(path)
    if b"\0" in data:
        raise CothermError(str(path), "bytes that are no text", "a table of numbers or words as text")
    try:
        return decode(data)
    except CothermError as error:
        raise CothermError(f"{path}: {error.argument}", error.given, error.needed) from None


def is_missing(cell: str) -> bool:
    return cell.strip().lower() in MISSING


def _rows(path: Path, text: str) -> tuple[list[list[str]], list[int]]:
    first = next((line for line in text.split("\n") if line.strip()), "")
    delimiter = next((mark for mark in "\t;," if mark in first), ",")
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True)
    rows, lines = [], []
    try:
        for row in reader:
            if row:
                rows.append([cell.strip() for cell in row])
                lines.append(reader.line_num)
    except csv.Error as error:
        raise CothermError(f"{path}: line {reader.line_num}", str(error), "a table of cells") from None
    if not rows:
        raise CothermError(str(path), "no rows", "a table with at least one row")
    return rows, lines


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _finite(cell: str) -> bool:
    return _is_number(cell) and bool(np.isfinite(float(cell)))


def _titled(first: list[str]) -> bool:
    """Whether the first row of a table of numbers holds titles: a word where a number should be."""
    words = [bool(cell) and not _is_number(cell) for cell in first]
    return any(words[1:]) or (words[0] and (len(first) == 1 or not any(map(_is_number, first[1:]))))


def _titled_labels(rows: list[list[str]]) -> bool:
    """Whether the first row of a table of labels holds titles: words that occur nowhere below them."""
    first = rows[0]
    below = [{row[c] for row in rows[1:]} for c in range(len(first))]
    return len(rows) > 1 and all(not _is_number(cell) and cell not in below[c] for c, cell in enumerate(first))


def _named(titles: tuple[str, ...] | None, first_column: list[str], labels: bool) -> bool:
    """Whether the first column holds the names of rows."""
    if titles is not None and titles[0].strip().lower() in _NAME_TITLES:
        return True
    if labels:  # no two things share a name, and things share labels
        return len(first_column) > 1 and len(set(first_column)) == len(first_column)
    # One word among numbers is a mistake to be told of, not a name.
    return 2 * sum(not _is_number(cell) for cell in first_column) > len(first_column)
