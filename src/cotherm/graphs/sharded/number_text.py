"""Rows of numbers in text of any length, plain or ``.gz``, some at a time: parsed by pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from cotherm.arrays import Floats
from cotherm.errors import CothermError
from cotherm.io import atomic
from cotherm.io.atomic import unpack

ADVICE = "Leave out columns of text and comments, or save the points as .npy."
_HEAD = 2**16
# pyarrow reads some fifty of these ahead.
_BLOCK = 2**18


def head_of(path: Path) -> bytes:
    """The whole lines among the first bytes of a text, for how to read the rest."""
    found = unpack(path, most=_HEAD) if path.suffix.lower() == ".gz" else atomic.load(path, most=_HEAD)
    return found if len(found) < _HEAD else found[: found.rfind(b"\n") + 1]


def number_rows(path: Path, columns: int, mark: str, skipped: int) -> Iterator[Floats]:
    """The rows of numbers behind the ``skipped`` first lines, as ``cotherm.io.text`` takes numbers."""
    import pyarrow as pa
    from pyarrow import csv

    titles = [str(c) for c in range(columns)]
    read = csv.ReadOptions(use_threads=False, block_size=_BLOCK, column_names=titles, skip_rows=skipped)
    parse = csv.ParseOptions(delimiter=mark, quote_char=False)
    convert = csv.ConvertOptions(column_types=dict.fromkeys(titles, pa.float64()), null_values=[], check_utf8=False)
    try:
        for batch in csv.open_csv(str(path), read, parse, convert, pa.system_memory_pool()):
            yield np.column_stack([column.to_numpy() for column in batch.columns])
    except (pa.ArrowException, OSError) as error:
        given, needed = " ".join(str(error).split()), f"{columns} numbers in every row"
        raise CothermError(str(path), given, needed, ADVICE) from None
