"""Corresponding functions for estimators: given, from labels, or from samples that all views share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.errors import CothermError
from cotherm.functions import label_functions, landmark_functions
from cotherm.graphs.graph import Graph
from cotherm.methods.average import average

WAYS = ("auto", "labels", "landmarks")


def functions_of(
    graphs: Sequence[Graph], y: Any, *, way: str, unlabeled: Any, landmarks: int, seed: int
) -> list[Floats]:
    """From y, or without labels ("auto") from landmarks."""
    way = validation.choice("correspondence", way, WAYS)
    if way == "labels" and y is None:
        raise CothermError("y", "None", "labels for correspondence='labels'")
    if y is None or way == "landmarks":
        return shared_landmarks(graphs, validation.integer("n_landmarks", landmarks, least=1), seed)
    return from_labels(graphs, y, unlabeled)


def from_labels(graphs: Sequence[Graph], y: Any, unlabeled: Any) -> list[Floats]:
    """The indicators of the classes that every view has, of unit norm: views may have different numbers of each."""
    labels = _labels_of_views(graphs, y)
    hidden = unlabeled if isinstance(unlabeled, str) == (labels[0].dtype.kind == "U") else None
    present = [np.unique(known[known != hidden]) if hidden is not None else np.unique(known) for known in labels]
    classes = [c for c in present[0].tolist() if all(c in here.tolist() for here in present)]
    if not classes:
        raise CothermError("y", "no class that all views have", "at least one class with a sample in every view")
    indicators = [_indicators(known, np.array(classes)) for known in labels]
    return [F / np.linalg.norm(F, axis=0) for F in indicators]


def _indicators(known: NDArray[Any], classes: NDArray[Any]) -> Floats:
    """Rows of samples of other classes, or of none, are zero."""
    listed = np.isin(known, classes)
    F = np.zeros((len(known), len(classes)))
    F[listed] = label_functions(known[listed], classes=classes)
    return F


def _labels_of_views(graphs: Sequence[Graph], y: Any) -> list[NDArray[Any]]:
    if _is_list_of_labels(y):
        if len(y) != len(graphs):
            raise CothermError("y", f"{len(y)} arrays of labels", f"one for each of {len(graphs)} views")
        labels = [_labels(f"y[{v}]", one) for v, one in enumerate(y)]
    else:
        labels = [_labels("y", y)] * len(graphs)
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


def _labels(argument: str, y: Any) -> NDArray[Any]:
    array = validation.as_array(argument, y)
    if array.dtype.kind == "f":
        if not np.all(np.isfinite(array)) or np.any(array != np.round(array)):
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
