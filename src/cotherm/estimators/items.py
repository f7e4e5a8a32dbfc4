"""Which rows of several views are the same item, and which items were not seen in a view.

Rows are paired one by one, by the index of data frames, or by a table of pairs. A row that is NaN throughout, or that a
mask leaves out, was not seen: the item is missing from that view.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from cotherm import validation
from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError
from cotherm.estimators.views import View, plain
from cotherm.graphs.graph import Graph
from cotherm.indexed import counts, rows_in_order, same_names
from cotherm.methods.pairs.common import CommonGraph
from cotherm.pairs import MISSING, checked_pairs, named_items, shown

Bools = NDArray[np.bool_]

_OTHER_WAYS = (
    "Make them of one length, with NaN rows or masks= where an item is missing; give every view a pandas index; "
    'or pass pairs= or functions=, or labels y with correspondence="labels".'
)


@dataclass(frozen=True, eq=False)
class Items:
    """Items and the rows that they are.

    ``table`` is (items, views): the row of each view that an item is, −1 where it was not seen. ``seen`` are the rows
    of each view that are items, ascending: row ``seen[k][v]`` is vertex v of the graph of view k. ``sizes`` are the
    numbers of rows, ``names`` the index of pandas if there is one.
    """

    table: Ints
    seen: tuple[Ints, ...]
    sizes: tuple[int, ...]
    names: Any = None

    def vertices(self) -> Ints:
        """The table with vertices of graphs in place of rows."""
        columns = [np.full(len(self.table), MISSING) for _ in self.sizes]
        for column, rows, table in zip(columns, self.seen, self.table.T, strict=True):
            here = table >= 0
            column[here] = np.searchsorted(rows, table[here])
        return np.column_stack(columns)

    def of_rows(self, view: int) -> Ints:
        """The item that each row seen in a view is."""
        return item_of_each(self.table[:, view])


def item_of_each(column: Ints) -> Ints:
    """The rows of a table in the order of the numbers in a column of it, holes left out."""
    here = np.flatnonzero(column >= 0)
    return np.asarray(here[np.argsort(column[here], kind="stable")], dtype=np.int64)


def found_items(views: Sequence[View], seen: Sequence[Bools], pairs: Any = None, *, shared: bool = True) -> Items:
    """The items of views, by ``pairs``, else by the index of data frames, else row by row; some of them shared."""
    sizes = tuple(view.size for view in views)
    indexes = [view.names for view in views]
    named = all(one is not None for one in indexes)
    names = None
    if pairs is not None:
        table = checked_pairs(pairs, sizes).all_items()
    elif named and not _same_order(indexes):
        table = named_items(indexes, [f"{view.argument}.index" for view in views], shared=shared)
        names = _names(indexes, table, sizes)
    else:
        require_one_order(views)
        table = _row_by_row(sizes)
        names = indexes[0] if named else None
    known = np.column_stack([np.append(one, False)[column] for one, column in zip(seen, table.T, strict=True)])
    _require_seen(table, known, names)
    rows = tuple(np.flatnonzero(one) for one in seen)
    return Items(np.where(known, table, MISSING), rows, sizes, names)


def every_row(views: Sequence[View], *, together: bool) -> Items:
    """All rows, where they are not paired: row r of all views is item r (``together``), or there are no items."""
    sizes = tuple(view.size for view in views)
    table = _row_by_row(sizes) if together else np.empty((0, len(sizes)), dtype=np.int64)
    return Items(table, tuple(np.arange(size) for size in sizes), sizes)


def seen_rows(view: View, mask: Any = None) -> Bools:
    """Which rows of a view are items: those that the mask names, else those that are not NaN throughout."""
    if mask is not None:
        seen = _checked_mask(f"masks[{view.number}]", mask, view)
        _require_complete(view, seen, masked=True)
        return seen
    array = _numbers(view)
    if array is None:
        return np.ones(view.size, dtype=bool)
    seen = ~np.all(np.isnan(array), axis=1)
    _require_complete(view, seen, masked=False)
    return seen


def checked_masks(masks: Any, count: int) -> list[Any]:
    """A mask for each view, or None; columns of one array are those of views."""
    if masks is None:
        return [None] * count
    if isinstance(masks, np.ndarray) and masks.ndim == 2 and masks.shape[1] == count:
        return list(masks.T)
    if isinstance(masks, np.ndarray | str) or not isinstance(masks, Sequence) or len(masks) != count:
        needed = f"a list with an array of True and False for each of {count} views"
        raise CothermError("masks", validation.describe(masks), needed)
    return list(masks)


def _numbers(view: View) -> NDArray[Any] | None:
    """Rows that may be NaN; None for graphs and sparse matrices, and for what is refused later."""
    if isinstance(view.given, Graph) or view.weights or sp.issparse(view.given):
        return None
    array = np.asarray(plain(view.given))
    return array if array.dtype.kind == "f" and array.ndim == 2 and array.shape[1] else None


def _require_complete(view: View, seen: Bools, *, masked: bool) -> None:
    array = _numbers(view)
    if array is None:
        return
    finite = np.isfinite(array)
    odd = np.flatnonzero(seen & ~np.all(finite, axis=1))
    if len(odd):
        row = int(odd[0])
        count = int(np.sum(~finite[row]))
        what = "infinite" if np.any(np.isinf(array[row])) else "NaN"
        raise CothermError(
            view.argument,
            f"row {row} of view {view.number}, {what} in {count} of its {array.shape[1]} columns",
            "finite numbers in rows that masks say were seen" if masked else "rows of finite numbers, or of NaN alone",
            "A row of NaN alone is an item that is missing from the view; impute single values.",
        )


def _checked_mask(argument: str, mask: Any, view: View) -> Bools:
    array = validation.as_array(argument, rows_in_order(argument, mask, view.names))
    if array.dtype.kind != "b" or array.shape != (view.size,):
        given = f"an array of shape {array.shape} and type {array.dtype}"
        raise CothermError(argument, given, f"True or False for each of the {view.size} rows of {view.argument}")
    return np.asarray(array, dtype=bool)


def _same_order(indexes: Sequence[Any]) -> bool:
    """Whether rows correspond as they are: equal indexes, or none but the row numbers that pandas makes up."""
    first = list(indexes[0])
    return all(list(one) == first for one in indexes) or all(_made_up(one) for one in indexes)


def require_one_order(views: Sequence[View]) -> None:
    """Refuse views of as many rows whose names say, or leave open, that row r is not the same item in all of them."""
    rows = [None if view.names is None else list(view.names) for view in views]
    telling = next((k for k, own in enumerate(rows) if own is not None and not counts(own)), None)
    if telling is None:
        return
    order = rows[telling]
    assert order is not None
    first = views[telling].argument
    for view, own in zip(views, rows, strict=True):
        if own != order and (own is None or len(own) == len(order)):
            names = f"{first}, whose rows are {', '.join(map(shown, order[:3]))}, ..."
            given = "rows without names"
            advice = "Give all of them an index, or none: to_numpy() takes rows one by one."
            if own is not None and same_names(own, order):
                given = "the same rows in another order"
                advice = f"{view.argument}.loc[{first}.index] brings a data frame into that order."
            elif own is not None and not counts(own):
                given = "rows of other names"
            raise CothermError(view.argument, f"{given}, beside {names}", "the same rows in the same order", advice)


def _made_up(index: Any) -> bool:
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1


def _names(indexes: Sequence[Any], table: Ints, sizes: Sequence[int]) -> Any:
    """The index of all items, each where it first occurs."""
    first = np.argmax(table >= 0, axis=1)
    starts = np.cumsum([0, *sizes[:-1]])
    frames = all(hasattr(one, "append") for one in indexes)
    together = indexes[0].append(list(indexes[1:])) if frames else np.concatenate([np.asarray(one) for one in indexes])
    return together.take(starts[first] + table[np.arange(len(table)), first])


def _row_by_row(sizes: Sequence[int]) -> Ints:
    if len(set(sizes)) > 1:
        raise CothermError(
            "X",
            f"views of {', '.join(map(str, sizes))} rows, and no word on which are the same",
            "views of the same items",
            _OTHER_WAYS,
        )
    return np.tile(np.arange(sizes[0], dtype=np.int64)[:, np.newaxis], len(sizes))


def _require_seen(table: Ints, known: Bools, names: Any) -> None:
    never = np.flatnonzero(~np.any(known, axis=1))
    if len(never):
        item = int(never[0])
        view = int(np.argmax(table[item] >= 0))
        called = f"row {table[item, view]} of view {view}" if names is None else f"item {shown(names[item])}"
        if names is None and np.all(table[item] == table[item, 0]):
            called = f"row {item}"
        raise CothermError(
            "X",
            f"{called}, which was seen in no view ({len(never)} such item(s))",
            "every item in at least one view",
            "Drop it.",
        )


def spread(values: Floats, rows: Ints, size: int) -> Floats:
    """The values at their rows of ``size``, NaN elsewhere."""
    full = np.full((size, values.shape[1]), np.nan)
    full[rows] = values
    return full


def in_order(common: CommonGraph, table: Ints) -> tuple[CommonGraph, Ints]:
    """The common graph with its items in the order of the table, and the rows of these in the table."""
    place = np.empty(len(common.items), dtype=np.int64)  # of each item of the common graph
    for ours, theirs in zip(table.T, common.items.T, strict=True):
        here = np.flatnonzero(theirs >= 0)
        place[here] = item_of_each(ours)[theirs[here]]
    there = np.argsort(place)
    if np.array_equal(there, np.arange(len(there))):
        return common, place
    first = None if common.first_neighbors is None else common.first_neighbors.subgraph(there)
    graph, items = common.graph.subgraph(there), common.items[there]
    weights = common.view_weights[there]
    return replace(common, graph=graph, items=items, view_weights=weights, first_neighbors=first), place[there]
