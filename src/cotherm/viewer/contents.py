"""What the page says of a coupling: names, labels and weights of items, and the figures beside the graphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm import limits
from cotherm.arrays import Floats, Ints
from cotherm.errors import visible_lines
from cotherm.heat.coupling import coupling_error
from cotherm.methods.coupling.result import Coupling, best_route
from cotherm.progress import working
from cotherm.viewer.blocks import LONGEST_NAME, shown_name
from cotherm.viewer.heat import Stops, series_degree

# Widths of names; the first that lets all names fit is taken.
_WIDTHS = (LONGEST_NAME, 40, 16)
_OTHERS = "other classes"
# From this many views on, weights can tell which one is wrong about an item.
_TELLING = 3
# Number of times of the curve, and their cost limits: multiply-adds, and numbers in memory.
_CURVE_TIMES, _CURVE_WORK, _CURVE_NUMBERS = 24, 3e9, 30_000_000
# If all times would take too long, the curve ends at this multiple of the longest time of the coupling.
_BEYOND = 2.0
# Errors below this fraction of the largest are not shown: heat is even by then.
_NEXT_TO_NOTHING = 1e-8
_MOST_STEPS = 1_000


def names_of(
    names: Sequence[NDArray[Any] | None], shown: Sequence[Ints], whole: Sequence[bool]
) -> tuple[list[list[str] | None], str]:
    """Names of the shown vertices of every view as they were given, and a note if some are shortened.

    None for a view whose vertices go by number; on one that is shown in part these numbers become their names.
    """
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
    return [None if own is None else [shown_name(name, width) for name in own] for own in chosen], note


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


def summary_of(result: Coupling) -> dict[str, Any]:
    """How the search ended."""
    return {
        "cost": result.cost,
        "distance": result.distance,
        "coupling": float(np.linalg.norm(result.coupling)),
        "coupling_before": float(np.linalg.norm(result.coupling_before)),
        "alpha": result.alpha,
        "status": result.status,
        "seconds": result.seconds,
        "method": "couple" if result.pairs is None else "couple_pairs",
        "text": visible_lines(str(result)),
    }


def curve_of(result: Coupling, stops: Stops) -> dict[str, Any]:
    """Coupling error before and after, at many times if that is quick, else at the times of the coupling."""
    times = np.asarray(result.times, dtype=np.float64)
    before, after = np.asarray(result.coupling_before), np.asarray(result.coupling)
    ends = [stops.most, min(stops.most, _BEYOND * float(np.max(times, initial=stops.least)))]
    end = next((end for end in ends if _is_quick(result, end)), None)
    if end is not None:
        times = np.unique(np.concatenate([np.geomspace(stops.least, end, _CURVE_TIMES), times]))
        with working("coupling error against time"):
            before = coupling_error(result.originals, result.functions, times)
            after = coupling_error(result.graphs, result.functions, times)
    order = np.argsort(times, kind="stable")
    least = _NEXT_TO_NOTHING * float(np.max(before, initial=0.0))
    return {
        "times": times[order].tolist(),
        # Errors close to zero are dropped: a scale that included them would show little else.
        "before": [value if value >= least else None for value in before[order].tolist()],
        "after": [value if value >= least else None for value in after[order].tolist()],
    }


def _is_quick(result: Coupling, longest: float) -> bool:
    graphs = [*result.originals, *result.graphs]
    q, n = result.functions[0].shape[1], max(graph.n for graph in graphs)
    steps = sum(2.0 * graph.m + 4.0 * graph.n for graph in graphs) * q
    many = (_CURVE_TIMES + len(result.times)) * n * q > _CURVE_NUMBERS
    return q > 0 and len(result.graphs) > 1 and not many and series_degree(graphs, 0.5 * longest) * steps <= _CURVE_WORK


def agreement_of(result: Coupling) -> list[dict[str, Any]]:
    """Agreement of every two views with pairs that were kept back."""
    if result.pairs is None:
        return []
    measures = ("before", "borrowed", "after", "chance")
    return [
        {"views": list(one.views), "pairs": one.kept_back} | {name: getattr(one, name) for name in measures}
        for one in result.pairs.agreement
        if one.kept_back
    ]


def history_of(result: Coupling) -> list[dict[str, float]]:
    """The steps of the route taken; if they are very many, evenly spaced ones and the last."""
    steps = best_route(result.history)
    if len(steps) > _MOST_STEPS:
        steps = [steps[k] for k in np.unique(np.linspace(0, len(steps) - 1, _MOST_STEPS).astype(int))]
    return [{"cost": float(step["cost"]), "coupling": float(step["coupling"])} for step in steps]
