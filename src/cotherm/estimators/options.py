"""What few people need: keyword arguments that the estimator passes on, checked by name."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from cotherm import validation
from cotherm.errors import CothermError
from cotherm.estimators.new_samples import Kernel
from cotherm.graphs.build import knn_graph
from cotherm.validation import did_you_mean

# Of knn_graph, of both ways to couple, of couple_pairs, and of couple.
_GRAPH = ("scale", "scale_neighbor", "scale_factor", "symmetrize")
_BOTH = ("rigidity", "tolerance", "max_iterations", "max_seconds")
_PAIRS = ("n_modes", "borrow", "include_unrelated", "kept_back")
_FUNCTIONS = ("graph_weights", "function_weights", "continuation", "memory", "precision")
# Of this estimator.
_OWN = {"labels": ("unlabeled",), "landmarks": ("n_landmarks",)}


def checked_options(options: Any, way: str, *, points: bool) -> dict[str, Any]:
    """A copy, if all of its keys apply to this correspondence; those of the graph do if any is made of ``points``."""
    allowed = (*_BOTH, *(_PAIRS if way == "pairs" else _FUNCTIONS), *_OWN.get(way, ()), *(_GRAPH if points else ()))
    needed = "a dict whose keys are among " + ", ".join(sorted(allowed))
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise CothermError("options", validation.describe(options), needed)
    every = {*_GRAPH, *_BOTH, *_PAIRS, *_FUNCTIONS, *_OWN["labels"], *_OWN["landmarks"]}
    for key in options:
        if key not in every:
            raise CothermError("options", f"the key {key!r}", needed, did_you_mean(key, every))
        if key not in allowed:
            beside = "views that are graphs already" if key in _GRAPH else f"correspondence by {way}"
            given = f"{validation.describe(options[key])} in options, with {beside}, where it does not apply"
            raise CothermError(key, given, "options among " + ", ".join(sorted(allowed)), _advice(key))
    return dict(options)


def _advice(key: str) -> str:
    """What to do about a key that does not apply."""
    if key in _GRAPH:
        return "Leave it out."
    if key in _PAIRS:
        return 'Leave it out, or set correspondence="pairs".'
    ways = [way for way, own in _OWN.items() if key in own] or list(_OWN)
    return f"Leave it out, or set correspondence={' or '.join(map(repr, ways))}."


def kernel_of(options: Mapping[str, Any], n_neighbors: int, metric: str) -> Kernel:
    """How graphs are made of points, with the defaults of :func:`cotherm.knn_graph`."""
    defaults = inspect.signature(knn_graph).parameters
    return Kernel(n_neighbors, metric, **{name: options.get(name, defaults[name].default) for name in _GRAPH})


def for_couple(options: Mapping[str, Any], views: int) -> dict[str, Any]:
    """What :func:`cotherm.couple` gets; a single view is there twice, and so are its weights."""
    found = {name: value for name, value in options.items() if name in (*_BOTH, *_FUNCTIONS)}
    for name in ("rigidity", "graph_weights"):
        if views == 1 and isinstance(found.get(name), list | tuple):
            found[name] = [*found[name]] * 2
    return _nested(found, ("graph_weights", "max_seconds"))


def for_pairs(options: Mapping[str, Any]) -> dict[str, Any]:
    """What :func:`cotherm.couple_pairs` gets."""
    return _nested(
        {name: value for name, value in options.items() if name in (*_BOTH, *_PAIRS)}, ("borrow", "max_seconds")
    )


def _nested(given: dict[str, Any], named: tuple[str, ...]) -> dict[str, Any]:
    """Keyword arguments of a function that takes some of them by name, and the others as ``options``."""
    own = {name: given.pop(name) for name in named if name in given}
    return {**own, "options": given}
