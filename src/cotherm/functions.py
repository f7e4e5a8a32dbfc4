"""Corresponding functions: what is known to be the same on several graphs, as columns of an array per graph."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.errors import CothermError, known_as
from cotherm.graphs.graph import Graph
from cotherm.heat.flow import flow
from cotherm.heat.times import diffusion_time, median_degree
from cotherm.heat.validation import require_graph

# Heat that smooths makes about this many moves along edges by default: to near neighbors.
_MOVES = 2.0
# Heat from landmarks is not followed past so many doublings of the time of those moves.
_MOST_DOUBLINGS = 11
_ROUGHLY = 1e-6
# Some thousand times the time of those moves is still a number.
_SMALLEST_DEGREE = 1e-300


def landmark_functions(
    graph: Graph, vertices: ArrayLike, *, time: float | None = None, cover: float | None = None
) -> Floats:
    r"""Make a smooth bump around each landmark vertex.

    Column c is

    .. math:: \frac{e^{-tL} \delta_v}{\|e^{-tL} \delta_v\|}, \qquad v = \mathtt{vertices}[c],\ t = \mathtt{time}.

    Call it for every graph with the same landmarks in the same order to get corresponding functions for
    :func:`cotherm.couple`.

    Parameters
    ----------
    graph : Graph
        The graph.
    vertices : array_like of int
        One or more landmark vertices.
    time : float, optional
        How long heat spreads from each landmark. By default 2 divided by the median degree of the vertices with
        neighbors, about two moves along edges.
    cover : float, optional
        Fraction of the vertices that a bump should cover, in (0, 1), instead of `time`. Meant for large graphs, on
        which two moves reach a negligible part.

    Returns
    -------
    ndarray of shape (n, len(vertices))
        The bumps as columns of unit norm.

    Raises
    ------
    CothermError
        If there is no landmark, or if both `time` and `cover` are given.

    See Also
    --------
    label_functions : Indicators of classes.
    feature_functions : Features measured on every graph.
    couple : Couple graphs by corresponding functions.

    Notes
    -----
    Bumps, not single points (time = 0), let heat kernel coupling find which edges are wrong. Because of the unit
    norm, bumps of different widths on different graphs still agree at t = 0.

    A bump f covers 1/Σf⁴ vertices. With `cover` the mean over the landmarks counts, and heat makes at least two and
    at most 4,096 moves.

    Examples
    --------
    >>> import cotherm as ct
    >>> path = ct.Graph(4, [0, 1, 2], [1, 2, 3], [1.0, 1.0, 1.0])
    >>> ct.landmark_functions(path, [0]).round(2).ravel().tolist()
    [0.79, 0.53, 0.26, 0.12]
    """
    require_graph(graph)
    landmarks = validation.indices("vertices", vertices, below=graph.n)
    if not len(landmarks):
        raise CothermError("vertices", "no landmarks", "at least one vertex")
    points = np.zeros((graph.n, len(landmarks)))
    points[landmarks, np.arange(len(landmarks))] = 1.0
    moment = _spreading_time(graph, points, time, cover)
    with known_as("times", "time"):
        bumps = flow(graph, points, np.array([moment]), "auto", 1e-10)[0]
    return bumps / np.linalg.norm(bumps, axis=0)


def label_functions(labels: ArrayLike, *, classes: ArrayLike | None = None, unknown: Any = None) -> Floats:
    """Make the indicator function of each class.

    Parameters
    ----------
    labels : array_like of int or str of shape (n,)
        Label of every vertex.
    classes : array_like of int or str, optional
        Classes in the order of the columns. By default all that occur, sorted. Give the same classes for every graph,
        so that columns correspond.
    unknown : int or str, optional
        Label of vertices whose class is not known. Their rows are zero.

    Returns
    -------
    ndarray of shape (n, n_classes)
        Indicators: 1 where a vertex has the class, else 0.

    Raises
    ------
    CothermError
        If a label is neither one of `classes` nor `unknown`.

    See Also
    --------
    landmark_functions : Smooth bumps around vertices.
    feature_functions : Features measured on every graph.
    couple : Couple graphs by corresponding functions.

    Examples
    --------
    >>> import cotherm as ct
    >>> ct.label_functions(["cat", "dog", "?"], unknown="?")
    array([[1., 0.],
           [0., 1.],
           [0., 0.]])
    """
    known = validation.labels("labels", labels)
    if known.ndim != 1 or not known.size:
        raise CothermError("labels", validation.describe(known), "a vector of integers or strings, one per vertex")
    here = np.unique(known if unknown is None else known[known != _unknown_label(unknown, known)])
    order = here if classes is None else validation.labels("classes", classes)
    if order.ndim != 1 or not order.size or len(np.unique(order)) != len(order):
        raise CothermError("classes", validation.describe(order), "one or more different classes, in a vector")
    if order.dtype.kind != known.dtype.kind and {order.dtype.kind, known.dtype.kind} != {"i", "u"}:
        raise CothermError("classes", f"dtype {order.dtype}", f"labels like the given ones, of dtype {known.dtype}")
    stray = here[~np.isin(here, order)]
    if len(stray):
        raise CothermError("labels", f"the label {stray[0]!r}", f"one of {order.tolist()}", "Or name it as unknown=.")
    return (known[:, np.newaxis] == order).astype(np.float64)


def _unknown_label(unknown: Any, known: NDArray[Any]) -> Any:
    """One label of the kind of those given; any other would be compared with them in vain, or not at all."""
    kinds = {"U": str, "b": bool | np.bool_}.get(known.dtype.kind, numbers.Integral)
    wrong = not isinstance(unknown, kinds) or (kinds is numbers.Integral and isinstance(unknown, bool))
    if wrong:
        raise CothermError("unknown", validation.describe(unknown), f"None or one label, of dtype {known.dtype}")
    return unknown


def feature_functions(graph: Graph, features: ArrayLike, *, time: float | None = None) -> Floats:
    """Make functions from features that are measured in every view.

    Each feature is smoothed by heat, centered and scaled to unit norm. Call it for every graph with the same features
    in the same order, for example the genes that RNA and chromatin share. Views measure a feature in different units
    and on different numbers of vertices; centering and scaling make them comparable.

    Parameters
    ----------
    graph : Graph
        The graph.
    features : array_like of shape (n, q) or (n,)
        One row for each vertex, one column for each feature.
    time : float, optional
        How long heat smooths each feature. By default 2 divided by the median degree of the vertices with neighbors,
        about two moves along edges. Zero does not smooth.

    Returns
    -------
    ndarray of shape (n, q)
        The functions as columns.

    Raises
    ------
    CothermError
        If a feature is constant, or if smoothing leaves nothing of it.

    See Also
    --------
    landmark_functions : Smooth bumps around vertices.
    label_functions : Indicators of classes.
    couple : Couple graphs by corresponding functions.

    Examples
    --------
    >>> import cotherm as ct
    >>> path = ct.Graph(3, [0, 1], [1, 2], [1.0, 1.0])
    >>> ct.feature_functions(path, [10.0, 20.0, 30.0]).round(3).ravel().tolist()
    [-0.707, 0.0, 0.707]
    """
    require_graph(graph)
    columns = validation.functions("features", features, graph.n)
    if not columns.shape[1]:
        raise CothermError("features", "no columns", "at least one feature")
    moment = _smoothing_time(graph) if time is None else validation.real("time", time)
    # In units of their own: a feature may be counts in the millions, or as large as floats are.
    columns = columns / np.maximum(np.abs(columns).max(axis=0), np.finfo(np.float64).tiny)
    spread = np.ptp(columns, axis=0)
    if not np.all(spread > 0.0):
        raise CothermError("features", f"column {int(np.argmin(spread))} is constant", "features that vary", "Drop it.")
    columns = (columns - columns.min(axis=0)) / spread
    smooth = flow(graph, columns, np.array([moment]), "auto", 1e-10)[0]
    centered = smooth - smooth.mean(axis=0)
    norms = np.linalg.norm(centered, axis=0)
    if not np.all(norms > 1e-9):
        raise CothermError(
            "time", f"{moment:g}, after which feature {int(np.argmin(norms))} is even", "a shorter time", "Or drop it."
        )
    return centered / norms


def _smoothing_time(graph: Graph) -> float:
    degree = median_degree(graph)
    if 0.0 < degree < _SMALLEST_DEGREE:
        raise CothermError("graph", f"a median degree of {degree:.1e}", "larger weights, or a time that is given")
    return diffusion_time(_MOVES, graph)


def _spreading_time(graph: Graph, points: Floats, time: float | None, cover: float | None) -> float:
    if cover is None:
        return _smoothing_time(graph) if time is None else validation.real("time", time)
    if time is not None:
        raise CothermError("cover", validation.describe(cover), "None where a time is given, or time=None")
    part = validation.real("cover", cover, positive=True)
    if part >= 1.0:
        raise CothermError("cover", f"{part:g}", "a part of the vertices, above 0 and below 1")
    return _covering_time(graph, points, part * graph.n)


def _covering_time(graph: Graph, points: Floats, enough: float) -> float:
    """When bumps cover so many vertices; between doublings of the time log cover is linear in log t."""
    first = _smoothing_time(graph)
    if first == 0.0:
        return first
    bumps, before, time = flow(graph, points, np.array([first]), "auto", _ROUGHLY)[0], 0.0, first
    for _ in range(_MOST_DOUBLINGS):
        covered = _covered(bumps)
        if covered >= enough:
            return time if time == first else float(time * 0.5 ** (np.log(covered / enough) / np.log(covered / before)))
        bumps, before = flow(graph, bumps, np.array([time]), "auto", _ROUGHLY)[0], covered
        time *= 2.0
    return time


def _covered(bumps: Floats) -> float:
    """About how many vertices a bump lies on, 1/Σf⁴ for f of unit norm: the mean over the bumps."""
    squares = bumps**2
    return float(np.mean(squares.sum(axis=0) ** 2 / np.sum(squares**2, axis=0)))
