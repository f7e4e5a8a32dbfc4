"""Columns of whole numbers that are all different: ids of rows, or a feature?

Titles tell most ids (see ``cells``), text is never a feature, and the user may say which column holds ids. What is left
is judged here by the numbers. Such a column in the place of ids, the first of a table without names, is refused, unless
the columns beside it are of the same kind, as counts are. Elsewhere it is a feature, and the reading says so. Where two
tables hold the same numbers, they are refused in any place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

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
# Ids are among so many columns of a table that may be.
_COMPARED = 20
# From here on all numbers are whole, as far as a double tells.
_LARGE = 2.0**53


@dataclass(frozen=True)
class Suspects:
    """Columns of a table that may be ids: what to call the table, its numbers, which columns, and all titles."""

    place: str
    values: Floats
    columns: Ints
    titles: Sequence[str] | None

    def named(self, c: int) -> str:
        """What to call a column."""
        return f"{self.place}: column {c + 1}" + (f" ({self.titles[c]})" if self.titles else "")


def distinct_whole(values: Floats) -> Ints:
    """The columns that hold whole numbers from 0, all different; missing ones, NaN, are not looked at."""
    head = values[:_TELLING]
    candidates = np.flatnonzero(np.all(np.isnan(head) | _is_whole(head), axis=0))
    return np.array(
        [c for c in candidates if _all_differ(head[:, c]) and _all_differ(values[:, c], _LEAST)], dtype=np.int64
    )


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
        Suspects(str(place), values, columns, titles).named(0),
        f"{np.sum(~np.isnan(values[:, 0]))} different whole numbers, which may be ids or a feature",
        "to know which",
        _advice(titles[0] if titles else None),
    )


def refuse_shared(first: Suspects, second: Suspects) -> None:
    """Refuse columns of two tables that hold the same numbers: ids that would make the tables look alike."""
    least = min(len(first.values), len(second.values))
    enough = max(-(-least // 2), min(least, _BY_CHANCE))
    theirs = [(d, np.sort(second.values[:, d])) for d in second.columns[:_COMPARED].tolist()]
    for c in first.columns[:_COMPARED].tolist():
        ours = np.sort(first.values[:, c])
        for d, others in theirs:
            if _common(ours[:: 1 + len(ours) // _TELLING], others) and (count := _common(ours, others)) >= enough:
                raise CothermError(
                    f"{first.named(c)} and {second.named(d)}",
                    f"whole numbers, all different, {count} of which are in both: ids or a feature",
                    "to know which",
                    _advice(second.titles[d] if second.titles else None),
                )


def _common(some: Floats, ordered: Floats) -> int:
    """How many of some numbers are among others, which come in order."""
    places = np.minimum(np.searchsorted(ordered, some), len(ordered) - 1)
    return int(np.sum(ordered[places] == some))


def _advice(title: str | None) -> str:
    if title is None:
        return f"If they are ids, write titles in the first row. If they are a feature: {NO_IDS}."
    return f'If they are ids: {IDS}"{title}". If they are a feature: {NO_IDS}. Or leave them out with {LEAVE}.'


def _all_differ(column: Floats, least: int = 0) -> bool:
    known = column[~np.isnan(column)]
    return len(known) >= least and bool(np.all(_is_whole(known))) and len(np.unique(known)) == len(known)


def _is_whole(values: Floats) -> NDArray[np.bool_]:
    """Whether numbers are whole and not negative; of large ones, which all are, nobody can tell."""
    return (values >= 0.0) & (values == np.floor(values)) & (values < _LARGE)


def _in_company(values: Floats, columns: Ints) -> bool:
    """Whether other columns are of the same kind, and nothing but its place says that the first holds ids."""
    others = len(columns) - 1
    return (others >= _COMPANY or 2 * others >= values.shape[1] - 1) and not _by_design(values[:, 0])


def _by_design(column: Floats) -> bool:
    """Whether numbers are in order, or so close together that they cannot all differ by chance."""
    known = column[~np.isnan(column)]
    span = float(known.max() - known.min()) + 1.0
    return bool(np.all(np.diff(known) > 0.0)) or len(known) * (len(known) - 1) / (2.0 * span) > _EQUAL_PAIRS
