"""Which vertices of several graphs are the same item.

Pairs come as the words "same" or "names", as index arrays, or as a table with a column for each graph and holes where
an item is missing from a view. All become one table of whole numbers, −1 for a hole.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cotherm import validation
from cotherm.arrays import Ints
from cotherm.errors import CothermError, CothermWarning
from cotherm.indexed import counts, index_of, rows_together, same_names
from cotherm.io.cells import is_missing
from cotherm.spelling import near_miss, shift_by_one

MISSING = -1
_NEEDED = 'the word "same" or "names", an index array for each graph, or a table with a column for each graph'


@dataclass(frozen=True, eq=False)
class Pairs:
    """Items that are in two or more graphs.

    ``table`` is (items, graphs): the vertex that an item is in each graph, −1 where it is missing. ``sizes`` are the
    numbers of vertices.
    """

    table: Ints
    sizes: tuple[int, ...]

    def shared(self, a: int, b: int) -> tuple[Ints, Ints]:
        """The vertices of graph a and of graph b that are the same items, in the same order."""
        both = (self.table[:, a] >= 0) & (self.table[:, b] >= 0)
        return self.table[both, a], self.table[both, b]

    def count(self, a: int, b: int) -> int:
        """How many items two graphs share."""
        return len(self.shared(a, b)[0])

    def without(self, rows: NDArray[Any]) -> Pairs:
        """The same without some items."""
        return Pairs(np.delete(self.table, rows, axis=0), self.sizes)

    def among(self, views: Sequence[int]) -> Pairs:
        """The items that two or more of some graphs have, as if there were no others."""
        table = self.table[:, list(views)]
        return Pairs(table[np.sum(table >= 0, axis=1) > 1], tuple(self.sizes[k] for k in views))

    def all_items(self) -> Ints:
        """The table of all items: those in several graphs, then the vertices that are in one graph only."""
        blocks = [self.table]
        for k, n in enumerate(self.sizes):
            alone = np.setdiff1d(np.arange(n), self.table[:, k])
            rows = np.full((len(alone), len(self.sizes)), MISSING)
            rows[:, k] = alone
            blocks.append(rows)
        return np.vstack(blocks)


def checked_pairs(
    pairs: Any, sizes: Sequence[int], names: Sequence[NDArray[Any] | None] = (), argument: str = "pairs"
) -> Pairs:
    """From any of the ways to say it. ``names`` are those of the vertices of each graph, None where it has none."""
    if isinstance(pairs, str):
        table = _from_word(pairs, sizes, names, argument)
    elif isinstance(pairs, (list, tuple)) and len(pairs) == len(sizes) and all(np.ndim(one) == 1 for one in pairs):
        if any(index_of(one) is not None for one in pairs):
            pairs = rows_together([f"{argument}[{k}]" for k in range(len(pairs))], pairs)
        table = _index_arrays(pairs, argument)
    else:
        table = _table(pairs, len(sizes), argument)
    columns = [f"{argument}[{k}]" for k in range(len(sizes))]
    for k, (column, n) in enumerate(zip(table.T, sizes, strict=True)):
        _require_range(columns[k], column, n)
        _require_once(columns[k], table, k)
    table = table[np.sum(table >= 0, axis=1) > 1]
    found = Pairs(table, tuple(sizes))
    require_shared(max(found.count(a, b) for a, b in combinations(range(len(sizes)), 2)), argument)
    return found


def require_shared(count: int, argument: str = "pairs") -> None:
    """Refuse fewer than two items that two graphs share."""
    if count < 2:
        given = f"{'one' if count else 'no'} item that is in two graphs"
        raise CothermError(argument, given, "at least two items in common")


def require_word(word: str, argument: str = "pairs") -> None:
    """Refuse words that say nothing about pairs."""
    if word not in ("same", "names"):
        raise CothermError(argument, repr(word), _NEEDED)


def same_sizes(sizes: Sequence[int], argument: str = "pairs") -> None:
    """Refuse graphs that cannot be on the same vertices."""
    if len(set(sizes)) > 1:
        raise CothermError(
            argument,
            f'"same" with graphs of {", ".join(map(str, sizes))} vertices',
            "graphs on the same vertices",
            'Give "names" if the vertices have names, an index array for each graph, or a table with holes.',
        )


def pair_names(names: Sequence[Iterable[Any]]) -> Ints:
    """Pair vertices that have the same name.

    Parameters
    ----------
    names : sequence of sequence of str
        The name of every vertex, one sequence for each graph. Names may be anything that can be compared and hashed; an
        index of pandas is a sequence of names.

    Returns
    -------
    ndarray of int of shape (items, graphs)
        A row for every name that is in two or more graphs: the vertex of that name in each graph, -1 where a graph
        has none. In the order in which the names first occur.

    Raises
    ------
    CothermError
        If a name is missing or occurs twice in one graph, if no name is in two graphs, if names of two graphs are
        alike but of different types, such as 1 and "1", or if names of one graph are evidently counted from 0 and those
        of another from 1.

    Warns
    -----
    CothermWarning
        Where more names would be equal but for case, leading zeros, the Unicode form, punctuation, a number at their
        end or their length, or where names may be counted from 0 in one graph and from 1 in another.

    See Also
    --------
    couple_pairs : Takes this table.
    cotherm.interop.anndata_pairs : The same for cells.

    Examples
    --------
    >>> import cotherm as ct
    >>> ct.pair_names([["ann", "bob", "eve"], ["eve", "dan", "ann"]]).tolist()
    [[0, 2], [2, 0]]

    Rows of two data frames:

    >>> import pandas as pd
    >>> tags = pd.DataFrame({"x": [1.0, 2.0, 3.0]}, index=["ann", "bob", "eve"])
    >>> colors = pd.DataFrame({"y": [0.0, 0.5]}, index=["eve", "ann"])
    >>> ct.pair_names([tags.index, colors.index]).tolist()
    [[0, 1], [2, 0]]
    """
    listed = bool(getattr(names, "ndim", isinstance(names, Sequence)))
    if isinstance(names, str) or not listed or len(names) < 2 or not all(isinstance(one, Iterable) for one in names):
        raise CothermError("names", validation.describe(names), "the names of two or more graphs")
    table = named_items(names, [f"names[{k}]" for k in range(len(names))])
    return table[np.sum(table >= 0, axis=1) > 1]


def named_items(
    names: Sequence[Iterable[Any]],
    arguments: Sequence[str],
    advice: str = "",
    *,
    shared: bool = True,
    tell: Callable[[str], None] | None = None,
) -> Ints:
    """The table of all items by name, in the order in which names first occur; where asked, some must be shared.

    ``arguments`` are the names of the sequences in messages, ``advice`` what to do about a name that occurs twice.
    ``tell`` gets sentences about names that may be meant otherwise, which are warnings by default.
    """
    places: dict[Any, list[int]] = {}
    for k, one in enumerate(names):
        for vertex, name in enumerate(one):
            row = places.setdefault(_hashable(arguments[k], vertex, name), [MISSING] * len(names))
            if row[k] != MISSING:
                given = f"{shown(name)} twice, at {row[k]} and {vertex}"
                raise CothermError(arguments[k], given, "each name once", advice)
            row[k] = vertex
    table = np.array(list(places.values()), dtype=np.int64).reshape(len(places), len(names))
    _require_one_type(places, table, arguments)
    _refuse_missing(list(places), table, arguments)
    notes = _doubts(list(places), table, arguments)
    if shared and not np.any(np.sum(table >= 0, axis=1) > 1):
        firsts = ", ".join(shown(name) for name in _first_names(list(places), table))
        given = f"no name that is in two of them (first names: {firsts})"
        raise CothermError(", ".join(arguments), given, "names in common", ". ".join([*notes, ""]).strip())
    for note in notes:
        (tell or _warn)(note)
    return table


def _warn(note: str) -> None:
    warnings.warn(f"pairs by name: {note}.", CothermWarning, stacklevel=4)


def _refuse_missing(names: list[Any], table: Ints, arguments: Sequence[str]) -> None:
    """Two items without a name are not the same item."""
    for item in np.flatnonzero(np.sum(table >= 0, axis=1) > 1):
        if isinstance(names[item], str) and is_missing(names[item]):
            k = int(np.argmax(table[item] >= 0))
            raise CothermError(
                arguments[k],
                f"{shown(names[item])} at {table[item, k]}, which marks a missing name, as in another graph",
                "a name for each",
                "Leave out what has no name, or name it otherwise.",
            )


def _doubts(names: list[Any], table: Ints, arguments: Sequence[str]) -> list[str]:
    """Names that may be meant otherwise, in sentences; refused where nothing else can be meant."""
    notes: list[str] = []
    for a, b in combinations(range(len(arguments)), 2):
        here, there = table[:, a] >= 0, table[:, b] >= 0
        if np.array_equal(here, there):
            continue
        _append_shift(notes, names, (here, there), (arguments[a], arguments[b]))
        _append_shift(notes, names, (there, here), (arguments[b], arguments[a]))
        alone = [[names[item] for item in np.flatnonzero(only)] for only in (here & ~there, there & ~here)]
        if (found := near_miss(*alone)) is not None:
            notes.append(found.sentence(arguments[a], arguments[b]))
    return notes


def _append_shift(
    notes: list[str], names: list[Any], of: tuple[NDArray[Any], NDArray[Any]], arguments: tuple[str, str]
) -> None:
    """Names of the second of two graphs may be counted from 1 where those of the first are counted from 0."""
    lower, higher = ([names[item] for item in np.flatnonzero(one)] for one in of)
    found = shift_by_one(lower, higher)
    if found is None:
        return
    if found.evident:
        raise CothermError(
            arguments[1],
            found.sentence(arguments[0]),
            "the same names for the same items",
            "Count them alike, or leave the numbers out and pair row by row.",
        )
    notes.append(
        f"rows of {arguments[1]} seem to be counted from 1, those of {arguments[0]} from 0: check that equal names are "
        "the same items"
    )


def _hashable(argument: str, vertex: int, name: Any) -> Any:
    if _is_hole(name):
        raise CothermError(argument, f"no name at {vertex}", "a name for each")
    try:
        hash(name)
    except TypeError:
        given = f"a {type(name).__name__} at {vertex}"
        raise CothermError(argument, given, "names such as strings or numbers, which can be hashed") from None
    return name


def shown(name: Any) -> str:
    """The name as one would write it: 3 and not np.int64(3)."""
    return repr(name.item() if isinstance(name, np.generic) else name)


def _first_names(names: Sequence[Any], table: Ints) -> list[Any]:
    return [names[rows[0]] for column in table.T if len(rows := np.flatnonzero(column == 0))]


def _require_one_type(places: dict[Any, list[int]], table: Ints, arguments: Sequence[str]) -> None:
    """Refuse a graph none of whose names is in another, though some would be if all were strings."""
    alone = np.flatnonzero(~np.any((table >= 0) & (np.sum(table >= 0, axis=1) > 1)[:, np.newaxis], axis=0))
    if not len(alone):
        return
    written: dict[str, list[Any]] = {}
    for name in places:
        written.setdefault(str(name), []).append(name)
    for k in alone.tolist():
        for same in written.values():
            mine = [name for name in same if places[name][k] >= 0]
            others = [name for name in same if places[name][k] < 0]
            if mine and others:
                other = next(j for j, vertex in enumerate(places[others[0]]) if vertex >= 0)
                raise CothermError(
                    arguments[k],
                    f"{_typed(mine[0])}, but {_typed(others[0])} in {arguments[other]}",
                    "names of one type",
                    "Make all of them strings, for an index of pandas by index.astype(str).",
                )


def _typed(name: Any) -> str:
    plain = name.item() if isinstance(name, np.generic) else name
    return f"{plain!r} ({type(plain).__name__})"


def first_difference(names: Sequence[NDArray[Any] | None]) -> str | None:
    """Why vertices of one number may not be the same item, in words: names that differ, or that only some graphs have.

    None if no graph has names, or all have the same. Names that count from 0 are treated as no names.
    """
    named = [(k, one) for k, one in enumerate(names) if one is not None]
    for k, one in named[1:]:
        first, other = named[0][1], one
        if len(first) != len(other):
            continue
        apart = np.flatnonzero(first != other) if first.dtype.kind == other.dtype.kind else np.arange(1)
        if len(apart):
            v = int(apart[0])
            a, b = shown(first[v].item()), shown(other[v].item())
            return f"vertex {v} is {a} in graph {named[0][0]} and {b} in graph {k}"
    telling = next(((k, one) for k, one in named if not counts(one.tolist())), None)
    if telling is None or len(named) == len(names):
        return None
    bare = next(k for k, one in enumerate(names) if one is None)
    return f"vertex 0 is {shown(telling[1][0].item())} in graph {telling[0]}, and graph {bare} has no names"


def _from_word(word: str, sizes: Sequence[int], names: Sequence[NDArray[Any] | None], argument: str) -> Ints:
    require_word(word, argument)
    if word == "same":
        return _same(sizes, names, argument)
    without = [k for k in range(len(sizes)) if k >= len(names) or names[k] is None]
    if without:
        given = f'"names", but the vertices of graph {without[0]} have none'
        raise CothermError(argument, given, "graphs whose vertices have names (vertex_names)")
    known = [one.tolist() for one in names if one is not None]
    return named_items(known, [f"graphs[{k}].vertex_names" for k in range(len(sizes))])


def _same(sizes: Sequence[int], names: Sequence[NDArray[Any] | None], argument: str) -> Ints:
    """Vertices by number; by name where all graphs have the same names in different orders."""
    same_sizes(sizes, argument)
    in_words = first_difference(names)
    if in_words is None:
        return np.tile(np.arange(sizes[0], dtype=np.int64)[:, np.newaxis], len(sizes))
    known = [one.tolist() for one in names if one is not None]
    if len(known) < len(sizes):
        advice = (
            "Give names to all (vertex_names), or take them away with Graph.bare() if vertices correspond by number."
        )
        raise CothermError(argument, f'"same", but {in_words}', "names on all graphs, or on none", advice)
    if not all(same_names(known[0], one) for one in known[1:]):
        raise CothermError(argument, f'"same", but {in_words}', "the same vertices", 'Give "names" to pair by name.')
    places = [{name: v for v, name in enumerate(one)} for one in known]
    return np.array([[place[name] for place in places] for name in known[0]], dtype=np.int64)


def _index_arrays(arrays: Sequence[ArrayLike], argument: str) -> Ints:
    columns = [_whole_numbers(f"{argument}[{k}]", one) for k, one in enumerate(arrays)]
    lengths = [len(one) for one in columns]
    if len(set(lengths)) > 1:
        raise CothermError(
            argument, f"index arrays of {', '.join(map(str, lengths))} entries", "arrays of one length: entry by entry"
        )
    return np.column_stack(columns)


def _table(table: Any, graphs: int, argument: str) -> Ints:
    is_masked = isinstance(table, np.ma.MaskedArray)
    array = np.ma.filled(table, MISSING) if is_masked else validation.as_array(argument, table)
    if array.ndim != 2 or array.shape[1] != graphs:
        shape = f"an array of shape {array.shape}"
        raise CothermError(argument, shape, f"{_NEEDED} ({graphs} graphs)")
    return np.column_stack([_whole_numbers(f"{argument}[:, {k}]", column) for k, column in enumerate(array.T)])


def _whole_numbers(argument: str, column: ArrayLike) -> Ints:
    """Vertex numbers; −1, NaN and None are holes."""
    array = np.asarray(column)
    if array.dtype == object:
        array = np.array([np.nan if _is_hole(entry) else entry for entry in array])
    if array.dtype.kind not in "iuf":
        raise CothermError(argument, f"entries of type {array.dtype}", "vertex numbers from 0, and -1 or NaN for holes")
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), float(MISSING), array)
        odd = np.flatnonzero((array != np.round(array)) | (np.abs(array) > 2.0**53))
        if len(odd):
            raise CothermError(argument, f"{array[odd[0]]:g} in row {odd[0]}", "whole numbers, and -1 or NaN for holes")
    return array.astype(np.int64)


def _is_hole(entry: Any) -> bool:
    """Whether it is None, NaN or a missing value of NumPy or pandas, or has one, as a row of several indexes may."""
    if isinstance(entry, tuple):
        return any(map(_is_hole, entry))
    if isinstance(entry, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(entry))
    if isinstance(entry, (float, np.floating)):
        return bool(np.isnan(entry))
    return entry is None or type(entry).__name__ in ("NAType", "NaTType")


def _require_range(argument: str, column: Ints, n: int) -> None:
    wrong = np.flatnonzero((column < MISSING) | (column >= n))
    if len(wrong):
        raise CothermError(
            argument, f"vertex {column[wrong[0]]} in row {wrong[0]}", f"vertices from 0 to {n - 1}, or -1 for a hole"
        )


def _require_once(argument: str, table: Ints, k: int) -> None:
    """A vertex is one item: twice in a column is a repeated pair, or two pairs that contradict each other."""
    rows = np.flatnonzero(table[:, k] >= 0)
    order = rows[np.argsort(table[rows, k], kind="stable")]
    twice = np.flatnonzero(np.diff(table[order, k]) == 0)
    if not len(twice):
        return
    first, second = order[twice[0]], order[twice[0] + 1]
    vertex = int(table[first, k])
    if np.array_equal(table[first], table[second]):
        raise CothermError(argument, f"vertex {vertex} in rows {first} and {second}, the same pair twice", "it once")
    raise CothermError(
        argument,
        f"vertex {vertex} in rows {first} and {second}, with different partners",
        "one partner for each vertex",
        "Put all vertices of one item into one row.",
    )
