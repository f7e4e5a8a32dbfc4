"""Text tables before anything is known of titles and names: the bytes of the file, cut into rows and cells.

The rows are cut again whenever they are asked for: the bytes are kept, the cells are not. Libraries do not do this
part: they take a delimiter for granted, and tell neither the line of a row nor which of its cells is wrong.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from cotherm.errors import CothermError, within
from cotherm.io import atomic
from cotherm.io.cells import has_decimal_comma, is_missing, is_numeral, may_have_thousands
from cotherm.io.foreign import unpack
from cotherm.io.kinds import PACKED, SHEETS, suffix_of
from cotherm.io.sheet import read_sheet
from cotherm.io.text import LONGEST_HEADER, utf8
from cotherm.progress import working

_MARKS = "\t,;"
# So many lines tell how a table is cut into cells.
_TELLING = 5
_COMMA_IN_DIGITS = re.compile("[0-9],[0-9]")
# So many numbers that may have thousands or a decimal comma are looked at for one that tells.
_UNTELLING = 10_000


class Row(NamedTuple):
    """The cells of a row, stripped, and the number of the line it ends on."""

    cells: list[str]
    line: int


@dataclass(frozen=True)
class TextTable:
    """A text table, and what one look at all of its rows tells.

    Blank lines are skipped, except in a single column, where a blank line is an empty cell unless it is at the
    end.
    """

    path: Path
    text: bytes  # as ``utf8`` gives it
    mark: str | None  # between cells; None for spaces
    first: list[str]  # the cells of the first row
    column: list[str]  # the first cell of every row; left out where it is the only one
    count: int  # rows
    ends: int  # what follows them and is not counted: rows of empty cells, or blank lines in a single column
    sheet: str | None = None  # its name, where the text was made from a spreadsheet

    @property
    def width(self) -> int:
        return len(self.first)

    @property
    def empty_ends(self) -> int:
        """Rows of empty cells at the end."""
        return self.ends if self.width > 1 else 0

    def rows(self, *, start: int = 0, to_the_end: bool = False) -> Iterator[Row]:
        """The rows from ``start`` on; with ``to_the_end`` those at the end that are not counted, too."""
        rows = _split(self.path, self.text, self.mark)
        if self.width > 1:
            rows = (row for row in rows if row.cells)
        else:
            rows = (Row(row.cells or [""], row.line) for row in rows)
        return islice(rows, start, self.count + (self.ends if to_the_end else 0))

    def line_of(self, k: int) -> int:
        """On which line row k is."""
        return next(self.rows(start=k)).line

    def place(self, line: int) -> str:
        """A line for messages: of a spreadsheet the row."""
        return f"{self.path}: line {line}" if self.sheet is None else f"{self.path}: sheet {self.sheet!r}, row {line}"


def open_text_table(path: Path, *, decimal: str | None = None, sheet: str | None = None) -> TextTable:
    """A text table, all of whose rows have as many cells as the first.

    ``decimal`` is the decimal mark, if the user says it, and ``sheet`` the sheet of a spreadsheet.
    """
    name = None
    if suffix_of(path) in SHEETS:
        text, name = read_sheet(path, sheet)
        mark: str | None = ","
    else:
        text = _read_text(path)
        mark = _mark(text, decimal)
    first = next((row for row in _split(path, text, mark) if row.cells), None)
    if first is None or not re.search(rb"[^\s,;\"]", text):
        raise CothermError(str(path), "no rows", "a table with at least one row")
    with working(f"reading {path.name}"):
        return _surveyed(path, text, mark, first, name)


def decimal_mark(table: TextTable) -> str | None:
    """The decimal mark that the cells tell, a point or a comma; None where commas may mark thousands instead."""
    if table.mark == "," or not re.search(rb"[0-9],[0-9]", table.text):
        return "."
    untelling = 0
    for row in table.rows():
        for cell in row.cells:
            if _COMMA_IN_DIGITS.search(cell) and has_decimal_comma(cell):
                if not may_have_thousands(cell):
                    return ","
                untelling += 1
        if untelling >= _UNTELLING:
            break
    return None if untelling else "."


def _surveyed(path: Path, text: bytes, mark: str | None, first: Row, sheet: str | None) -> TextTable:
    width = len(first.cells)
    column: list[str] = []
    count = ends = 0
    for cells, cell, filled, line in _survey(path, text, mark):
        if not cells and width > 1:
            continue
        if cells not in (width, 0):
            advice = "Write a title above the names of rows." if cells == width + 1 and not count > 1 else ""
            needed = f"{width}, as on line {first.line}"
            raise CothermError(f"{path}: line {line}", f"{cells} cell{'s' * (cells != 1)}", needed, advice)
        if width > 1:
            column.append(cell)
        count += 1
        ends = 0 if (filled if width > 1 else cells) else ends + 1
    return TextTable(path, text, mark, first.cells, column[: count - ends], count - ends, ends, sheet)


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
    """The first line, or what there is of it in the first two million bytes."""
    packed = suffix_of(path) in PACKED
    start = unpack(path, most=LONGEST_HEADER) if packed else atomic.load(path, most=LONGEST_HEADER)
    return start.removeprefix(codecs.BOM_UTF8).splitlines()[0].decode(errors="replace").strip()


def _read_text(path: Path) -> bytes:
    """The text in a file, as ``utf8`` gives it; complaints name the path."""
    data = unpack(path) if suffix_of(path) in PACKED else atomic.load(path)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise CothermError(str(path), "UTF-16 text", "UTF-8 text", "Save it as CSV UTF-8.")
    if b"\0" in data:
        raise CothermError(str(path), "bytes that are not text", "a table of numbers or words as text")
    with within(path):
        return utf8(data)


def _lines(text: bytes) -> Iterator[str]:
    """The lines, each with a line feed at its end; a line of spaces is a blank line."""
    lines = io.TextIOWrapper(io.BytesIO(text), encoding="utf-8", newline="\n")
    if b" " not in text:
        return lines
    stripped = ((line, line.strip(" ")) for line in lines)
    return ("\n" if bare == "\n" else line for line, bare in stripped if bare)


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


def _mark(text: bytes, decimal: str | None) -> str | None:
    """The mark that cuts the first lines into equally many cells, more than one if any does."""
    first = _first_lines(text)
    even = [mark for mark in _MARKS if len(counts := _cell_counts(first, mark)) == 1 and counts.pop() > 1]
    if decimal == ",":
        # Commas that are in numbers cut nothing, unless quotation marks keep the two apart.
        even = [mark for mark in even if mark != "," or '"' in first[-1]]
    elif decimal is None and even[:1] == [","]:
        even = [mark for mark in ";" if ";" in even and _has_decimals(_cut(first, mark))] + even
        if _all_decimals(first):
            return None
    if even:
        return even[0]
    tokens = [line.split() for line in first]
    numerals = tokens and all(is_numeral(cell) or has_decimal_comma(cell) for cell in tokens[-1])
    if numerals and len({len(row) for row in tokens}) == 1 and len(tokens[0]) > 1:
        return None
    marks = "\t;" if decimal == "," else "\t;,"
    return next((mark for mark in marks if first and mark in first[0]), marks[-1])


def _cut(lines: Sequence[str], mark: str) -> list[list[str]]:
    return [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=mark, skipinitialspace=True)]


def _has_decimals(rows: Sequence[Sequence[str]]) -> bool:
    """Whether every row below the first has a decimal comma, and commas are nothing else there."""
    commas = [[cell for cell in row if "," in cell] for row in (rows[1:] or rows)]
    return all(cells and all(map(has_decimal_comma, cells)) for cells in commas)


def _all_decimals(lines: Sequence[str]) -> bool:
    """Whether spaces cut the lines below the first into equally many numbers with decimal commas among them."""
    rows = [line.split() for line in lines]
    body = rows[1:] or rows
    numbers = all(has_decimal_comma(cell) or is_numeral(cell) or is_missing(cell) for row in body for cell in row)
    if any(map(_cut_by_commas, body)):
        return False
    return numbers and len(rows[0]) > 1 and len({len(row) for row in rows}) == 1 and _has_decimals(rows)


def _cut_by_commas(tokens: Sequence[str]) -> bool:
    """Whether commas beside spaces part the numbers of a line, ``258, 252`` or ``258 ,252``, and are not in them."""
    before = any(token.endswith(",") for token in tokens)
    return before or ("," not in tokens[0] and all(token.startswith(",") for token in tokens[1:]))


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
