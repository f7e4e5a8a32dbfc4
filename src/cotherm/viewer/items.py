"""Names, labels, weights and function names as the page shows them, and notes about shortened ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm import limits
from cotherm.arrays import Floats, Ints
from cotherm.methods.coupling.result import Coupling
from cotherm.viewer.blocks import LONGEST_NAME, shown_name

# Widths of names; the first that lets all names fit is taken.
_WIDTHS = (LONGEST_NAME, 40, 16)
_OTHERS = "other classes"
# From this many views on, weights can tell which one is wrong about an item.
_TELLING = 3


@dataclass(frozen=True)
class Names:
    """Names of the shown vertices of every view; None for a view whose vertices go by number."""

    of: list[list[str] | None]
    note: str


def names_of(names: Sequence[NDArray[Any] | None], shown: Sequence[Ints], whole: Sequence[bool]) -> Names:
    """Names that were given; on a view that is shown in part vertices without names are called by their numbers."""
    chosen = [
        (None if is_whole else [str(v) for v in vertices.tolist()])
        if own is None
        else list(map(str, own[vertices].tolist()))
        for own, vertices, is_whole in zip(names, shown, whole, strict=True)
    ]
    every = [name for own in chosen if own is not None for name in own]
    total = {width: sum(min(len(name), width) for name in every) for width in _WIDTHS}
    width = next((width for width in _WIDTHS if total[width] <= limits.PAGE_NAMES), _WIDTHS[-1])
    cut = any(len(name) > width for name in every)
    note = f"Names of more than {width} characters are shown by their beginning and end." if cut else ""
    return Names([None if own is None else [shown_name(name, width) for name in own] for own in chosen], note)


@dataclass(frozen=True)
class Labels:
    """Classes of all views, and for every view the class number of each vertex, −1 for none."""

    classes: list[str]
    codes: list[Ints | None]
    note: str


def labels_of(labels: Sequence[NDArray[Any] | None]) -> Labels:
    """The same classes for all views, so that a color means the same on each; "" is unknown."""
    texts = [None if own is None else [str(one) for one in own.tolist()] for own in labels]
    counts = Counter(text for own in texts if own is not None for text in own if text)
    kept = [text for text, _ in counts.most_common(limits.PAGE_CLASSES)]
    classes = sorted(kept, key=_by_number)
    number = {text: code for code, text in enumerate(classes)}
    left_out = len(counts) - len(kept)
    if left_out:
        number |= {text: len(classes) for text in counts if text not in number}
        classes.append(_OTHERS)
    codes = [None if own is None else np.array([number.get(text, -1) for text in own]) for own in texts]
    note = f"{left_out:,} classes with few vertices are shown as one, {_OTHERS!r}." if left_out else ""
    return Labels([shown_name(text) for text in classes], codes, note)


def _by_number(text: str) -> tuple[int, float, str]:
    """Sort numbers by value, before words."""
    try:
        return 0, float(text), text
    except ValueError:
        return 1, 0.0, text


def weights_of(result: Coupling) -> list[Floats] | None:
    """How far each view is believed about the item of each vertex, (vertices, views) for every view.

    Two views have the same weights about all items. So rows are 0 for items in fewer than three believed views.
    None where all rows would be, and for graphs so large that computing weights would keep the reader waiting.
    """
    if result.pairs is None or max(graph.n for graph in result.graphs) > limits.VIEWER_WEIGHTS:
        return None
    if np.count_nonzero(result.pairs.trust()) < _TELLING:
        return None
    common = result.common_graph(second_neighbors=False)
    telling = np.count_nonzero(common.view_weights, axis=1) >= _TELLING
    weights = np.where(telling[:, np.newaxis], common.view_weights, 0.0)
    items = [common.of_view(k) for k in range(weights.shape[1])]
    return [np.where(own[:, np.newaxis] >= 0, weights[own], 0.0) for own in items] if telling.any() else None


def function_names(result: Coupling, labels: Sequence[NDArray[Any] | None], count: int) -> list[str]:
    """Names of the first functions: the class of an indicator function, else the function's number."""
    word = "function" if result.pairs is None else "mode"
    found = [_class(a, result.functions, labels) for a in range(count)]
    known = [name for name in found if name is not None]
    distinct = len(known) == len(set(known)) == count
    return [f"{word} {a + 1}" if name is None or not distinct else shown_name(name) for a, name in enumerate(found)]


def _class(a: int, functions: Sequence[Floats], labels: Sequence[NDArray[Any] | None]) -> str | None:
    """The one label of the vertices where the function is not zero, in all views that have labels."""
    classes: set[str] = set()
    for F, own in zip(functions, labels, strict=True):
        column = F[:, a]
        if own is not None:
            classes |= set(map(str, np.unique(own[column > 0.0]).tolist())) if column.min() >= 0.0 else {"", "-"}
    return next(iter(classes)) or None if len(classes) == 1 else None
