"""Text tables and sheets, cut into columns of cells before anything is known of titles, names and numbers.

pyarrow cuts large plain texts and holds the cells of all. Python cuts the others, because libraries take a delimiter
for granted, and tell neither the line of a row nor which of its cells is wrong. Of spreadsheets, ``.xlsx``, openpyxl
reads the values (the extra ``cotherm[tables]``); of formulas those that were saved with them.
"""

from __future__ import annotations

import codecs
import csv
import datetime
import io
import re
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np

from cotherm import limits
from cotherm.arrays import Floats
from cotherm.errors import CothermError, within
from cotherm.io import atomic
from cotherm.io.atomic import readable, require_proportion, unpack
from cotherm.io.cells import (
    MISSING,
    PERHAPS_TITLES,
    has_decimal_comma,
    is_finite,
    is_missing,
    is_number,
    is_numeral,
    is_text,
    looks_numeric,
    may_have_thousands,
    with_point,
)
from cotherm.io.kinds import PACKED, SHEETS, suffix_of
from cotherm.io.text import LONGEST_HEADER, cut_by_pyarrow, excerpt, utf8
from cotherm.optional import require
from cotherm.progress import track, working

_MARKS = "\t,;"
# Lines that tell how a table is cut into cells, and rows that show which columns are words.
_TELLING, _TELLING_WORDS = 5, 1_000
_COMMA_IN_DIGITS = re.compile("[0-9],[0-9]")
# So many numbers that may have thousands or a decimal comma are looked at for one that tells.
_UNTELLING = 10_000
# Rows of a sheet of any program, and cells, mostly empty, beside those that the bytes of the file pay for.
_MOST_ROWS, _FREE_CELLS = 2**20, 10**6
# Rows that are strings of Python at a time.
_ROWS = 2**14

# The cells of a row, stripped, none on a blank line; and the number of the line it ends on.
Row = tuple[list[str], int]


@dataclass(frozen=True)
class TextTable:
    """The cells of a table, as text: columns of words, of which some are numbers.

    Blank lines are skipped, except in a single column, where a blank line is an empty cell unless it is at the end.
    ``cells`` is a table of pyarrow, ``count`` the number of rows below the titles and ``ends`` that of further rows at
    the end in which all cells are empty.
    """

    path: Path
    cells: Any
    count: int
    ends: int
    line_of: Callable[[int], int]  # the line of row k, counted from the top
    comma: bool  # whether commas part the cells
    sheet: str | None = None  # its name, where the cells are those of a spreadsheet
    titled: bool = False  # whether the first row holds titles
    decimal: str = "."
    index: int | None = field(default=None, init=False)  # no column is known to hold names of rows

    @property
    def width(self) -> int:
        return int(self.cells.num_columns)

    @property
    def first(self) -> list[str]:
        """The cells at the top."""
        return next(iter(_stripped(self.cells.slice(0, 1))))

    @property
    def titles(self) -> list[str] | None:
        return self.first if self.titled else None

    @property
    def note(self) -> str:
        """What the reading says about the whole table."""
        text = f", less {self.ends} empty at the end" if self.ends and self.width > 1 else ""
        text += "" if self.sheet is None else f", sheet {self.sheet!r}"
        return text + ", decimal commas" * (self.decimal == ",")

    def below_titles(self, titled: bool) -> TextTable:
        """The table once it is known whether its first row holds titles."""
        return replace(self, titled=titled, count=self.count - titled)

    def may_hold_names(self) -> bool:
        return True

    def rows(self, *, to_the_end: bool = False) -> Iterator[list[str]]:
        """The rows; with ``to_the_end`` those at the end that are not counted, too."""
        stop = self.titled + self.count + (self.ends if to_the_end else 0)
        for at in range(int(self.titled), stop, _ROWS):
            yield from _stripped(self.cells.slice(at, min(_ROWS, stop - at)))

    def words(self, c: int) -> list[str]:
        """The cells of a column."""
        return [cell.strip() for cell in self._column(c).to_pylist()]

    def words_in(self, columns: Sequence[int]) -> dict[int, str]:
        """The columns, most of whose cells are words, each with the first, as far as rows at the top tell."""
        found: dict[int, str] = {}
        for c in sorted(columns):
            known = [cell for cell in self.words(c)[:_TELLING_WORDS] if not is_missing(cell)]
            words = [cell for cell in known if is_text(cell)]
            if 2 * len(words) > len(known):
                found[c] = words[0]
        return found

    def numbers(self, c: int) -> Floats:
        """The numbers in a column, NaN where missing; refuses words."""
        found, done = [np.empty(0)], 0
        for chunk in self._column(c).chunks:
            parsed = _parsed(chunk, self.decimal)
            if parsed is None:
                cells = [cell.strip() for cell in chunk.to_pylist()]
                parsed = np.array([_number(cell, self.decimal) for cell in cells])
                wrong = (k for k in np.flatnonzero(np.isnan(parsed)).tolist() if not is_missing(cells[k]))
                if (k := next(wrong, None)) is not None:
                    raise self._no_number(done + k, c, cells[k])
            found.append(parsed)
            done += len(parsed)
        return np.concatenate(found)

    def place(self, k: int) -> str:
        """Row k for messages: its line, or of a spreadsheet the row there."""
        line = self.line_of(k + self.titled)
        return f"{self.path}: line {line}" if self.sheet is None else f"{self.path}: sheet {self.sheet!r}, row {line}"

    def where(self, k: int, c: int) -> tuple[str, str | None]:
        """The place of a cell, and what is there."""
        title = f" ({self.first[c]})" if self.titled else ""
        return f"{self.place(k)}, column {c + 1}{title}", self._column(c)[k].as_py().strip()

    def _column(self, c: int) -> Any:
        return self.cells.column(c).slice(self.titled, self.count)

    def _no_number(self, k: int, c: int, cell: str) -> CothermError:
        place, _ = self.where(k, c)
        if self.decimal == "," and is_number(cell):
            given = f"{excerpt(cell)}, where other numbers have a decimal comma"
            advice = 'If points mark decimals and commas something else: decimal=".".'
            return CothermError(place, given, "one decimal mark in all numbers", advice, code="point-among-commas")
        if has_decimal_comma(cell) and self.decimal == ".":
            advice = 'If commas mark decimals: decimal=",". Else numbers are written as 1000.5.'
            code = "comma-in-number"
        elif looks_numeric(cell):
            advice, code = "Numbers are written as 1000.5: in the digits 0 to 9, with a decimal point.", "odd-number"
        else:
            advice, code = "Correct the cells that are not numbers, or leave them out.", "no-number"
        if k == 0 and not self.titled:
            advice, code = f"{advice} {PERHAPS_TITLES}", f"{code}+perhaps-titles"
        return CothermError(place, excerpt(cell), "a finite number", advice, code=code, about=str(self.path))

    def decimal_mark(self) -> str | None:
        """The decimal mark that the cells tell, a point or a comma; None where commas may mark thousands instead."""
        if self.comma:
            return "."
        marked = (cell for row in self.rows() for cell in row if _COMMA_IN_DIGITS.search(cell))
        untelling = False
        for cell in islice(filter(has_decimal_comma, marked), _UNTELLING):
            if not may_have_thousands(cell):
                return ","
            untelling = True
        return None if untelling else "."


