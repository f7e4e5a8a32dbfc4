"""Large text tables, compiled: a look at all rows, and all their numbers, a gigabyte in seconds.

Kernels run over the bytes of the file. They take what is plain (``1.5``, ``-2e-3``, cells in quotes on one line) and
stop at a row that is not. That row is then read in Python, where it is understood or refused by line and column, and
the kernel goes on behind it. Lines end in a line feed, a carriage return, or both.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats, Ints
from cotherm.engines.cpu.jit import compiled
from cotherm.io.decimals import nearest

Bytes = NDArray[np.uint8]

_LINE_FEED, _RETURN, _SPACE, _TAB, _QUOTE = (ord(c) for c in '\n\r \t"')
_PLUS, _MINUS, _ZERO, _NINE = (ord(c) for c in "+-09")
_LARGE_A, _LARGE_Z, _TO_SMALL = ord("A"), ord("Z"), ord("a") - ord("A")
_SMALL_E, _LARGE_E = ord("e"), ord("E")
_DELETE = 0x7F  # what is beyond is a control character or part of a character of several bytes
_LONGEST_CELL = 2**17  # csv refuses longer ones
_MOST_DIGITS = 19  # that fit into 64 bits
_MOST_EXPONENT = 10**5
_TEN = np.uint64(10)
# Ways to say that a number is missing, as numbers of base 256; Python knows some more.
_NA, _NAN, _N_A, _NULL, _NONE = (int.from_bytes(word, "big") for word in (b"na", b"nan", b"n/a", b"null", b"none"))
_LONGEST_MISSING = 4
# Bytes that are characters, neither spaces nor quotation marks.
_PLAIN = np.array([_SPACE < byte < _DELETE and byte != _QUOTE for byte in range(256)])
# In place of where a cell ends: it is not plain.
_ODD = -1
# Whether a cell holds something; characters that are not of ASCII may be spaces.
_EMPTY, _UNCLEAR, _FILLED = 0, 1, 2


class Survey(NamedTuple):
    """What a look at all rows tells; see ``TextTable`` for the numbers."""

    rows: int
    empty_ends: int
    empty_cells: int
    blank_ends: int
    firsts: Ints  # where the first cell of every row starts and stops, (rows, 2); none where it is the only one
    body: int  # where the second row starts


def survey(text: bytes, start: int, mark: str | None, width: int) -> Survey | None:
    """A look at all rows of ``width`` cells from the byte ``start`` on; None where some row is not plain."""
    array = np.frombuffer(text, np.uint8)
    lines = text.count(b"\n") + text.count(b"\r") + 1
    firsts = np.empty((lines if width > 1 else 0, 2), dtype=np.int64)
    plain, count, ends, empty, blank, body = _survey(array, start, _code(mark), width, firsts)
    return Survey(count, ends, empty, blank, firsts[:count], body) if plain else None


class Plan(NamedTuple):
    """How rows are parsed: what is between cells, what the decimal point is, which columns are numbers and labels."""

    mark: str | None
    point: str
    wanted: NDArray[np.bool_]  # for every cell of a row whether it is a number to keep
    label: int = -1  # the cell of a row that is its label; -1 for none


def parse_rows(text: bytes, at: int, plan: Plan, row: int, stop: int, values: Floats, spans: Ints) -> tuple[int, int]:
    """Numbers into ``values[row:stop]`` from the line at the byte ``at`` on, NaN for missing ones.

    Where the label of every row starts and stops is put into ``spans``. Returns the first row that is not plain and
    where its line starts; ``stop`` and where the next line starts where all are plain.
    """
    array, point = np.frombuffer(text, np.uint8), ord(plan.point)
    return _parse_rows(array, at, _code(plan.mark), point, plan.wanted, plan.label, row, stop, values, spans)


def _code(mark: str | None) -> int:
    """The byte between cells, 0 for any number of spaces and tabs."""
    return 0 if mark is None else ord(mark)


@compiled
def _survey(text: Bytes, at: int, mark: int, width: int, firsts: Ints) -> tuple[bool, int, int, int, int, int]:
    count = ends = empty = blank = 0
    body = -1
    while at < len(text):
        p = _past_spaces(text, at, mark)
        if p == len(text):
            break
        if _is_line_end(text[p]):
            blank += 1
            at = _next_line(text, p)
            if body < 0 and width == 1:
                body = at
            continue
        begin, stop, p, cells, content = _survey_row(text, p, mark)
        if cells != width or content == _UNCLEAR:
            return False, 0, 0, 0, 0, 0
        if width > 1:
            firsts[count, 0], firsts[count, 1] = begin, stop
            ends = 0 if content == _FILLED else ends + 1
        else:
            empty += blank + (content == _EMPTY)
            count += blank
            blank = 0
        count += 1
        at = _next_line(text, p)
        if body < 0:
            body = at
    if width == 1:
        return True, count, 0, empty, blank, body
    return True, count - ends, ends, 0, 0, body


@compiled
def _survey_row(text: Bytes, p: int, mark: int) -> tuple[int, int, int, int, int]:
    """Of the row at p: where its first cell starts and stops, where the row ends, its cells, whether it is filled."""
    first_begin = first_stop = cells = 0
    content = _EMPTY
    while True:
        begin, stop, p, found = _cell(text, _past_spaces(text, p, mark), mark)
        if p == _ODD:
            return 0, 0, p, 0, _UNCLEAR
        if cells == 0:
            first_begin, first_stop = begin, stop
        if content != _FILLED and found != _EMPTY:
            content = found
        cells += 1
        if mark == 0:
            p = _past_spaces(text, p, mark)
        if p == len(text) or _is_line_end(text[p]):
            return first_begin, first_stop, p, cells, content
        p += mark != 0


@compiled
def _cell(text: Bytes, p: int, mark: int) -> tuple[int, int, int, int]:
    """Where the cell at p starts and stops, where what follows it starts, and whether it holds something."""
    quoted = mark != 0 and p < len(text) and text[p] == _QUOTE
    p += quoted
    begin = p
    content = _EMPTY
    while p < len(text):
        byte = text[p]
        if _PLAIN[byte] and byte != mark:
            content = _FILLED
            p += 1
            continue
        if _is_line_end(byte):
            break
        if byte == _QUOTE if quoted else byte == mark or (mark == 0 and byte in (_SPACE, _TAB)):
            break
        if byte < _SPACE or byte >= _DELETE:  # perhaps a space of another kind
            if mark == 0:
                return begin, p, _ODD, _UNCLEAR
            if content == _EMPTY:
                content = _UNCLEAR
        elif byte > _SPACE:
            content = _FILLED
        p += 1
    stop = p
    if quoted:
        if p == len(text) or text[p] != _QUOTE:
            return begin, stop, _ODD, content
        p = _past_spaces(text, p + 1, mark)
        if p < len(text) and text[p] != mark and not _is_line_end(text[p]):
            return begin, stop, _ODD, content
    return begin, stop, _ODD if stop - begin > _LONGEST_CELL else p, content


@compiled
def _parse_rows(
    text: Bytes,
    at: int,
    mark: int,
    point: int,
    wanted: NDArray[np.bool_],
    label: int,
    row: int,
    last: int,
    values: Floats,
    spans: Ints,
) -> tuple[int, int]:
    columns = len(wanted)
    while row < last:
        p = _past_spaces(text, at, mark)
        if columns > 1 and p < len(text) and _is_line_end(text[p]):
            at = _next_line(text, p)
            continue
        place = 0
        for c in range(columns):
            p = _past_spaces(text, p, mark)
            if wanted[c]:
                values[row, place], p = _number_cell(text, p, mark, point)
                place += 1
            else:
                begin, stop, p, _ = _cell(text, p, mark)
                if c == label:
                    spans[row, 0], spans[row, 1] = begin, stop
            if p == _ODD:
                return row, at
            ended = p == len(text) or _is_line_end(text[p])
            if not ended and text[p] != mark:
                after = _past_spaces(text, p, mark)
                ended = after == len(text) or _is_line_end(text[after])
                if not ended and (text[after] != mark if mark != 0 else after == p):
                    return row, at
                p = after
            if ended != (c == columns - 1):
                return row, at
            p += mark != 0 and not ended
        at = _next_line(text, p)
        row += 1
    return row, at


@compiled
def _number_cell(text: Bytes, p: int, mark: int, point: int) -> tuple[float, int]:
    """The number in the cell at p, NaN where it is missing, and where the cell stops; _ODD where it is not plain."""
    quoted = mark != 0 and p < len(text) and text[p] == _QUOTE
    begin = p + quoted
    value, p = _number(text, begin, 0 if point == mark and not quoted else point)
    if p == _ODD:
        value, p = np.nan, _past_missing(text, begin, mark)
    if quoted and p != _ODD:
        return value, p + 1 if p < len(text) and text[p] == _QUOTE else _ODD
    return value, p


@compiled
def _past_missing(text: Bytes, p: int, mark: int) -> int:
    """Where the cell at p stops if it is empty or says that its number is missing, as it mostly does; else _ODD."""
    code = 0
    for length in range(_LONGEST_MISSING + 1):
        if p == len(text) or not _PLAIN[text[p]] or text[p] == mark:
            missing = code in (_NA, _NAN, _N_A, _NULL, _NONE) or (length == 0 and mark != 0)
            return p if missing else _ODD
        byte = text[p]
        code = 256 * code + (byte + _TO_SMALL if _LARGE_A <= byte <= _LARGE_Z else byte)
        p += 1
    return _ODD


@compiled
def _number(text: Bytes, p: int, mark_of_fraction: int) -> tuple[float, int]:
    """The number at p and where it stops; _ODD where there is none, or none that is told for sure."""
    negative = p < len(text) and text[p] == _MINUS
    p += negative or (p < len(text) and text[p] == _PLUS)
    digits, used, power = np.uint64(0), 0, 0
    begin, point, more = p, -1, False
    while p < len(text):
        byte = text[p]
        if _ZERO <= byte <= _NINE:
            if used < _MOST_DIGITS:
                digits = digits * _TEN + np.uint64(byte - _ZERO)
                used += digits != np.uint64(0)
                power -= point >= 0
            else:
                more |= byte != _ZERO
                power += point < 0
        elif byte == mark_of_fraction and point < 0:
            point = p
        else:
            break
        p += 1
    if p - begin == (point >= 0):  # no digit
        return 0.0, _ODD
    if p < len(text) and (text[p] == _SMALL_E or text[p] == _LARGE_E):
        exponent, p = _exponent(text, p + 1)
        if p == _ODD:
            return 0.0, _ODD
        power += exponent
    value = nearest(digits, power)
    if np.isnan(value) or (more and nearest(digits + np.uint64(1), power) != value):
        return 0.0, _ODD
    return -value if negative else value, p


@compiled
def _exponent(text: Bytes, p: int) -> tuple[int, int]:
    negative = p < len(text) and text[p] == _MINUS
    p += negative or (p < len(text) and text[p] == _PLUS)
    begin, exponent = p, 0
    while p < len(text) and _ZERO <= text[p] <= _NINE:
        exponent = min(10 * exponent + int(text[p]) - _ZERO, _MOST_EXPONENT)
        p += 1
    if p == begin or exponent == _MOST_EXPONENT:
        return 0, _ODD
    return -exponent if negative else exponent, p


@compiled
def _is_line_end(byte: int) -> bool:
    return byte in (_LINE_FEED, _RETURN)


@compiled
def _next_line(text: Bytes, p: int) -> int:
    """Where the line after the one that ends at p starts."""
    if p + 1 < len(text) and text[p] == _RETURN and text[p + 1] == _LINE_FEED:
        return p + 2
    return min(p + 1, len(text))


@compiled
def _past_spaces(text: Bytes, p: int, mark: int) -> int:
    while p < len(text) and (text[p] == _SPACE or (mark == 0 and text[p] == _TAB)):
        p += 1
    return p
