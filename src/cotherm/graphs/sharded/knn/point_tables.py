"""Points in text tables of numbers, parsed once, some lines at a time, into a file of which any rows can be read."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cotherm.errors import CothermError
from cotherm.io import atomic
from cotherm.io.array_file import ArrayFile, octets
from cotherm.io.cells import is_numeral
from cotherm.io.streamed_text import line_chunks
from cotherm.io.text import LineReader, excerpt, number_blocks
from cotherm.progress import working

_MARKS = (",", ";", "\t")
_COMMENT = "#"


def parsed(path: Path, place: Path) -> ArrayFile:
    """The rows of a table, one a line, all cells numbers; its first line may be titles."""
    count, columns, mark = 0, 0, None
    with working(f"reading {path.name}"), atomic.writing(place), place.open("xb") as file:
        for number, chunk in line_chunks(path):
            first, text = number, chunk
            if not columns:
                columns, mark, titles = _form(path, chunk)
                first, text = first + titles, b"".join(chunk.splitlines(keepends=True)[titles:])
            try:
                needed = f"{columns} numbers, as in the first row"
                content = LineReader(text, comment=_COMMENT, first=first)
                for _, _, values in number_blocks(content, columns, needed, delimiter=mark):
                    file.write(octets(np.ascontiguousarray(values)))
                    count += len(values)
            except CothermError as error:
                advice = "Leave out columns of text, or save the points as .npy."
                raise CothermError(f"{path}: {error.argument}", error.given, error.needed, advice) from None
    if not columns:
        raise CothermError(str(path), "an empty file", "a table of numbers")
    return ArrayFile(place, (count, columns), np.dtype(np.float64), 0)


def _form(path: Path, chunk: bytes) -> tuple[int, str | None, int]:
    """How many columns a table has, the mark between them (None: spaces), and how many lines come before its rows."""
    first, others = LineReader(chunk, comment=_COMMENT).first()
    if not first.rows:
        raise CothermError(str(path), "no rows", "a table of numbers")
    if all(map(is_numeral, _cells(first.rows[0]))):
        return len(_cells(first.rows[0])), _mark(first.rows[0]), first.numbers[0] - 1
    second, _ = others.first()
    if not second.rows or not all(map(is_numeral, _cells(second.rows[0]))):
        row = second.rows[0] if second.rows else first.rows[0]
        line = (second.numbers or first.numbers)[0]
        advice = "Leave out columns of text, or save the points as .npy."
        raise CothermError(f"{path}: line {line}", excerpt(row), "a row of numbers", advice)
    return len(_cells(second.rows[0])), _mark(second.rows[0]), second.numbers[0] - 1


def _mark(row: str) -> str | None:
    return next((mark for mark in _MARKS if mark in row), None)


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.split(_mark(row))]