def _stripped(cells: Any) -> Iterator[list[str]]:
    for row in zip(*(column.to_pylist() for column in cells.columns), strict=True):
        yield [cell.strip() for cell in row]


def open_text_table(path: Path, *, decimal: str | None = None, sheet: str | None = None) -> TextTable:
    """A text table, all of whose rows have as many cells as the first, before anything is known of titles.

    ``decimal`` is the decimal mark, if the user says it, and ``sheet`` the sheet of a spreadsheet.
    """
    name: str | None = None
    mark: str | None = ","
    text = b""
    if suffix_of(path) in SHEETS:
        listed, name = _read_sheet(path, sheet)
        filled = any(map(any, listed))
    else:
        text = _read_text(path)
        mark = _mark(text, decimal)
        filled = re.search(rb"[^\s,;\"]", text) is not None

    def rows() -> Iterator[Row]:
        return _split(path, text, mark) if name is None else zip(listed, count(1), strict=False)

    first = next((cells for cells, _ in rows() if cells), [])
    if not first or not filled:
        raise CothermError(str(path), "no rows", "a table with at least one row")
    cells = None
    if name is None:
        with working(f"reading {path.name}"):
            cells = _cut_by_pyarrow(text, mark, len(first))
    if cells is None:
        cells, lines, ends = _collected(path, rows(), len(first))
        return TextTable(path, cells, len(lines) - ends, ends, lines.__getitem__, mark == ",", name)
    rows_read = cells.num_rows
    ends = next((k for k in range(rows_read) if any(*_stripped(cells.slice(rows_read - 1 - k, 1)))), rows_read)

    def line_of(k: int) -> int:
        return next(islice((line for cells, line in rows() if cells), k, None))

    return TextTable(path, cells, rows_read - ends, ends, line_of, mark == ",")


def _cut_by_pyarrow(text: bytes, mark: str | None, width: int) -> Any:
    """All cells of a large text, not stripped; None where it is small or not plain."""
    if len(text) < limits.COMPILED_TABLE_BYTES or width == 1:  # there a blank line is a row
        return None
    quoted = b'"' in text and mark is not None
    if quoted and re.search(rb'(?:^|[\n%s]) +"' % str(mark).encode(), text):
        return None
    return cut_by_pyarrow(text, width, mark, words=True, quoted=quoted)


