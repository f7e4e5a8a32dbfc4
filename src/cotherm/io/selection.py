"""Which columns of a table are numbers to compare rows by, and which holds their classes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cotherm.errors import CothermError
from cotherm.io.cells import is_missing, is_text

# What the user passes to choose columns; the command line has options for them.
TAKE, LEAVE, CLASSES = "columns=", "drop=", "label_column="
IDS, NO_IDS = "id_column=", "id_column=False"
CHOOSE = f"Leave out columns with {LEAVE}, take some with {TAKE}, or name the one that holds classes with {CLASSES}."
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
    """Columns by number: the features in the order asked for, that of the labels or None; titles that are not there."""

    features: tuple[int, ...]
    label: int | None
    absent: tuple[str, ...]


def choose(
    place: Path | str, titles: Sequence[str] | None, width: int, selection: Selection, name_title: str | None = None
) -> Choice:
    """What a selection means for a table of ``width`` columns, that of the names under ``name_title`` not counted."""
    if titles is None:
        if selection.columns is not None:
            raise CothermError(str(place), "no titles", f"titles to choose columns by: {shown(selection.columns)}")
        require_all(place, None, selection, selection.asked)
        return Choice(tuple(range(width)), None, selection.asked)
    for title in selection.asked:
        if titles.count(title) > 1:
            raise CothermError(str(place), f"{titles.count(title)} columns {title!r}", "titles that tell columns apart")
    if selection.label is not None and selection.label in (selection.columns or ()):
        raise CothermError(str(place), f"{selection.label!r} as a feature and as the label", "one of the two")
    absent = tuple(title for title in selection.asked if title not in titles and title != name_title)
    require_all(place, titles, selection, absent)
    taken = titles if selection.columns is None else [title for title in selection.columns if title in titles]
    places = range(width) if selection.columns is None else [titles.index(title) for title in taken]
    without = {*selection.drop, selection.label, *(selection.ids or ())}
    features = tuple(c for c in places if titles[c] not in without)
    if not features:
        given = "no column that is left" if titles else "no column but the names"
        raise CothermError(str(place), given, f"at least one, of {shown(titles)}" if titles else "at least one")
    return Choice(features, titles.index(selection.label) if selection.label in titles else None, absent)


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
    advice = CHOOSE if titled else f"Write titles in the first row to choose columns by. {CHOOSE}"
    return CothermError(place, given, "numbers to compare items by", advice)


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
