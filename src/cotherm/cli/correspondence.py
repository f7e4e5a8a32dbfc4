"""Correspondences from files: labels, landmarks or functions, one block of columns for every view."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.cli.by import add_by
from cotherm.cli.header import Header, header_of
from cotherm.cli.inputs import View, name_of, read_points
from cotherm.cli.labels import UNKNOWN, Words, read_labels
from cotherm.cli.names import Lookup
from cotherm.cli.parser import integer, number
from cotherm.errors import CothermError, known_as
from cotherm.functions import feature_functions, landmark_functions, match_labels
from cotherm.io import atomic
from cotherm.io.ids import refuse_other_count
from cotherm.io.text import excerpt
from cotherm.io.text_table import open_text_table
from cotherm.io.titles import titles_over_landmarks


def add_sources(parser: argparse.ArgumentParser, *, pairs: bool = False) -> None:
    """The options that say what corresponds, one of which is used; with ``pairs``, rows may be paired instead."""
    title = "what corresponds (by default rows with the same id)"
    group = parser.add_argument_group(title if pairs else "what corresponds (give one of the first three)")
    if pairs:
        add_by(group)
    one = group.add_mutually_exclusive_group(required=not pairs)
    one.add_argument(
        "--labels",
        nargs="+",
        metavar="FILE",
        help="class labels: a table with one column for all views (row k is item k of each), one column for each view, "
        "or names and labels; or one file for each view. Empty cells and NA mean unknown",
    )
    one.add_argument(
        "--landmarks",
        metavar="FILE",
        help="items known to correspond: a row for each, a column for each view, with names or row numbers from 0",
    )
    one.add_argument(
        "--features", nargs="+", metavar="FILE", help="features measured in every view, one table for each view"
    )
    if pairs:
        one.add_argument("--functions", nargs="+", metavar="FILE", help="functions as columns, one table for each view")
        group.add_argument(
            "--paired",
            action="store_true",
            help="the same as --by pairs: rows with the same id are the same item, or row k of every view where tables "
            "have no ids. --labels, given beside, are only stored, to judge by",
        )
    group.add_argument("--column", metavar="NAME", help="column of --labels to use")
    group.add_argument(
        "--known", type=number, metavar="SHARE", help="fraction of the labels of every class to use (all)"
    )
    group.add_argument("--seed", type=integer, default=0, metavar="N", help="random seed for --known (0)")


@dataclass(frozen=True)
class Known:
    """Corresponding functions on every view, the labels they were made of, and how both were read."""

    functions: list[Floats]
    labels: list[Words] | None
    reading: list[str]


def read_functions(views: Sequence[View], options: argparse.Namespace) -> Known:
    """From what the options name."""
    if options.known is not None and not options.labels:
        raise CothermError("--known", str(options.known), "labels to choose from (--labels)")
    header = header_of(options)
    if options.labels:
        labels = read_labels(views, options.labels, options.column, header)
        used = labels.of if options.known is None else _some(labels.of, options.known, options.seed)
        with known_as("labels", "--labels"):
            found = match_labels(used, UNKNOWN)
        names = [name_of(view.graph, k) for k, view in enumerate(views)]
        reading = [*labels.reading, f"--labels: {found.note(names)}"] if found.left_out else labels.reading
        if options.known is not None:
            reading = [*reading, _how_many(labels.of, used, names, options.known)]
        return Known(list(found.functions), labels.of, reading)
    if options.landmarks:
        return _landmarks(views, options.landmarks, header)
    if options.features:
        return _features(views, options.features, header)
    return _given(views, options.functions, header)


def _some(labels: list[Words], share: float, seed: int) -> list[Words]:
    """A random share of each class, at least one of it; where all views have the same labels, the same items."""
    if not 0.0 < share <= 1.0:
        raise CothermError("--known", f"{share:g}", "a share above 0 and at most 1")
    seed = validation.integer("--seed", seed, least=0)
    found = []
    for one in labels:
        random = np.random.default_rng(seed)
        used = np.full_like(one, UNKNOWN)
        for label in np.unique(one[one != UNKNOWN]):
            items = np.flatnonzero(one == label)
            picked = random.choice(items, size=max(1, round(share * len(items))), replace=False)
            used[picked] = label
        found.append(used)
    return found


def _how_many(labels: list[Words], used: list[Words], names: list[str], share: float) -> str:
    """Say how many labels were used, and how many kept back."""
    counts = [
        (int(np.sum(some != UNKNOWN)), int(np.sum(every != UNKNOWN))) for some, every in zip(used, labels, strict=True)
    ]
    said = [f"{some} of {every} labels used, {every - some} kept back" for some, every in counts]
    text = (
        said[0] if len(set(said)) == 1 else "; ".join(f"{name}: {one}" for name, one in zip(names, said, strict=True))
    )
    return f"--known {share:g}: {text}"


def _landmarks(views: Sequence[View], path: str, header: Header) -> Known:
    place = atomic.as_path(path)
    source = open_text_table(place)
    most = max(view.graph.n for view in views)
    if source.count > most + 1:
        raise CothermError(path, f"{source.count} rows", f"at most one for each of {most} vertices")
    read = list(source.rows())
    rows, lines = [row.cells for row in read], [row.line for row in read]
    if len(rows[0]) not in (1, len(views)):
        raise CothermError(path, f"{len(rows[0])} columns", f"one for each of {len(views)} views, or one")
    titled = header.said(place)
    if titled is None:
        titled = titles_over_landmarks(rows[0], _names_of_columns(views, len(rows[0])))
    titles = f" (titles {', '.join(rows[0])})" if titled else ""
    start = 1 if titled else 0
    rows, lines = rows[start:], lines[start:]
    if not rows:
        raise CothermError(path, "no landmarks", "a row for each")
    columns = list(zip(*rows, strict=True)) * (len(views) if len(rows[0]) == 1 else 1)
    functions = []
    for k, (view, cells) in enumerate(zip(views, columns, strict=True)):
        items = Lookup(view.graph, name_of(view.graph, k))
        vertices = [items.find(cell) for cell in cells]
        if None in vertices:
            wrong = vertices.index(None)
            raise CothermError(
                f"{path}: line {lines[wrong]}",
                excerpt(cells[wrong]),
                items.needed,
                f"If the first row holds titles: --header {path}." if wrong == 0 and not titled else "",
            )
        functions.append(landmark_functions(view.graph, np.array(vertices)))
    return Known(functions, None, [f"{path}: {len(rows)} landmark{'s' * (len(rows) != 1)}{titles}"])


def _names_of_columns(views: Sequence[View], columns: int) -> list[set[str] | None]:
    """For every column, the names its cells may hold; None if rows have only numbers."""
    names = [None if view.names is None else set(view.names) for view in views]
    if columns == len(views):
        return names
    known = [one for one in names if one is not None]
    return [set().union(*known) if known else None]


def _features(views: Sequence[View], paths: Sequence[str], header: Header) -> Known:
    given = _given(views, paths, header, "--features")
    functions = [feature_functions(view.graph, F) for view, F in zip(views, given.functions, strict=True)]
    return Known(functions, None, given.reading)


def _given(views: Sequence[View], paths: Sequence[str], header: Header, option: str = "--functions") -> Known:
    if len(paths) != len(views):
        raise CothermError(option, f"{len(paths)} files", f"one for each of {len(views)} views")
    blocks: list[Any] = []
    reading = []
    for k, (view, path) in enumerate(zip(views, paths, strict=True)):
        points = read_points(atomic.as_path(path), header)
        if len(points.values) != view.graph.n:
            raise CothermError(
                path, f"{len(points.values)} rows", f"{view.graph.n}, one for each vertex of {name_of(view.graph, k)}"
            )
        order, how = _order(view, k, path, points.names)
        blocks.append(points.values[order])
        reading.append(f"{path}: {points.reading}, {how}")
    if len({F.shape[1] for F in blocks}) > 1:
        given, same = f"{', '.join(str(F.shape[1]) for F in blocks)} columns", option.removeprefix("--")
        raise CothermError(option, given, f"the same {same} on every view")
    return Known(blocks, None, reading)


def _order(view: View, k: int, path: str, names: Sequence[str] | None) -> tuple[Any, str]:
    """The row of a table that belongs to each vertex: by name if both have names, else row by row."""
    if names is None or view.names is None:
        return slice(None), "row by row"
    name = name_of(view.graph, k)
    refuse_other_count(path, names, name, view.names)
    if set(names) != set(view.names):
        stranger = next(iter(sorted(set(names) - set(view.names)) or sorted(set(view.names) - set(names))))
        raise CothermError(path, f"other names than {name}, such as {stranger!r}", "the same names in both, or in one")
    places = {one: row for row, one in enumerate(names)}
    return [places[one] for one in view.names], "matched by name"
