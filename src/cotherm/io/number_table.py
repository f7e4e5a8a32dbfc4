"""Tables people have: comma, semicolon, tab or space separated, with or without titles, with or without names of rows.

What was read as titles and names is reported (``TableLayout.reading``); what could be either is refused. The
numbers of large tables are parsed by pyarrow (see ``bulk``): no cell of them becomes a string, except the first
of every row. Small tables, and those with anything unusual in them, are parsed in Python, which names what is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np

from cotherm import limits
from cotherm.arrays import Floats
from cotherm.errors import CothermError
from cotherm.io.bulk import NotPlainError, parse_plain
from cotherm.io.cells import has_decimal_comma, is_finite, is_missing, is_number, looks_numeric, with_point
from cotherm.io.ids import checked_names, name_cell, refuse_late_names
from cotherm.io.missing import PERHAPS_TITLES, Numbers, completed
from cotherm.io.selection import EVERYTHING, Choice, Selection, choose, mostly_words, refuse_text, shown
from cotherm.io.text import excerpt
from cotherm.io.text_table import Row, TextTable, decimal_mark, open_text_table
from cotherm.io.titles import refuse_either, titles_over_numbers
from cotherm.progress import track, working

# Number of rows that show which columns are words.
_TELLING = 1_000


@dataclass(frozen=True, kw_only=True)
class TableLayout:
    """What a table holds beside its numbers: titles of the features, names of rows."""

    path: Path
    choice: Choice
    rows: int
    names: tuple[str, ...] | None = None
    empty_ends: int = 0
    note: str = ""

    @property
    def titles(self) -> tuple[str, ...] | None:
        return self.choice.titles

    @property
    def columns(self) -> int:
        return len(self.choice.features)

    @property
    def reading(self) -> str:
        """How it was read."""
        text = f"{self.rows} rows, {self.columns} column{'s' * (self.columns != 1)}"
        text += f" ({shown(self.titles)})" if self.titles else " without titles"
        if self.names is not None:
            title = self.choice.title(self.choice.names)
            text += f", names from {f'the column {title!r}' if title else 'the first column'}"
        if self.empty_ends:
            text += f", less {self.empty_ends} empty at the end"
        return text + self.choice.reading + self.note


@dataclass(frozen=True, kw_only=True)
class NumberTable(TableLayout):
    """A table of numbers, which are parsed on demand."""

    table: TextTable = field(repr=False)
    decimal: str

    def numbers(self) -> Floats:
        """All cells as finite numbers, or an error that names the line and the column."""
        return completed(self.read(), None).values

    def read(self) -> Numbers:
        """All numbers, NaN where they are missing, with their labels; an error names the line and the column."""
        values = np.empty((self.rows, self.columns))
        labels = self._parse_in_bulk(values)
        if labels is None:
            labels = self._parse_in_python(values)
        return Numbers(
            self.path,
            values,
            self.names,
            self.titles,
            np.array(["" if is_missing(cell) else cell for cell in labels]) if labels else None,
            self.reading,
            self._where,
            self.choice.absent,
            self.choice.others,
            self.titles is None,
        )

    def _parse_in_bulk(self, values: Floats) -> list[str] | None:
        """Put all numbers into ``values`` and return the labels; None if the table is left to Python."""
        table, choice = self.table, self.choice
        if len(table.text) < limits.COMPILED_TABLE_BYTES or table.width == 1:  # there a blank line is a row
            return None
        labels: list[str] = []
        done, titled = 0, self.titles is not None
        blocks = parse_plain(
            values,
            table.text,
            table.mark,
            table.width,
            choice.features,
            choice.label,
            decimal=self.decimal,
            titled=titled,
        )
        try:
            with working(f"reading {self.path.name}"):
                for count, cells in blocks:
                    done = count
                    labels += [cell.strip() for cell in cells]
        except NotPlainError:
            return None
        return labels[: self.rows] if done == self.rows + table.empty_ends else None

    def _parse_in_python(self, values: Floats) -> list[str]:
        labels: list[str] = []
        rows = self.table.rows(start=self._first_row)
        for k, row in enumerate(track(rows, total=self.rows, label=f"reading {self.path.name}")):
            values[k] = [self._number(k, row, c) for c in self.choice.features]
            if self.choice.label is not None:
                labels.append(row.cells[self.choice.label])
        return labels

    def _number(self, k: int, row: Row, c: int) -> float:
        """The number in a cell of row k, NaN where it is missing."""
        cell = row.cells[c]
        plain = with_point(cell, self.decimal)
        if is_finite(plain) and not (self.decimal == "," and "." in cell):
            return float(plain)
        if is_missing(cell):
            return np.nan
        raise self._no_number(k, c, cell, row.line)

    @property
    def _first_row(self) -> int:
        return 0 if self.titles is None else 1

    def _where(self, k: int, c: int) -> tuple[str, str]:
        """The place of a feature of row k, and what is there."""
        row = next(self.table.rows(start=k + self._first_row))
        cell = row.cells[self.choice.features[c]]
        return self._place(row.line, self.choice.features[c]), excerpt(cell) if cell else "an empty cell"

    def _place(self, line: int, c: int) -> str:
        return f"{self.table.place(line)}, column {c + 1}" + (f" ({self.choice.title(c)})" if self.titles else "")

    def _no_number(self, k: int, c: int, cell: str, line: int) -> CothermError:
        rows = islice(self.table.rows(start=self._first_row), _TELLING)
        words = mostly_words((row.cells for row in rows), sorted(self.choice.features))
        if c in words:
            found = [(self.choice.title(c) or f"column {c + 1}", excerpt(cell)) for c, cell in words.items()]
            return refuse_text(str(self.path), found, titled=self.titles is not None)
        if self.decimal == "," and is_number(cell):
            given = f"{excerpt(cell)}, where other numbers have a decimal comma"
            advice = 'If points mark decimals and commas something else: decimal=".".'
            needed = "one decimal mark in all numbers"
            return CothermError(self._place(line, c), given, needed, advice, code="point-among-commas")
        if has_decimal_comma(cell) and self.decimal == ".":
            advice, code = (
                'If commas mark decimals: decimal=",". Else numbers are written as 1000.5.',
                "comma-in-number",
            )
        elif looks_numeric(cell):
            advice, code = "Numbers are written as 1000.5: in the digits 0 to 9, with a decimal point.", "odd-number"
        else:
            advice, code = "Correct the cells that are not numbers, or leave them out.", "no-number"
        if k == 0 and self.titles is None:
            advice, code = f"{advice} {PERHAPS_TITLES}", f"{code}+perhaps-titles"
        place = self._place(line, c)
        return CothermError(place, excerpt(cell), "a finite number", advice, code=code, about=str(self.path))


def open_table(
    path: Path,
    header: bool | None = None,
    *,
    decimal: str | None = None,
    sheet: str | None = None,
    selection: Selection = EVERYTHING,
    nameless: bool = False,
) -> NumberTable:
    """A table of numbers, perhaps with titles, and names in its first column; the numbers are not parsed yet.

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
    said = selection.id_among(path, first) if titled else None
    if said is not None:
        at: int | None = first.index(said)
    else:
        body = [with_point(cell, decimal) for cell in column[start:]] if decimal == "," else column[start:]
        at = name_cell(path, first[0] if titled else None, body, selection, len(first))
    choice = chosen(path, first if titled else None, len(first), selection, at)
    names = None
    if at is not None:
        cells = column[start:] if at == 0 else [row.cells[at] for row in table.rows(start=start)]
        title = choice.title(at)
        names = checked_names(cells, lambda k: table.place(table.line_of(k + start)), title, at, nameless=nameless)
    note = "" if table.sheet is None else f", sheet {table.sheet!r}"
    return NumberTable(
        path=path,
        choice=choice,
        rows=table.count - start,
        names=names,
        empty_ends=table.empty_ends,
        note=note + ", decimal commas" * (decimal == ","),
        table=replace(table, column=[]),  # one string for each row
        decimal=decimal,
    )


def chosen(path: Path, titles: list[str] | None, width: int, selection: Selection, names: int | None) -> Choice:
    """What a selection means for a table; refuses titles of ids on columns other than that of the names."""
    choice = choose(path, titles, width, selection, names)
    if titles is not None and selection.columns is None and selection.ids != ():
        refuse_late_names(path, [titles[c] for c in choice.features if c or names is not None])
    return choice


def _decimal(table: TextTable, said: str | None) -> str:
    found = decimal_mark(table) if said is None else said
    if found is None:
        given = "numbers such as 1,234, whose commas may mark decimals or thousands"
        advice = 'Say that they mark decimals: decimal=",".'
        raise CothermError(str(table.path), given, "one that tells", advice, code="decimal-or-thousands")
    return found


def _titled(table: TextTable, decimal: str) -> bool | None:
    """Whether the first row holds titles."""
    plain = partial(with_point, decimal=decimal)
    first, column = [*map(plain, table.first)], [*map(plain, table.column[1:])]
    return titles_over_numbers(first, column, lambda: ([*map(plain, row.cells)] for row in table.rows(start=1)))
