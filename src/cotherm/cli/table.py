"""Tables people have: comma, semicolon, tab or space separated, with or without titles, with or without names of rows.

What is taken for a title or a name is told to the user (``Table.reading``), and where it could be either, refused.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cotherm.arrays import Floats
from cotherm.errors import CothermError
from cotherm.graphs import disk
from cotherm.graphs.formats.text import decode, shown

SUFFIXES = (".csv", ".tsv", ".txt")
# Titles of a column that holds the names of rows: id, sample_id, Cell ID, barcode, the empty one that pandas writes.
_NAMES = re.compile(r"(?:|unnamed: 0|(?:.*[\W_])?(?:id|ids|index|name|names|barcode|barcodes|cell|sample|key))", re.I)
_IDS = re.compile(r"(?:.*[\W_])?id", re.I)
# Titles in messages.
_SHOWN = 8
MISSING = ("", "na", "nan", "n/a", "#n/a", "none", "null", "?")


@dataclass(frozen=True)
class Table:
    """The cells of a table as text, without the titles and the names of rows, which stand beside them."""

    path: Path
    titles: tuple[str, ...] | None
    names: tuple[str, ...] | None
    name_title: str | None
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

    @property
    def reading(self) -> str:
        """How it was read."""
        text = f"{self.rows} rows, {self.columns} column{'s' * (self.columns != 1)}"
        text += f" ({self.known_titles})" if self.titles else " without titles"
        if self.names is not None:
            where = f"the column {self.name_title!r}" if self.name_title else "the first column"
            text += f", names from {where}"
        return text

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


def read_table(path: Path) -> Table:
    """A table of numbers, perhaps with titles and with names in its first column."""
    rows, lines = read_rows(path)
    titled = _titled(rows)
    body = rows[1:] if titled else rows
    if not body:
        raise CothermError(str(path), "titles and no rows", "at least one row")
    named = len(rows[0]) > 1 and _named(rows[0][0] if titled else None, [row[0] for row in body])
    if titled:
        for title in rows[0][1:]:
            if _IDS.fullmatch(title):
                raise CothermError(
                    str(path),
                    f"a column {title!r} that is not the first",
                    "numbers to compare items by",
                    "Put it first.",
                )
    return make_table(path, rows, lines, titled=titled, named=named)


def make_table(path: Path, rows: list[list[str]], lines: list[int], *, titled: bool, named: bool) -> Table:
    """The parts of some rows once it is known whether the first are titles and the first cells names."""
    body = rows[1:] if titled else rows
    names = tuple(row[0] for row in body) if named else None
    if names is not None and len(set(names)) < len(names):
        seen: set[str] = set()
        twice = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise CothermError(str(path), f"the name {twice!r} more than once", "a name of its own for every row")
    first = 1 if named else 0
    return Table(
        path,
        tuple(rows[0][first:]) if titled else None,
        names,
        rows[0][0] if titled and named else None,
        tuple(tuple(row[first:]) for row in body),
        lines[1] if titled else lines[0],
    )


def read_rows(path: Path) -> tuple[list[list[str]], list[int]]:
    """The cells of every line that has some, all of one number, and the numbers of the lines."""
    text = decode_file(path)
    rows, lines = _split(path, text)
    width = len(rows[0])
    for row, line in zip(rows, lines, strict=True):
        if len(row) != width:
            raise CothermError(f"{path}: line {line}", f"{len(row)} cells", f"{width}, as on line {lines[0]}")
    return rows, lines


def decode_file(path: Path) -> str:
    """The text in a file, with the path in complaints."""
    data = disk.load(path)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise CothermError(str(path), "UTF-16 text", "UTF-8 text", "Save it as CSV UTF-8.")
    if b"\0" in data:
        raise CothermError(str(path), "bytes that are no text", "a table of numbers or words as text")
    try:
        return decode(data)
    except CothermError as error:
        raise CothermError(f"{path}: {error.argument}", error.given, error.needed) from None


def is_missing(cell: str) -> bool:
    return cell.strip().lower() in MISSING


def is_name_title(title: str) -> bool:
    return _NAMES.fullmatch(title.strip()) is not None


def is_count(cells: Sequence[str]) -> bool:
    """Whether cells are 0, 1, 2, ... or 1, 2, 3, ...: numbers of rows or columns."""
    return list(cells) in ([str(k) for k in range(len(cells))], [str(k + 1) for k in range(len(cells))])


def _split(path: Path, text: str) -> tuple[list[list[str]], list[int]]:
    split = _splitter(text)
    rows, lines = [], []
    reader = split(text)
    number = 0
    try:
        for number, row in reader:
            if any(row):
                rows.append([cell.strip() for cell in row])
                lines.append(number)
    except csv.Error as error:
        raise CothermError(f"{path}: line {number + 1}", str(error), "a table of cells") from None
    if not rows:
        raise CothermError(str(path), "no rows", "a table with at least one row")
    return rows, lines


def _splitter(text: str) -> Callable[[str], Iterable[tuple[int, list[str]]]]:
    """The mark that cuts the first lines into equally many cells, more than one if any does."""
    first = [line for line in text.split("\n") if line.strip()][:5]
    for mark in "\t,;":
        counts = {len(row) for row in csv.reader(first, delimiter=mark, skipinitialspace=True)}
        if len(counts) == 1 and counts.pop() > 1:
            return lambda content: _by_mark(content, mark)
    tokens = [line.split() for line in first]
    if tokens and len({len(row) for row in tokens}) == 1 and len(tokens[0]) > 1 and all(map(_is_number, tokens[-1])):
        return lambda content: ((k, line.split()) for k, line in enumerate(content.split("\n"), 1))
    mark = next((mark for mark in "\t;," if first and mark in first[0]), ",")
    return lambda content: _by_mark(content, mark)


def _by_mark(content: str, mark: str) -> Iterable[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(content), delimiter=mark, skipinitialspace=True)
    return ((reader.line_num, row) for row in reader)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _finite(cell: str) -> bool:
    return _is_number(cell) and bool(np.isfinite(float(cell)))


def _titled(rows: list[list[str]]) -> bool:
    """Whether the first row of a table of numbers holds titles: words where numbers should be, or numbers of columns.

    pandas numbers columns without titles from 0; two of them, 0 and 1, may as well be data.
    """
    first = rows[0]
    numbered = first[0] == "0" and len(first) > 2 and is_count(first)
    if len(rows) > 1 and (numbered or (not first[0] and is_count(first[1:]))):
        return True
    words = [bool(cell) and not _is_number(cell) for cell in first]
    return any(words[1:]) or (words[0] and (len(first) == 1 or not any(map(_is_number, first[1:]))))


def _named(title: str | None, first_column: list[str]) -> bool:
    """Whether the first column of a table of numbers holds the names of rows."""
    if title is not None and is_name_title(title):
        return True
    # Counted rows are an index, not a feature; one word among numbers is a mistake to be told of, not a name.
    numbered = len(first_column) > 2 and is_count(first_column)
    return numbered or 2 * sum(not _is_number(cell) for cell in first_column) > len(first_column)
