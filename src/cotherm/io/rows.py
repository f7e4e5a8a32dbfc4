"""The rows of a text table, read again whenever they are asked for: its bytes are kept, its cells are not."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from cotherm.errors import CothermError
from cotherm.io import atomic
from cotherm.io.cells import is_numeral
from cotherm.io.text import utf8

_MARKS = "\t,;"
# So many lines tell how a table is cut into cells.
_TELLING = 5


class Row(NamedTuple):
    """The cells of a row, stripped, and the number of the line it ends on."""

    cells: list[str]
    line: int


@dataclass(frozen=True)
class Source:
    """A text table as bytes in UTF-8, and what one look at all of its rows tells.

    Blank lines are no rows, but in a single column, where a blank line is an empty cell; those at its end are again
    none.
    """

    path: Path
    text: bytes
    mark: str | None  # between cells; None for spaces
    first: list[str]  # the cells of the first row
    column: list[str]  # the first cell of every row; left out where it is the only one
    count: int  # rows
    empty_ends: int  # in several columns, rows of empty cells at the end, which are not counted
    empty_cells: int  # in a single column, those among the rows
    blank_ends: int  # in a single column, blank lines at its end

    @property
    def width(self) -> int:
        return len(self.first)

    def rows(self, *, to_the_end: bool = False) -> Iterator[Row]:
        """All rows; with ``to_the_end`` the blank lines at the end of a single column, too."""
        rows = _split(self.path, self.text, self.mark)
        if self.width > 1:
            filled = (row for row in rows if row.cells)
            return islice(filled, self.count + (self.empty_ends if to_the_end else 0))
        count = self.count + (self.blank_ends if to_the_end else 0)
        return (Row(row.cells or [""], row.line) for row in islice(rows, count))

    def body(self) -> Iterator[list[str]]:
        """The cells of all rows but the first."""
        return (row.cells for row in islice(self.rows(), 1, None))

    def line_of(self, k: int) -> int:
        """On which line row k is."""
        return next(row.line for row in islice(self.rows(), k, None))

    def data_lines(self, *, titled: bool) -> Iterator[str]:
        """The lines as they are, less titles; for a parser that passes over blank ones."""
        return islice(_lines(self.text), self.line_of(0) if titled else 0, None)


def open_source(path: Path) -> Source:
    """A text table, all of whose rows have as many cells as the first."""
    text = utf8_file(path)
    if b" " in text:
        text = re.sub(rb"(?m)^ +$", b"", text)  # a line of spaces is a blank line
    mark = _mark(text)
    first = next((row for row in _split(path, text, mark) if row.cells), None)
    if first is None or not re.search(rb"[^\s,;\"]", text):
        raise CothermError(str(path), "no rows", "a table with at least one row")
    width = len(first.cells)
    column: list[str] = []
    count = blank = empty = ends = 0
    for cells, cell, filled, line in _survey(path, text, mark):
        if not cells:
            blank += 1
            continue
        if cells != width:
            advice = "Write a title above the names of rows." if cells == width + 1 and not count > 1 else ""
            needed = f"{width}, as on line {first.line}"
            raise CothermError(f"{path}: line {line}", f"{cells} cell{'s' * (cells != 1)}", needed, advice)
        if width == 1:
            empty, count, blank = empty + blank + (not cell), count + blank, 0
        else:
            column.append(cell)
            ends = 0 if filled else ends + 1
        count += 1
    if width == 1:
        return Source(path, text, mark, first.cells, column, count, 0, empty, blank)
    return Source(path, text, mark, first.cells, column[: count - ends], count - ends, ends, 0, 0)


def _survey(path: Path, text: bytes, mark: str | None) -> Iterator[tuple[int, str, bool, int]]:
    """Of every line how many cells it has, the first of them, whether any holds something, and its number."""
    if mark is None or b'"' in text:
        for row in _split(path, text, mark):
            yield len(row.cells), row.cells[0] if row.cells else "", any(row.cells), row.line
        return
    for number, line in enumerate(_lines(text), 1):
        if line == "\n":
            yield 0, "", False, number
        else:
            first = line.partition(mark)[0].strip()
            yield line.count(mark) + 1, first, bool(first or line.strip(mark + " \n")), number


def first_line(path: Path) -> str:
    return next(_lines(utf8_file(path)), "").strip()


def utf8_file(path: Path) -> bytes:
    """The text in a file, with the path in complaints."""
    data = atomic.load(path)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise CothermError(str(path), "UTF-16 text", "UTF-8 text", "Save it as CSV UTF-8.")
    if b"\0" in data:
        raise CothermError(str(path), "bytes that are no text", "a table of numbers or words as text")
    try:
        return utf8(data)
    except CothermError as error:
        raise CothermError(f"{path}: {error.argument}", error.given, error.needed) from None


def _lines(text: bytes) -> Iterator[str]:
    return io.TextIOWrapper(io.BytesIO(text), encoding="utf-8", newline="\n")


def _split(path: Path, text: bytes, mark: str | None) -> Iterator[Row]:
    """The cells of every line, none on blank ones, with its number."""
    if mark is None:
        yield from (Row(line.split(), k) for k, line in enumerate(_lines(text), 1))
        return
    split = partial(csv.reader, delimiter=mark, skipinitialspace=True)
    reader = split(_lines(text))
    strict = None
    quoted = b'"' in text
    line = 0
    try:
        for cells in reader:
            if quoted and any("\n" in cell for cell in cells):
                # A quotation mark that is left open swallows lines; strict reading tells it from a cell of several.
                strict = strict or split(_lines(text), strict=True)
                while strict.line_num < reader.line_num and next(strict, None) is not None:
                    pass
            line = reader.line_num
            yield Row([cell.strip() for cell in cells], line)
    except csv.Error as error:
        advice = "Is a quotation mark left open?" if quoted else ""
        raise CothermError(f"{path}: line {line + 1}", str(error), "a table of cells", advice) from None


def _mark(text: bytes) -> str | None:
    """The mark that cuts the first lines into equally many cells, more than one if any does."""
    first = _first_lines(text)
    for mark in _MARKS:
        counts = _cell_counts(first, mark)
        if len(counts) == 1 and counts.pop() > 1:
            return mark
    tokens = [line.split() for line in first]
    if tokens and len({len(row) for row in tokens}) == 1 and len(tokens[0]) > 1 and all(map(is_numeral, tokens[-1])):
        return None
    return next((mark for mark in "\t;," if first and mark in first[0]), ",")


def _first_lines(text: bytes) -> list[str]:
    found: list[str] = []
    for line in _lines(text):
        if line.strip():
            found.append(line.rstrip("\n"))
        if len(found) == _TELLING:
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
