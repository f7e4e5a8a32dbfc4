"""Tables in ``.parquet`` files, a column at a time: those that are asked for, and no other.

pyarrow reads, the extra ``cotherm[tables]``. The index of a data frame of pandas holds names of rows, or else the first
column may, as in text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.errors import CothermError
from cotherm.io import atomic
from cotherm.io.cells import is_missing
from cotherm.io.foreign import readable
from cotherm.io.missing import Numbers
from cotherm.io.number_table import TableLayout, checked_names, is_name_column, other_columns, refuse_late_names
from cotherm.io.packed import require_proportion
from cotherm.io.selection import Selection, choose, refuse_text
from cotherm.io.text import excerpt
from cotherm.optional import require
from cotherm.progress import track

# The index of a data frame, if it has no name of its own.
_UNNAMED = "__index_level_"


def read_parquet(path: Path, selection: Selection, *, nameless: bool = False) -> Numbers:
    """The numbers, names and labels in a file; ``nameless`` says that rows without a name are left out later."""
    atomic.require_content(path)
    require("pyarrow", "tables")
    import pyarrow.parquet

    with readable(path, "a .parquet file", "pyarrow"), pyarrow.parquet.ParquetFile(path) as source:
        return _read(path, source, selection, nameless=nameless)


def layout_of(path: Path) -> TableLayout:
    """The titles of all columns and the number of rows; nothing is taken for names."""
    atomic.require_content(path)
    require("pyarrow", "tables")
    import pyarrow.parquet

    with readable(path, "a .parquet file", "pyarrow"), pyarrow.parquet.ParquetFile(path) as source:
        titles = tuple(source.schema_arrow.names)
        return TableLayout(path, titles, None, None, source.metadata.num_rows, len(titles), 0)


def _read(path: Path, source: Any, selection: Selection, *, nameless: bool) -> Numbers:
    rows, titles = source.metadata.num_rows, list(source.schema_arrow.names)
    require_proportion(path, 8 * rows * len(titles), path.stat().st_size, "Save it as .csv.")
    if not rows or not titles:
        raise CothermError(str(path), "no rows", "a table with at least one row")
    if len(set(titles)) < len(titles):
        twice = next(title for title in titles if titles.count(title) > 1)
        raise CothermError(str(path), f"{titles.count(twice)} columns {twice!r}", "titles that tell columns apart")
    name = _name_column(path, source, titles, selection)
    columns = [title for title in titles if title != name and not title.startswith(_UNNAMED)]
    name_title = None if name is None or name.startswith(_UNNAMED) else name
    choice = choose(path, columns, len(columns), selection, name_title)
    features = tuple(columns[c] for c in choice.features)
    if selection.columns is None and selection.ids != ():
        refuse_late_names(path, [title for title in features if title != titles[0] or name is not None])
    _refuse_text(path, source, features)
    values = np.empty((rows, len(features)))
    for c, title in enumerate(track(features, total=len(features), label=f"reading {path.name}")):
        values[:, c] = _numbers(path, source, title)
    names = None
    if name is not None:
        places, at = (lambda k: f"{path}: row {k} (from 0)"), titles.index(name)
        names = checked_names(_words(source, name), places, name_title, at, nameless=nameless)
    label = None if choice.label is None else columns[choice.label]
    labels = None if label is None else np.array(_words(source, label))
    reading = TableLayout(path, features, names, name_title, rows, len(features), 0).reading
    if names is not None and name_title is None:
        reading = reading.replace("the first column", "the index")
    reading += other_columns(label, len(columns) - len(features) - (label is not None))

    def where(k: int, c: int) -> tuple[str, str]:
        return f"{path}: row {k} (from 0), column {features[c]!r}", _shown(values[k, c])

    return Numbers(path, values, names, features, labels, reading, where, choice.absent, tuple(columns))


def _name_column(path: Path, source: Any, titles: Sequence[str], selection: Selection) -> str | None:
    """The column that holds names of rows."""
    said = selection.id_among(path, titles)
    if said is not None:
        return said
    index = (source.schema_arrow.pandas_metadata or {}).get("index_columns", ())
    if len(index) == 1 and isinstance(index[0], str) and index[0] in titles:
        return None if selection.keeps_out(index[0]) else index[0]
    first, kind = titles[0], source.schema_arrow.field(0).type
    unasked = selection.ids != () and first not in (selection.columns or ())
    if not unasked or selection.keeps_out(first) or len(titles) == 1:
        return None
    if not _could_be_names(kind):
        return None
    words = _words(source, first)
    if selection.columns is not None and len(set(words)) < len(words):
        return None
    return first if is_name_column(path, first, words) else None


def _refuse_text(path: Path, source: Any, titles: Sequence[str]) -> None:
    schema = source.schema_arrow
    found = [title for title in titles if not _is_number(schema.field(schema.names.index(title)).type)]
    if found:
        examples = [next((word for word in _words(source, title) if word), "") for title in found]
        raise refuse_text(str(path), list(zip(found, map(excerpt, examples), strict=True)), titled=True)


def _numbers(path: Path, source: Any, title: str) -> Floats:
    import pyarrow as pa

    column = _column(source, title)
    if pa.types.is_boolean(column.type) or pa.types.is_null(column.type):
        column = column.cast(pa.int8())
    elif pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    return validation.as_float64(f"{path}: column {title!r}", column.to_numpy())


def _words(source: Any, title: str) -> list[str]:
    """The cells of a column as text, empty where they are missing."""
    found = _column(source, title).to_pylist()
    return ["" if value is None or is_missing(str(value)) else str(value) for value in found]


def _column(source: Any, title: str) -> Any:
    return source.read(columns=[title], use_pandas_metadata=False).column(0)


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