def _collected(path: Path, rows: Iterator[Row], width: int) -> tuple[Any, list[int], int]:
    """All cells of rows that must have ``width`` each, the lines of the rows, and how many at the end are empty."""
    import pyarrow as pa

    lines: list[int] = []
    ends = 0

    def even() -> Iterator[list[str]]:
        nonlocal ends
        for cells, line in track(rows, total=0, label=f"reading {path.name}"):
            if not cells and width > 1:
                continue
            if len(cells or [""]) != width:
                advice = "Write a title above the names of rows." if len(cells) == width + 1 and len(lines) == 1 else ""
                given, needed = f"{len(cells)} cell{'s' * (len(cells) != 1)}", f"{width}, as on line {lines[0]}"
                raise CothermError(f"{path}: line {line}", given, needed, advice)
            ends = 0 if (any(cells) if width > 1 else cells) else ends + 1
            lines.append(line)
            yield cells or [""]

    kept, blocks = even(), []
    titles = [str(c) for c in range(width)]
    while block := list(islice(kept, _ROWS)):
        blocks.append(pa.table([pa.array(column, pa.large_string()) for column in zip(*block, strict=True)], titles))
    return pa.concat_tables(blocks), lines, ends


def _parsed(chunk: Any, decimal: str) -> Floats | None:
    """Numbers by pyarrow, rounded as ``float`` does, NaN where missing; None where a cell is plainly neither."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pc.utf8_trim_whitespace(chunk)
    missing = pc.is_in(pc.utf8_lower(text), value_set=pa.array(MISSING, text.type))
    if decimal == ",":
        if pc.any(pc.match_substring(text, ".")).as_py():
            return None
        text = pc.replace_substring(text, ",", ".")
    try:
        found = pc.if_else(missing, None, text).cast(pa.float64())
    except pa.ArrowInvalid:
        return None
    values: Floats = found.to_numpy(zero_copy_only=False)
    return values if np.count_nonzero(~np.isfinite(values)) == found.null_count else None


def _number(cell: str, decimal: str) -> float:
    """The number in a cell; NaN if it holds none."""
    plain = with_point(cell, decimal)
    return float(plain) if is_finite(plain) and not (decimal == "," and "." in cell) else np.nan


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
    stripped = ((line, line.strip(" ")) for line in lines)
    return ("\n" if bare == "\n" else line for line, bare in stripped if bare)


def _split(path: Path, text: bytes, mark: str | None) -> Iterator[Row]:
    """The cells of every line, none on blank ones, with its number."""
    if mark is None:
        yield from ((line.split(), k) for k, line in enumerate(_lines(text), 1))
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
            yield [cell.strip() for cell in cells], line
    except csv.Error as error:
        advice = "Is a quotation mark left open?" if quoted else ""
        raise CothermError(f"{path}: line {line + 1}", str(error), "a table of cells", advice) from None


def _mark(text: bytes, decimal: str | None) -> str | None:
    """The mark that cuts the first lines into equally many cells, more than one if any does."""
    first = list(islice((line.rstrip("\n") for line in _lines(text) if line.strip()), _TELLING))
    even = [mark for mark in _MARKS if len(counts := set(map(len, _cut(first, mark)))) == 1 and counts.pop() > 1]
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
    """The cells of lines; none where the mark leaves one too long to read."""
    try:
        return [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=mark, skipinitialspace=True)]
    except csv.Error:
        return []


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


def _read_sheet(path: Path, name: str | None = None) -> tuple[list[list[str]], str]:
    """The rows of the sheet of a name, or of the first, without columns that are empty at either side; its name."""
    atomic.require_content(path)
    openpyxl = require("openpyxl", "tables")
    with (
        readable(path, "an .xlsx file", advice="The file may be damaged, or not be an .xlsx file."),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # the table does not need what openpyxl skips
        with zipfile.ZipFile(path) as archive:  # no part is read further than declared
            size = sum(entry.file_size for entry in archive.infolist())
        require_proportion(path, size, path.stat().st_size, "Save it as .csv.")
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        try:
            sheets = {str(sheet.title): sheet for sheet in book.worksheets}
            if not sheets or (name is not None and name not in sheets):
                given = "no sheet" if name is None else f"no sheet {name!r}"
                known = ", ".join(map(repr, sheets)) or "it has none"
                raise CothermError(str(path), given, f"one of its sheets: {known}")
            title = next(iter(sheets)) if name is None else name
            return _squared(_sheet_rows(path, sheets[title], size)), title
        finally:
            book.close()


def _sheet_rows(path: Path, sheet: Any, size: int) -> list[list[str]]:
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
