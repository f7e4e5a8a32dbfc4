"""Tables in ``.parquet`` files, a column at a time: those that are asked for, and no other.

pyarrow reads, the extra ``cotherm[tables]``. The index of a data frame of pandas holds names of rows, or else the first
column may, as in text.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.errors import CothermError
from cotherm.io import atomic
from cotherm.io.cells import is_missing
from cotherm.io.missing import Numbers
from cotherm.io.number_table import TableLayout, is_name_column, require_names
from cotherm.io.packed import require_proportion
from cotherm.io.selection import Selection, choose, refuse_text
from cotherm.io.text import excerpt
from cotherm.optional import require
from cotherm.progress import track


def read_parquet(path: Path, selection: Selection) -> Numbers:
    """The numbers, names and labels in a file."""
    atomic.require_content(path)
    require("pyarrow", "tables")
    import pyarrow.parquet

    with _told(path):
        source = pyarrow.parquet.ParquetFile(path)
    rows, titles = source.metadata.num_rows, list(source.schema_arrow.names)
    require_proportion(path, 8 * rows * len(titles), path.stat().st_size, "Save it as .csv.")
    if not rows or not titles:
        raise CothermError(str(path), "no rows", "a table with at least one row")
    name = _name_column(path, source, titles, selection)
    columns = [title for title in titles if title != name]
    name_title = None if name is None or name.startswith("__index_level_") else name
    choice = choose(path, columns, len(columns), selection, name_title)
    _refuse_text(path, source, [columns[c] for c in choice.features])
    values = np.empty((rows, len(choice.features)))
    places = list(enumerate(choice.features))
    for place, c in track(places, total=len(places), label=f"reading {path.name}"):
        values[:, place] = _numbers(path, source, columns[c])
    names = None if name is None else tuple(_words(path, source, name))
    if names is not None:
        require_names(path, names, lambda k: k, name_title)
    labels = None
    if choice.label is not None:
        labels = np.array(_words(path, source, columns[choice.label]))
    features = tuple(columns[c] for c in choice.features)
    reading = TableLayout(path, features, names, name_title, rows, len(features), 0).reading
    if choice.label is not None:
        reading += f", labels from the column {columns[choice.label]!r}"
    left_out = len(columns) - len(features) - (choice.label is not None)
    if left_out:
        reading += f", {left_out} column{'s' * (left_out != 1)} left out"

    def where(k: int, c: int) -> tuple[str, str]:
        return f"{path}: row {k} (from 0), column {features[c]!r}", _shown(values[k, c])

    return Numbers(path, values, names, features, labels, reading, where, choice.absent, tuple(columns))


def _name_column(path: Path, source: Any, titles: Sequence[str], selection: Selection) -> str | None:
    """The column that holds names of rows."""
    index = (source.schema_arrow.pandas_metadata or {}).get("index_columns", ())
    if len(index) == 1 and isinstance(index[0], str) and index[0] in titles:
        return None if selection.keeps_out(index[0]) else index[0]
    first, kind = titles[0], source.schema_arrow.field(0).type
    if selection.keeps_out(first) or first in (selection.columns or ()) or len(titles) == 1:
        return None
    if not _could_be_names(kind):
        return None
    words = _words(path, source, first)
    if selection.columns is not None and len(set(words)) < len(words):
        return None
    return first if is_name_column(path, first, words) else None


def _refuse_text(path: Path, source: Any, titles: Sequence[str]) -> None:
    schema = source.schema_arrow
    found = [title for title in titles if not _is_number(schema.field(title).type)]
    if found:
        examples = [next((word for word in _words(path, source, title) if word), "") for title in found]
        raise refuse_text(str(path), list(zip(found, map(excerpt, examples), strict=True)), titled=True)


def _column(path: Path, source: Any, title: str) -> Any:
    with _told(path):
        column = source.read(columns=[title], use_pandas_metadata=False)
        if column.num_columns != 1:
            raise CothermError(str(path), f"{column.num_columns} columns {title!r}", "titles that tell columns apart")
        return column.column(0)


def _numbers(path: Path, source: Any, title: str) -> Floats:
    import pyarrow as pa

    column = _column(path, source, title)
    with _told(path):
        if pa.types.is_boolean(column.type) or pa.types.is_null(column.type):
            column = column.cast(pa.int8())
        elif pa.types.is_decimal(column.type):
            column = column.cast(pa.float64())
        numbers = column.to_numpy()
    return validation.as_float64(f"{path}: column {title!r}", numbers)


def _words(path: Path, source: Any, title: str) -> list[str]:
    """The cells of a column as text, empty where they are missing."""
    column = _column(path, source, title)
    with _told(path):
        found = column.to_pylist()
    return ["" if value is None or is_missing(str(value)) else str(value) for value in found]


def _is_number(kind: Any) -> bool:
    import pyarrow.types as kinds

    whole = kinds.is_integer(kind) or kinds.is_boolean(kind)
    return bool(whole or kinds.is_floating(kind) or kinds.is_decimal(kind) or kinds.is_null(kind))


def _could_be_names(kind: Any) -> bool:
    """Words, perhaps each stored once, or whole numbers."""
    import pyarrow.types as kinds

    kind = kind.value_type if kinds.is_dictionary(kind) else kind
    return bool(kinds.is_string(kind) or kinds.is_large_string(kind) or kinds.is_integer(kind))


def _shown(value: float) -> str:
    return "a missing value" if math.isnan(value) else str(value)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """What damaged files make pyarrow raise becomes an error of ours."""
    try:
        yield
    except (CothermError, MemoryError):
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        advice = "The file may be damaged."
        raise CothermError(str(path), f"unreadable for pyarrow ({reason})", "a .parquet file", advice) from None
