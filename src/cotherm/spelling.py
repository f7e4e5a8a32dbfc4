"""Names of the same items that are spelled in two ways: what keeps items from being paired, or pairs the wrong ones.

Nothing is repaired here: the user is told, or asked to name items alike.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import partial

# The last number of a name, with what stands before and behind it.
_NUMBERED = re.compile(r"(.*?)([0-9]{1,18})([^0-9]*)", re.DOTALL)
_LEADING_ZEROS = re.compile(r"(?<![0-9])0+(?=[0-9])")
_PUNCTUATION = re.compile(r"[\W_]+")
_ENDING = re.compile(r"[-_.][0-9]+$")
# A name this short is the beginning of others by chance.
_SHORTEST_CUT = 5
# Numbers under one stem, on average, from which on they count; a number of each stem is a suffix instead.
_COUNTING = 3
# If at least this many names all fit after a shift by one, that is not chance, wherever the numbers begin.
_TELLING = 8
# Numbers that are counted leave out less than the rest of this part.
_DENSE = 0.75


@dataclass(frozen=True)
class NearMiss:
    """Names that would be equal but for ``cause``: how many more, and one of them in both spellings."""

    count: int
    cause: str
    example: tuple[object, object]

    def sentence(self, first: str, second: str) -> str:
        """What to tell the user; ``first`` and ``second`` are the two sets of names."""
        spelled = ascii if self.cause == _UNICODE else repr  # forms of Unicode look alike
        a, b = map(spelled, self.example)
        return f"{self.count:,} more would pair but for {self.cause}: {a} in {first}, {b} in {second}"


@dataclass(frozen=True)
class Shift:
    """Numbers in the names of one set that seem to be one higher than those of the other for the same items.

    ``evident`` says that nothing else can be meant, ``example`` are two names that seem to be one item, lower first.
    """

    evident: bool
    from_zero: bool
    example: tuple[str, str]

    def sentence(self, lower: str) -> str:
        """What is wrong with the set of the higher numbers."""
        if self.from_zero:
            return f"rows counted from 1, where those of {lower} are counted from 0"
        return f"numbers one higher than those of {lower} ({self.example[1]!r} for {self.example[0]!r})"


Key = Callable[[str], str]
_UNICODE = "their Unicode form (NFC, NFD)"
_NUMBER_BEHIND = "a number at their end"


_composed = partial(unicodedata.normalize, "NFC")


def _reduced(name: str) -> str:
    return _PUNCTUATION.sub("", _LEADING_ZEROS.sub("", _composed(name).casefold()))


# What people and programs change without meaning to; the last is for several of them at once.
_CAUSES: tuple[tuple[str, Key], ...] = (
    ("their type", str),
    ("case", str.casefold),
    (_UNICODE, _composed),
    ("leading zeros", partial(_LEADING_ZEROS.sub, "")),
    ("punctuation", partial(_PUNCTUATION.sub, "")),
    ("several differences in spelling", _reduced),
)


def near_miss(first: Iterable[object], second: Iterable[object]) -> NearMiss | None:
    """The difference in spelling that keeps most names of two sets from being equal; None where there is none.

    The sets are those names of each that have no equal in the other.
    """
    a, b = list(first), list(second)
    if not a or not b:
        return None
    found = [_equal_by(a, b, cause, key, key) for cause, key in _CAUSES]
    # Of one set alone: item-1 and item-2 are two items.
    short = partial(_ENDING.sub, "")
    found += [_equal_by(a, b, _NUMBER_BEHIND, *keys) for keys in ((short, str), (str, short))]
    found.append(_cut_short(list(map(str, a)), list(map(str, b))))
    # Of equal counts the first, which is the simplest.
    return max((one for one in found if one is not None), key=lambda one: one.count, default=None)


def _equal_by(a: list[object], b: list[object], cause: str, key: Key, other: Key) -> NearMiss | None:
    """Names with the same key, each set by its own, that no other name of their set has."""
    ours, theirs = _once(a, key), _once(b, other)
    shared = [reduced for reduced in ours if reduced and reduced in theirs]
    return NearMiss(len(shared), cause, (ours[shared[0]], theirs[shared[0]])) if shared else None


def _once(names: list[object], key: Key) -> dict[str, object]:
    reduced = [key(str(name)) for name in names]
    count = Counter(reduced)
    return {one: name for one, name in zip(reduced, names, strict=True) if count[one] == 1}


def _cut_short(a: list[str], b: list[str]) -> NearMiss | None:
    """Names that are the beginning of one name of the other set; cut by a program they are all equally long."""
    cut = [*_beginnings(a, b), *((ours, theirs) for theirs, ours in _beginnings(b, a))]
    if not cut:
        return None
    length, count = Counter(min(map(len, pair)) for pair in cut).most_common(1)[0]
    example = next(pair for pair in cut if min(map(len, pair)) == length)
    return NearMiss(count, "their length", example) if count > 1 else None


def _beginnings(short: list[str], long: list[str]) -> list[tuple[str, str]]:
    ordered = sorted(long)
    found = []
    for name in short:
        if len(name) < _SHORTEST_CUT:
            continue
        at = bisect_left(ordered, name)
        if at < len(ordered) and ordered[at].startswith(name):
            alone = at + 1 == len(ordered) or not ordered[at + 1].startswith(name)
            rest = ordered[at][len(name) :]
            if alone and rest and not (name[-1].isdigit() and rest[0].isdigit()):  # 1001 is not 10013 cut short
                found.append((name, ordered[at]))
    return found


def shift_by_one(lower: Collection[object], higher: Collection[object]) -> Shift | None:
    """Whether names of ``higher`` seem to be counted from one number later than those of ``lower``."""
    ours, theirs = _numbers(lower), _numbers(higher)
    stems = ours.keys() & theirs.keys()
    a = {(stem, number) for stem in stems for number in ours[stem]}
    b = {(stem, number) for stem in stems for number in theirs[stem]}
    least = min(len(lower), len(higher))
    if 2 * len(a) <= len(lower) or 2 * len(b) <= len(higher) or min(len(a), len(b)) < _COUNTING * len(stems):
        return None
    moved = {(stem, number + 1) for stem, number in a}
    as_named, shifted = len(a & b), len(moved & b)
    if not as_named or not shifted:
        return None  # nothing is paired wrongly
    from_zero = _starts(ours, stems, 0) and _starts(theirs, stems, 1)
    gain = shifted - as_named
    fits = shifted == least and (gain > 0 if from_zero else gain > max(1, shifted // 10) and shifted >= _TELLING)
    if not fits and not (from_zero and 2 * shifted >= as_named and _is_dense(a) and _is_dense(b)):
        return None  # cohorts that lack some items may begin at different numbers
    stem, number = min(moved & b)
    return Shift(fits, from_zero, (_spelled(lower, stem, number - 1), _spelled(higher, stem, number)))


def _is_dense(numbers: set[tuple[tuple[str, str], int]]) -> bool:
    """Whether numbers are counted with few left out."""
    by_stem: dict[tuple[str, str], set[int]] = {}
    for stem, number in numbers:
        by_stem.setdefault(stem, set()).add(number)
    return len(numbers) >= _DENSE * sum(max(one) - min(one) + 1 for one in by_stem.values())


def _numbers(names: Iterable[object]) -> dict[tuple[str, str], set[int]]:
    """The numbers in names by what stands around them."""
    found: dict[tuple[str, str], set[int]] = {}
    for name in names:
        if (parts := _NUMBERED.fullmatch(str(name))) is not None:
            found.setdefault((parts[1], parts[3]), set()).add(int(parts[2]))
    return found


def _starts(numbers: dict[tuple[str, str], set[int]], stems: Iterable[tuple[str, str]], start: int) -> bool:
    """Whether most stems are counted from this number, and none from a lower one."""
    first = [min(numbers[stem]) for stem in stems]
    return min(first) == start and 2 * first.count(start) > len(first)


def _spelled(names: Iterable[object], stem: tuple[str, str], number: int) -> str:
    """The name with this number."""
    parts = (_NUMBERED.fullmatch(str(name)) for name in names)
    return next(one[0] for one in parts if one and (one[1], one[3]) == stem and int(one[2]) == number)
