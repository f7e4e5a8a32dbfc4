"""Tables of labels. The items they are for tell which rows are titles and which cells are names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cotherm import validation
from cotherm.errors import CothermError
from cotherm.io import atomic
from cotherm.io.cells import is_count, is_missing, is_name_title, refuse_either, shown, titles_over_labels
from cotherm.io.ids import checked_names, refuse_late_names, refuse_other_count
from cotherm.io.text import excerpt
from cotherm.io.text_table import open_text_table
from cotherm.spelling import near_miss

Words = NDArray[np.str_]
UNKNOWN = ""


@dataclass(frozen=True)
class Items:
    """The items that labels are for: their number, their names if they have any, and what to call the set."""

    n: int
    names: tuple[str, ...] | None = None
    title: str = "the items"


@dataclass(frozen=True)
class LabelTable:
    """A table of words, and the names of its rows."""

    path: Path
    titles: tuple[str, ...] | None
    names: tuple[str, ...] | None
    cells: Sequence[Sequence[str]] = field(repr=False)

    @property
    def columns(self) -> int:
        return len(self.cells[0]) if self.cells else 0

    @property
    def known_titles(self) -> str:
        """The first few, to print."""
        return shown(self.titles or ("without titles",))

    def column(self, key: str) -> list[str]:
        """The column with a title."""
        titles = self.titles or ()
        if titles.count(key) != 1:
            raise CothermError(str(self.path), f"no single column {key!r}", f"one of its columns: {self.known_titles}")
        return [row[titles.index(key)] for row in self.cells]


@dataclass(frozen=True)
class Labels:
    """A label for every item of every set, unknown ones empty, and how they were read."""

    of: list[Words]
    reading: list[str]


def read_labels(
    path: str | os.PathLike[str],
    n: int | None = None,
    *,
    names: Sequence[str] | None = None,
    column: str | None = None,
    header: bool | None = None,
) -> Words:
    r"""Read labels of items from a table, by name or row by row.

    The table has one column of labels, or several of which ``column`` chooses one. Its first column may hold the names
    of the items: words, row numbers, or anything under a title such as ``id``. The text may be comma, semicolon, tab or
    space separated. What could be read in two ways is refused.

    Parameters
    ----------
    path : str or path-like
        A ``.csv``, ``.tsv`` or ``.txt`` file in UTF-8, also compressed as ``.gz``, or the first sheet of an ``.xlsx``
        file.
    n : int, optional
        How many items there are; by default as many as ``names``.
    names : sequence of str, optional
        The names of the items, each once. Where the table has names too, its rows may come in any order, and may be
        fewer or more.
    column : str, optional
        The title of the column to read.
    header : bool, optional
        Whether the first row holds titles. By default its cells tell.

    Returns
    -------
    ndarray of str, shape (n,)
        The labels. Those of items without one are empty: an empty cell, ``NA``, ``nan``, ``none``, ``null`` or ``?``
        in the table, or no row of that name.

    Raises
    ------
    CothermError
        For a table that does not fit the items, with the place in the file.

    See Also
    --------
    read_table : A table of numbers.
    cotherm.label_functions : Indicator functions of classes.

    Examples
    --------
    >>> import cotherm as ct
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "labels.csv"
    >>> _ = path.write_text("id,kind\nb,cat\na,dog\nc,NA\n")
    >>> ct.io.read_labels(path, names=["a", "b", "c"]).tolist()
    ['dog', 'cat', '']
    """
    place = atomic.as_path(path)
    if column is not None and not isinstance(column, str):
        raise CothermError("column", validation.describe(column), "the title of a column, or None")
    said = None if header is None else validation.boolean("header", header)
    return labels_of_sets([_items(n, names)], [place], column, [said]).of[0]


def labels_of_sets(
    sets: Sequence[Items],
    paths: Sequence[Path],
    column: str | None,
    header: Sequence[bool | None],
    *,
    shared: bool = True,
) -> Labels:
    """Labels of several sets of items, from one file for all of them or one for each; ``header`` is for each file.

    With ``shared``, labels that occur once each are refused: they are names, not classes.
    """
    if len(paths) not in (1, len(sets)):
        raise CothermError("paths", f"{len(paths)} files", f"one, or one for each of {len(sets)} views")
    if len(paths) == len(sets):
        tables = [_table(path, [one], column, said) for path, one, said in zip(paths, sets, header, strict=True)]
        columns = [_only_column(table, column) for table in tables]
    else:
        tables = [_table(paths[0], sets, column, header[0])] * len(sets)
        columns = _columns(tables[0], sets, column)
        if all(one is columns[0] for one in columns):
            _refuse_other_rows(tables[0], sets)
    of, reading = [], []
    longest = max(one.n for one in sets)
    for items, table, (title, cells) in zip(sets, tables, columns, strict=True):
        labels, how = _labels_of(items, table, cells, longest)
        if shared:
            require_classes(table.path, labels)
        of.append(labels)
        classes = len(set(labels.tolist()) - {UNKNOWN})
        named = f" from the column {title!r}" if title else ""
        reading.append(
            f"{table.path}: {int(np.sum(labels != UNKNOWN))} of {items.n} items of {items.title} have "
            f"one of {classes} labels{named}, {how}"
        )
    return Labels(of, reading)


def _refuse_other_rows(table: LabelTable, sets: Sequence[Items]) -> None:
    """Refuse one column without names for several sets, unless row k of each set is the same item."""
    named = [items for items in sets if items.names is not None]
    if table.names is not None and not is_count(table.names):
        return
    for items in named[1:]:
        if items.names != named[0].names:
            others = f"others, or in another order, than those of {named[0].title}"
            given = f"labels without names, where the items of {items.title} are {others}"
            needed = "names in the first column, or a column or file for each view"
            raise CothermError(str(table.path), given, needed)


def _items(n: int | None, names: Sequence[str] | None) -> Items:
    if names is None:
        if n is None:
            raise CothermError("n", "neither n nor names", "the number of items, or their names")
        return Items(validation.integer("n", n, least=1))
    listed = isinstance(names, Iterable) and not isinstance(names, str) and getattr(names, "ndim", 1) > 0
    known = tuple(names) if listed else ()
    if not listed or not all(isinstance(name, str) for name in known) or len(set(known)) != len(known):
        raise CothermError("names", validation.describe(names), "a sequence of strings, each once")
    if not known or (n is not None and n != len(known)):
        raise CothermError("names", f"{len(known)} names", "at least one" if n is None else f"n = {n} names")
    return Items(len(known), known)


def _table(path: Path, sets: Sequence[Items], column: str | None, titled: bool | None) -> LabelTable:
    """Whether the first row holds titles. Labels are words like titles, so the items have to tell them apart."""
    source = open_text_table(path)
    n = max(items.n for items in sets)
    if source.width == 1 and source.count > n + 1:
        raise CothermError(str(path), f"{source.count} labels", f"{n}, one for each item")
    rows = list(source.rows(to_the_end=True))
    known = {name for items in sets for name in items.names or ()}
    if titled is None:
        titled = column in rows[0] or titles_over_labels(rows, source.ends, known, n)
    if titled is None:
        given = (
            f"{excerpt(','.join(rows[0]))}, which may be a title or a label, over {len(rows) - 1} rows for {n} items"
        )
        raise refuse_either(path, source.line_of(0), given)
    start = 1 if titled else 0
    body = rows[start:]
    if not body:
        raise CothermError(str(path), "titles and no rows", "at least one row")
    first = [row[0] for row in body if any(row)]
    named = source.width > 1 and (
        bool(known & set(first)) or (titled and is_name_title(rows[0][0])) or len(set(first)) == len(first) > 1
    )
    if titled and not named:
        refuse_late_names(path, rows[0][1:], labels=True)
    kept = [k for k, row in enumerate(body) if any(row) or not named]  # beside names, an empty row belongs to no item
    if named:
        checked_names([body[k][0] for k in kept], lambda k: source.place(kept[k] + start))
    skipped = 1 if named else 0
    return LabelTable(
        path,
        tuple(rows[0][skipped:]) if titled else None,
        tuple(body[k][0] for k in kept) if named else None,
        [body[k][skipped:] for k in kept] if named else body,
    )


def _columns(table: LabelTable, sets: Sequence[Items], column: str | None) -> list[tuple[str | None, Sequence[str]]]:
    """A column for every set: its own, by title or as the only possible reading; else the only column for all."""
    stems = [items.title for items in sets]
    if column is None and table.titles is not None and len(set(stems) & set(table.titles)) == len(sets):
        return [(stem, table.column(stem)) for stem in stems]
    if column is None and table.columns == len(sets) > 1 and table.names is None:
        columns = list(zip(*table.cells, strict=True))
        kinds = [{cell for cell in cells if not is_missing(cell)} for cells in columns]
        shared = set.intersection(*kinds)
        if 2 * len(shared) >= max(len(kind) for kind in kinds):
            return [(table.titles[k] if table.titles else None, cells) for k, cells in enumerate(columns)]
    return [_only_column(table, column)] * len(sets)


def _only_column(table: LabelTable, column: str | None) -> tuple[str | None, Sequence[str]]:
    if column is not None:
        return column, table.column(column)
    if table.columns > 1:
        given = f"{table.columns} columns ({table.known_titles})"
        needed, advice = "one, or one for each view with the views' names for titles", "Choose one with column=TITLE."
        raise CothermError(str(table.path), given, needed, advice, code="columns-of-labels")
    return table.titles[0] if table.titles else None, [row[0] for row in table.cells]


def _labels_of(items: Items, table: LabelTable, cells: Sequence[str], longest: int) -> tuple[Words, str]:
    """Labels by name if both have names; else row by row, unless names on one side suggest another order."""
    name, path = items.title, str(table.path)
    if items.names is not None and table.names is not None:
        refuse_other_count(path, table.names, name, items.names)
        known = dict(zip(table.names, cells, strict=True))
        unmatched = [row for row in items.names if row not in known]
        here = set(items.names)
        near = near_miss(unmatched, [row for row in table.names if row not in here])
        cause = "" if near is None else near.sentence(name, table.path.name)
        if len(unmatched) == len(items.names):
            given, needed = f"names such as {table.names[0]!r}", f"names of {name}, such as {items.names[0]!r}"
            raise CothermError(path, given, needed, f"{cause}." if cause else "")
        how = f"matched by name; {cause}" if cause else "matched by name"
        return _cleaned([known.get(row, UNKNOWN) for row in items.names]), how
    if table.names is not None and not is_count(table.names):
        given = f"names such as {table.names[0]!r}, where {name} has none"
        needed = "names in the first columns of both, or of neither"
        advice = "Pass the names of the items, or leave out those of the file."
        raise CothermError(path, given, needed, advice, code="names-of-labels-only")
    found = list(cells)
    # Blank lines, or padding of a shorter set's column to the length of a longer one's.
    while len(found) > items.n and (not found[-1] or (items.n < longest and is_missing(found[-1]))):
        found.pop()
    if len(found) != items.n:
        given, needed = f"{len(found)} labels for {name}", f"{items.n}, one for each of its vertices"
        advice = "Sets of different sizes need a column or a file each, or names in their first columns."
        raise CothermError(path, given, needed, advice)
    return _cleaned(found), "row by row"


def _cleaned(found: Sequence[str]) -> Words:
    return np.array([UNKNOWN if is_missing(cell) else cell for cell in found])


def require_classes(path: Path, labels: Words) -> None:
    """Refuse labels most of which occur once."""
    known = labels[labels != UNKNOWN]
    classes = len(set(known.tolist()))
    if len(known) > 4 and 2 * classes > len(known):
        given, needed = f"{classes} different labels among {len(known)} items", "classes that several items share"
        advice = "Items known to be the same are landmarks, quantities are functions."
        raise CothermError(str(path), given, needed, advice, code="labels-not-shared")
