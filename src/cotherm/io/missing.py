"""Missing values in tables of numbers: refused, unless the user asks to drop or fill them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.errors import CothermError

WAYS = ("drop", "median")
_ADVICE = 'missing="drop" leaves out such rows, missing="median" fills in the median of the column.'
PERHAPS_TITLES = "If the first row holds titles: header=True."
# Rows and columns in messages.
_SHOWN = 5


@dataclass(frozen=True)
class Numbers:
    """Numbers of a table, NaN where missing, with titles, names and labels; missing names are empty."""

    path: Path
    values: Floats
    names: tuple[str, ...] | None
    titles: tuple[str, ...] | None
    labels: NDArray[np.str_] | None
    reading: str
    where: Callable[[int, int], tuple[str, str]]  # the place of row k, column c and what is there, for messages
    absent: tuple[str, ...] = ()  # titles that were asked for and are not there
    known: tuple[str, ...] | None = None  # titles of all columns, taken or not
    untitled: bool = False  # the first row may yet hold titles


def completed(read: Numbers, way: str | None) -> Numbers:
    """The table without missing values: they are refused unless ``way``, one of ``WAYS``, is given."""
    holes = np.isnan(read.values)
    _refuse_infinite(read, holes)
    if not holes.any() and (read.names is None or all(read.names)):
        return read
    if way is not None or len(holes) > 1:  # the place of a single row says it all
        _refuse_empty(read, holes)
    if way is None:
        raise _refused(read, holes)
    return _dropped(read, holes) if way == "drop" else _filled(read, holes)


def _refuse_infinite(read: Numbers, holes: NDArray[np.bool_]) -> None:
    infinite = ~np.isfinite(read.values)
    if np.array_equal(infinite, holes):
        return
    row, column = np.unravel_index(np.argmax(infinite & ~holes), holes.shape)
    place, cell = read.where(int(row), int(column))
    raise CothermError(place, cell, "a finite number")


def _refuse_empty(read: Numbers, holes: NDArray[np.bool_]) -> None:
    empty = np.flatnonzero(holes.all(axis=0))
    if len(empty):
        columns = ", ".join(_column(read, int(c)) for c in empty[:_SHOWN]) + ", ..." * (len(empty) > _SHOWN)
        advice, code = ("Leave it out with drop=.", "empty-column") if read.titles else ("", "")
        given = f"nothing but missing values in {columns}"
        raise CothermError(str(read.path), given, "numbers in every column", advice, code=code)


def _refused(read: Numbers, holes: NDArray[np.bool_]) -> CothermError:
    row, column = np.unravel_index(np.argmax(holes), holes.shape)
    place, cell = read.where(int(row), int(column))
    count = int(holes.sum())
    rows, columns = int(holes.any(axis=1).sum()), int(holes.any(axis=0).sum())
    more = f", the first of {count:,} missing values in {_many(rows, 'row')} and {_many(columns, 'column')}"
    given = cell + (more if count > 1 else ", the only missing value")
    advice, code = _ADVICE, "missing-value"
    if row == 0 and read.untitled:
        advice, code = f"{advice} {PERHAPS_TITLES}", f"{code}+perhaps-titles"
    return CothermError(place, given, "a finite number", advice, code=code, about=str(read.path))


def _dropped(read: Numbers, holes: NDArray[np.bool_]) -> Numbers:
    """Drop the rows with missing values; remaining rows without names are named by their numbers."""
    lost_rows = holes.any(axis=1)
    if read.names is not None:
        lost_rows |= np.array([not name for name in read.names])
    kept = np.flatnonzero(~lost_rows)
    if not len(kept):
        advice = 'Fill them in with missing="median".'
        given = "a missing value in every row"
        raise CothermError(str(read.path), given, "rows without any", advice, code="missing-in-every-row")
    lost = np.flatnonzero(lost_rows)
    known = read.names or tuple(map(str, range(len(holes))))
    which = ", ".join(known[k] or f"row {k} from 0, which has no name" for k in lost[:_SHOWN]) + ", ..." * (
        len(lost) > _SHOWN
    )
    reading = f"{read.reading}, less {_many(len(lost), 'row')} with missing values ({which})"
    if read.names is None:
        reading += ", the others named by their numbers from 0"
    labels = None if read.labels is None else read.labels[kept]
    return replace(read, values=read.values[kept], names=tuple(known[k] for k in kept), labels=labels, reading=reading)


def _filled(read: Numbers, holes: NDArray[np.bool_]) -> Numbers:
    values = read.values.copy()
    some = np.flatnonzero(holes.any(axis=0))
    for c in some:
        values[holes[:, c], c] = _median(values[~holes[:, c], c])
    which = ", ".join(f"{int(holes[:, c].sum()):,} in {_column(read, int(c))}" for c in some[:_SHOWN])
    which += ", ..." * (len(some) > _SHOWN)
    reading = f"{read.reading}, {_many(int(holes.sum()), 'missing value')} replaced by the median ({which})"
    return replace(read, values=values, reading=reading)


def _median(values: Floats) -> float:
    """The median, even if the sum of two numbers would overflow."""
    low, high = (len(values) - 1) // 2, len(values) // 2
    ordered = np.partition(values, (low, high))
    return float(ordered[low] if low == high else 0.5 * ordered[low] + 0.5 * ordered[high])


def _column(read: Numbers, c: int) -> str:
    return read.titles[c] if read.titles else f"column {c + 1}"


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"
