"""Numbers of large texts, parsed by pyarrow.

pyarrow rounds to the nearest double, as ``float`` does, takes nothing for a number that ``cells`` does not, and refuses
rows that are too short or too long. What it cannot take at all (comments, some kinds of space) is left to slower
readers, which name the line of what is wrong. pandas with its accurate parser takes several times as long.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from cotherm.arrays import Floats
from cotherm.io.cells import MISSING

# Bytes of text that pyarrow parses at a time, whole rows.
_BLOCK = 2**20
# The usual spellings of missing numbers; others are left to slower readers.
_MISSING = sorted({change(word) for word in MISSING for change in (str.lower, str.upper, str.title, str.capitalize)})
_MISSING += ["NaN", "-NaN"]


class NotPlainError(Exception):
    """The text holds something that pyarrow refuses, or reads differently than ``cells`` does."""


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


def plain_rows(text: bytes, columns: int, delimiter: str | None) -> Floats | None:
    """The numbers of whole lines, one row each; None if a line is not plain."""
    if not text.endswith(b"\n") or b'"' in text:
        return None
    values = np.empty((text.count(b"\n"), columns))
    try:
        counts = [done for done, _ in parse_plain(values, text, delimiter, columns, range(columns), missing=())]
    except NotPlainError:
        return None
    return values if counts[-1:] == [len(values)] else None
