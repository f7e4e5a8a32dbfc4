"""Corresponding functions for estimators: given, from labels, or from samples that all views share."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.errors import CothermError, CothermWarning, known_as
from cotherm.estimators.items import require_one_order
from cotherm.functions import landmark_functions, match_labels
from cotherm.graphs.graph import Graph
from cotherm.indexed import rows_in_order
from cotherm.methods.average import average

WAYS = ("auto", "labels", "landmarks")


def functions_of(
    graphs: Sequence[Graph],
    y: Any,
    *,
    way: str,
    unlabeled: Any,
    landmarks: int,
    seed: int,
    rows: Sequence[list[Any] | None],
) -> list[Floats]:
    """From y, or without labels ("auto") from landmarks; ``rows`` are the names of the samples of each view."""
    way = validation.choice("correspondence", way, WAYS)
    if way == "labels" and y is None:
        raise CothermError("y", "None", "labels for correspondence='labels'")
    if y is None or way == "landmarks":
        require_one_order([f"X[{k}]" for k in range(len(rows))], rows)
        return shared_landmarks(graphs, validation.integer("n_landmarks", landmarks, least=1), seed)
    return from_labels(graphs, y, unlabeled, rows)


def from_labels(graphs: Sequence[Graph], y: Any, unlabeled: Any, rows: Sequence[list[Any] | None]) -> list[Floats]:
    """As :func:`cotherm.shared_label_functions` makes them."""
    labels = _labels_of_views(graphs, y, rows)
    # -1 marks unlabeled samples by default, also where labels are strings or booleans and none can be -1.
    other_kind = isinstance(unlabeled, str) != (labels[0].dtype.kind == "U") or labels[0].dtype.kind == "b"
    with known_as("labels", "y"):
        found = match_labels(labels, None if other_kind else unlabeled)
    if found.left_out:
        warnings.warn(found.note([f"y[{v}]" for v in range(len(labels))]), CothermWarning, stacklevel=7)
    return list(found.functions)


def _labels_of_views(graphs: Sequence[Graph], y: Any, rows: Sequence[list[Any] | None]) -> list[NDArray[Any]]:
    if _is_list_of_labels(y):
        if len(y) != len(graphs):
            raise CothermError("y", f"{len(y)} arrays of labels", f"one for each of {len(graphs)} views")
        labels = [_labels(f"y[{v}]", one, own) for v, (one, own) in enumerate(zip(y, rows, strict=True))]
    else:
        labels = [_labels("y", y, own) for own in rows]
    for v, (known, graph) in enumerate(zip(labels, graphs, strict=True)):
        if known.shape != (graph.n,):
            raise CothermError(
                "y",
                f"labels of shape {known.shape} for view {v}",
                f"one for each of its {graph.n} samples",
                "Views of different samples need a list with labels for each.",
            )
    if len({known.dtype.kind == "U" for known in labels}) > 1:
        raise CothermError("y", "integers in one view and strings in another", "labels of one kind")
    return labels


def _is_list_of_labels(y: Any) -> bool:
    return isinstance(y, list | tuple) and any(isinstance(one, list | tuple) or np.ndim(one) == 1 for one in y)


def _labels(argument: str, y: Any, rows: list[Any] | None) -> NDArray[Any]:
    """Labels in the order of the rows of a view."""
    y = rows_in_order(argument, y, rows)
    y = y.to_numpy() if hasattr(y, "to_numpy") else y
    array = validation.as_array(argument, y)
    if array.dtype.kind == "f":
        if not np.all(np.abs(array) <= 2.0**53) or np.any(array != np.round(array)):
            raise CothermError(
                argument, "numbers that are no labels", "integers or strings", "Pass anything else as functions=."
            )
        array = array.astype(np.int64)
    return validation.labels(argument, array if isinstance(y, np.ndarray) or array.dtype.kind in "iub" else y)


def shared_landmarks(graphs: Sequence[Graph], count: int, seed: int) -> list[Floats]:
    """A bump around each of some samples drawn at random, the same on all views: that of their average graph.

    Bumps made on each view by itself would differ at t = 0, which no weights can mend.
    """
    sizes = [g.n for g in graphs]
    if len(set(sizes)) > 1:
        raise CothermError(
            "X",
            f"views of {', '.join(map(str, sizes))} samples, and neither y nor functions",
            "views of the same samples, or labels, or functions",
        )
    if count > sizes[0]:
        raise CothermError("n_landmarks", f"{count}", f"at most the {sizes[0]} samples")
    chosen = np.random.default_rng(seed).choice(sizes[0], size=count, replace=False)
    bumps = landmark_functions(average(list(graphs), normalized=True).graph, np.sort(chosen))
    return [bumps] * len(graphs)
