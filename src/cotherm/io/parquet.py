"""Tables in ``.parquet`` files, read one column at a time, and only the columns asked for.

The index of a data frame of pandas holds names of rows, or else the first column may, as in text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.errors import CothermError
from cotherm.io import atomic
from cotherm.io.cells import is_missing
from cotherm.io.foreign import readable, require_proportion
from cotherm.io.ids import checked_names, is_name_column
from cotherm.io.missing import Numbers
from cotherm.io.number_table import TableLayout, chosen
from cotherm.io.selection import EVERYTHING, Selection, choose, refuse_text
from cotherm.io.text import excerpt
from cotherm.progress import track

# The index of a data frame, if it has no name of its own.
_UNNAMED = "__index_level_"


def read_parquet(path: Path, selection: Selection, *, nameless: bool = False) -> Numbers:
    """The numbers, names and labels in a file; ``nameless`` says that rows without a name are left out later."""
    atomic.require_content(path)
    import pyarrow.parquet

    with readable(path, "a .parquet file", "pyarrow"), pyarrow.parquet.ParquetFile(path) as source:
        return _read(path, source, selection, nameless=nameless)


def layout_of(path: Path) -> TableLayout:
    """The titles of all columns and the number of rows; no column is taken as names."""
    atomic.require_content(path)
    import pyarrow.parquet

    with readable(path, "a .parquet file", "pyarrow"), pyarrow.parquet.ParquetFile(path) as source:
        titles = source.schema_arrow.names
        return TableLayout(
            path=path, choice=choose(path, titles, len(titles), EVERYTHING), rows=source.metadata.num_rows
        )


def _read(path: Path, source: Any, selection: Selection, *, nameless: bool) -> Numbers:
    rows, titles = source.metadata.num_rows, list(source.schema_arrow.names)
    require_proportion(path, 8 * rows * len(titles), path.stat().st_size, "Save it as .csv.")
    if not rows or not titles:
        raise CothermError(str(path), "no rows", "a table with at least one row")
    if len(set(titles)) < len(titles):
        twice = next(title for title in titles if titles.count(title) > 1)
        raise CothermError(str(path), f"{titles.count(twice)} columns {twice!r}", "titles that tell columns apart")
    at = _name_column(path, source, titles, selection)
    levels = tuple(one for c, one in enumerate(titles) if one.startswith(_UNNAMED) and c != at)
    selected = replace(selection, drop=(*selection.drop, *levels))
    choice = chosen(path, titles, len(titles), selected, at)
    features = [titles[c] for c in choice.features]
    _refuse_text(path, source, features)
    values = np.empty((rows, len(features)))
    for c, title in enumerate(track(features, total=len(features), label=f"reading {path.name}")):
        values[:, c] = _numbers(path, source, title)
    names = None
    if at is not None:
        title = None if titles[at].startswith(_UNNAMED) else titles[at]
        cells = _words(source, titles[at])
        names = checked_names(cells, lambda k: f"{path}: row {k} (from 0)", title, at, nameless=nameless)
    labels = None if choice.label is None else np.array(_words(source, titles[choice.label]))
    reading = TableLayout(path=path, choice=choice, rows=rows, names=names).reading
    if at is not None and titles[at].startswith(_UNNAMED):
        reading = reading.replace(f"the column {titles[at]!r}", "the index")

    def where(k: int, c: int) -> tuple[str, str]:
        value = values[k, c]
        found = "a missing value" if math.isnan(value) else str(value)
        return f"{path}: row {k} (from 0), column {features[c]!r}", found

    return Numbers(path, values, names, choice.titles, labels, reading, where, choice.absent, choice.others)


def _name_column(path: Path, source: Any, titles: list[str], selection: Selection) -> int | None:
    """The column that holds names of rows."""
    said = selection.id_among(path, titles)
    if said is not None:
        return titles.index(said)
    index = (source.schema_arrow.pandas_metadata or {}).get("index_columns", ())
    if len(index) == 1 and isinstance(index[0], str) and index[0] in titles:
        return None if selection.keeps_out(index[0]) else titles.index(index[0])
    first = titles[0]
    unasked = selection.ids != () and first not in (selection.columns or ())
    if not unasked or selection.keeps_out(first) or len(titles) == 1 or not _could_be_names(source):
        return None
    words = _words(source, first)
    if selection.columns is not None and len(set(words)) < len(words):
        return None
    return 0 if is_name_column(path, first, words) else None


def _refuse_text(path: Path, source: Any, titles: Sequence[str]) -> None:
    found = [title for title in titles if not _is_number(source.schema_arrow.field(title).type)]
    if found:
        examples = [next((word for word in _words(source, title) if word), "") for title in found]
        raise refuse_text(str(path), list(zip(found, map(excerpt, examples), strict=True)), titled=True)


def _numbers(path: Path, source: Any, title: str) -> Floats:
    import pyarrow as pa

    column = _column(source, title)
    if not pa.types.is_integer(column.type):
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


def _could_be_names(source: Any) -> bool:
    """Whether the first column holds words, perhaps dictionary-encoded, or whole numbers."""
    import pyarrow.types as kinds

    kind = source.schema_arrow.field(0).type
    kind = kind.value_type if kinds.is_dictionary(kind) else kind
    return bool(kinds.is_string(kind) or kinds.is_large_string(kind) or kinds.is_integer(kind))
