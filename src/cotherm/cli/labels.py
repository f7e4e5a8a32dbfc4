"""Tables of labels, read in view of the items they are for: which rows are titles, which cells are names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cotherm.cli.inputs import View, name_of
from cotherm.errors import CothermError
from cotherm.io import atomic
from cotherm.io.cells import is_count, is_missing, is_name_title
from cotherm.io.header import NOTHING_SAID, Header, refuse_either, titles_over_labels
from cotherm.io.rows import Source, open_source
from cotherm.io.table import Table, refuse_late_names, refuse_other_count, require_names
from cotherm.io.text import shown

Words = NDArray[np.str_]
UNKNOWN = ""


@dataclass(frozen=True)
class LabelTable(Table):
    """A table of words."""

    cells: Sequence[Sequence[str]] = field(repr=False)

    def column(self, key: str) -> list[str]:
        """The column with a title."""
        titles = self.titles or ()
        if titles.count(key) != 1:
            raise CothermError(str(self.path), f"no single column {key!r}", f"one of its columns: {self.known_titles}")
        return [row[titles.index(key)] for row in self.cells]


@dataclass(frozen=True)
class Labels:
    """A label for every vertex of every view, unknown ones empty, and how that was read."""

    of: list[Words]
    reading: list[str]


def read_labels(
    views: Sequence[View], paths: Sequence[str], column: str | None, header: Header = NOTHING_SAID
) -> Labels:
    """From one file for all views or one for each."""
    if len(paths) not in (1, len(views)):
        raise CothermError("--labels", f"{len(paths)} files", f"one, or one for each of {len(views)} views")
    if len(paths) == len(views):
        tables = [_table(path, [view], column, header) for path, view in zip(paths, views, strict=True)]
        columns = [_only_column(table, column) for table in tables]
    else:
        tables = [_table(paths[0], views, column, header)] * len(views)
        columns = _columns(tables[0], views, column)
    of, reading = [], []
    for k, (view, table, (title, cells)) in enumerate(zip(views, tables, columns, strict=True)):
        labels, how = _labels_of(view, k, table, cells, max(other.graph.n for other in views))
        _refuse_values(table, labels)
        of.append(labels)
        classes = len(set(labels.tolist()) - {UNKNOWN})
        named = f" from the column {title!r}" if title else ""
        reading.append(
            f"{table.path}: {int(np.sum(labels != UNKNOWN))} of {view.graph.n} items of {name_of(view.graph, k)} have "
            f"one of {classes} labels{named}, {how}"
        )
    return Labels(of, reading)


def _table(path: str, views: Sequence[View], column: str | None, header: Header) -> LabelTable:
    """Cells of labels are words as titles are: what the views hold tells them apart."""
    place = atomic.as_path(path)
    source = open_source(place)
    n = max(view.graph.n for view in views)
    if source.width == 1 and source.count > n + 1:
        raise CothermError(path, f"{source.count} labels", f"{n}, one for each item")
    rows = _shared(row.cells for row in source.rows(to_the_end=True))
    known = {name for view in views for name in view.names or ()}
    titled = header.said(place)
    if titled is None:
        titled = column in rows[0] or titles_over_labels(rows, _open_rows(source), known, n)
    if titled is None:
        given = f"{shown(','.join(rows[0]))}, which may be a title or a label, over {len(rows) - 1} rows for {n} items"
        raise refuse_either(place, source.line_of(0), given)
    start = 1 if titled else 0
    body = rows[start:]
    if not body:
        raise CothermError(path, "titles and no rows", "at least one row")
    first = [row[0] for row in body if any(row)]
    named = source.width > 1 and (
        bool(known & set(first)) or (titled and is_name_title(rows[0][0])) or len(set(first)) == len(first) > 1
    )
    if titled and not named:
        refuse_late_names(place, rows[0])
    kept = [k for k, row in enumerate(body) if any(row) or not named]  # beside names an empty row is nobody's
    if named:
        require_names(place, [body[k][0] for k in kept], lambda k: source.line_of(kept[k] + start))
    skipped = 1 if named else 0
    return LabelTable(
        place,
        tuple(rows[0][skipped:]) if titled else None,
        tuple(body[k][0] for k in kept) if named else None,
        rows[0][0] if titled and named else None,
        len(kept),
        source.width - skipped,
        0,
        [body[k][skipped:] for k in kept] if named else body,
    )


def _shared(rows: Iterable[list[str]]) -> list[tuple[str, ...]]:
    """The rows, with every label in memory once."""
    seen: dict[str, str] = {}
    return [tuple(seen.setdefault(cell, cell) for cell in row) for row in rows]


def _open_rows(source: Source) -> int:
    """How many rows at the end may be unknown labels or none at all: blank lines of a single column, or empty rows."""
    return source.blank_ends if source.width == 1 else source.empty_ends


def _columns(table: LabelTable, views: Sequence[View], column: str | None) -> list[tuple[str | None, Sequence[str]]]:
    """A column for every view: its own where the titles name the views or nothing else can be meant, else the only."""
    stems = [name_of(view.graph, k) for k, view in enumerate(views)]
    if column is None and table.titles is not None and len(set(stems) & set(table.titles)) == len(views):
        return [(stem, table.column(stem)) for stem in stems]
    if column is None and table.columns == len(views) > 1 and table.names is None:
        columns = list(zip(*table.cells, strict=True))
        kinds = [{cell for cell in cells if not is_missing(cell)} for cells in columns]
        shared = set.intersection(*kinds)
        if 2 * len(shared) >= max(len(kind) for kind in kinds):
            return [(table.titles[k] if table.titles else None, cells) for k, cells in enumerate(columns)]
    return [_only_column(table, column)] * len(views)


def _only_column(table: LabelTable, column: str | None) -> tuple[str | None, Sequence[str]]:
    if column is not None:
        return column, table.column(column)
    if table.columns > 1:
        raise CothermError(
            str(table.path),
            f"{table.columns} columns ({table.known_titles})",
            "one, or one for each view with the views' names for titles",
            "Choose one with --column TITLE.",
        )
    return table.titles[0] if table.titles else None, [row[0] for row in table.cells]


def _labels_of(view: View, k: int, table: LabelTable, cells: Sequence[str], longest: int) -> tuple[Words, str]:
    """By name, where both have names; else row by row, if names do not say that rows may come otherwise."""
    name = name_of(view.graph, k)
    if view.names is not None and table.names is not None:
        refuse_other_count(str(table.path), table.names, name, view.names)
        known = dict(zip(table.names, cells, strict=True))
        if not set(view.names) & set(table.names):
            raise CothermError(
                str(table.path), f"names such as {table.names[0]!r}", f"names of {name}, such as {view.names[0]!r}"
            )
        return _cleaned([known.get(row, UNKNOWN) for row in view.names]), "matched by name"
    if table.names is not None and not is_count(table.names):
        raise CothermError(
            str(table.path),
            f"names such as {table.names[0]!r}, where {name} has none",
            "names in the first columns of both, or of neither",
            "Couplings keep labels, not names: leave --labels out to use those.",
        )
    found = list(cells)
    # Blank lines, or what fills a shorter view's column up to the length of a longer one's.
    while len(found) > view.graph.n and (not found[-1] or (view.graph.n < longest and is_missing(found[-1]))):
        found.pop()
    if len(found) != view.graph.n:
        raise CothermError(
            str(table.path),
            f"{len(found)} labels for {name}",
            f"{view.graph.n}, one for each of its vertices",
            "Views of different sizes need a column or a file each, or names in their first columns.",
        )
    return _cleaned(found), "row by row"


def _cleaned(found: Sequence[str]) -> Words:
    return np.array([UNKNOWN if is_missing(cell) else cell for cell in found])


def _refuse_values(table: Table, labels: Words) -> None:
    known = labels[labels != UNKNOWN]
    if len(known) > 4 and 2 * len(set(known.tolist())) > len(known):
        raise CothermError(
            str(table.path),
            f"{len(set(known.tolist()))} different labels among {len(known)} items",
            "classes that several items share",
            "Items known to be the same are --landmarks, quantities are --functions.",
        )
