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
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError
from cotherm.io.cells import (
    has_decimal_comma,
    is_count,
    is_either_title,
    is_finite,
    is_id_title,
    is_missing,
    is_name_title,
    is_number,
    looks_numeric,
    whole_number,
    with_point,
)
from cotherm.io.missing import NAMELESS, Numbers, completed
from cotherm.io.selection import (
    CLASSES,
    EVERYTHING,
    IDS,
    LEAVE,
    Choice,
    Selection,
    choose,
    mostly_words,
    refuse_text,
    shown,
)
from cotherm.io.text import excerpt
from cotherm.io.text_table import TextTable, decimal_mark, open_text_table
from cotherm.io.titles import TITLED, is_column_of_names, refuse_either, titles_over_numbers
from cotherm.progress import track
from cotherm.spelling import shift_by_one

if TYPE_CHECKING:
    from cotherm.io.bulk import Plan

# What the user passes to say what commas are; the command line has an option for it.
COMMAS, POINTS = 'decimal=","', 'decimal="."'
# Advice about ids in another column than the first.
LATE = f"Put it first, or leave it out with {LEAVE}; {IDS}TITLE takes it for the ids."
# Whole numbers of so many digits are exact.
_MOST_DIGITS = 15
# Rows that tell which columns are words.
_TELLING = 1_000
# Bytes of text that are parsed between two looks at the clock.
_AT_ONCE = 2**24


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
        return shown(self.titles or ("without titles",))

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
    """A table of numbers, which are parsed when they are asked for.

    Titles and columns are those of the features; ``skipped`` is the number of cells before the first column of all.
    """

    table: TextTable = field(repr=False)
    decimal: str
    choice: Choice
    label_title: str | None
    left_out: int  # columns that are neither features nor labels nor names
    skipped: int

    @property
    def reading(self) -> str:
        """How it was read."""
        text = super().reading + other_columns(self.label_title, self.left_out)
        if self.table.sheet is not None:
            text += f", sheet {self.table.sheet!r}"
        return text + ", decimal commas" * (self.decimal == ",")

    def numbers(self) -> Floats:
        """All cells as finite numbers, or an error that names the line and the column."""
        return completed(self.read(), None).values

    def read(self) -> Numbers:
        """All numbers, NaN where they are missing, with their labels; an error names the line and the column."""
        values = np.empty((self.rows, self.columns))
        labels = self._parse_in_python(values) if self.table.body is None else self._parse_in_bulk(values)
        order = np.argsort(np.argsort(self.choice.features))  # parsed as they come, wanted as they were asked for
        if not np.array_equal(order, np.arange(len(order))):
            values = np.ascontiguousarray(values[:, order])
        words = None if labels is None else np.array(["" if is_missing(cell) else cell for cell in labels])
        return Numbers(
            self.path,
            values,
            self.names,
            self.titles,
            words,
            self.reading,
            self._where,
            self.choice.absent,
            None if self.titles is None else tuple(self.table.first[self.skipped :]),
            self._about_top,
        )

    def _parse_in_python(self, values: Floats) -> list[str] | None:
        labels: list[str] = []
        rows = islice(self.table.rows(), self._first_row, None)
        for k, row in enumerate(track(rows, total=self.rows, label=f"reading {self.path.name}")):
            values[k] = self._row(k, row.cells, lambda line=row.line: line)  # type: ignore[misc]
            labels.extend(row.cells[c] for c in self._label_cell)
        return labels or None

    def _parse_in_bulk(self, values: Floats) -> list[str] | None:
        from cotherm.io.bulk import Plan

        plan = Plan(self.table.mark, self.decimal, self._wanted(), *self._label_cell)
        spans: Ints = np.zeros((self.rows if self._label_cell else 0, 2), dtype=np.int64)
        odd: dict[int, str] = {}  # labels of rows that were read in Python
        at = (self.table.body if self.titles is not None else None) or self.table.start
        step = max(1, self.rows * _AT_ONCE // len(self.table.text))
        starts = range(0, self.rows, step)
        for start in track(starts, total=len(starts), label=f"reading {self.path.name}"):
            at = self._parse_block(at, plan, range(start, min(start + step, self.rows)), values, spans, odd)
        text = self.table.text
        return [odd.get(k, text[a:b].decode().strip()) for k, (a, b) in enumerate(spans.tolist())] or None

    def _parse_block(self, at: int, plan: Plan, rows: range, values: Floats, spans: Ints, odd: dict[int, str]) -> int:
        """Some rows, from the byte ``at`` on; where the next row starts."""
        from cotherm.io.bulk import parse_rows

        k = rows.start
        while True:
            k, at = parse_rows(self.table.text, at, plan, k, rows.stop, values, spans)
            if k == rows.stop:
                return at
            cells, following = self.table.row_at(at)
            values[k] = self._row(k, cells, partial(self.table.line_at, at))
            for c in self._label_cell:
                odd[k] = cells[c]
            k, at = k + 1, following

    def _row(self, k: int, cells: Sequence[str], line: Callable[[], int]) -> list[float]:
        """The numbers of row k as they come."""
        found = []
        for c in self._cells:
            value = self._number(cells[c])
            if value is None:
                raise self._no_number(k, c, cells[c], line())
            found.append(value)
        return found

    def _number(self, cell: str) -> float | None:
        """The number in a cell, NaN where it is missing, None where the cell holds something else."""
        if self.decimal == "," and "." in cell and is_number(cell):
            return None
        plain = with_point(cell, self.decimal)
        if is_finite(plain):
            return float(plain)
        return np.nan if is_missing(cell) else None

    @property
    def _cells(self) -> list[int]:
        """Which cells of a row are numbers, as they come."""
        return sorted(c + self.skipped for c in self.choice.features)

    @property
    def _label_cell(self) -> tuple[int, ...]:
        """Which cell of a row is its label, if any."""
        return () if self.choice.label is None else (self.choice.label + self.skipped,)

    def _wanted(self) -> NDArray[np.bool_]:
        wanted = np.zeros(self.table.width, dtype=np.bool_)
        wanted[self._cells] = True
        return wanted

    @property
    def _first_row(self) -> int:
        return 0 if self.titles is None else 1

    @property
    def _about_top(self) -> str:
        """Advice where the first row is wrong."""
        return f"If the first row holds titles: {TITLED}." if self.titles is None else ""

    def _title(self, c: int) -> str:
        return self.table.first[c] if self.titles else ""

    def _where(self, k: int, c: int) -> tuple[str, str]:
        """The place of a feature of row k, and what is there."""
        row = next(islice(self.table.rows(), k + self._first_row, None))
        cell = self.choice.features[c] + self.skipped
        return self._place(row.line, cell), excerpt(row.cells[cell]) if row.cells[cell] else "an empty cell"

    def _place(self, line: int, c: int) -> str:
        return f"{self.table.place(line)}, column {c + 1}" + (f" ({self._title(c)})" if self.titles else "")

    def _no_number(self, k: int, c: int, cell: str, line: int) -> CothermError:
        rows = islice(self.table.rows(), self._first_row, self._first_row + _TELLING)
        words = mostly_words((row.cells for row in rows), self._cells)
        if c in words:
            found = [(self._title(c) or f"column {c + 1}", excerpt(cell)) for c, cell in words.items()]
            return refuse_text(str(self.path), found, titled=self.titles is not None)
        if self.decimal == "," and is_number(cell):
            given = f"{excerpt(cell)}, where other numbers have a decimal comma"
            advice = f"If points mark decimals and commas something else: {POINTS}."
            return CothermError(self._place(line, c), given, "one decimal mark in all numbers", advice)
        if has_decimal_comma(cell) and self.decimal == ".":
            advice = f"If commas mark decimals: {COMMAS}. Else numbers are written as 1000.5."
        elif looks_numeric(cell):
            advice = "Numbers are written as 1000.5: in the digits 0 to 9, with a decimal point."
        else:
            advice = "Mend or leave out what is no number."
        if k == 0:
            advice = f"{advice} {self._about_top}".strip()
        return CothermError(self._place(line, c), excerpt(cell), "a finite number", advice)


def open_table(
    path: Path,
    header: bool | None = None,
    *,
    decimal: str | None = None,
    sheet: str | None = None,
    selection: Selection = EVERYTHING,
    nameless: bool = False,
) -> NumberTable:
    """A table of numbers, perhaps with titles and with names in its first column; its numbers are not looked at yet.

    ``nameless`` says that rows without a name are left out later; else they are refused.
    """
    table = open_text_table(path, decimal=decimal, sheet=sheet)
    decimal = _decimal(table, decimal)
    first, column = table.first, table.column
    titled = _titled(table, decimal) if header is None else header
    if titled is None:
        given = f"{excerpt(','.join(first))}, which may be titles or a row of data"
        raise refuse_either(path, table.line_of(0), given)
    start = 1 if titled else 0
    if table.count == start:
        raise CothermError(str(path), "titles and no rows", "at least one row")
    title = first[0] if titled else None
    body = [with_point(cell, decimal) for cell in column[start:]] if decimal == "," else column[start:]
    said = selection.id_among(path, first) if titled else None
    at = first.index(said) if said is not None else _name_cell(path, title, body, selection, len(first))
    skipped = 1 if at == 0 else 0
    titles = tuple(first[skipped:]) if titled else None
    name_title = None if at is None or not titled else first[at]
    choice = choose(path, titles, len(first) - skipped, selection, name_title)
    features = None if titles is None else tuple(titles[c] for c in choice.features)
    if features is not None and selection.columns is None and selection.ids != ():
        refuse_late_names(path, [one for one in features if one != first[0] or at is not None])
    names = None
    if at is not None:
        cells = column[start:] if at == 0 else [row.cells[at] for row in islice(table.rows(), start, None)]
        names = checked_names(cells, lambda k: table.place(table.line_of(k + start)), name_title, at, nameless=nameless)
    count = len(choice.features)
    return NumberTable(
        path,
        features,
        names,
        name_title,
        table.count - start,
        count,
        table.empty_ends,
        replace(table, column=[]),  # a string for every row
        decimal,
        choice,
        None if choice.label is None or titles is None else titles[choice.label],
        len(first) - (at is not None) - count - (choice.label is not None),
        skipped,
    )


def other_columns(label_title: str | None, left_out: int) -> str:
    """What became of columns that are no features, for ``reading``."""
    text = "" if label_title is None else f", labels from the column {label_title!r}"
    return text + (f", {left_out} column{'s' * (left_out != 1)} left out" if left_out else "")


def _decimal(table: TextTable, said: str | None) -> str:
    found = decimal_mark(table) if said is None else said
    if found is None:
        given = "numbers such as 1,234, whose commas may mark decimals or thousands"
        raise CothermError(str(table.path), given, "one that tells", f"Say that they mark decimals: {COMMAS}.")
    return found


def _titled(table: TextTable, decimal: str) -> bool | None:
    """Whether the first row holds titles."""
    if decimal != ",":
        return titles_over_numbers(table.first, table.column[1:], table.other_rows)
    plain = partial(with_point, decimal=decimal)
    rows = partial(map, lambda row: [*map(plain, row)])
    first, column = [*map(plain, table.first)], [*map(plain, table.column[1:])]
    return titles_over_numbers(first, column, lambda: rows(table.other_rows()))


def checked_names(
    cells: Sequence[str],
    place_of: Callable[[int], str],
    title: str | None = None,
    column: int = 0,
    *,
    nameless: bool = False,
) -> tuple[str, ...]:
    """A name of its own for every row, whose place is for messages; empty if one is missing and that is allowed."""
    names = tuple("" if is_missing(cell) else cell for cell in cells)
    missing = [k for k, name in enumerate(names) if not name]
    if missing and not nameless:
        k = missing[0]
        more = "" if len(missing) == 1 else f", the first of {len(missing):,} rows without a name"
        given = (f"{cells[k]!r}, which marks a missing value" if cells[k] else "an empty cell") + more
        raise CothermError(f"{place_of(k)}, column {column + 1}", given, "the name of the row", NAMELESS)
    if len(set(names)) - bool(missing) < len(names) - len(missing):
        seen: set[str] = set()
        for k, name in enumerate(names):
            if name in seen:
                raise CothermError(
                    place_of(k),
                    f"the name {name!r} more than once",
                    "a name of its own for every row",
                    f"If {title!r} holds classes, name it with {CLASSES}; {LEAVE} leaves it out." if title else "",
                )
            seen.update((name,) if name else ())
    return names


def refuse_late_names(path: Path, titles: Sequence[str], advice: str = LATE) -> None:
    """Refuse names of rows under one of these titles, of columns that are not the first or that of the ids."""
    for title in titles:
        if is_id_title(title):
            raise CothermError(
                str(path),
                f"a column {title!r} that is not the first",
                "numbers to compare items by",
                advice,
            )


def refuse_other_count(path: str, names: Sequence[str], other: str, others: Sequence[str]) -> None:
    """Rows counted from 0 and rows counted from 1 have names in common, of different rows."""
    counted = is_count(names) and is_count(others) and names[0] != others[0]
    shifts = [shift_by_one(names, others), shift_by_one(others, names)]
    if counted or any(found is not None and found.evident for found in shifts):
        first, second = (names[0], others[0]) if counted else (min(names, key=_by_number), min(others, key=_by_number))
        raise CothermError(
            path,
            f"rows counted from {first}, where those of {other} are counted from {second}",
            "the same names for the same items",
            "Leave out one of the two columns of row numbers.",
        )


def _by_number(name: str) -> tuple[int, str]:
    """Names that end in numbers in their order."""
    return len(name), name


def _name_cell(path: Path, title: str | None, column: Sequence[str], selection: Selection, width: int) -> int | None:
    """Which cell of a row of numbers is its name, where the user does not say it: perhaps the first."""
    if selection.ids == () or width == 1:
        return None
    return 0 if _named(path, title, column, selection) else None


def _named(path: Path, title: str | None, column: Sequence[str], selection: Selection) -> bool:
    """Whether the first column of a table of numbers holds the names of rows, if nothing is said."""
    if selection.keeps_out(title):
        return False
    if title is not None and selection.columns is not None and not is_name_title(title):
        # It is asked for, or it is left out unless it can be nothing else than names.
        return title not in selection.columns and is_column_of_names(column) and len(set(column)) == len(column)
    return is_name_column(path, title, column)


def is_name_column(path: Path, title: str | None, column: Sequence[str]) -> bool:
    """Whether the first column holds the names of rows, where nothing is said about it."""
    if title is not None and is_name_title(title):
        return True
    if (len(column) > 2 and is_count(column)) or _must_be_names(column):  # an index, not a feature
        return True
    if title is not None and is_either_title(title) and _could_be_names(column):
        raise CothermError(
            f"{path}: column 1 ({title})",
            "numbers that may be names of rows",
            "a title that tells",
            f"Call it {title}_id if they are names, {title}_count or the like if they are not.",
        )
    return is_column_of_names(column)


def _must_be_names(column: Sequence[str]) -> bool:
    """Whether cells of digits are no numbers: they begin with 0, or have more digits than a number holds."""
    odd = [cell for cell in column if len(cell) > _MOST_DIGITS or (cell[:1] == "0" and len(cell) > 1)]
    return bool(odd) and all(cell.isascii() and cell.isdigit() for cell in column) and len(set(column)) == len(column)


def _could_be_names(column: Sequence[str]) -> bool:
    return len(set(column)) == len(column) and all(whole_number(cell) is not None for cell in column)
