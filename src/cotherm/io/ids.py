"""Names of rows: which column holds them, and what they must satisfy.

The user may name the column; otherwise titles and cells mostly tell (see ``cells``), and text is never a feature. The
rest, columns of distinct whole numbers, are judged by their numbers. Such a column in the place of ids, the first
of a table without names, is refused, unless the columns beside it are of the same kind, as counts are. Elsewhere it is
a feature, and the reading says so. Where two tables hold the same numbers, they are refused in any place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError
from cotherm.io.cells import (
    is_column_of_names,
    is_count,
    is_either_title,
    is_id_title,
    is_missing,
    is_name_title,
    shown,
    whole_number,
)
from cotherm.spelling import shift_by_one

if TYPE_CHECKING:
    from cotherm.io.columns import Numbers, Request

# Whole numbers of at most this many digits are exact.
_MOST_DIGITS = 15
# That fewer numbers than this all differ says little.
_LEAST = 8
# Number of rows that rule out most columns before all rows are looked at.
_TELLING = 100
# This many columns of the same kind are not a coincidence, whatever their share of all columns.
_COMPANY = 3
# Numbers drawn at random are all different with a probability below e⁻⁵ where this many pairs would be equal.
_EQUAL_PAIRS = 5.0
# Two columns of features that differ from row to row have at most about this many numbers in common.
_BY_CHANCE = 12
# Number of columns of a table that are checked for ids.
_COMPARED = 20
# From here on all doubles are whole numbers.
_LARGE = 2.0**53


def holds_names(path: Path, title: str | None, column: Sequence[str], request: Request) -> bool:
    """Whether the first column of a table of numbers holds the names of rows, if nothing is said."""
    if request.keeps_out(title):
        return False
    different = len(set(column)) == len(column)
    if title is not None and is_name_title(title):
        return True
    if title is not None and request.columns is not None:
        # The column is asked for, or left out unless it can only hold names.
        return title not in request.columns and is_column_of_names(column) and different
    if (len(column) > 2 and is_count(column)) or (different and _must_be_names(column)):  # an index, not a feature
        return True
    whole = different and all(whole_number(cell) is not None for cell in column)
    if title is not None and is_either_title(title) and whole:
        advice = f"Call it {title}_id if they are names, {title}_count or the like if they are not."
        place, given = f"{path}: column 1 ({title})", "numbers that may be names of rows"
        raise CothermError(place, given, "a title that tells", advice)
    return is_column_of_names(column)


def _must_be_names(column: Sequence[str]) -> bool:
    """Whether cells of digits must be names: they begin with 0, or have more digits than a number holds."""
    odd = any(len(cell) > _MOST_DIGITS or (cell[:1] == "0" and len(cell) > 1) for cell in column)
    return odd and all(cell.isascii() and cell.isdigit() for cell in column)


def checked_names(
    cells: Sequence[str],
    place_of: Callable[[int], str],
    title: str | None = None,
    column: int = 0,
    *,
    nameless: bool = False,
) -> tuple[str, ...]:
    """Require a unique name for every row; missing ones are empty if allowed. ``place_of`` is for messages."""
    names = tuple("" if is_missing(cell) else cell for cell in cells)
    missing = [k for k, name in enumerate(names) if not name]
    if missing and not nameless:
        k = missing[0]
        more = "" if len(missing) == 1 else f", the first of {len(missing):,} rows without a name"
        given = (f"{cells[k]!r}, which marks a missing value" if cells[k] else "an empty cell") + more
        place, advice = f"{place_of(k)}, column {column + 1}", 'missing="drop" leaves out rows without a name.'
        raise CothermError(place, given, "the name of the row", advice, code="missing-name")
    if len(set(names)) - bool(missing) < len(names) - len(missing):
        first: dict[str, int] = {}
        k, name = next((k, name) for k, name in enumerate(names) if name and first.setdefault(name, k) < k)
        advice = f"If {title!r} holds classes, name it with label_column=; drop= leaves it out." if title else ""
        code, given = "repeated-name" if title else "", f"the name {name!r} more than once"
        raise CothermError(place_of(k), given, "a name of its own for every row", advice, code=code, about=title or "")
    return names


def refuse_late_names(path: Path, titles: Sequence[str], *, labels: bool = False) -> None:
    """Refuse titles of row names on columns other than the first or the one of the ids."""
    for title in titles:
        if is_id_title(title):
            advice = "Put it first, or leave it out with drop=; id_column=TITLE takes it for the ids."
            given, needed = f"a column {title!r} that is not the first", "numbers to compare items by"
            code = "" if labels else "late-ids"
            raise CothermError(str(path), given, needed, "Put it first." if labels else advice, code=code)


def refuse_other_count(path: str, names: Sequence[str], other: str, others: Sequence[str]) -> None:
    """Refuse rows counted from 0 beside rows counted from 1: equal names would mean different rows."""
    counted = is_count(names) and is_count(others) and names[0] != others[0]
    shifts = [shift_by_one(names, others), shift_by_one(others, names)]
    if counted or any(found is not None and found.evident for found in shifts):
        first, second = (names[0], others[0]) if counted else (min(names, key=_by_number), min(others, key=_by_number))
        given = f"rows counted from {first}, where those of {other} are counted from {second}"
        advice = "Leave out one of the two columns of row numbers."
        raise CothermError(path, given, "the same names for the same items", advice)


def _by_number(name: str) -> tuple[int, str]:
    """Names that end in numbers in their order."""
    return len(name), name


def distinct_whole(values: Floats) -> Ints:
    """The columns that hold distinct whole numbers ≥ 0; missing ones, NaN, are ignored."""
    head = values[:_TELLING]
    candidates = np.flatnonzero(np.all(np.isnan(head) | _is_whole(head), axis=0))
    return np.array(
        [c for c in candidates if _all_differ(head[:, c]) and _all_differ(values[:, c], _LEAST)], dtype=np.int64
    )


def note_of(columns: Ints, titles: Sequence[str] | None) -> str:
    """The part of a table's reading about such columns taken as features."""
    if not len(columns):
        return ""
    named = [repr(titles[c]) if titles else f"column {c + 1}" for c in columns.tolist()]
    which = named[0] if len(named) == 1 else f"{len(named)} columns ({shown(named)})"
    return f", the whole numbers in {which} all different and taken as {'a feature' if len(named) == 1 else 'features'}"


