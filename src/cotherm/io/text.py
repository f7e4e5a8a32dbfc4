"""Numbers from lines of text: parsed in bulk, with the line named when something is wrong.

A line as a Python string takes many times its bytes, so that lines are made a block at a time and made anew when one
has to be named: reading takes a few times the memory of the file, whatever is in it.

A number is what np.loadtxt takes for one: ASCII digits, with or without a sign, a point and an exponent after e or E,
such as 1, -1.5, .5 and 2e-3. What is none, though float() takes some of it for one: 1_000, digits of other scripts,
hexadecimal numbers, exponents after d. The words nan and inf are understood, and refused as not finite.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from cotherm import limits
from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError

# Bytes of text that become Python strings at a time: short lines take some sixty times as much.
_BLOCK = 2**18
# No line of numbers is longer; what it would take to split one up is bounded by this.
_LONGEST_LINE = 10**6
# Of the first lines, where our own header may stand, so much is looked at.
LONGEST_HEADER = 2 * 10**6


class Numbered:
    """Lines of a file, any of which can be complained about by its number."""

    def find(self, k: int) -> Lines:
        """Row k alone."""
        raise NotImplementedError

    def refuse(self, k: int, needed: str, advice: str = "") -> NoReturn:
        """Complain about row k."""
        line = self.find(k)
        raise CothermError(f"line {line.numbers[0]}", excerpt(line.rows[0]), needed, advice)

    def refuse_where(self, bad: NDArray[np.bool_], needed: str, advice: str = "") -> None:
        """Complain about the first bad row, if there is one."""
        if bad.any():
            self.refuse(int(np.argmax(bad)), needed, advice)


@dataclass(frozen=True)
class Lines(Numbered):
    """Some lines with content, stripped, and their numbers in the file, counted from 1."""

    rows: list[str]
    numbers: list[int]

    def part(self, which: slice) -> Lines:
        return Lines(self.rows[which], self.numbers[which])

    def find(self, k: int) -> Lines:
        return self.part(slice(k, k + 1))


class LineReader(Numbered):
    """The lines of a text that hold something once comments are cut off.

    ``text`` is as ``utf8`` gives it; its lines from the byte ``start`` on are taken, the first of which has the number
    ``first``.
    """

    def __init__(self, text: bytes, *, comment: str | None, start: int = 0, first: int = 1) -> None:
        self.text = text
        self._comment = comment
        self._start = start
        self._first = first
        self._count: int | None = None

    def __len__(self) -> int:
        if self._count is None:
            self._count = sum(len(lines.rows) for lines in self.blocks())
        return self._count

    def blocks(self) -> Iterator[Lines]:
        """All lines, some at a time."""
        for _, number, block in self.pieces():
            yield self.lines(block, number)

    def groups(self, sizes: Sequence[int]) -> Iterator[tuple[int, slice, Lines]]:
        """All lines, of which the first sizes[0] make group 0, the next sizes[1] group 1 and so on, some at a time.

        Given are the number of the group, which of its rows these are, and the lines. What the sizes leave over is
        left out.
        """
        group, done = 0, 0
        for lines in self.blocks():
            at = 0
            while at < len(lines.rows):
                while group < len(sizes) and done == sizes[group]:
                    group, done = group + 1, 0
                if group == len(sizes):
                    return
                taken = min(sizes[group] - done, len(lines.rows) - at)
                yield group, slice(done, done + taken), lines.part(slice(at, at + taken))
                at, done = at + taken, done + taken

    def first(self) -> tuple[Lines, LineReader]:
        """The first line, if there is one, and the others."""
        for at, number, block in self.pieces():
            found = self.lines(block, number)
            if found.rows:
                line = found.numbers[0]
                start = at + _end_of_line(block, line - number)
                return found.find(0), LineReader(self.text, comment=self._comment, start=start, first=line + 1)
        return Lines([], []), self

    def find(self, k: int) -> Lines:
        """Row k alone."""
        for lines in self.blocks():
            if k < len(lines.rows):
                return lines.find(k)
            k -= len(lines.rows)
        raise IndexError(k)

    def last_number(self) -> int:
        """The number of the last line with content; that of the line before where there is none."""
        last = max(1, self._first - 1)
        for lines in self.blocks():
            last = lines.numbers[-1] if lines.numbers else last
        return last

    def pieces(self) -> Iterator[tuple[int, int, bytes]]:
        """Where a piece of whole lines starts, the number of its first line, and the piece."""
        at, number = self._start, self._first
        while at < len(self.text):
            stop = self.text.rfind(b"\n", at, at + _BLOCK) + 1
            if not stop:
                stop = self.text.find(b"\n", at + _BLOCK) + 1 or len(self.text)
            block = self.text[at:stop]
            yield at, number, block
            at = stop
            number += block.count(b"\n")

    def of(self, block: bytes, first: int) -> LineReader:
        """The same of a piece."""
        return LineReader(block, comment=self._comment, first=first)

    def lines(self, block: bytes, first: int) -> Lines:
        """Those of a piece."""
        if len(block) > _LONGEST_LINE:  # one line alone
            block = self._short(block, first)
        rows = block.decode().split("\n")
        if self._comment is not None:
            rows = [row.partition(self._comment)[0] for row in rows]
        rows = [row.strip() for row in rows]
        numbers = [k for k, row in enumerate(rows, first) if row]
        return Lines([row for row in rows if row], numbers)

    def _short(self, line: bytes, number: int) -> bytes:
        kept = line if self._comment is None else line.partition(self._comment.encode())[0]
        if len(kept.strip()) > _LONGEST_LINE:
            raise CothermError(f"line {number}", f"{len(kept)} bytes", f"lines of at most {_LONGEST_LINE} bytes")
        return kept


def utf8(data: bytes) -> bytes:
    """Text as UTF-8 bytes, which take less memory than a string: no byte order mark, line feeds end the lines."""
    try:
        if not data.isascii():
            data.decode()
    except UnicodeDecodeError as error:
        line, given = 1 + data.count(b"\n", 0, error.start), f"byte 0x{data[error.start]:02x}, which is not text"
        raise CothermError(f"line {line}", given, "UTF-8 text") from None
    text = data.removeprefix(codecs.BOM_UTF8)
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text


def line_at(text: bytes, k: int) -> str:
    """Line k of a text that ``utf8`` gave, counted from 0; nothing where there are fewer."""
    lines = text[:LONGEST_HEADER].split(b"\n", k + 1)
    return lines[k].decode(errors="ignore") if k < len(lines) else ""


def number_blocks(
    content: LineReader, columns: int, needed: str, *, delimiter: str | None = None
) -> Iterator[tuple[slice, Numbered, Floats]]:
    """One row of numbers per line, a block at a time: which rows of all, their lines, and the numbers."""
    done = 0
    for _, first, block in content.pieces():
        lines: Numbered = content.of(block, first)
        large = len(content.text) >= limits.COMPILED_TABLE_BYTES  # only then pyarrow is worth being loaded
        rows = plain_rows(block, columns, delimiter) if large else None
        if rows is None:
            lines = content.lines(block, first)
            rows = number_rows(lines, columns, needed, delimiter=delimiter)
        if len(rows):
            yield slice(done, done + len(rows)), lines, rows
            done += len(rows)


def number_rows(
    lines: Lines, columns: int, needed: str, advice: str = "", delimiter: str | None = None, more: bool = False
) -> Floats:
    """The numbers of some lines; with ``more``, anything may follow the first ``columns`` numbers of a line."""

    def attempt(rows: list[str]) -> Floats | None:
        used = range(columns) if more else None
        try:
            array = np.loadtxt(rows, delimiter=delimiter, comments=None, usecols=used, ndmin=2, encoding=None)
        except ValueError:
            return None
        return array if array.shape == (len(rows), columns) else None

    if not lines.rows:
        return np.empty((0, columns))
    array = attempt(lines.rows)
    if array is None:
        wrong = (k for k, row in enumerate(lines.rows) if attempt([row]) is None)
        lines.refuse(next(wrong, 0), needed, advice)
    return array


def as_integers(lines: Numbered, values: Floats, *, least: int, most: int, needed: str) -> Ints:
    """The same numbers as integers within [least, most]; 3.0 counts as 3."""
    # Comparisons with NaN are false, so that it is refused as well.
    good = (values == np.floor(values)) & (values >= least) & (values <= most)
    lines.refuse_where(_by_row(~good), needed)
    return values.astype(np.int64)


def require_finite(lines: Lines, values: Floats) -> Floats:
    """The same numbers, if all are finite."""
    lines.refuse_where(_by_row(~np.isfinite(values)), "finite numbers")
    return values


def as_counts(lines: Lines, k: int, words: list[str], needed: str) -> list[int]:
    """Numbers of things to come, as row k declares them; nothing is allocated on their word."""
    # Eighteen digits fit into an integer of 64 bits; no file holds as many things.
    if not all(re.fullmatch("[0-9]{1,18}", word) for word in words):
        lines.refuse(k, needed)
    return [int(word) for word in words]


def require_rows(content: LineReader, found: int, declared: int, what: str) -> None:
    """The file must hold as many rows as it declares, no fewer and no more."""
    if found != declared:
        raise CothermError(
            f"line {content.last_number()}",
            f"the file ends after {found} {what}",
            f"{declared} {what}, as its header declares",
            "The file may have been cut short." if found < declared else "",
        )


def require_last_line(text: bytes) -> None:
    """What is written here ends its last line; without that, the last number may have lost digits."""
    if not text.endswith(b"\n"):
        raise CothermError("last line", "no line end", "a complete last line", "The file may have been cut short.")


def excerpt(row: str) -> str:
    """A line for a message, cut short."""
    return repr(row if len(row) <= 60 else row[:57] + "...")


def csv_bytes(titles: Iterable[str], rows: Iterable[Iterable[Any]]) -> bytes:
    """A table as text, with numbers at full precision."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(titles)
    writer.writerows(rows)
    # Names, of files too, may hold what is not text; this is escaped.
    return text.getvalue().encode("utf-8", "backslashreplace")


