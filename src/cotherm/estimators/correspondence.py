"""What corresponds, where rows are not paired: functions that were given, classes, or samples that all views share.

And which options apply to it.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.errors import CothermError, CothermWarning, known_as
from cotherm.estimators.views import View, plain, require_one_order
from cotherm.functions import landmark_functions, match_labels
from cotherm.graphs.build import knn_graph
from cotherm.graphs.graph import Graph
from cotherm.indexed import rows_in_order
from cotherm.methods.average import average

# Of knn_graph, of both ways to couple, of couple_pairs, and of couple.
_GRAPH = ("scale", "scale_neighbor", "scale_factor", "symmetrize")
_BOTH = ("rigidity", "tolerance", "max_iterations", "max_seconds")
_PAIRS = ("n_modes", "borrow", "include_unrelated", "kept_back")
_FUNCTIONS = ("graph_weights", "function_weights", "continuation", "memory")
# Of this estimator.
_OWN = {"labels": ("unlabeled",), "landmarks": ("n_landmarks",)}


def checked_options(options: Any, way: str, *, points: bool) -> dict[str, Any]:
    """A copy, if all of its keys apply to this correspondence; those of the graph do if any is made of ``points``."""
    validation.options_of(
        options, dict.fromkeys((*_GRAPH, *_BOTH, *_PAIRS, *_FUNCTIONS, *_OWN["labels"], *_OWN["landmarks"]))
    )
    allowed = (*_BOTH, *(_PAIRS if way == "pairs" else _FUNCTIONS), *_OWN.get(way, ()), *(_GRAPH if points else ()))
    for key, value in dict(options or {}).items():
        if key not in allowed:
            beside = "views that are graphs already" if key in _GRAPH else f"correspondence by {way}"
            given = f"{validation.describe(value)} in options, with {beside}, where it does not apply"
            ways = ["pairs"] if key in _PAIRS else [name for name, own in _OWN.items() if key in own] or list(_OWN)
            other = "" if key in _GRAPH else f", or set correspondence={' or '.join(map(repr, ways))}"
            raise CothermError(key, given, "options among " + ", ".join(sorted(allowed)), f"Leave it out{other}.")
    return dict(options or {})


def graph_options(options: Mapping[str, Any], n_neighbors: int, metric: str) -> dict[str, Any]:
    """How graphs are made of points: all options of :func:`cotherm.knn_graph`, with its defaults."""
    defaults = inspect.signature(knn_graph).parameters
    found = {name: options.get(name, defaults[name].default) for name in _GRAPH}
    return {"k": n_neighbors, "metric": metric} | found


def for_couple(options: Mapping[str, Any], views: int) -> dict[str, Any]:
    """What :func:`cotherm.couple` gets; a single view is there twice, and so are its weights."""
    found = dict(options)
    for name in ("rigidity", "graph_weights"):
        if views == 1 and isinstance(found.get(name), list | tuple):
            found[name] = [*found[name]] * 2
    return _nested(found, (*_BOTH, *_FUNCTIONS), ("graph_weights", "max_seconds"))


def for_pairs(options: Mapping[str, Any]) -> dict[str, Any]:
    """What :func:`cotherm.couple_pairs` gets."""
    return _nested(options, (*_BOTH, *_PAIRS), ("borrow", "max_seconds"))


def _nested(given: Mapping[str, Any], taken: Sequence[str], named: Sequence[str]) -> dict[str, Any]:
    """Keyword arguments of a function that takes some of them by name, and the others as ``options``."""
    own = {name: given[name] for name in named if name in given}
    return {**own, "options": {name: one for name, one in given.items() if name in taken and name not in named}}


def checked_functions(functions: Any, views: Sequence[View]) -> list[NDArray[Any]] | None:
    """A block for each view, with its rows in the order of those of the view."""
    if functions is None:
        return None
    count = len(views)
    if isinstance(functions, np.ndarray | str) or not isinstance(functions, Sequence) or len(functions) != count:
        needed = f"a list with a block of functions for each of {count} views"
        raise CothermError("functions", validation.describe(functions), needed)
    blocks = []
    for view, given in zip(views, functions, strict=True):
        argument = f"functions[{view.number}]"
        block = validation.as_array(argument, plain(rows_in_order(argument, given, view.names)))
        if block.ndim not in (1, 2) or len(block) != view.size:
            needed = f"a row for each of the {view.size} rows of view {view.number}"
            raise CothermError(argument, f"an array of shape {block.shape}", needed)
        blocks.append(block)
    return blocks


def from_labels(views: Sequence[View], y: Any, unlabeled: Any) -> list[Floats]:
    """As :func:`cotherm.shared_label_functions` makes them."""
    if y is None:
        raise CothermError("y", "None", 'labels, with correspondence="labels"')
    labels = _labels_of_views(views, y)
    # -1 marks unlabeled samples by default, also where labels are strings or booleans and none can be -1.
    other_kind = isinstance(unlabeled, str) != (labels[0].dtype.kind == "U") or labels[0].dtype.kind == "b"
    with known_as("labels", "y"):
        found = match_labels(labels, None if other_kind else unlabeled)
    if found.left_out:
        warnings.warn(found.note([f"y[{v}]" for v in range(len(labels))]), CothermWarning, stacklevel=5)
    return list(found.functions)


def _labels_of_views(views: Sequence[View], y: Any) -> list[NDArray[Any]]:
    if isinstance(y, list | tuple) and any(isinstance(one, list | tuple) or np.ndim(one) == 1 for one in y):
        if len(y) != len(views):
            raise CothermError("y", f"{len(y)} arrays of labels", f"one for each of {len(views)} views")
        labels = [_labels(f"y[{view.number}]", one, view) for view, one in zip(views, y, strict=True)]
    else:
        labels = [_labels("y", y, view) for view in views]
    for view, known in zip(views, labels, strict=True):
        if known.shape != (view.size,):
            given = f"labels of shape {known.shape} for view {view.number}"
            advice = "Views of different samples need a list with labels for each."
            raise CothermError("y", given, f"one for each of its {view.size} samples", advice)
    if len({known.dtype.kind == "U" for known in labels}) > 1:
        raise CothermError("y", "integers in one view and strings in another", "labels of one kind")
    return labels


def _labels(argument: str, y: Any, view: View) -> NDArray[Any]:
    """Labels in the order of the rows of a view."""
    y = rows_in_order(argument, y, view.names)
    y = y.to_numpy() if hasattr(y, "to_numpy") else y
    array = validation.as_array(argument, y)
    if array.dtype.kind == "f":
        if not np.all(np.abs(array) <= 2.0**53) or np.any(array != np.round(array)):
            advice = "Pass anything else as functions=."
            raise CothermError(argument, "numbers that are no labels", "integers or strings", advice)
        array = array.astype(np.int64)
    return validation.labels(argument, array if isinstance(y, np.ndarray) or array.dtype.kind in "iub" else y)


def shared_landmarks(views: Sequence[View], graphs: Sequence[Graph], count: Any, seed: int) -> list[Floats]:
    """A bump around each of some samples drawn at random, the same on all views: that of their average graph.

    Bumps made on each view by itself would differ at t = 0, which no weights can mend.
    """
    count = validation.integer("n_landmarks", count, least=1)
    require_one_order(views)
    sizes = [graph.n for graph in graphs]
    if len(set(sizes)) > 1:
        needed = 'views of the same samples, with correspondence="landmarks"'
        advice = 'Set correspondence="labels", or give functions.'
        raise CothermError("X", f"views of {', '.join(map(str, sizes))} samples", needed, advice)
    if count > sizes[0]:
        raise CothermError("n_landmarks", f"{count}", f"at most the {sizes[0]} samples")
    chosen = np.random.default_rng(seed).choice(sizes[0], size=count, replace=False)
    together = list(graphs) * (1 if len(graphs) > 1 else 2)
    bumps = landmark_functions(average(together, normalized=True).graph, np.sort(chosen))
    return [bumps] * len(graphs)
