"""Numbers from lines of text: parsed in bulk, with the line named when something is wrong."""

from __future__ import annotations

import re
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError


class Lines(NamedTuple):
    """Lines with content, stripped, and their numbers in the file, counted from 1."""

    rows: list[str]
    numbers: list[int]

    def part(self, start: int, stop: int | None = None) -> Lines:
        return Lines(self.rows[start:stop], self.numbers[start:stop])

    def refuse(self, k: int, needed: str, advice: str = "") -> NoReturn:
        """Complain about row k."""
        raise CothermError(f"line {self.numbers[k]}", shown(self.rows[k]), needed, advice)

    def refuse_where(self, bad: NDArray[np.bool_], needed: str, advice: str = "") -> None:
        """Complain about the first bad row, if there is one."""
        if bad.any():
            self.refuse(int(np.argmax(bad)), needed, advice)


def decode(data: bytes) -> str:
    """UTF-8 text, with or without a byte order mark, whatever its line ends."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise CothermError(
            f"line {line}", f"byte 0x{error.object[error.start]:02x}, which is not text", "UTF-8 text"
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def content(text: str, *, comment: str | None, first: int = 1) -> Lines:
    """The lines that hold something once comments are cut off; the text starts on line number ``first``."""
    rows = text.split("\n")
    if comment is not None and comment in text:
        rows = [row.partition(comment)[0] for row in rows]
    rows = [row.strip() for row in rows]
    numbers = [k for k, row in enumerate(rows, first) if row]
    return Lines([row for row in rows if row], numbers)


def table(
    lines: Lines,
    columns: int,
    needed: str,
    advice: str = "",
    *,
    delimiter: str | None = None,
    more: bool = False,
) -> Floats:
    """One row of numbers per line; with ``more``, anything may follow the first ``columns`` of them."""

    def attempt(rows: list[str]) -> Floats | None:
        try:
            array = np.loadtxt(
                rows,
                delimiter=delimiter,
                comments=None,
                usecols=range(columns) if more else None,
                ndmin=2,
                encoding=None,
            )
        except ValueError:
            return None
        return array if array.shape == (len(rows), columns) else None

    if not lines.rows:
        return np.empty((0, columns))
    array = attempt(lines.rows)
    if array is not None:
        return array
    # The first bad row, by bisection: stretches are parsed at once, so that this is as quick as reading.
    start, stop = 0, len(lines.rows)
    while stop - start > 1:
        middle = (start + stop) // 2
        if attempt(lines.rows[start:middle]) is None:
            stop = middle
        else:
            start = middle
    lines.refuse(start, needed, advice)


def whole(lines: Lines, values: Floats, *, least: int, most: int, needed: str) -> Ints:
    """The same numbers as integers within [least, most]; 3.0 counts as 3."""
    # Comparisons with NaN are false, so that it is refused as well.
    good = (values == np.floor(values)) & (values >= least) & (values <= most)
    lines.refuse_where(_by_row(~good), needed)
    return values.astype(np.int64)


def finite(lines: Lines, values: Floats) -> Floats:
    """The same numbers, if all are finite."""
    lines.refuse_where(_by_row(~np.isfinite(values)), "finite numbers")
    return values


def counts(lines: Lines, k: int, words: list[str], needed: str) -> list[int]:
    """Numbers of things to come, as row k declares them; nothing is allocated on their word."""
    # Eighteen digits are more than any file holds, and int() refuses thousands of them.
    if not all(re.fullmatch("[0-9]{1,18}", word) for word in words):
        lines.refuse(k, needed)
    return [int(word) for word in words]


def require_rows(lines: Lines, found: int, declared: int, what: str) -> None:
    """The file must hold as many rows as it declares, no fewer and no more."""
    if found != declared:
        last = lines.numbers[-1] if lines.numbers else 1
        raise CothermError(
            f"line {last}",
            f"the file ends after {found} {what}",
            f"{declared} {what}, as its header declares",
            "The file may have been cut short." if found < declared else "",
        )


def require_last_line(text: str) -> None:
    """What is written here ends its last line; without that, the last number may have lost digits."""
    if not text.endswith("\n"):
        raise CothermError("last line", "no line end", "a complete last line", "The file may have been cut short.")


def shown(row: str) -> str:
    """A line for a message, cut short."""
    return repr(row if len(row) <= 60 else row[:57] + "...")


def _by_row(bad: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return np.asarray(bad.any(axis=1)) if bad.ndim == 2 else bad
