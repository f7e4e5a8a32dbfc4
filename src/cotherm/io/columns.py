"""What the columns of a table mean: features to compare rows by, names of rows, classes; what the user says of them.

Text, sheets and ``.parquet`` files are columns alike: of words, of which a reader makes numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm import validation
from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError
from cotherm.io import atomic, ids
from cotherm.io.atomic import readable, require_proportion
from cotherm.io.cells import is_missing, refuse_either, shown, titles_over_numbers, with_point
from cotherm.io.kinds import COLUMNS, suffix_of
from cotherm.io.text import excerpt
from cotherm.io.text_table import TextTable, open_text_table
from cotherm.progress import track

_CHOOSE = (
    "Leave out columns with drop=, take some with columns=, or name the one that holds classes with label_column=."
)
# Titles and columns in messages.
_SHOWN = 8
# The index of a data frame, if it has no name of its own.
_UNNAMED = "__index_level_"


@dataclass(frozen=True)
class Request:
    """How a table is to be read, None where the file tells; and what the user says about its columns.

    ``columns`` are the titles of those to take (None for all), ``drop`` of those to leave out, ``label`` is that of the
    classes. ``ids`` are titles, of which a table has one, empty if no column holds ids, and None if nothing was said.
    ``strict`` says that the table must have all of them; else another table may.
    """

    columns: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()
    label: str | None = None
    ids: tuple[str, ...] | None = None
    strict: bool = True
    header: bool | None = None
    missing: str | None = None
    decimal: str | None = None
    sheet: str | None = None
    rep: str | None = None
    modality: str | None = None

    @property
    def asked(self) -> tuple[str, ...]:
        """All titles that were named."""
        labels = () if self.label is None else (self.label,)
        return (*(self.columns or ()), *self.drop, *labels, *(self.ids or ()))

    def id_among(self, place: Path | str, titles: Sequence[str]) -> str | None:
        """The title of the column that the user says holds ids."""
        found = [title for title in self.ids or () if title in titles]
        if len(found) > 1:
            raise CothermError(str(place), f"{found[0]!r} and {found[1]!r} as ids", "one of the two")
        if found and (found[0] == self.label or found[0] in (*(self.columns or ()), *self.drop)):
            raise CothermError(str(place), f"{found[0]!r} as ids and as something else", "one of the two")
        return found[0] if found else None

    def keeps_out(self, title: str | None) -> bool:
        """Whether the first column, under this title, cannot hold names: it is left out or holds classes."""
        return title is not None and (title == self.label or title in self.drop)


EVERYTHING = Request()


@dataclass(frozen=True)
class Choice:
    """The use of each column, by number: features in the order asked for, labels, names of rows."""

    width: int
    known: tuple[str, ...] | None  # the titles of all columns
    names: int | None
    features: tuple[int, ...]
    label: int | None = None
    absent: tuple[str, ...] = ()  # titles that were asked for and are not there

    def title(self, column: int | None) -> str | None:
        """The title of a column, if it has one."""
        return None if column is None or self.known is None else self.known[column]

    @property
    def titles(self) -> tuple[str, ...] | None:
        """The titles of the features."""
        return None if self.known is None else tuple(self.known[c] for c in self.features)

    @property
    def reading(self) -> str:
        """What the reading says about columns that are not features."""
        left = self.width - len(self.features) - (self.names is not None) - (self.label is not None)
        text = "" if self.label is None else f", labels from the column {self.title(self.label)!r}"
        return text + (f", {left} column{'s' * (left != 1)} left out" if left else "")


def choose(
    place: Path | str, titles: Sequence[str] | None, width: int, request: Request, names: int | None = None
) -> Choice:
    """What a request means for a table of ``width`` columns, of which ``names`` holds the names of rows."""
    others = [c for c in range(width) if c != names]
    if titles is None:
        if request.columns is not None:
            raise CothermError(str(place), "no titles", f"titles to choose columns by: {shown(request.columns)}")
        require_all(place, None, request, request.asked)
        return Choice(width, None, names, tuple(others), absent=request.asked)
    known = [titles[c] for c in others]
    for title in request.asked:
        refuse_repeated(place, titles, title)
    if request.label is not None and request.label in (request.columns or ()):
        raise CothermError(str(place), f"{request.label!r} as a feature and as the label", "one of the two")
    absent = tuple(title for title in request.asked if title not in titles)
    require_all(place, known, request, absent)
    cells = dict(zip(known, others, strict=True))
    taken = others if request.columns is None else [cells[title] for title in request.columns if title in cells]
    without = {*request.drop, request.label, *(request.ids or ())}
    features = tuple(c for c in taken if titles[c] not in without)
    if not features:
        given = "no column that is left" if known else "no column but the names"
        raise CothermError(str(place), given, f"at least one, of {shown(known)}" if known else "at least one")
    label = None if request.label is None else cells.get(request.label)
    return Choice(width, tuple(titles), names, features, label, absent)


def require_all(place: Path | str, titles: Sequence[str] | None, request: Request, absent: Sequence[str]) -> None:
    """Refuse titles that were asked for and are not there, if no other table may have them."""
    if absent and request.strict:
        given = f"no column {', '.join(map(repr, absent))}"
        needed = "a table with titles" if titles is None else f"some of its columns: {shown(titles)}"
        raise CothermError(str(place), given, needed)


def refuse_repeated(place: Path | str, titles: Sequence[str], title: str) -> None:
    """Refuse a title of several columns."""
    if titles.count(title) > 1:
        raise CothermError(str(place), f"{titles.count(title)} columns {title!r}", "titles that tell columns apart")


@dataclass(frozen=True)
class Numbers:
    """Numbers of a table, NaN where missing, with titles, names and labels; missing names are empty.

    ``doubtful`` are the features that may be ids: whole numbers, all different, about which nothing was said.
    """

    path: Path
    values: Floats
    names: tuple[str, ...] | None
    titles: tuple[str, ...] | None
    labels: NDArray[np.str_] | None
    reading: str
    where: Callable[[int, int], tuple[str, str]]  # the place of row k, column c and what is there, for messages
    absent: tuple[str, ...] = ()  # titles that were asked for and are not there
    known: tuple[str, ...] | None = None  # titles of all columns, taken or not
    untitled: bool = False  # the first row may yet hold titles
    modality: str | None = None  # its name, where the file holds several tables
    doubtful: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def named(self, c: int) -> str:
        """What to call a column."""
        return f"{self.path}: column {c + 1}" + (f" ({self.titles[c]})" if self.titles else "")


class ParquetColumns:
    """Columns of a ``.parquet`` file, read one at a time; has what a :class:`TextTable` has."""

    note, decimal = "", "."

    def __init__(self, path: Path, source: Any) -> None:
        self.path, self._source = path, source
        self.count = int(source.metadata.num_rows)
        self.titles: list[str] = list(source.schema_arrow.names)
        self.width = len(self.titles)
        require_proportion(path, 8 * self.count * self.width, path.stat().st_size, "Save it as .csv.")
        if not self.count or not self.titles:
            raise CothermError(str(path), "no rows", "a table with at least one row")
        if len(set(self.titles)) < self.width:
            for title in self.titles:
                refuse_repeated(path, self.titles, title)
        levels = (source.schema_arrow.pandas_metadata or {}).get("index_columns", ())
        named = len(levels) == 1 and isinstance(levels[0], str) and levels[0] in self.titles
        self.index = self.titles.index(levels[0]) if named else None

    def may_hold_names(self) -> bool:
        import pyarrow.types as kinds

        kind = self._kind(0)
        kind = kind.value_type if kinds.is_dictionary(kind) else kind
        return bool(kinds.is_string(kind) or kinds.is_large_string(kind) or kinds.is_integer(kind))

    def words(self, c: int) -> list[str]:
        found = self._column(c).to_pylist()
        return ["" if value is None or is_missing(str(value)) else str(value) for value in found]

    def words_in(self, columns: Sequence[int]) -> dict[int, str]:
        found = [c for c in columns if not self._is_number(c)]
        return {c: next((word for word in self.words(c) if word), "") for c in found}

    def numbers(self, c: int) -> Floats:
        import pyarrow as pa

        place = f"{self.path}: column {self.titles[c]!r}"
        if not self._is_number(c):
            raise CothermError(place, f"{self._kind(c)}", "numbers")
        column = self._column(c)
        if not pa.types.is_integer(column.type):
            column = column.cast(pa.float64())
        return validation.as_float64(place, column.to_numpy())

    def place(self, k: int) -> str:
        return f"{self.path}: row {k} (from 0)"

    def where(self, k: int, c: int) -> tuple[str, str | None]:
        return f"{self.place(k)}, column {self.titles[c]!r}", None

    def _is_number(self, c: int) -> bool:
        import pyarrow.types as kinds

        known = (kinds.is_integer, kinds.is_boolean, kinds.is_floating, kinds.is_decimal, kinds.is_null)
        return any(one(self._kind(c)) for one in known)

    def _column(self, c: int) -> Any:
        return self._source.read(columns=[self.titles[c]], use_pandas_metadata=False).column(0)

    def _kind(self, c: int) -> Any:
        return self._source.schema_arrow.field(c).type


Columns = TextTable | ParquetColumns


@dataclass(frozen=True)
class Layout:
    """What a table holds: titles of the features, names of rows; the numbers are read on demand."""

    source: Columns = field(repr=False)
    choice: Choice
    names: tuple[str, ...] | None = None

    @property
    def rows(self) -> int:
        return self.source.count

    @property
    def columns(self) -> int:
        return len(self.choice.features)

    @property
    def titles(self) -> tuple[str, ...] | None:
        return self.choice.titles

    @property
    def reading(self) -> str:
        """How it was read."""
        text = f"{self.rows} rows, {self.columns} column{'s' * (self.columns != 1)}"
        text += f" ({shown(self.titles)})" if self.titles else " without titles"
        if self.names is not None:
            title = self.choice.title(self.choice.names) or ""
            unnamed = title.startswith(_UNNAMED)
            text += ", names from " + (
                "the index" if unnamed else f"the column {title!r}" if title else "the first column"
            )
        return text + self.choice.reading + self.source.note

    def read(self) -> Numbers:
        """All numbers, NaN where they are missing, with their labels; an error names the row and the column."""
        source, choice = self.source, self.choice
        values = np.empty((self.rows, self.columns))
        for k, c in enumerate(track(choice.features, total=self.columns, label=f"reading {source.path.name}")):
            try:
                values[:, k] = source.numbers(c)
            except CothermError:
                self._refuse_words()
                raise
        labels = None
        if choice.label is not None:
            labels = np.array(["" if is_missing(cell) else cell for cell in source.words(choice.label)])

        def where(k: int, c: int) -> tuple[str, str]:
            place, cell = source.where(k, choice.features[c])
            if cell is None:
                return place, "a missing value" if math.isnan(values[k, c]) else str(values[k, c])
            return place, excerpt(cell) if cell else "an empty cell"

        known = None if choice.known is None else tuple(t for c, t in enumerate(choice.known) if c != choice.names)
        found = Numbers(source.path, values, self.names, self.titles, labels, self.reading, where, choice.absent, known)
        return replace(found, untitled=source.titles is None)

    def _refuse_words(self) -> None:
        """Refuse features that are words, all in one message."""
        words = self.source.words_in(self.choice.features)
        if not words:
            return
        named = [f"{self.choice.title(c) or f'column {c + 1}'} ({excerpt(word)})" for c, word in words.items()]
        more = f" and {len(named) - _SHOWN} more" if len(named) > _SHOWN else ""
        given = f"text in {len(named)} column{'s' * (len(named) != 1)}: {', '.join(named[:_SHOWN])}{more}"
        advice, code = _CHOOSE, "text-columns"
        if self.titles is None:
            advice, code = f"Write titles in the first row to choose columns by. {_CHOOSE}", "untitled+text-columns"
        raise CothermError(str(self.source.path), given, "numbers to compare items by", advice, code=code)


def laid_out(source: Columns, request: Request = EVERYTHING) -> Layout:
    """What the columns of a table mean."""
    path, titles = source.path, source.titles
    at = _name_column(source, request)
    levels = [title for c, title in enumerate(titles or ()) if title.startswith(_UNNAMED) and c != at]
    choice = choose(path, titles, source.width, replace(request, drop=(*request.drop, *levels)), at)
    if titles is not None and request.columns is None and request.ids != ():
        ids.refuse_late_names(path, [titles[c] for c in choice.features if c or at is not None])
    if at is None:
        return Layout(source, choice)
    title = choice.title(at)
    title = None if title is not None and title.startswith(_UNNAMED) else title
    nameless = request.missing == "drop"  # rows without a name are left out later
    return Layout(source, choice, ids.checked_names(source.words(at), source.place, title, at, nameless=nameless))


def _name_column(source: Columns, request: Request) -> int | None:
    """The column that holds names of rows: said, the index of a data frame, or the first, if its cells tell."""
    titles = source.titles
    said = None if titles is None else request.id_among(source.path, titles)
    if titles is not None and said is not None:
        return titles.index(said)
    if titles is not None and source.index is not None:
        return None if request.keeps_out(titles[source.index]) else source.index
    if request.ids == () or source.width == 1 or not source.may_hold_names():
        return None
    title = None if titles is None else titles[0]
    column = [with_point(cell, source.decimal) for cell in source.words(0)]
    return 0 if ids.holds_names(source.path, title, column, request) else None


@contextmanager
def opened_columns(path: Path, request: Request = EVERYTHING) -> Iterator[Columns]:
    """The columns of a text table, a sheet or a ``.parquet`` file, which is open meanwhile."""
    if suffix_of(path) != COLUMNS:
        yield _titled(open_text_table(path, decimal=request.decimal, sheet=request.sheet), request)
        return
    atomic.require_content(path)
    import pyarrow.parquet

    with readable(path, "a .parquet file", "pyarrow"), pyarrow.parquet.ParquetFile(path) as source:
        yield ParquetColumns(path, source)


def _titled(table: TextTable, request: Request) -> TextTable:
    """The table with its decimal mark, and with its first row for titles if it holds any."""
    decimal, titled = request.decimal or table.decimal_mark(), request.header
    if decimal is None:
        given = "numbers such as 1,234, whose commas may mark decimals or thousands"
        advice = 'Say that they mark decimals: decimal=",".'
        raise CothermError(str(table.path), given, "one that tells", advice, code="decimal-or-thousands")
    if titled is None:
        rows = ([with_point(cell, decimal) for cell in row] for row in table.rows())
        first = next(rows)
        column = [with_point(cell, decimal) for cell in table.words(0)[1:]] if table.width > 1 else []
        titled = titles_over_numbers(first, column, rows)
    if titled is None:
        given = f"{excerpt(','.join(table.first))}, which may be titles or a row of data"
        raise refuse_either(table.path, table.line_of(0), given)
    if table.count == titled:
        raise CothermError(str(table.path), "titles and no rows", "at least one row")
    return replace(table.below_titles(titled), decimal=decimal)
