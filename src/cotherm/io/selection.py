"""Which columns of a table are numbers to compare rows by, and which holds their classes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cotherm.errors import CothermError
from cotherm.io.cells import is_missing, is_text

_CHOOSE = (
    "Leave out columns with drop=, take some with columns=, or name the one that holds classes with label_column=."
)
# Titles and columns in messages.
_SHOWN = 8


@dataclass(frozen=True)
class Selection:
    """What the user says about columns: those to take (None for all), those to leave out, that of the classes, of ids.

    ``ids`` are titles, of which a table has one, empty if no column holds ids, and None if nothing was said. ``strict``
    says that the table must have all of them; else another table may.
    """

    columns: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()
    label: str | None = None
    strict: bool = True
    ids: tuple[str, ...] | None = None

    @property
    def asked(self) -> tuple[str, ...]:
        """All titles that were named."""
        labels = () if self.label is None else (self.label,)
        return (*(self.columns or ()), *self.drop, *labels, *(self.ids or ()))

    def id_among(self, place: Path | str, titles: Sequence[str]) -> str | None:
        """The title of the column that the user says holds ids."""
        found = [title for title in self.ids or () if title in titles]
        if len(found) > 1:
            raise CothermError(str(place), f"{found[0]!r} and {found[1]!r} as ids", "one of the two")
        if found and (found[0] == self.label or found[0] in (*(self.columns or ()), *self.drop)):
            raise CothermError(str(place), f"{found[0]!r} as ids and as something else", "one of the two")
        return found[0] if found else None

    def keeps_out(self, title: str | None) -> bool:
        """Whether the first column, under this title, cannot hold names: it is left out or holds classes."""
        return title is not None and (title == self.label or title in self.drop)


EVERYTHING = Selection()


@dataclass(frozen=True)
class Choice:
    """The use of each column, by number: features in the order asked for, labels, names of rows."""

    width: int
    known: tuple[str, ...] | None  # the titles of all columns
    names: int | None
    features: tuple[int, ...]
    label: int | None = None
    absent: tuple[str, ...] = ()  # titles that were asked for and are not there

    def title(self, column: int | None) -> str | None:
        """The title of a column, if it has one."""
        return None if column is None or self.known is None else self.known[column]

    @property
    def titles(self) -> tuple[str, ...] | None:
        """The titles of the features."""
        return None if self.known is None else tuple(self.known[c] for c in self.features)

    @property
    def others(self) -> tuple[str, ...] | None:
        """The titles of all columns but that of the names."""
        return None if self.known is None else tuple(t for c, t in enumerate(self.known) if c != self.names)

    @property
    def reading(self) -> str:
        """What the reading says about columns that are not features."""
        left = self.width - len(self.features) - (self.names is not None) - (self.label is not None)
        text = "" if self.label is None else f", labels from the column {self.title(self.label)!r}"
        return text + (f", {left} column{'s' * (left != 1)} left out" if left else "")


def choose(
    place: Path | str, titles: Sequence[str] | None, width: int, selection: Selection, names: int | None = None
) -> Choice:
    """What a selection means for a table of ``width`` columns, of which ``names`` holds the names of rows."""
    others = [c for c in range(width) if c != names]
    if titles is None:
        if selection.columns is not None:
            raise CothermError(str(place), "no titles", f"titles to choose columns by: {shown(selection.columns)}")
        require_all(place, None, selection, selection.asked)
        return Choice(width, None, names, tuple(others), absent=selection.asked)
    known = [titles[c] for c in others]
    for title in selection.asked:
        if titles.count(title) > 1:
            raise CothermError(str(place), f"{titles.count(title)} columns {title!r}", "titles that tell columns apart")
    if selection.label is not None and selection.label in (selection.columns or ()):
        raise CothermError(str(place), f"{selection.label!r} as a feature and as the label", "one of the two")
    absent = tuple(title for title in selection.asked if title not in titles)
    require_all(place, known, selection, absent)
    cells = dict(zip(known, others, strict=True))
    taken = others if selection.columns is None else [cells[title] for title in selection.columns if title in cells]
    without = {*selection.drop, selection.label, *(selection.ids or ())}
    features = tuple(c for c in taken if titles[c] not in without)
    if not features:
        given = "no column that is left" if known else "no column but the names"
        raise CothermError(str(place), given, f"at least one, of {shown(known)}" if known else "at least one")
    label = None if selection.label is None else cells.get(selection.label)
    return Choice(width, tuple(titles), names, features, label, absent)


def require_all(place: Path | str, titles: Sequence[str] | None, selection: Selection, absent: Sequence[str]) -> None:
    """Refuse titles that were asked for and are not there, if no other table may have them."""
    if absent and selection.strict:
        given = f"no column {', '.join(map(repr, absent))}"
        needed = "a table with titles" if titles is None else f"some of its columns: {shown(titles)}"
        raise CothermError(str(place), given, needed)


def refuse_text(place: str, found: Sequence[tuple[str, str]], *, titled: bool) -> CothermError:
    """The error for columns of words: what to call each, and an example."""
    columns = [f"{title} ({example})" for title, example in found[:_SHOWN]]
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    given = f"text in {len(found)} column{'s' * (len(found) != 1)}: {', '.join(columns)}{more}"
    advice, code = _CHOOSE, "text-columns"
    if not titled:
        advice, code = f"Write titles in the first row to choose columns by. {_CHOOSE}", "untitled+text-columns"
    return CothermError(place, given, "numbers to compare items by", advice, code=code)


def shown(titles: Sequence[str]) -> str:
    """The first few, to print."""
    return ", ".join(titles[:_SHOWN]) + ", ..." * (len(titles) > _SHOWN)


def mostly_words(rows: Iterable[Sequence[str]], columns: Sequence[int]) -> dict[int, str]:
    """The columns, most of whose cells are words, each with its first word."""
    words = dict.fromkeys(columns, 0)
    known = dict.fromkeys(columns, 0)
    examples: dict[int, str] = {}
    for row in rows:
        for c in columns:
            if is_missing(row[c]):
                continue
            known[c] += 1
            if is_text(row[c]):
                words[c] += 1
                examples.setdefault(c, row[c])
    return {c: examples[c] for c in columns if 2 * words[c] > known[c]}
