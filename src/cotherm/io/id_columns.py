"""Columns of whole numbers that are all different: ids of rows, or a feature?

Titles tell most ids (see ``cells``), text is never a feature, and the user may say which column holds ids. What is left
is judged here by the numbers. Such a column in the place of ids, the first of a table without names, is refused, unless
the columns beside it are of the same kind, as counts are. Elsewhere it is a feature, and the reading says so. Where two
tables hold the same numbers, they are refused in any place.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np

from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError
from cotherm.io.selection import IDS, LEAVE, NO_IDS, shown

# Of fewer numbers it says little that they differ.
_LEAST = 8
# Rows that rule out most columns before the others are looked at.
_TELLING = 100
# As many columns of the same kind are no coincidence, whatever share of all they are.
_COMPANY = 3
# Numbers drawn at random are all different with a probability below e⁻⁵ where this many pairs would be equal.
_EQUAL_PAIRS = 5.0
# Two columns of features that differ from row to row have at most about so many numbers in common.
_BY_CHANCE = 12


def distinct_whole(values: Floats) -> Ints:
    """The columns that hold whole numbers from 0, all different; missing ones, NaN, are not looked at."""
    if len(values) < _LEAST:
        return np.zeros(0, dtype=np.int64)
    candidates = np.flatnonzero([_all_differ(column) for column in values[:_TELLING].T])
    return candidates[[_all_differ(values[:, c], least=_LEAST) for c in candidates]]


def note_of(columns: Ints, titles: Sequence[str] | None) -> str:
    """What the reading of a table says about such columns that are features."""
    if not len(columns):
        return ""
    named = [repr(titles[c]) if titles else f"column {c + 1}" for c in columns.tolist()]
    which = named[0] if len(named) == 1 else f"{len(named)} columns ({shown(named)})"
    return f", the whole numbers in {which} all different and taken as {'a feature' if len(named) == 1 else 'features'}"


def refuse_first(place: Path, values: Floats, columns: Ints, titles: Sequence[str] | None) -> None:
    """Refuse the first column of a table without names if it may hold them."""
    if 0 not in columns or values.shape[1] == 1 or _in_company(values, columns):
        return
    raise CothermError(
        f"{place}: column 1 ({titles[0]})" if titles else f"{place}: column 1",
        f"{np.sum(~np.isnan(values[:, 0]))} different whole numbers, which may be ids or a feature",
        "to know which",
        _advice(titles[0] if titles else None),
    )


def refuse_shared(places: Sequence[str], tables: Sequence[tuple[Floats, Ints, Sequence[str] | None]]) -> None:
    """Refuse columns of two tables that hold the same numbers: ids that would make the tables look alike.

    Each table is its values, the columns of different whole numbers and the titles.
    """
    for (p, first), (q, second) in combinations(enumerate(tables), 2):
        found = _shared(first, second)
        if found is not None:
            c, d, count = found
            title = second[2][d] if second[2] else None
            raise CothermError(
                f"{places[p]}: {_named(first[2], c)} and {places[q]}: {_named(second[2], d)}",
                f"whole numbers, all different, {count} of which are in both: ids or a feature",
                "to know which",
                _advice(title),
            )


def _shared(
    first: tuple[Floats, Ints, Sequence[str] | None], second: tuple[Floats, Ints, Sequence[str] | None]
) -> tuple[int, int, int] | None:
    for c in first[1].tolist():
        for d in second[1].tolist():
            common = len(np.intersect1d(first[0][:, c], second[0][:, d]))
            least = min(len(first[0]), len(second[0]))
            if 2 * common >= least and common >= min(least, _BY_CHANCE):
                return c, d, common
    return None


def _named(titles: Sequence[str] | None, c: int) -> str:
    return f"column {c + 1} ({titles[c]})" if titles else f"column {c + 1}"


def _advice(title: str | None) -> str:
    if title is None:
        return f"If they are ids, write titles in the first row. If they are a feature: {NO_IDS}."
    return f'If they are ids: {IDS}"{title}". If they are a feature: {NO_IDS}. Or leave them out with {LEAVE}.'


def _all_differ(column: Floats, least: int = 0) -> bool:
    known = column[~np.isnan(column)]
    if len(known) < least or not np.all((known >= 0.0) & (known == np.floor(known)) & np.isfinite(known)):
        return False
    return len(np.unique(known)) == len(known)


def _in_company(values: Floats, columns: Ints) -> bool:
    """Whether other columns are of the same kind, and nothing but its place says that the first holds ids."""
    others = len(columns) - 1
    return (others >= _COMPANY or 2 * others >= values.shape[1] - 1) and not _by_design(values[:, 0])


def _by_design(column: Floats) -> bool:
    """Whether numbers are in order, or so close together that they cannot all differ by chance."""
    known = column[~np.isnan(column)]
    span = float(known.max() - known.min()) + 1.0
    return bool(np.all(np.diff(known) > 0.0)) or len(known) * (len(known) - 1) / (2.0 * span) > _EQUAL_PAIRS
