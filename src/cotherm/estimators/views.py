"""Views in, and which of their rows are the same item.

Rows are paired one by one, by the index of data frames, or by a table of pairs. A row that is NaN throughout was not
seen: the item is missing from that view.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from cotherm import validation
from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError, CothermWarning
from cotherm.graphs.graph import Graph
from cotherm.indexed import counts, same_names
from cotherm.lazy import lazy
from cotherm.methods.pairs.common import CommonGraph
from cotherm.pairs import MISSING, checked_pairs, named_items, shown

Bools = NDArray[np.bool_]

_COLUMNS = "None, or a list with a number of columns for each view, or with a slice or column numbers for each"
_OTHER_WAYS = (
    "Make them of one length, with NaN rows where an item is missing; give every view a pandas index; "
    'or pass pairs= or functions=, or labels y with correspondence="labels".'
)


@dataclass(frozen=True)
class View:
    """A view with rows and columns; ``argument`` is its name in messages, ``names`` are those of its rows, if any."""

    argument: str
    number: int
    given: Any
    names: Any = None

    @property
    def size(self) -> int:
        """Number of rows."""
        return self.given.n if isinstance(self.given, Graph) else int(np.shape(self.given)[0])

    @lazy
    def seen(self) -> Bools:
        """Which rows are items: those that are not NaN throughout; all of graphs and sparse matrices."""
        given = self.given
        array = None if isinstance(given, Graph) or sp.issparse(given) else np.asarray(plain(given))
        # Arrays of other shapes and kinds are refused later.
        if array is None or array.dtype.kind != "f" or array.ndim != 2 or not array.shape[1]:
            return np.ones(self.size, dtype=bool)
        seen = ~np.all(np.isnan(array), axis=1)
        finite = np.isfinite(array)
        if len(odd := np.flatnonzero(seen & ~np.all(finite, axis=1))):
            row = int(odd[0])
            what = "infinite" if np.any(np.isinf(array[row])) else "NaN"
            raise CothermError(
                self.argument,
                f"row {row} of view {self.number}, {what} in {np.sum(~finite[row])} of its {array.shape[1]} columns",
                "rows of finite numbers, or of NaN alone",
                "A row of NaN alone is an item that is missing from the view; impute single values.",
            )
        return np.asarray(seen)

    def part(self, rows: Ints) -> Any:
        """These rows as an array or a sparse matrix; of a graph, whose rows are all seen, the whole."""
        given = plain(self.given)
        if len(rows) == self.size:
            return given
        return given.tocsr()[rows] if hasattr(given, "tocsr") else np.asarray(given)[rows]


def listed_view(number: int, given: Any) -> View:
    """One of a list of views."""
    argument = f"X[{number}]"
    validation.refuse_cells(argument, given)
    if isinstance(given, Graph):
        return View(argument, number, given, given.vertex_names)
    view = given if hasattr(given, "shape") else validation.as_array(argument, given)
    if len(view.shape) != 2:
        raise CothermError(argument, f"an array of shape {view.shape}", "rows and columns, or a Graph")
    return View(argument, number, view, row_names(view))


def is_list_of_views(X: Any) -> bool:
    """Whether X is several views, and not one array, which may come as nested lists."""
    if not isinstance(X, list | tuple) or not X:
        return False
    return any(isinstance(view, Graph) or len(getattr(view, "shape", ())) > 1 for view in X)


def row_names(given: Any) -> Any:
    """The index of a data frame; None where there is none."""
    return given.index if hasattr(given, "index") and hasattr(given, "to_numpy") else None


def plain(given: Any) -> Any:
    """A data frame as an array, of floats and with NaN for missing values if it holds numbers; others as they are."""
    if not hasattr(given, "to_numpy"):
        return given
    kinds = {getattr(dtype, "kind", "O") for dtype in given.dtypes} if hasattr(given, "columns") else set()
    if kinds and kinds <= set("biuf"):
        return given.to_numpy(dtype=np.float64, na_value=np.nan)
    return given.to_numpy()


def columns_of_views(view_columns: Any, count: int) -> list[Ints]:
    """The columns of each view among ``count``: without ``view_columns`` all of them are one view."""
    if view_columns is None:
        return [np.arange(count)]
    if isinstance(view_columns, str | np.ndarray) or not isinstance(view_columns, Sequence) or not len(view_columns):
        raise CothermError("view_columns", validation.describe(view_columns), _COLUMNS)
    if all(isinstance(entry, int | np.integer) for entry in view_columns):
        if min(view_columns) < 1 or sum(view_columns) != count:
            needed = f"numbers of columns >= 1 that add up to the {count} of X"
            raise CothermError("view_columns", f"{list(view_columns)}", needed)
        return np.split(np.arange(count), np.cumsum(view_columns)[:-1])
    return [_chosen(f"view_columns[{k}]", entry, count) for k, entry in enumerate(view_columns)]


def _chosen(argument: str, entry: Any, count: int) -> Ints:
    numbers = np.arange(count)[entry] if isinstance(entry, slice) else validation.indices(argument, entry, below=count)
    if not len(numbers):
        raise CothermError(argument, validation.describe(entry), f"at least one of the {count} columns of X")
    return np.asarray(numbers, dtype=np.int64)


def column_names(view: Any) -> list[Any] | None:
    """The columns of a data frame; of a graph, to whose vertices new samples have weights, the names of these."""
    names = view.vertex_names if isinstance(view, Graph) else getattr(view, "columns", None)
    return None if names is None else names.tolist()


def feature_names(names: list[Any] | None) -> Any:
    """What scikit-learn would call ``feature_names_in_``: strings, else None."""
    return np.array(names, dtype=object) if names and all(isinstance(name, str) for name in names) else None


def require_columns(argument: str, fitted: list[Any] | None, view: Any, *, warn: bool = True) -> None:
    """Refuse columns of other names or in another order; warn where only one of the two has names."""
    new = column_names(view)
    if new == fitted:
        return
    bare = [names is None or counts(names) for names in (fitted, new)]
    if fitted is not None and new is not None and (same_names(fitted, new) or not any(bare)):
        at = next(k for k, (a, b) in enumerate(zip_longest(fitted, new)) if a != b)
        given = f"columns {new[at : at + 3]} in place of {fitted[at : at + 3]}, from column {at} on"
        advice = "frame[names], with the names of training, brings them into order."
        raise CothermError(argument, given, "the columns of training, in their order", advice)
    if warn and bare[0] != bare[1]:
        has = (
            "does not have names of columns, but training had" if bare[1] else "has names of columns, training had not"
        )
        warnings.warn(f"{argument} {has}; columns are taken in their order", CothermWarning, stacklevel=6)


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
        pairs = zip(self.seen, self.table.T, strict=True)
        return np.column_stack([np.where(rows >= 0, np.searchsorted(seen, rows), MISSING) for seen, rows in pairs])

    def of_rows(self, view: int) -> Ints:
        """The item that each row seen in a view is."""
        return _item_of_each(self.table[:, view])


def _item_of_each(column: Ints) -> Ints:
    """The rows of a table in the order of the numbers in a column of it, holes left out."""
    here = np.flatnonzero(column >= 0)
    return np.asarray(here[np.argsort(column[here], kind="stable")], dtype=np.int64)


def found_items(views: Sequence[View], pairs: Any = None, *, shared: bool = True) -> Items:
    """The items of views, by ``pairs``, else by the index of data frames, else row by row; some of them shared."""
    sizes, seen = tuple(view.size for view in views), [view.seen for view in views]
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


def _same_order(indexes: Sequence[Any]) -> bool:
    """Whether rows correspond as they are: equal indexes, or none but the row numbers that pandas makes up."""
    first = list(indexes[0])
    return all(list(one) == first for one in indexes) or all(
        type(one).__name__ == "RangeIndex" and one.start == 0 and one.step == 1 for one in indexes
    )


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
            given = "rows of other names or in another order" if own is not None else "rows without names"
            raise CothermError(
                view.argument,
                f"{given}, beside {first}, whose rows are {', '.join(map(shown, order[:3]))}, ...",
                "the same rows in the same order",
                f"{view.argument}.loc[{first}.index] brings a data frame into order; to_numpy() takes rows one by one.",
            )


def _names(indexes: Sequence[Any], table: Ints, sizes: Sequence[int]) -> Any:
    """The index of all items, each where it first occurs."""
    first = np.argmax(table >= 0, axis=1)
    starts = np.cumsum([0, *sizes[:-1]])
    frames = all(hasattr(one, "append") for one in indexes)
    together = indexes[0].append(list(indexes[1:])) if frames else np.concatenate([np.asarray(one) for one in indexes])
    return together.take(starts[first] + table[np.arange(len(table)), first])


def _row_by_row(sizes: Sequence[int]) -> Ints:
    if len(set(sizes)) > 1:
        given = f"views of {', '.join(map(str, sizes))} rows, and no word on which are the same"
        raise CothermError("X", given, "views of the same items", _OTHER_WAYS)
    return np.tile(np.arange(sizes[0], dtype=np.int64)[:, np.newaxis], len(sizes))


def _require_seen(table: Ints, known: Bools, names: Any) -> None:
    never = np.flatnonzero(~np.any(known, axis=1))
    if len(never):
        item = int(never[0])
        view = int(np.argmax(table[item] >= 0))
        called = f"row {table[item, view]} of view {view}" if names is None else f"item {shown(names[item])}"
        if names is None and np.all(table[item] == table[item, 0]):
            called = f"row {item}"
        given = f"{called}, which was seen in no view ({len(never)} such item(s))"
        raise CothermError("X", given, "every item in at least one view", "Drop it.")


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
        place[here] = _item_of_each(ours)[theirs[here]]
    there = np.argsort(place)
    if np.array_equal(there, np.arange(len(there))):
        return common, place
    first = None if common.first_neighbors is None else common.first_neighbors.subgraph(there)
    graph, items = common.graph.subgraph(there), common.items[there]
    weights = common.view_weights[there]
    return replace(common, graph=graph, items=items, view_weights=weights, first_neighbors=first), place[there]