def refuse_first(table: Numbers) -> None:
    """Refuse the first column of a table without names if it may hold them."""
    several = table.values.shape[1] > 1
    if table.names is None and several and 0 in table.doubtful and not _in_company(table.values, table.doubtful):
        count = np.sum(~np.isnan(table.values[:, 0]))
        raise _either(table.named(0), f"{count} different whole numbers, which may be ids or a feature", table, 0)


def refuse_shared(first: Numbers, second: Numbers) -> None:
    """Refuse columns of two tables that hold the same numbers: ids that would make the tables look alike."""
    least = min(len(first.values), len(second.values))
    enough = max(-(-least // 2), min(least, _BY_CHANCE))
    theirs = [(d, np.sort(second.values[:, d])) for d in second.doubtful[:_COMPARED].tolist()]
    for c in first.doubtful[:_COMPARED].tolist():
        ours = np.sort(first.values[:, c])
        for d, others in theirs:
            if _common(ours[:: 1 + len(ours) // _TELLING], others) and (count := _common(ours, others)) >= enough:
                given = f"whole numbers, all different, {count} of which are in both: ids or a feature"
                raise _either(f"{first.named(c)} and {second.named(d)}", given, second, d)


def _either(place: str, given: str, table: Numbers, c: int) -> CothermError:
    """The error for a column of a table that holds ids or a feature."""
    advice, code, title = "If they are ids, write titles in the first row.", "perhaps-ids-untitled", ""
    feature = "If they are a feature: id_column=False."
    if table.titles is None:
        return CothermError(place, given, "to know which", f"{advice} {feature}", code=code)
    title = table.titles[c]
    advice = f'If they are ids: id_column="{title}". {feature} Or leave them out with drop=.'
    return CothermError(place, given, "to know which", advice, code="perhaps-ids", about=title)


def _common(some: Floats, ordered: Floats) -> int:
    """How many of some numbers are among others, which are sorted."""
    places = np.minimum(np.searchsorted(ordered, some), len(ordered) - 1)
    return int(np.sum(ordered[places] == some))


def _all_differ(column: Floats, least: int = 0) -> bool:
    known = column[~np.isnan(column)]
    return len(known) >= least and bool(np.all(_is_whole(known))) and len(np.unique(known)) == len(known)


def _is_whole(values: Floats) -> NDArray[np.bool_]:
    """Whether numbers are whole and not negative; excludes numbers so large that all are whole."""
    return (values >= 0.0) & (values == np.floor(values)) & (values < _LARGE)


def _in_company(values: Floats, columns: Ints) -> bool:
    """Whether other columns are of the same kind, so that only its place suggests that the first holds ids."""
    others = len(columns) - 1
    return (others >= _COMPANY or 2 * others >= values.shape[1] - 1) and not _by_design(values[:, 0])


def _by_design(column: Floats) -> bool:
    """Whether numbers are sorted, or so close together that they cannot all differ by chance."""
    known = column[~np.isnan(column)]
    span = float(known.max() - known.min()) + 1.0
    return bool(np.all(np.diff(known) > 0.0)) or len(known) * (len(known) - 1) / (2.0 * span) > _EQUAL_PAIRS
