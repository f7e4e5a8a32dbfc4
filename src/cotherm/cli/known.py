"""What is known to correspond, from files: labels, landmarks or functions, one block of columns for every view."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm import checks
from cotherm.arrays import Floats, Ints
from cotherm.cli.table import Table, is_missing, read_table
from cotherm.cli.views import View, name_of, read_points
from cotherm.errors import CothermError
from cotherm.functions import feature_functions, label_functions, landmark_functions
from cotherm.graphs import disk

Words = NDArray[np.str_]
_UNKNOWN = ""


def add_sources(parser: argparse.ArgumentParser, *, features: bool = False) -> None:
    """The ways to say what corresponds, of which one is taken."""
    group = parser.add_argument_group("what corresponds (one of these)")
    one = group.add_mutually_exclusive_group(required=True)
    one.add_argument(
        "--labels",
        nargs="+",
        metavar="FILE",
        help="classes: a table with one column for all views (row k is item k of each), one column for every view, "
        "or names and labels; or a file for every view. Empty cells and NA are unknown",
    )
    one.add_argument(
        "--landmarks",
        metavar="FILE",
        help="pairs known to be the same: a row for each, a column for every view, with row numbers from 0 or names",
    )
    if features:
        one.add_argument("--features", nargs="+", metavar="FILE", help="features measured in every view, a table each")
    else:
        one.add_argument("--functions", nargs="+", metavar="FILE", help="functions, a table of columns for every view")
    group.add_argument("--column", metavar="TITLE", help="which column of --labels")
    group.add_argument("--known", type=float, metavar="SHARE", help="use only this share of every class (all)")
    group.add_argument("--seed", type=int, default=0, metavar="N", help="for the choice of --known (0)")


def read_functions(views: Sequence[View], options: argparse.Namespace) -> tuple[list[Floats], list[Words] | None]:
    """Corresponding functions for every view; and the labels they were made of, all of them."""
    if options.known is not None and not options.labels:
        raise CothermError("--known", str(options.known), "labels to choose from (--labels)")
    if options.labels:
        labels = read_labels(views, options.labels, options.column)
        used = labels if options.known is None else _some(labels, options.known, options.seed)
        return _indicators(used), labels
    if options.landmarks:
        return _landmarks(views, options.landmarks), None
    if getattr(options, "features", None):
        return _features(views, options.features), None
    return _given(views, options.functions), None


def read_labels(views: Sequence[View], paths: Sequence[str], column: str | None) -> list[Words]:
    """A label for every vertex of every view; unknown ones are empty."""
    if len(paths) not in (1, len(views)):
        raise CothermError("--labels", f"{len(paths)} files", f"one, or one for each of {len(views)} views")
    tables = [read_table(disk.as_path(path), labels=True) for path in paths]
    if len(tables) == len(views):
        pairs = zip(views, tables, strict=True)
        return [_labels_of(view, k, table, _only_column(table, column)) for k, (view, table) in enumerate(pairs)]
    table = tables[0]
    if column is None and table.columns == len(views) and len(views) > 1:
        return [_labels_of(view, k, table, [row[k] for row in table.cells]) for k, view in enumerate(views)]
    cells = _only_column(table, column)
    return [_labels_of(view, k, table, cells) for k, view in enumerate(views)]


def _only_column(table: Table, column: str | None) -> Sequence[str]:
    if column is not None:
        return table.column(column)
    if table.columns > 1:
        raise CothermError(
            str(table.path), f"{table.columns} columns ({table.known_titles})", "one", "Choose one with --column TITLE."
        )
    return [row[0] for row in table.cells]


def _labels_of(view: View, k: int, table: Table, cells: Sequence[str]) -> Words:
    """By name, where both the view and the labels have names; else row by row."""
    name = name_of(view.graph, k)
    if view.names is not None and table.names is not None:
        known = dict(zip(table.names, cells, strict=True))
        found = [known.get(row, _UNKNOWN) for row in view.names]
        if not set(view.names) & set(table.names):
            raise CothermError(
                str(table.path),
                f"names such as {table.names[0]!r}",
                f"names of {name}, such as {view.names[0]!r}",
            )
    else:
        found = list(cells)
        while len(found) > view.graph.n and is_missing(found[-1]):  # a longer view's column beside a shorter one's
            found.pop()
        if len(found) != view.graph.n:
            raise CothermError(
                str(table.path),
                f"{len(found)} labels for {name}",
                f"{view.graph.n}, one for each of its vertices",
                "Views of different sizes need a column or a file each, or names in their first columns.",
            )
    return np.array([_UNKNOWN if is_missing(cell) else cell for cell in found])


def _indicators(labels: list[Words]) -> list[Floats]:
    """Indicators of the classes that occur in every view: the others correspond to nothing."""
    shared = set.intersection(*(set(x.tolist()) for x in labels)) - {_UNKNOWN}
    if not shared:
        raise CothermError("--labels", "no class that occurs in all views", "at least one")
    classes = np.array(sorted(shared))
    kept = [np.where(np.isin(x, classes), x, _UNKNOWN) for x in labels]
    return [label_functions(x, classes=classes, unknown=_UNKNOWN) for x in kept]


def _some(labels: list[Words], share: float, seed: int) -> list[Words]:
    """A random share of each class, at least one of it; where all views have the same labels, the same items."""
    if not 0.0 < share <= 1.0:
        raise CothermError("--known", f"{share:g}", "a share above 0 and at most 1")
    seed = checks.integer("--seed", seed, least=0)
    found = []
    for one in labels:
        random = np.random.default_rng(seed)
        used = np.full_like(one, _UNKNOWN)
        for label in np.unique(one[one != _UNKNOWN]):
            items = np.flatnonzero(one == label)
            picked = random.choice(items, size=max(1, round(share * len(items))), replace=False)
            used[picked] = label
        found.append(used)
    return found


def _landmarks(views: Sequence[View], path: str) -> list[Floats]:
    table = read_table(disk.as_path(path), labels=True)
    # All rows of landmarks differ, so that their first column looks like names: it is a column like the others.
    rows = [
        (name, *row) if table.names else row
        for name, row in zip(table.names or [""] * table.rows, table.cells, strict=True)
    ]
    if len(rows[0]) not in (1, len(views)):
        raise CothermError(str(table.path), f"{len(rows[0])} columns", f"one for each of {len(views)} views, or one")
    columns = list(zip(*rows, strict=True)) * (len(views) if len(rows[0]) == 1 else 1)
    return [
        landmark_functions(view.graph, _vertices(view, k, table, cells))
        for k, (view, cells) in enumerate(zip(views, columns, strict=True))
    ]


def _vertices(view: View, k: int, table: Table, cells: Sequence[str]) -> Ints:
    """Names of rows, or their numbers."""
    number = {name: v for v, name in enumerate(view.names or ())}
    found = []
    for row, cell in enumerate(cells):
        v = number.get(cell)
        if v is None and cell.isdecimal() and int(cell) < view.graph.n:
            v = int(cell)
        if v is None:
            raise CothermError(
                f"{table.path}: line {table.first_line + row}",
                repr(cell),
                f"a vertex of {name_of(view.graph, k)}: a number from 0 to {view.graph.n - 1}"
                + (" or a name" if number else ""),
            )
        found.append(v)
    return np.array(found)


def _features(views: Sequence[View], paths: Sequence[str]) -> list[Floats]:
    return [feature_functions(view.graph, F) for view, F in zip(views, _given(views, paths), strict=True)]


def _given(views: Sequence[View], paths: Sequence[str]) -> list[Floats]:
    if len(paths) != len(views):
        raise CothermError("--functions", f"{len(paths)} files", f"one for each of {len(views)} views")
    blocks: list[Any] = []
    for k, (view, path) in enumerate(zip(views, paths, strict=True)):
        F, _ = read_points(disk.as_path(path))
        if len(F) != view.graph.n:
            raise CothermError(
                path, f"{len(F)} rows", f"{view.graph.n}, one for each vertex of {name_of(view.graph, k)}"
            )
        blocks.append(F)
    if len({F.shape[1] for F in blocks}) > 1:
        raise CothermError(
            "--functions", f"{', '.join(str(F.shape[1]) for F in blocks)} columns", "the same functions on every view"
        )
    return blocks
