"""Tables people have: comma, semicolon, tab or space separated, with or without titles, with or without names of rows.

What is taken for a title or a name is reported (``TableLayout.reading``), and where it could be either, refused. The
numbers of large tables are parsed in bulk (see ``bulk``): no cell of them becomes a string, but the first of every row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np

from cotherm.arrays import Floats
from cotherm.errors import CothermError
from cotherm.io.cells import (
    is_count,
    is_either_title,
    is_finite,
    is_id_title,
    is_missing,
    is_name_title,
    is_numeral,
    looks_numeric,
    whole_number,
)
from cotherm.io.text import excerpt
from cotherm.io.text_table import TextTable, open_text_table
from cotherm.io.titles import TITLED, is_column_of_names, refuse_either, titles_over_numbers

SUFFIXES = (".csv", ".tsv", ".txt")
# Titles in messages.
_SHOWN = 8


@dataclass(frozen=True)
class TableLayout:
    """What stands beside the cells of a table: titles, names of rows."""

    path: Path
    titles: tuple[str, ...] | None
    names: tuple[str, ...] | None
    name_title: str | None
    rows: int
    columns: int
    empty_ends: int

    @property
    def known_titles(self) -> str:
        """The first few, to print."""
        titles = self.titles or ("without titles",)
        return ", ".join(titles[:_SHOWN]) + ", ..." * (len(titles) > _SHOWN)

    @property
    def reading(self) -> str:
        """How it was read."""
        text = f"{self.rows} rows, {self.columns} column{'s' * (self.columns != 1)}"
        text += f" ({self.known_titles})" if self.titles else " without titles"
        if self.names is not None:
            where = f"the column {self.name_title!r}" if self.name_title else "the first column"
            text += f", names from {where}"
        if self.empty_ends:
            text += f", less {self.empty_ends} empty at the end"
        return text


@dataclass(frozen=True)
class NumberTable(TableLayout):
    """A table of numbers, which are parsed when they are asked for."""

    table: TextTable = field(repr=False)

    def numbers(self) -> Floats:
        """All cells as finite numbers, or an error that names the line and the column."""
        values = np.empty((self.rows, self.columns))
        if self.table.body is None:
            for k, row in enumerate(islice(self.table.rows(), self._first_row, None)):
                values[k] = self._row(k, row.cells, lambda line=row.line: line)  # type: ignore[misc]
        else:
            self._parse_in_bulk(values, self.table.body if self.titles is not None else self.table.start)
        return values

    def _parse_in_bulk(self, values: Floats, at: int) -> None:
        from cotherm.io.bulk import parse_rows

        k = 0
        while True:
            k, at = parse_rows(self.table.text, at, self.table.mark, self._skipped, k, values)
            if k == self.rows:
                return
            cells, following = self.table.row_at(at)
            values[k] = self._row(k, cells, partial(self.table.line_at, at))
            k, at = k + 1, following

    def _row(self, k: int, cells: Sequence[str], line: Callable[[], int]) -> list[float]:
        """The numbers of row k."""
        kept = cells[self._skipped :]
        if not all(map(is_finite, kept)):
            c = next(c for c, cell in enumerate(kept) if not is_finite(cell))
            raise self._no_number(k, c, kept[c], line())
        return [float(cell) for cell in kept]

    @property
    def _skipped(self) -> int:
        """Cells of a row before its numbers."""
        return 0 if self.names is None else 1

    @property
    def _first_row(self) -> int:
        return 0 if self.titles is None else 1

    def _no_number(self, k: int, c: int, cell: str, line: int) -> CothermError:
        title = f" ({self.titles[c]})" if self.titles else ""
        if is_missing(cell) or is_numeral(cell):
            advice = "Fill in or leave out missing values first."
        elif looks_numeric(cell):
            advice = "Numbers are written as 1000.5: in the digits 0 to 9, with a decimal point."
        else:
            advice = "Mend or leave out what is no number."
        if k == 0 and self.titles is None:
            advice += f" If the first row holds titles: {TITLED}."
        return CothermError(
            f"{self.path}: line {line}, column {c + 1 + self._skipped}{title}",
            excerpt(cell) if cell else "an empty cell",
            "a finite number",
            advice,
        )


def open_table(path: Path, header: bool | None = None) -> NumberTable:
    """A table of numbers, perhaps with titles and with names in its first column; its numbers are not looked at yet."""
    table = open_text_table(path)
    first, column = table.first, table.column
    titled = titles_over_numbers(first, column[1:], table.other_rows) if header is None else header
    if titled is None:
        given = f"{excerpt(','.join(first))}, which may be titles or a row of data"
        raise refuse_either(path, table.line_of(0), given)
    start = 1 if titled else 0
    if table.count == start:
        raise CothermError(str(path), "titles and no rows", "at least one row")
    named = len(first) > 1 and _named(path, first[0] if titled else None, column[start:])
    if titled:
        refuse_late_names(path, first)
    names = None
    if named:
        names = tuple(column[start:])
        require_names(path, names, lambda k: table.line_of(k + start))
    skipped = 1 if named else 0
    return NumberTable(
        path,
        tuple(first[skipped:]) if titled else None,
        names,
        first[0] if titled and named else None,
        table.count - start,
        len(first) - skipped,
        table.empty_ends,
        replace(table, column=[]),  # a string for every row
    )


def require_names(path: Path, names: Sequence[str], line_of: Callable[[int], int]) -> None:
    """A name of its own for every row."""
    if len(set(names)) == len(names) and all(names):
        return
    seen: set[str] = set()
    for k, name in enumerate(names):
        if not name:
            raise CothermError(f"{path}: line {line_of(k)}, column 1", "an empty cell", "the name of the row")
        if name in seen:
            raise CothermError(
                f"{path}: line {line_of(k)}", f"the name {name!r} more than once", "a name of its own for every row"
            )
        seen.add(name)


def refuse_late_names(path: Path, titles: Sequence[str]) -> None:
    for title in titles[1:]:
        if is_id_title(title):
            raise CothermError(
                str(path),
                f"a column {title!r} that is not the first",
                "numbers to compare items by",
                "Put it first.",
            )


def refuse_other_count(path: str, names: Sequence[str], other: str, others: Sequence[str]) -> None:
    """Rows counted from 0 and rows counted from 1 have names in common, of different rows."""
    if is_count(names) and is_count(others) and names[0] != others[0]:
        raise CothermError(
            path,
            f"rows counted from {names[0]}, where those of {other} are counted from {others[0]}",
            "the same names for the same items",
            "Leave out one of the two columns of row numbers.",
        )


def _named(path: Path, title: str | None, column: Sequence[str]) -> bool:
    """Whether the first column of a table of numbers holds the names of rows."""
    if title is not None and is_name_title(title):
        return True
    if len(column) > 2 and is_count(column):  # an index, not a feature
        return True
    if title is not None and is_either_title(title) and _could_be_names(column):
        raise CothermError(
            f"{path}: column 1 ({title})",
            "numbers that may be names of rows",
            "a title that tells",
            f"Call it {title}_id if they are names, {title}_count or the like if they are not.",
        )
    return is_column_of_names(column)


def _could_be_names(column: Sequence[str]) -> bool:
    return len(set(column)) == len(column) and all(whole_number(cell) is not None for cell in column)
