"""Large texts: numbers parsed by pyarrow, and lines of files of any length, some megabytes at a time.

pyarrow rounds to the nearest double, as ``float`` does, takes nothing for a number that ``cells`` does not, and refuses
rows that are too short or too long. What it cannot take at all (comments, some kinds of space) is left to slower
readers, which name the line of what is wrong. pandas with its accurate parser takes several times as long.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError
from cotherm.io.array_file import opened
from cotherm.io.cells import MISSING
from cotherm.io.foreign import unpacked
from cotherm.io.text import LineReader, Lines, number_blocks, require_utf8
from cotherm.memory import words

# Bytes of text at a time.
_CHUNK = 2**21
# Bytes of text that pyarrow parses at a time, whole rows.
_BLOCK = 2**20
# A text without an end of line for so long is no table of numbers.
_LONGEST_LINE = 2**24
# How numbers are mostly said to be missing; what is written otherwise is left to slower readers.
_MISSING = sorted({change(word) for word in MISSING for change in (str.lower, str.upper, str.title, str.capitalize)})
_MISSING += ["NaN", "-NaN"]


class NotPlainError(Exception):
    """The text holds something that pyarrow does not take, or takes for something else than ``cells`` does."""


def parse_plain(
    values: Floats,
    text: bytes,
    mark: str | None,
    width: int,
    numbers: Sequence[int],
    label: int | None = None,
    *,
    decimal: str = ".",
    titled: bool = False,
    missing: Sequence[str] = _MISSING,
) -> Iterator[tuple[int, list[str]]]:
    """Put the numbers in some columns of a table into ``values``, NaN where they are missing, some rows at a time.

    Given are how many rows are done, of which there may be more than ``values`` has, and the cells of the column
    ``label``, not stripped. Raises NotPlainError where a row or a cell is not plain.
    """
    import pyarrow as pa
    from pyarrow import csv

    titles = [str(c) for c in range(width)]
    types = {titles[c]: pa.float64() for c in numbers} | ({} if label is None else {titles[label]: pa.string()})
    quote: str | bool = '"'
    if mark is None:
        quote = False
        text, mark = re.sub(rb"[ \t]*\n[ \t]*", b"\n", re.sub(rb"[ \t]+", b" ", text.strip(b" \t"))), " "
    read = csv.ReadOptions(use_threads=False, block_size=_BLOCK, column_names=titles, skip_rows_after_names=int(titled))
    parse = csv.ParseOptions(delimiter=mark, quote_char=quote, newlines_in_values=b'"' in text)
    convert = csv.ConvertOptions(
        column_types=types, include_columns=list(types), null_values=missing, decimal_point=decimal, check_utf8=False
    )
    done = 0
    try:
        for batch in csv.open_csv(pa.BufferReader(text), read, parse, convert, pa.system_memory_pool()):
            place = values[done : done + batch.num_rows]
            for c in range(len(numbers)):
                column = batch.column(c)
                found = column.to_numpy(zero_copy_only=False)
                if np.count_nonzero(~np.isfinite(found)) != column.null_count:
                    raise NotPlainError
                place[:, c] = found[: len(place)]
            done += batch.num_rows
            yield done, [] if label is None else batch.column(len(numbers)).to_pylist()
    except pa.ArrowException as error:
        raise NotPlainError from error


def line_chunks(path: Path) -> Iterator[tuple[int, bytes]]:
    """Whole lines as UTF-8 that end in line feeds (the last one perhaps in none), and the number of the first."""
    number, first = 1, True
    for raw in _whole_lines(path):
        chunk = raw.removeprefix(codecs.BOM_UTF8) if first else raw
        first = False
        text = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in chunk else chunk
        require_utf8(text, number)
        yield number, text
        number += text.count(b"\n")


def rows_of_numbers(
    text: bytes, first: int, columns: int, needed: str, *, delimiter: str | None, comment: str
) -> Iterator[tuple[Lines | None, Ints, Floats]]:
    """Rows of numbers in some whole lines, the first of which has a number: their lines, their numbers, the rows.

    There are no lines (None) where all rows are plain. A caller that finds one of them wrong asks ``named_rows`` again,
    whose lines name it.
    """
    found = _plain_rows(text, columns, delimiter)
    if found is not None:
        yield None, np.arange(first, first + len(found)), found
        return
    yield from named_rows(text, first, columns, needed, delimiter=delimiter, comment=comment)


def named_rows(
    text: bytes, first: int, columns: int, needed: str, *, delimiter: str | None, comment: str
) -> Iterator[tuple[Lines, Ints, Floats]]:
    """The same with their lines, by which a wrong one is named."""
    reader = LineReader(text, comment=comment, first=first)
    for _, lines, numbers in number_blocks(reader, columns, needed, delimiter=delimiter):
        yield lines, np.array(lines.numbers), numbers


def _plain_rows(text: bytes, columns: int, delimiter: str | None) -> Floats | None:
    """All rows, one a line; None where some line is not plain."""
    if not text.endswith(b"\n") or b'"' in text:
        return None
    values = np.empty((text.count(b"\n"), columns))
    try:
        counts = [done for done, _ in parse_plain(values, text, delimiter, columns, range(columns), missing=())]
    except NotPlainError:
        return None
    return values if counts[-1:] == [len(values)] else None


def _whole_lines(path: Path) -> Iterator[bytes]:
    rest = b""
    for block in _blocks(path):
        rest += block
        stop = rest.rfind(b"\n") + 1 or rest.rfind(b"\r", 0, len(rest) - 1) + 1
        if stop:
            yield rest[:stop]
            rest = rest[stop:]
        elif len(rest) > _LONGEST_LINE:
            raise CothermError(str(path), f"no end of a line in {words(len(rest))}", "lines of numbers")
    if rest:
        yield rest


def _blocks(path: Path) -> Iterator[bytes]:
    """The bytes of a file, unpacked where it is compressed."""
    if path.is_dir():
        raise CothermError(str(path), "a directory", "a file to read")
    if path.suffix.lower() == ".gz":
        yield from unpacked(path)
        return
    with opened(path) as file:
        # What is there, not so many bytes: between two reads of one call a signal would go unheard until a pipe brings
        # more.
        yield from iter(lambda: file.read1(_CHUNK), b"")
