"""Tables people have: comma, semicolon, tab or space separated, with or without titles, with or without names of rows.

What is taken for a title or a name is told to the user (``Table.reading``), and where it could be either, refused.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from cotherm.arrays import Floats
from cotherm.cli.cells import (
    is_count,
    is_either_title,
    is_id_title,
    is_missing,
    is_name_title,
    is_number,
    looks_numeric,
    whole_number,
)
from cotherm.cli.header import NOTHING_SAID, Header, is_column_of_names, refuse_either, titles_over_numbers
from cotherm.errors import CothermError
from cotherm.graphs import disk
from cotherm.graphs.formats.text import decode, shown

SUFFIXES = (".csv", ".tsv", ".txt")
# Titles in messages.
_SHOWN = 8


@dataclass(frozen=True)
class Table:
    """The cells of a table as text, without the titles and the names of rows, which stand beside them."""

    path: Path
    titles: tuple[str, ...] | None
    names: tuple[str, ...] | None
    name_title: str | None
    cells: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]

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
        values = _parsed(self.cells)
        if values is not None and np.all(np.isfinite(values)):
            return values
        for k, row in enumerate(self.cells):
            for c, cell in enumerate(row):
                if not is_number(cell) or not np.isfinite(float(cell)):
                    raise self._no_number(k, c)
        raise AssertionError("a table of finite cells is an array of numbers")

    def _no_number(self, k: int, c: int) -> CothermError:
        title = f" ({self.titles[c]})" if self.titles else ""
        offset = 1 if self.names is None else 2
        cell = self.cells[k][c]
        missing = "Fill in or leave out missing values first."
        wrong = missing if is_missing(cell) or looks_numeric(cell) else "Mend or leave out what is no number."
        first = k == 0 and self.titles is None
        return CothermError(
            f"{self.path}: line {self.lines[k]}, column {c + offset}{title}",
            shown(cell) if cell else "an empty cell",
            "a finite number",
            wrong + f" If the first row holds titles: --header {self.path}." * first,
        )


def read_table(path: Path, header: Header = NOTHING_SAID) -> Table:
    """A table of numbers, perhaps with titles and with names in its first column."""
    rows, lines = read_rows(path)
    titled = header.said(path)
    if titled is None:
        titled = titles_over_numbers(rows)
    if titled is None:
        raise refuse_either(path, lines[0], f"{shown(','.join(rows[0]))}, which may be titles or a row of data")
    body = rows[1:] if titled else rows
    if not body:
        raise CothermError(str(path), "titles and no rows", "at least one row")
    named = len(rows[0]) > 1 and _named(path, rows[0][0] if titled else None, [row[0] for row in body])
    if titled:
        for title in rows[0][1:]:
            if is_id_title(title):
                raise CothermError(
                    str(path),
                    f"a column {title!r} that is not the first",
                    "numbers to compare items by",
                    "Put it first.",
                )
    return make_table(path, rows, lines, titled=titled, named=named)


def make_table(path: Path, rows: list[list[str]], lines: list[int], *, titled: bool, named: bool) -> Table:
    """The parts of some rows once it is known whether the first are titles and the first cells names."""
    start = 1 if titled else 0
    body, numbers = rows[start:], lines[start:]
    names = tuple(row[0] for row in body) if named else None
    if names is not None:
        _require_names(path, names, numbers)
    first = 1 if named else 0
    return Table(
        path,
        tuple(rows[0][first:]) if titled else None,
        names,
        rows[0][0] if titled and named else None,
        tuple(tuple(row[first:]) for row in body),
        tuple(numbers),
    )


def read_rows(path: Path) -> tuple[list[list[str]], list[int]]:
    """The cells of every row, all of one number, and the numbers of the lines.

    Blank lines are no rows, but between rows of a single cell, which may be empty.
    """
    rows, lines, _ = read_open_rows(path)
    filled = len(rows) if len(rows[0]) > 1 else max(k for k, row in enumerate(rows) if row[0]) + 1
    return rows[:filled], lines[:filled]


def read_open_rows(path: Path) -> tuple[list[list[str]], list[int], int]:
    """The same with the blank lines at the end of a single column, and how many rows at the end may be none at all:

    these, or in several columns rows of empty cells, as spreadsheets leave them.
    """
    rows, lines = _split(path, decode_file(path))
    filled = [k for k, row in enumerate(rows) if row]
    if not any(map(any, rows)):
        raise CothermError(str(path), "no rows", "a table with at least one row")
    width = len(rows[filled[0]])
    if width > 1:  # blank lines are no rows
        rows, lines = [rows[k] for k in filled], [lines[k] for k in filled]
    for row, line in zip(rows, lines, strict=True):
        if row and len(row) != width:
            raise CothermError(f"{path}: line {line}", f"{len(row)} cells", f"{width}, as on line {lines[0]}")
    last = max(k for k, row in enumerate(rows) if (any(row) if width > 1 else row))
    return [row or [""] for row in rows], lines, len(rows) - 1 - last


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


def _parsed(cells: Sequence[Sequence[str]]) -> Floats | None:
    """All cells as numbers at once, or None if one is none; NumPy would take 1_000 and digits of other scripts."""
    for row in cells:
        text = "".join(row)
        if "_" in text or not text.isascii():
            return None
    try:
        return np.array(cells, dtype=np.float64)
    except ValueError:
        return None


def _split(path: Path, text: str) -> tuple[list[list[str]], list[int]]:
    """The cells of every line, none on blank ones, with its number."""
    text = re.sub("(?m)^ +$", "", text)  # a line of spaces is a blank line
    split = _splitter(text)
    rows: list[list[str]] = []
    lines: list[int] = []
    try:
        for number, row in split(text, strict=False):
            rows.append([cell.strip() for cell in row])
            lines.append(number)
        if '"' in text and any("\n" in cell for row in rows for cell in row):
            # A quotation mark that is left open swallows lines; strict reading tells it from cells of several lines.
            lines.clear()
            lines += (number for number, _ in split(text, strict=True))
    except csv.Error as error:
        where = lines[-1] + 1 if lines else 1
        advice = "Is a quotation mark left open?" if '"' in text else ""
        raise CothermError(f"{path}: line {where}", str(error), "a table of cells", advice) from None
    return rows, lines


def _splitter(text: str) -> Callable[..., Iterable[tuple[int, list[str]]]]:
    """The mark that cuts the first lines into equally many cells, more than one if any does."""
    first = _first_lines(text, 5)
    for mark in "\t,;":
        counts = _cell_counts(first, mark)
        if len(counts) == 1 and counts.pop() > 1:
            return partial(_by_mark, mark=mark)
    tokens = [line.split() for line in first]
    if tokens and len({len(row) for row in tokens}) == 1 and len(tokens[0]) > 1 and all(map(looks_numeric, tokens[-1])):
        return _by_spaces
    mark = next((mark for mark in "\t;," if first and mark in first[0]), ",")
    return partial(_by_mark, mark=mark)


def _first_lines(text: str, count: int) -> list[str]:
    found: list[str] = []
    for line in io.StringIO(text):
        if line.strip():
            found.append(line.rstrip("\n"))
        if len(found) == count:
            break
    return found


def _cell_counts(lines: Sequence[str], mark: str) -> set[int]:
    """How many cells the mark cuts each line into; none where it cannot, as it leaves a cell too long to read."""
    if not any(mark in line for line in lines):
        return set()
    try:
        return {len(row) for row in csv.reader(lines, delimiter=mark, skipinitialspace=True)}
    except csv.Error:
        return set()


def _by_mark(content: str, *, mark: str, strict: bool) -> Iterable[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(content), delimiter=mark, skipinitialspace=True, strict=strict)
    return ((reader.line_num, row) for row in reader)


def _by_spaces(content: str, **_: bool) -> Iterable[tuple[int, list[str]]]:
    return ((k, line.split()) for k, line in enumerate(content.split("\n"), 1))


def _named(path: Path, title: str | None, column: list[str]) -> bool:
    """Whether the first column of a table of numbers holds the names of rows."""
    if title is not None and is_name_title(title):
        return True
    if len(column) > 2 and is_count(column):  # an index, not a feature
        return True
    if title is not None and is_either_title(title) and _could_be_names(column):
        raise CothermError(
            f"{path}: column 1 ({title})",
            "numbers that may be names of rows",
            "a title that tells",
            f"Call it {title}_id if they are names, {title}_count or the like if they are not.",
        )
    return is_column_of_names(column)


def _could_be_names(column: list[str]) -> bool:
    return len(set(column)) == len(column) and all(whole_number(cell) is not None for cell in column)


def _require_names(path: Path, names: Sequence[str], lines: Sequence[int]) -> None:
    """A name of its own for every row."""
    seen: set[str] = set()
    for name, line in zip(names, lines, strict=True):
        if not name:
            raise CothermError(f"{path}: line {line}, column 1", "an empty cell", "the name of the row")
        if name in seen:
            raise CothermError(str(path), f"the name {name!r} more than once", "a name of its own for every row")
        seen.add(name)
