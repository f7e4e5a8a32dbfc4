"""One array -> views: which of its columns are whose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cotherm import validation
from cotherm.arrays import Ints
from cotherm.errors import CothermError

_NEEDED = "None, or a list with a number of columns for each view, or with a slice or column numbers for each"


def is_list_of_views(X: Any) -> bool:
    """Whether X is several views, and not one array, which may come as nested lists."""
    from cotherm.graphs.graph import Graph

    if not isinstance(X, list | tuple) or not X:
        return False
    return any(isinstance(view, Graph) or len(getattr(view, "shape", ())) > 1 for view in X)


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