def _by_row(bad: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return np.asarray(bad.any(axis=1)) if bad.ndim == 2 else bad


def _end_of_line(block: bytes, k: int) -> int:
    """Where line k of a block ends, counted from 0."""
    return sum(len(line) + 1 for line in block.split(b"\n", k + 1)[: k + 1])


def plain_rows(text: bytes, columns: int, delimiter: str | None) -> Floats | None:
    """The numbers of whole lines by pyarrow, one row each; None if a line is not plain.

    pyarrow rounds to the nearest double, as ``float`` does. What it cannot take, comments and some kinds of space, is
    left to NumPy.
    """
    if not text.endswith(b"\n") or b'"' in text:
        return None
    found = cut_by_pyarrow(text, columns, delimiter)
    values = None if found is None else np.column_stack([column.to_numpy() for column in found.columns])
    return values if values is not None and len(values) == text.count(b"\n") and np.isfinite(values).all() else None


def cut_by_pyarrow(
    text: bytes, columns: int, mark: str | None, *, words: bool = False, quoted: bool = False
) -> Any | None:
    """The cells of plain lines, numbers or words, as a table of pyarrow; None where it cannot take them."""
    import pyarrow as pa
    from pyarrow import csv as arrow

    if mark is None:
        text, mark = re.sub(rb"[ \t]*\n[ \t]*", b"\n", re.sub(rb"[ \t]+", b" ", text.strip(b" \t"))), " "
    types = {str(c): pa.large_string() if words else pa.float64() for c in range(columns)}
    read = arrow.ReadOptions(use_threads=False, column_names=list(types))
    parse = arrow.ParseOptions(delimiter=mark, quote_char='"' if quoted else False, newlines_in_values=quoted)
    convert = arrow.ConvertOptions(column_types=types, null_values=[], check_utf8=False)
    try:
        return arrow.read_csv(pa.BufferReader(text), read, parse, convert, pa.system_memory_pool())
    except pa.ArrowInvalid:
        return None
