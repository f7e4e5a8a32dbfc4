"""What corresponds, from files: ids, labels, landmarks or functions; what the options say, or else the ids."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from cotherm import validation
from cotherm.arrays import Floats, Ints
from cotherm.cli import inputs
from cotherm.cli.advice import as_options, in_options
from cotherm.cli.inputs import NO_HEADERS, Headers, View
from cotherm.cli.options import BY
from cotherm.errors import CothermError
from cotherm.functions import feature_functions, landmark_functions, match_labels
from cotherm.graphs.graph import Graph
from cotherm.io import atomic
from cotherm.io.cells import is_count, titles_over_landmarks
from cotherm.io.ids import refuse_other_count
from cotherm.io.labels import UNKNOWN, Items, Labels, Words, labels_of_sets
from cotherm.io.text import excerpt
from cotherm.io.text_table import TextTable, open_text_table
from cotherm.pairs import named_items
from cotherm.spelling import near_miss

_LINES = {
    "pairs": "coupling: by pairs, rows that are the same item",
    "labels": "coupling: by labels, classes that all views have",
    "landmarks": "coupling: by landmarks, items that correspond",
    "features": "coupling: by features, which were measured in every view",
    "functions": "coupling: by functions, which were given on every view",
}
_OTHER_WAYS = "Or say what else corresponds: --labels, --landmarks or --functions."


def by_options(options: argparse.Namespace) -> str | None:
    """What the options say; None if labels are given and ids decide. Options that contradict --by are refused."""
    given = next((name for name in BY[1:] if getattr(options, name)), None)
    if options.by is not None:
        _require_sense(options, given)
        return str(options.by)
    if options.paired or given is None:
        return "pairs"
    return None if given == "labels" and options.known is None else given


def by_ids(views: Sequence[View]) -> str:
    """Pairs if views have ids in common, else labels; row numbers of tables of different lengths are not ids."""
    ids = [view.names for view in views]
    known = [one for one in ids if one is not None]
    if len(known) < len(ids) or (all(map(is_count, known)) and len(set(map(len, known))) > 1):
        return "labels"
    return "pairs" if max(len(set(a) & set(b)) for a, b in combinations(known, 2)) > 1 else "labels"


def first_line(by: str, options: argparse.Namespace) -> str:
    """What the views are coupled by, and the alternative."""
    if not options.labels or options.by is not None or options.known is not None:
        return _LINES[by]
    if by == "labels":
        return f"{_LINES[by]} (no ids in common)"
    return f"{_LINES[by]}; labels only judge" + ("" if options.paired else " (--by labels couples by them)")


def _require_sense(options: argparse.Namespace, given: str | None) -> None:
    if options.by == "pairs":
        if given not in (None, "labels"):
            raise CothermError("--by pairs", f"beside --{given}", "one of the two")
        return
    if options.paired:
        raise CothermError(f"--by {options.by}", "beside --paired, which says pairs", "one of the two")
    if given != options.by:
        found = f"without --{options.by}" + ("" if given is None else f", beside --{given}")
        raise CothermError(f"--by {options.by}", found, f"--{options.by} FILE")


def read_labels(
    views: Sequence[View],
    paths: Sequence[str],
    column: str | None,
    headers: Headers = NO_HEADERS,
    *,
    option: str = "--labels",
    shared: bool = True,
) -> Labels:
    """Read labels from one file for all views or one for each; ``shared`` refuses labels that no two items share."""
    places = [atomic.as_path(path) for path in paths]
    sets = [Items(view.graph.n, view.names, inputs.name_of(view.graph, k)) for k, view in enumerate(views)]
    with in_options(), as_options(paths=option):
        return labels_of_sets(
            sets, places, column, [inputs.header_of(place, headers) for place in places], shared=shared
        )


def labels_of_items(graphs: Sequence[Graph], options: argparse.Namespace) -> tuple[list[Words] | None, list[str]]:
    """The class of every vertex of every graph, where --labels names files, and how they were read."""
    if not options.labels:
        return None, []
    views = [View(graph) for graph in graphs]
    found = read_labels(views, options.labels, options.column, inputs.read_headers(options))
    return found.of, found.reading


def paired_rows(views: Sequence[View], *, row_by_row: bool) -> tuple[Ints, list[str]]:
    """The table of rows with the same id, or row by row if no table has ids and it is asked for; how it was made."""
    names = inputs.view_names([view.graph for view in views])
    without = [name for name, view in zip(names, views, strict=True) if view.names is None]
    if not without:
        return _by_id(views, names)
    sizes = [view.graph.n for view in views]
    needed = "ids in the first column of every table"
    if len(without) < len(views):
        raise CothermError(without[0], "no ids, though another view has some", needed, _OTHER_WAYS)
    if len(set(sizes)) > 1:
        given = f"no ids, and {' and '.join(f'{n:,}' for n in sizes)} rows"
        raise CothermError("VIEW", given, needed, _OTHER_WAYS)
    if not row_by_row:
        given, needed = f"no ids, and {sizes[0]:,} rows in every view", "to know which rows are the same item"
        raise CothermError("VIEW", given, needed, f"If row k is the same item in every view: --paired. {_OTHER_WAYS}")
    table = np.tile(np.arange(sizes[0])[:, np.newaxis], len(views))
    return table, [f"paired: {sizes[0]:,} rows of every view, row by row"]


def _by_id(views: Sequence[View], names: Sequence[str]) -> tuple[Ints, list[str]]:
    ids = [view.names or () for view in views]  # each id occurs once: tables that repeat one are refused
    both = list(combinations(range(len(ids)), 2))
    if all(set(ids[a]).isdisjoint(ids[b]) for a, b in both):
        examples = " and ".join(excerpt(one[0]) for one in ids if one)
        near = [(near_miss(ids[a], ids[b]), names[a], names[b]) for a, b in both]
        causes = [f"{found.sentence(a, b)}." for found, a, b in near if found is not None]
        given, advice = f"no id that is in two views (such as {examples})", " ".join([*causes, _OTHER_WAYS])
        raise CothermError("VIEW", given, "ids in common", advice)
    notes: list[str] = []
    table = named_items(ids, names, tell=notes.append)
    table = table[np.sum(table >= 0, axis=1) > 1]
    alone = [view.graph.n - int(np.sum(table[:, k] >= 0)) for k, view in enumerate(views)]
    left = [f"{count:,} of {name}" for count, name in zip(alone, names, strict=True) if count]
    text = f"paired: {len(table):,} items by id" + (f"; in one view only: {', '.join(left)}" if left else "")
    return table, [text, *(f"Note: {note}" for note in notes)]


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
    headers = inputs.read_headers(options)
    labels, reading = labels_of_items([view.graph for view in views], options)
    if labels is not None:
        used = labels if options.known is None else _some(labels, options.known, options.seed)
        with as_options("labels"):
            found = match_labels(used, UNKNOWN)
        names = inputs.view_names([view.graph for view in views])
        if found.left_out:
            reading = [*reading, f"--labels: {found.note(names)}"]
        if options.known is not None:
            reading = [*reading, _how_many(labels, used, names, options.known)]
        return Known(list(found.functions), labels, reading)
    if options.landmarks:
        return _landmarks(views, options.landmarks, headers)
    if options.features:
        return _features(views, options.features, headers)
    return _given(views, options.functions, headers)


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
    said = []
    for some, every in zip(used, labels, strict=True):
        count, known = int(np.sum(some != UNKNOWN)), int(np.sum(every != UNKNOWN))
        said.append(f"{count} of {known} labels used, {known - count} kept back")
    each = (f"{name}: {one}" for name, one in zip(names, said, strict=True))
    return f"--known {share:g}: {said[0] if len(set(said)) == 1 else '; '.join(each)}"


def landmark_columns(
    path: str, headers: Headers, names: Sequence[Collection[str] | None], most: int
) -> tuple[list[list[str]], TextTable]:
    """The items of every view in a table of landmarks, at most as many as ``most``, and the table below its titles."""
    place = atomic.as_path(path)
    table = open_text_table(place)
    if table.count > most + 1:
        raise CothermError(path, f"{table.count} rows", f"at most one for each of {most} vertices")
    if table.width not in (1, len(names)):
        raise CothermError(path, f"{table.width} columns", f"one for each of {len(names)} views, or one")
    titled = inputs.header_of(place, headers)
    table = table.below_titles(titles_over_landmarks(table.first, names) if titled is None else titled)
    if not table.count:
        raise CothermError(path, "no landmarks", "a row for each")
    columns = [table.words(c) for c in range(table.width)]
    return columns * (len(names) // len(columns)), table


def _landmarks(views: Sequence[View], path: str, headers: Headers) -> Known:
    most = max(view.graph.n for view in views)
    columns, table = landmark_columns(path, headers, [view.names for view in views], most)
    functions = []
    for k, (view, cells) in enumerate(zip(views, columns, strict=True)):
        items = inputs.Lookup(view.graph, inputs.name_of(view.graph, k))
        vertices = [items.find(cell) for cell in cells]
        if None in vertices:
            wrong = vertices.index(None)
            advice = "" if wrong or table.titled else f"If the first row holds titles: --header {path}."
            raise CothermError(table.place(wrong), excerpt(cells[wrong]), items.needed, advice)
        functions.append(landmark_functions(view.graph, np.array(vertices)))
    titles = f" (titles {', '.join(table.first)})" if table.titled else ""
    return Known(functions, None, [f"{path}: {table.count} landmark{'s' * (table.count != 1)}{titles}"])


def _features(views: Sequence[View], paths: Sequence[str], headers: Headers) -> Known:
    given = _given(views, paths, headers, "--features")
    functions = [feature_functions(view.graph, F) for view, F in zip(views, given.functions, strict=True)]
    return Known(functions, None, given.reading)


def _given(views: Sequence[View], paths: Sequence[str], headers: Headers, option: str = "--functions") -> Known:
    if len(paths) != len(views):
        raise CothermError(option, f"{len(paths)} files", f"one for each of {len(views)} views")
    blocks: list[Any] = []
    reading = []
    for k, (view, path) in enumerate(zip(views, paths, strict=True)):
        points = inputs.read_points(atomic.as_path(path), headers)
        if len(points.values) != view.graph.n:
            raise CothermError(
                path,
                f"{len(points.values)} rows",
                f"{view.graph.n}, one for each vertex of {inputs.name_of(view.graph, k)}",
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
    name = inputs.name_of(view.graph, k)
    refuse_other_count(path, names, name, view.names)
    if set(names) != set(view.names):
        stranger = next(iter(sorted(set(names) - set(view.names)) or sorted(set(view.names) - set(names))))
        raise CothermError(path, f"other names than {name}, such as {stranger!r}", "the same names in both, or in one")
    places = {one: row for row, one in enumerate(names)}
    return [places[one] for one in view.names], "matched by name"
