"""Rows with an index, as pandas has them: matched by it, or refused, never taken by position in silence.

The rule, for whatever belongs to items: if an index has the same names as the items, its rows are brought into their
order. If it only counts the rows, 0 to n − 1, it says nothing, and the rows are taken as they come. Any other index is
refused: it says which rows are meant, and there is nothing to compare it with. pandas is never imported.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cotherm.errors import CothermError


def index_of(value: Any) -> list[Any] | None:
    """The index of a Series or a data frame; None for everything else."""
    if not hasattr(value, "iloc") or not hasattr(value, "index"):
        return None
    names: list[Any] = value.index.tolist()
    return names


def counts(names: Sequence[Any]) -> bool:
    """Whether names only count from 0, as numbers or text, like a default index."""
    return all(name == v or name == str(v) for v, name in enumerate(names))


def same_names(first: Sequence[Any], second: Sequence[Any]) -> bool:
    """Whether both hold the same unique names, in any order."""
    return len(first) == len(second) == len(set(first)) and set(first) == set(second)


def rows_in_order(argument: str, value: Any, *named: Any) -> Any:
    """The value with its rows in the order of the items, whose names are one of ``named``; None stands for no names."""
    own = index_of(value)
    if own is None:
        return value
    beside = [names.tolist() if hasattr(names, "tolist") else list(names) for names in named if names is not None]
    if own in beside:
        return value
    for names in beside:
        if same_names(own, names):
            place = {name: row for row, name in enumerate(own)}
            return value.iloc[[place[name] for name in names]]
    if counts(own):
        return value
    raise _refusal(argument, own, next((names for names in beside if not counts(names)), None))


def rows_together(arguments: Sequence[str], values: Sequence[Any]) -> list[Any]:
    """Values whose rows are the same items, all in the order of the first whose index has names."""
    indexes = [index_of(value) for value in values]
    telling = [k for k, own in enumerate(indexes) if own is not None and not counts(own)]
    if not telling:
        return list(values)
    order = indexes[telling[0]]
    assert order is not None
    if any(own is None or (counts(own) and not same_names(own, order)) for own in indexes):
        raise _refusal(arguments[telling[0]], order, None)
    return [rows_in_order(argument, value, order) for argument, value in zip(arguments, values, strict=True)]


def square_in_order(argument: str, value: Any) -> Any:
    """A matrix over pairs of items with its columns in the order of its rows, where both have names."""
    own = index_of(value)
    if own is None or not hasattr(value, "columns"):
        return value
    columns = value.columns.tolist()
    if same_names(own, columns):
        place = {name: column for column, name in enumerate(columns)}
        return value.iloc[:, [place[name] for name in own]]
    if own == columns or counts(own) or counts(columns):
        return value
    given = f"an index of names and columns of others ({own[:1]}, {columns[:1]})"
    advice = f"Pass {argument}.to_numpy() if rows and columns are in one order."
    raise CothermError(argument, given, "a row and a column for each item", advice)


def _refusal(argument: str, own: list[Any], names: list[Any] | None) -> CothermError:
    first = ", ".join(map(repr, own[:3])) + (", ..." if len(own) > 3 else "")
    advice = f"Pass {argument}.to_numpy() if its rows are in the right order."
    if names is None:
        needed = "no index, one that counts the rows from 0, or names on both sides"
        return CothermError(argument, f"an index ({first}), beside items without names to match it", needed, advice)
    given = f"an index ({first}) with names more than once"
    if len(set(own)) == len(own):
        both = set(own) & set(names)
        strange = next(name for name in (*own, *names) if name not in both)
        given = f"an index ({first}) that does not match: {strange!r} is on one side only"
    return CothermError(argument, given, f"the names of the items ({names[0]!r}, ...)", advice)
