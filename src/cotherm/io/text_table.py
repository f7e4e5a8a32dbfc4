"""Text tables before anything is known of titles and names: the bytes of the file, cut into rows and cells.

The rows are read again whenever they are asked for: the bytes are kept, the cells are not. Large tables are surveyed by
compiled kernels (see ``bulk``), small ones and those with anything unusual in them in Python.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from cotherm import limits
from cotherm.errors import CothermError
from cotherm.io import atomic
from cotherm.io.cells import has_decimal_comma, is_missing, is_numeral, may_have_thousands
from cotherm.io.kinds import PACKED, SHEETS, suffix_of
from cotherm.io.packed import unpack
from cotherm.io.sheet import read_sheet
from cotherm.io.text import LONGEST_HEADER, require_utf8
from cotherm.progress import working

_MARKS = "\t,;"
# So many lines tell how a table is cut into cells.
_TELLING = 5
_LINE_END = re.compile(rb"\r\n|\n|\r")
_COMMA_IN_DIGITS = re.compile(rb"[0-9],[0-9]")
# So many numbers that may have thousands or a decimal comma are looked at for one that tells.
_UNTELLING = 10_000
# No number that is looked at for its decimal comma is longer.
_LONGEST_NUMBER = 64


class Row(NamedTuple):
    """The cells of a row, stripped, and the number of the line it ends on."""

    cells: list[str]
    line: int


@dataclass(frozen=True)
class TextTable:
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
    body: int | None  # the byte where the second row starts, if the table was surveyed in bulk
    sheet: str | None = None  # its name, where the text was made from a spreadsheet

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

    def other_rows(self) -> Iterator[list[str]]:
        """The cells of all rows but the first."""
        return (row.cells for row in islice(self.rows(), 1, None))

    def line_of(self, k: int) -> int:
        """On which line row k is."""
        return next(row.line for row in islice(self.rows(), k, None))

    def row_at(self, at: int) -> tuple[list[str], int]:
        """The cells on the line that starts at this byte, and where the next line starts; after a survey in bulk."""
        end = _LINE_END.search(self.text, at)
        stop, following = (len(self.text),) * 2 if end is None else end.span()
        return _cells(self.text[at:stop].decode(), self.mark) or [""], following

    def line_at(self, at: int) -> int:
        """The number of the line that starts at this byte."""
        return 1 + sum(1 for _ in _LINE_END.finditer(self.text, 0, at))

    def place(self, line: int) -> str:
        """A line for messages: of a spreadsheet the row."""
        return f"{self.path}: line {line}" if self.sheet is None else f"{self.path}: sheet {self.sheet!r}, row {line}"

    @property
    def start(self) -> int:
        """The byte where the text starts, behind a byte order mark."""
        return _start(self.text)


def open_text_table(path: Path, *, decimal: str | None = None, sheet: str | None = None) -> TextTable:
    """A text table, all of whose rows have as many cells as the first.

    ``decimal`` is the decimal mark, if the user says it, and ``sheet`` the sheet of a spreadsheet.
    """
    suffix = suffix_of(path)
    if suffix in SHEETS:
        text, name = read_sheet(path, sheet)
        mark: str | None = ","
    else:
        text, name = read_text(path), None
        mark = _mark(text, decimal)
    first = next((row for row in _split(path, text, mark) if row.cells), None)
    if first is None or not re.search(rb"[^\s,;\"]", text):
        raise CothermError(str(path), "no rows", "a table with at least one row")
    if len(text) >= limits.COMPILED_TABLE_BYTES:
        with working(f"reading {path.name}"):
            found = _surveyed_in_bulk(path, text, mark, first.cells)
        if found is not None:
            return replace(found, sheet=name)
    return replace(_surveyed(path, text, mark, first), sheet=name)


def decimal_mark(table: TextTable) -> str | None:
    """The decimal mark that the cells tell, a point or a comma; None where commas may mark thousands instead."""
    if table.mark == "," or b"," not in table.text:
        return "."
    untelling = 0
    for found in _COMMA_IN_DIGITS.finditer(table.text):
        cell = _cell_around(table.text, found.start() + 1, table.mark)
        if has_decimal_comma(cell):
            if not may_have_thousands(cell):
                return ","
            untelling += 1
            if untelling == _UNTELLING:
                break
    return None if untelling else "."


def _cell_around(text: bytes, at: int, mark: str | None) -> str:
    """The cell that holds a byte; nothing where it is longer than numbers are."""
    ends = rf"[\s{mark or ' '}]".encode()
    before = re.split(ends, text[max(0, at - _LONGEST_NUMBER) : at])[-1]
    behind = re.split(ends, text[at : at + _LONGEST_NUMBER], maxsplit=1)[0]
    cell = (before + behind).strip(b'"')
    return cell.decode(errors="replace") if len(cell) < _LONGEST_NUMBER else ""


def _surveyed_in_bulk(path: Path, text: bytes, mark: str | None, first: list[str]) -> TextTable | None:
    from cotherm.io import bulk  # Numba takes a while to load

    found = bulk.survey(text, _start(text), mark, len(first))
    if found is None:
        return None
    column = [text[begin:stop].decode().strip() for begin, stop in found.firsts.tolist()]
    return TextTable(path, text, mark, first, column, *found[:4], found.body)


def _surveyed(path: Path, text: bytes, mark: str | None, first: Row) -> TextTable:
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
        return TextTable(path, text, mark, first.cells, column, count, 0, empty, blank, None)
    return TextTable(path, text, mark, first.cells, column[: count - ends], count - ends, ends, 0, 0, None)


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


def read_text(path: Path) -> bytes:
    """The text in a file as it is there, byte order mark and line ends included; complaints name the path."""
    data = unpack(path) if suffix_of(path) in PACKED else atomic.load(path)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise CothermError(str(path), "UTF-16 text", "UTF-8 text", "Save it as CSV UTF-8.")
    if b"\0" in data:
        raise CothermError(str(path), "bytes that are no text", "a table of numbers or words as text")
    try:
        require_utf8(data)
    except CothermError as error:
        raise CothermError(f"{path}: {error.argument}", error.given, error.needed) from None
    return data


def _start(text: bytes) -> int:
    return len(codecs.BOM_UTF8) if text.startswith(codecs.BOM_UTF8) else 0


def _lines(text: bytes) -> Iterator[str]:
    """The lines, each with a line feed at its end, however it ends in the file; a line of spaces is a blank line."""
    lines = io.TextIOWrapper(io.BytesIO(text), encoding="utf-8-sig")
    if b" " not in text:
        return lines
    stripped = ((line, line.strip(" ")) for line in lines)
    return ("\n" if bare == "\n" else line for line, bare in stripped if bare)


def _split(path: Path, text: bytes, mark: str | None) -> Iterator[Row]:
    """The cells of every line, none on blank ones, with its number."""
    if mark is None:
        yield from (Row(_cells(line, mark), k) for k, line in enumerate(_lines(text), 1))
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


def _cells(line: str, mark: str | None) -> list[str]:
    """The cells of one line; for a table with quotation marks only where no cell has several lines."""
    if mark is None:
        return line.split()
    return [cell.strip() for cell in next(csv.reader([line], delimiter=mark, skipinitialspace=True), [])]


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
