"""Columns of views by name: those of new samples must be those of training, as scikit-learn asks of one data frame."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from cotherm.errors import CothermError, CothermWarning
from cotherm.graphs.graph import Graph
from cotherm.indexed import counts, same_names


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
        raise CothermError(argument, _difference(fitted, new), "the columns of training, in their order", _ADVICE)
    if warn and bare[0] != bare[1]:
        has = (
            "does not have names of columns, but training had" if bare[1] else "has names of columns, training had not"
        )
        warnings.warn(f"{argument} {has}; columns are taken in their order", CothermWarning, stacklevel=7)


_ADVICE = "frame[names], with the names of training, brings them into order."


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
