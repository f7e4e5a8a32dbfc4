"""Which rows of several tables are the same item: by ids, or row by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from cotherm.arrays import Ints
from cotherm.cli.inputs import View, name_of
from cotherm.errors import CothermError
from cotherm.io.text import excerpt
from cotherm.pairs import named_items
from cotherm.spelling import near_miss

_OTHER_WAYS = "Or say what else corresponds: --labels, --landmarks or --functions."


@dataclass(frozen=True)
class RowPairs:
    """The table of pairs, and how it was made."""

    table: Ints
    reading: list[str]


def paired_rows(views: Sequence[View], *, row_by_row: bool) -> RowPairs:
    """Pair rows with the same id; if no table has ids, row by row when asked for."""
    names = [name_of(view.graph, k) for k, view in enumerate(views)]
    without = [name for name, view in zip(names, views, strict=True) if view.names is None]
    if not without:
        return _by_id(views, names)
    sizes = [view.graph.n for view in views]
    if len(without) < len(views):
        raise CothermError(
            without[0], "no ids, though another view has some", "ids in the first column of every table", _OTHER_WAYS
        )
    if len(set(sizes)) > 1:
        given = f"no ids, and {' and '.join(f'{n:,}' for n in sizes)} rows"
        raise CothermError("VIEW", given, "ids in the first column of every table", _OTHER_WAYS)
    if not row_by_row:
        raise CothermError(
            "VIEW",
            f"no ids, and {sizes[0]:,} rows in every view",
            "to know which rows are the same item",
            f"If row k is the same item in every view: --paired. {_OTHER_WAYS}",
        )
    table = np.tile(np.arange(sizes[0])[:, np.newaxis], len(views))
    return RowPairs(table, [f"paired: {sizes[0]:,} rows of every view, row by row"])


def _by_id(views: Sequence[View], names: Sequence[str]) -> RowPairs:
    ids = [view.names or () for view in views]  # each id occurs once: tables that repeat one are refused
    if not any(set(a) & set(b) for k, a in enumerate(ids) for b in ids[k + 1 :]):
        examples = " and ".join(excerpt(one[0]) for one in ids if one)
        causes = [
            f"{found.sentence(names[a], names[b])}."
            for a, b in combinations(range(len(ids)), 2)
            if (found := near_miss(ids[a], ids[b])) is not None
        ]
        given, advice = f"no id that is in two views (such as {examples})", " ".join([*causes, _OTHER_WAYS])
        raise CothermError("VIEW", given, "ids in common", advice)
    notes: list[str] = []
    table = named_items(ids, names, tell=notes.append)
    table = table[np.sum(table >= 0, axis=1) > 1]
    alone = [view.graph.n - int(np.sum(table[:, k] >= 0)) for k, view in enumerate(views)]
    text = f"paired: {len(table):,} items by id"
    left = [f"{count:,} of {name}" for count, name in zip(alone, names, strict=True) if count]
    reading = f"{text}; in one view only: {', '.join(left)}" if left else text
    return RowPairs(table, [reading, *(f"Note: {note}" for note in notes)])
