"""Lines of a text file, plain or compressed, some megabytes at a time: a file of any length takes the same memory."""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np

from cotherm import limits
from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError
from cotherm.io import array_file
from cotherm.io.text import LineReader, Lines, number_blocks
from cotherm.memory import words

# Bytes of text at a time.
_CHUNK = 2**22
# A text without an end of line for so long is no table of numbers.
_LONGEST_LINE = 2**24


def line_chunks(path: Path) -> Iterator[tuple[int, bytes]]:
    """Whole lines as UTF-8 that end in line feeds (the last one perhaps in none), and the number of the first."""
    number, first = 1, True
    for raw in _whole_lines(path):
        chunk = raw.removeprefix(codecs.BOM_UTF8) if first else raw
        first = False
        text = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in chunk else chunk
        _require_utf8(text, number)
        yield number, text
        number += text.count(b"\n")


def rows_of_numbers(
    text: bytes, first: int, columns: int, needed: str, *, delimiter: str | None, comment: str
) -> Iterator[tuple[Lines | None, Ints, Floats]]:
    """Rows of numbers in some whole lines, the first of which has a number: their lines, their numbers, the rows.

    There are no lines (None) where all rows are plain, for these are parsed by a compiled kernel. A caller that finds
    one of them wrong asks ``named_rows`` again, whose lines name it.
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
    from cotherm.io.bulk import Plan, parse_rows

    count = text.count(b"\n")
    values = np.empty((count, columns))
    plan = Plan(delimiter, ".", np.ones(columns, dtype=np.bool_))
    row, at = parse_rows(text, 0, plan, 0, count, values, np.empty((0, 2), dtype=np.int64))
    plain = row == count and at == len(text) and bool(np.isfinite(values).all())
    return values if plain else None


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
    with array_file.opened(path) as file:
        if path.suffix.lower() != ".gz":
            # What is there, not so many bytes: between two reads of one call a signal would go unheard until a pipe
            # brings more.
            yield from iter(lambda: file.read1(_CHUNK), b"")
            return
        yield from _unpacked(path, file)


def _unpacked(path: Path, file: IO[bytes]) -> Iterator[bytes]:
    packed, size = path.stat().st_size, 0
    try:
        with gzip.GzipFile(fileobj=file) as source:
            while block := source.read(_CHUNK):
                size += len(block)
                if size > limits.UNPACKED_BYTES and size > limits.UNPACKED_RATIO * packed:
                    given = f"at least {words(size)} of data in {words(packed)}"
                    needed = f"at most {limits.UNPACKED_RATIO} times the size of the file"
                    raise CothermError(str(path), given, needed, "Unpack it first if you trust it.")
                yield block
    except (OSError, EOFError, zlib.error) as error:
        given = f"no complete gzip file ({' '.join(str(error).split())[:120]})"
        raise CothermError(str(path), given, "a .gz file", "The file may have been cut short.") from None


def _require_utf8(text: bytes, first: int) -> None:
    try:
        text.isascii() or text.decode()
    except UnicodeDecodeError as error:
        line = first + text.count(b"\n", 0, error.start)
        given = f"byte 0x{text[error.start]:02x}, which is not text"
        raise CothermError(f"line {line}", given, "UTF-8 text") from None
