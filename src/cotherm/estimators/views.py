"""Views in: a list of them, or one array of whose columns they are made, and the names of their rows and columns."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cotherm import validation
from cotherm.arrays import Ints
from cotherm.errors import CothermError, CothermWarning
from cotherm.graphs.graph import Graph
from cotherm.indexed import counts, same_names, square_in_order

_NEEDED = "None, or a list with a number of columns for each view, or with a slice or column numbers for each"
_COLUMNS_ADVICE = "frame[names], with the names of training, brings them into order."


@dataclass(frozen=True)
class View:
    """A view with rows and columns.

    ``argument`` is its name in messages, ``names`` are those of its rows, if they have any, and ``weights`` says
    whether it is a matrix of weights.
    """

    argument: str
    number: int
    given: Any
    names: Any = None
    weights: bool = False

    @property
    def size(self) -> int:
        """Number of rows."""
        return self.given.n if isinstance(self.given, Graph) else int(np.shape(self.given)[0])

    def part(self, rows: Ints) -> Any:
        """These rows as an array, a sparse matrix or a graph; of graphs and matrices of weights the columns as well."""
        given = plain(self.given)
        if len(rows) == self.size:
            return given
        if isinstance(given, Graph):
            return given.subgraph(rows)
        part = given.tocsr()[rows] if hasattr(given, "tocsr") else np.asarray(given)[rows]
        return part[:, rows] if self.weights else part


def listed_view(number: int, given: Any, *, weights: bool) -> View:
    """One of a list of views; ``weights`` says that matrices are weights."""
    argument = f"X[{number}]"
    validation.refuse_cells(argument, given)
    if isinstance(given, Graph):
        return View(argument, number, given, given.vertex_names)
    view = square_in_order(argument, given) if weights else given
    view = view if hasattr(view, "shape") else validation.as_array(argument, view)
    if len(view.shape) != 2:
        raise CothermError(argument, f"an array of shape {view.shape}", "rows and columns, or a Graph")
    return View(argument, number, view, row_names(view), weights)


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
        raise CothermError("view_columns", validation.describe(view_columns), _NEEDED)
    if all(isinstance(entry, int | np.integer) for entry in view_columns):
        return _consecutive([int(entry) for entry in view_columns], count)
    return [_chosen(f"view_columns[{k}]", entry, count) for k, entry in enumerate(view_columns)]


def _consecutive(widths: list[int], count: int) -> list[Ints]:
    if min(widths) < 1 or sum(widths) != count:
        raise CothermError("view_columns", f"{widths}", f"numbers of columns >= 1 that add up to the {count} of X")
    return np.split(np.arange(count), np.cumsum(widths)[:-1])


def _chosen(argument: str, entry: Any, count: int) -> Ints:
    numbers = np.arange(count)[entry] if isinstance(entry, slice) else validation.indices(argument, entry, below=count)
    if not len(numbers):
        raise CothermError(argument, validation.describe(entry), f"at least one of the {count} columns of X")
    return np.asarray(numbers, dtype=np.int64)


def column_names(view: Any) -> list[Any] | None:
    """The columns of a data frame; of a graph, to whose vertices new samples have weights, the names of these."""
    if isinstance(view, Graph):
        return None if view.vertex_names is None else view.vertex_names.tolist()
    columns = getattr(view, "columns", None)
    return None if columns is None else list(columns)


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
        raise CothermError(
            argument, _difference(fitted, new), "the columns of training, in their order", _COLUMNS_ADVICE
        )
    if warn and bare[0] != bare[1]:
        has = (
            "does not have names of columns, but training had" if bare[1] else "has names of columns, training had not"
        )
        warnings.warn(f"{argument} {has}; columns are taken in their order", CothermWarning, stacklevel=6)


def _difference(fitted: list[Any], new: list[Any]) -> str:
    strange = [name for name in new if name not in fitted]
    missing = [name for name in fitted if name not in new]
    if strange or missing:
        found = [
            f"{what} {', '.join(map(repr, some[:3]))}"
            for what, some in (("with", strange), ("without", missing))
            if some
        ]
        return f"columns {' and '.join(found)}"
    if len(fitted) != len(new):
        return "columns more than once"
    at = next(k for k, (a, b) in enumerate(zip(fitted, new, strict=True)) if a != b)
    return f"columns in another order: column {at} is {new[at]!r}, and was {fitted[at]!r}"
