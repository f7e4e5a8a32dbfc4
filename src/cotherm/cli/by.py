"""By what views are coupled: what the options say, or else the ids."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from cotherm.errors import CothermError

if TYPE_CHECKING:
    from cotherm.cli.inputs import View

# The options that name files, under the words for --by.
_SOURCES = ("labels", "landmarks", "features", "functions")
WORDS = ("pairs", *_SOURCES)
_LINES = {
    "pairs": "coupling: by pairs, rows that are the same item",
    "labels": "coupling: by labels, classes that all views have",
    "landmarks": "coupling: by landmarks, items that correspond",
    "features": "coupling: by features, which were measured in every view",
    "functions": "coupling: by functions, which were given on every view",
}


def add_by(group: argparse._ActionsContainer) -> None:
    group.add_argument(
        "--by",
        choices=WORDS,
        metavar="|".join(WORDS),
        help="couple by this; by default by pairs, or by the landmarks, features or functions that are given; by "
        "labels where --known says how many of them to use, or where views have no ids in common",
    )


def by_options(options: argparse.Namespace) -> str | None:
    """What the options say; None if labels are given and ids decide. Options that contradict --by are refused."""
    given = next((name for name in _SOURCES if getattr(options, name)), None)
    if options.by is not None:
        _require_sense(options, given)
        return str(options.by)
    if options.paired or given is None:
        return "pairs"
    return None if given == "labels" and options.known is None else given


def by_ids(views: Sequence[View]) -> str:
    """Pairs if views have ids in common, else labels; row numbers of tables of different lengths are not ids."""
    from cotherm.io.cells import is_count

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
