"""Corresponding functions: what is known to be the same on several graphs, as columns of an array per graph."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cotherm import limits, validation
from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError, CothermWarning, known_as
from cotherm.graphs.graph import Graph
from cotherm.heat.accurate_spectrum import part_vectors
from cotherm.heat.distance import without_constant
from cotherm.heat.flow import flow
from cotherm.heat.times import diffusion_time, median_degree
from cotherm.heat.validation import checked_graphs, require_graph
from cotherm.pairs import Pairs, checked_pairs
from cotherm.solve.eigenpairs import NotConverged, smallest_pairs

# Smoothing lets heat make about this many moves along edges by default: to near neighbors.
_MOVES = 2.0
# From the time of those moves on, heat from landmarks is followed for at most this many doublings.
_MOST_DOUBLINGS = 11
_ROUGHLY = 1e-6
# Some thousand times the time of those moves is still a number.
_SMALLEST_DEGREE = 1e-300
# Eigenvalues below this fraction of the largest are zero up to rounding.
_ZERO = 1e-12
# Number of classes that a message names.
_LISTED = 8


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
        One or more landmark vertices, by number; :meth:`cotherm.Graph.vertex` finds the number of a name.
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
    t = _spreading_time(graph, points, time, cover)
    with known_as("times", "time"):
        bumps = flow(graph, points, np.array([t]), "auto", 1e-10)[0]
    return bumps / np.linalg.norm(bumps, axis=0)


def label_functions(
    labels: ArrayLike, *, classes: ArrayLike | None = None, unlabeled: Any = None, unit_norm: bool = True
) -> Floats:
    """Make the indicator function of each class on one graph, scaled to unit norm.

    Use it for views of the same vertices, which share their labels. If every view has its own labels, use
    :func:`cotherm.shared_label_functions`, which finds the classes that correspond.

    Parameters
    ----------
    labels : array_like of int or str of shape (n,)
        Label of every vertex. Of a pandas Series the index must count the vertices from 0; otherwise bring it into
        the order of the vertices and pass ``labels.to_numpy()``.
    classes : array_like of int or str, optional
        Classes in the order of the columns. By default all that occur, sorted. Give the same classes for every graph,
        so that columns correspond.
    unlabeled : int or str, optional
        Label of vertices whose class is not known. Their rows are zero.
    unit_norm : bool, default True
        Scale every function to unit norm. False leaves zeros and ones.

    Returns
    -------
    ndarray of shape (n, n_classes)
        Column c is positive where a vertex has class c, and 0 elsewhere. A class without vertices has a column of
        zeros.

    Raises
    ------
    CothermError
        If a label is neither one of `classes` nor `unlabeled`.

    See Also
    --------
    shared_label_functions : The same for several views with labels of their own.
    landmark_functions : Smooth bumps around vertices.
    feature_functions : Features measured on every graph.
    couple : Couple graphs by corresponding functions.

    Examples
    --------
    >>> import cotherm as ct
    >>> ct.label_functions(["cat", "dog", "?"], unlabeled="?")
    array([[1., 0.],
           [0., 1.],
           [0., 0.]])
    """
    known = _vector_of_labels("labels", labels)
    unit_norm = validation.boolean("unit_norm", unit_norm)
    here = np.unique(known if unlabeled is None else known[known != _checked_label(unlabeled, known)])
    order = here if classes is None else validation.labels("classes", classes)
    if order.ndim != 1 or not order.size or len(np.unique(order)) != len(order):
        raise CothermError("classes", validation.describe(order), "one or more different classes, in a vector")
    if order.dtype.kind != known.dtype.kind and {order.dtype.kind, known.dtype.kind} != {"i", "u"}:
        raise CothermError("classes", f"dtype {order.dtype}", f"labels like the given ones, of dtype {known.dtype}")
    stray = here[~np.isin(here, order)]
    if len(stray):
        raise CothermError("labels", f"the label {stray[0]!r}", f"one of {order.tolist()}", "Or name it as unlabeled=.")
    indicators = (known[:, np.newaxis] == order).astype(np.float64)
    return _of_unit_norm(indicators) if unit_norm else indicators


class LabelFunctions(NamedTuple):
    """Corresponding functions of several views, and the class of each column.

    Attributes
    ----------
    functions : tuple of ndarray of shape (n_k, n_classes)
        Functions of each view, as :func:`cotherm.couple` takes them.
    classes : list
        Column c of every array is the indicator of ``classes[c]``.

    See Also
    --------
    shared_label_functions : Returns it.
    """

    functions: tuple[Floats, ...]
    classes: list[Any]


def shared_label_functions(
    labels: Sequence[ArrayLike], *, unlabeled: Any = None, unit_norm: bool = True
) -> LabelFunctions:
    """Make the indicator functions of the classes that occur in every view, scaled to unit norm.

    All pairs of views are compared by all functions, so a class that a view lacks cannot be used, even if the other
    views have it: a column of zeros would say that the class is nowhere, not that it is unknown. Such classes are left
    out, and their vertices get rows of zeros. Columns have unit norm because views may have different numbers of a
    class, and functions should agree at t = 0: F₁ᵀF₁ = F₂ᵀF₂.

    The command line, the estimators and :func:`cotherm.interop.anndata_functions` match classes by the same rule.

    Parameters
    ----------
    labels : sequence of array_like of int or str of shape (n_k,)
        Label of every vertex, for each view. All integers or all strings.
    unlabeled : int or str, optional
        Label of vertices whose class is not known. Their rows are zero.
    unit_norm : bool, default True
        Scale every function to unit norm. False leaves zeros and ones.

    Returns
    -------
    LabelFunctions
        The functions of each view, and the classes in the order of their columns, sorted. It unpacks as a tuple.

    Raises
    ------
    CothermError
        If no class occurs in all views.

    Warns
    -----
    CothermWarning
        If classes are left out because some view lacks them. It names the classes and the views.

    See Also
    --------
    label_functions : The same for one view, or for views that share their vertices.
    couple : Couple graphs by corresponding functions.
    cotherm.interop.anndata_functions : The same from a column of AnnData.

    Examples
    --------
    >>> import cotherm as ct
    >>> functions, classes = ct.shared_label_functions([["b", "a", "b", "b", "b"], ["a", "b", "?"]], unlabeled="?")
    >>> classes
    ['a', 'b']
    >>> functions[0].tolist()
    [[0.0, 0.5], [1.0, 0.0], [0.0, 0.5], [0.0, 0.5], [0.0, 0.5]]
    >>> functions[1].tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    """
    found = match_labels(labels, unlabeled, unit_norm=unit_norm)
    if found.left_out:
        warnings.warn(found.note([f"labels[{v}]" for v in range(len(labels))]), CothermWarning, stacklevel=2)
    return LabelFunctions(found.functions, found.classes)


class MatchedLabels(NamedTuple):
    """Functions and classes, and for each class that was left out the views that lack it."""

    functions: tuple[Floats, ...]
    classes: list[Any]
    left_out: Mapping[Any, list[int]]

    def note(self, views: Sequence[str]) -> str:
        """Say which classes were left out, and from which views they are missing."""
        listed = list(self.left_out.items())
        parts = [f"{label!r} (not in {', '.join(views[v] for v in missing)})" for label, missing in listed[:_LISTED]]
        more = f" and {len(listed) - _LISTED} more" if len(listed) > _LISTED else ""
        return f"classes that some view lacks are left out: {', '.join(parts)}{more}"


def match_labels(labels: Sequence[ArrayLike], unlabeled: Any, *, unit_norm: bool = True) -> MatchedLabels:
    """Classes by their labels, in sorted order."""
    if isinstance(labels, str | np.ndarray) or not isinstance(labels, Sequence):
        raise CothermError("labels", validation.describe(labels), "a list with the labels of every view")
    known = [_vector_of_labels(f"labels[{v}]", own) for v, own in enumerate(labels)]
    if len({"i" if own.dtype.kind == "u" else own.dtype.kind for own in known}) > 1:
        given = " and ".join(sorted({str(own.dtype) for own in known}))
        raise CothermError("labels", f"views with labels of different kinds, {given}", "all integers or all strings")
    if unlabeled is not None and known:
        _checked_label(unlabeled, known[0])
    occurring = [np.unique(own, return_inverse=True) for own in known]
    names = sorted(set().union(*(here.tolist() for here, _ in occurring)) - {unlabeled})
    number = {name: c for c, name in enumerate(names)}
    codes = [np.array([number.get(name, -1) for name in here.tolist()])[inverse] for here, inverse in occurring]
    return match_codes(codes, names, unit_norm=unit_norm)


def match_codes(codes: Sequence[Ints], names: Sequence[Any], *, unit_norm: bool) -> MatchedLabels:
    """Match the classes of several views, by the same rule everywhere: those that occur in all views count.

    Vertex v of a view is of the class ``names[codes[v]]``, or of none that is known where the code is -1.
    """
    if not codes:
        raise CothermError("labels", "no views", "labels of one view or more")
    present = np.array([np.bincount(own[own >= 0], minlength=len(names)) > 0 for own in codes])
    kept = np.flatnonzero(present.all(axis=0))
    if not len(kept):
        seen = list(names[:_LISTED])
        raise CothermError(
            "labels",
            f"no class that all views have, among {seen}" if seen else "no class",
            "at least one class that occurs in every view",
            "Are they written alike, and of one type?" if seen else "",
        )
    functions = [
        label_functions(np.where(np.isin(own, kept), own, -1), classes=kept, unlabeled=-1, unit_norm=unit_norm)
        for own in codes
    ]
    missing = {name: np.flatnonzero(~here).tolist() for name, here in zip(names, present.T, strict=True)}
    left_out = {name: views for name, views in missing.items() if views}
    return MatchedLabels(tuple(functions), [names[int(c)] for c in kept], left_out)


def _of_unit_norm(F: Floats) -> Floats:
    """Scale columns to unit norm; columns of zeros stay."""
    norms = np.linalg.norm(F, axis=0)
    return F / np.where(norms > 0.0, norms, 1.0)


def _vector_of_labels(argument: str, labels: ArrayLike) -> NDArray[Any]:
    known = validation.labels(argument, labels)
    if known.ndim != 1 or not known.size:
        raise CothermError(argument, validation.describe(known), "a vector of integers or strings, one per vertex")
    return known


def _checked_label(unlabeled: Any, known: NDArray[Any]) -> Any:
    """Require a label of the same type as those given; any other could never equal them."""
    kinds = {"U": str, "b": bool | np.bool_}.get(known.dtype.kind, numbers.Integral)
    wrong = not isinstance(unlabeled, kinds) or (kinds is numbers.Integral and isinstance(unlabeled, bool))
    if wrong:
        raise CothermError("unlabeled", validation.describe(unlabeled), f"None or one label, of dtype {known.dtype}")
    return unlabeled


def pair_functions(
    graphs: Sequence[Graph], pairs: ArrayLike | Sequence[ArrayLike] | str = "same", *, n_modes: int = 24
) -> dict[tuple[int, int], tuple[Floats, Floats]]:
    """Make corresponding functions from items that are known to be the same in several graphs.

    For every two graphs, the smoothest modes of both, restricted to the items that they share and zero elsewhere.

    Parameters
    ----------
    graphs : sequence of Graph
        Two or more graphs of any sizes.
    pairs : "same", "names", sequence of array_like, or array_like of int of shape (items, graphs), default "same"
        Which vertices are the same item, as for :func:`cotherm.couple_pairs`.
    n_modes : int, default 24
        Number of modes of each graph, after the constant one.

    Returns
    -------
    dict of (int, int) to tuple of ndarray
        For graphs k < l that share items, under (k, l) the functions on graph k and on graph l, arrays of shape
        (n_k, 2 n_modes) and (n_l, 2 n_modes) with the same rows for the same items. Columns have unit norm.

    Raises
    ------
    CothermError
        If a pair cannot be used, or if a graph has fewer than `n_modes` + 1 vertices.

    See Also
    --------
    couple_pairs : Couple graphs by these functions.
    landmark_functions : Smooth bumps around a few corresponding vertices.

    Examples
    --------
    >>> import cotherm as ct
    >>> graphs = ct.datasets.circles().graphs
    >>> F, G = ct.pair_functions(graphs, n_modes=5)[0, 1]
    >>> F.shape, bool((F == G).all())
    ((64, 10), True)
    """
    graphs = checked_graphs(graphs)
    found = checked_pairs(pairs, [graph.n for graph in graphs], [graph.vertex_names for graph in graphs])
    k = validation.integer("n_modes", n_modes, least=1, most=min(graph.n for graph in graphs) - 1)
    return paired_modes([smooth_modes(graph, k) for graph in graphs], found)


def smooth_modes(graph: Graph, k: int) -> Floats:
    """The k smoothest eigenvectors of the Laplacian after the constant one."""
    if graph.n > limits.DENSE_EIGENPAIRS and graph.component_count > k:
        return _constant_on_pieces(graph, k)
    bound = 2.0 * float(graph.degrees.max()) or 1.0
    try:
        values, vectors = smallest_pairs(graph.laplacian(), k + 1, bound)
    except NotConverged:
        raise not_converged(k) from None
    values = np.where(values > _ZERO * bound, values, 0.0)
    modes = without_constant(values, vectors)
    pieces = int(np.sum(values == 0.0)) - 1
    if pieces > 1:  # any rotation of these is as smooth; the choice must not depend on the order of the vertices
        constant = modes[:, :pieces]
        _, rotation = np.linalg.eigh(constant.T @ (graph.degrees[:, np.newaxis] * constant))
        modes[:, :pieces] = constant @ rotation
    return modes


def _constant_on_pieces(graph: Graph, k: int) -> Floats:
    """The same for a graph with more pieces than modes are wanted: random functions, constant on each piece.

    All of them have the eigenvalue 0, so there is nothing to iterate for. No piece is preferred.
    """
    P = part_vectors(graph.components, np.ones(graph.n))
    constant = np.sqrt(np.bincount(graph.components) / graph.n)
    mixtures = np.random.default_rng(0).standard_normal((len(constant), k))
    mixtures = np.linalg.qr(np.column_stack([constant, mixtures]))[0]
    return np.asarray(P @ mixtures[:, 1:])


def not_converged(k: int) -> CothermError:
    """The error if the iteration found no modes."""
    given = f"{k} modes, which did not converge"
    return CothermError("n_modes", given, "a gap behind the k-th eigenvalue", "Ask for more or fewer.")


def paired_modes(modes: Sequence[Floats], pairs: Pairs) -> dict[tuple[int, int], tuple[Floats, Floats]]:
    """For every two graphs that share items, the modes of both at these items, as functions on each graph."""
    found = {}
    for a, b in combinations(range(len(modes)), 2):
        mine, theirs = pairs.shared(a, b)
        if len(mine):
            columns = _of_unit_norm(np.hstack([modes[a][mine], modes[b][theirs]]))
            F, G = np.zeros((len(modes[a]), columns.shape[1])), np.zeros((len(modes[b]), columns.shape[1]))
            F[mine], G[theirs] = columns, columns
            found[a, b] = F, G
    return found


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
    columns = validation.functions("features", features, graph.n, graph.vertex_names)
    if not columns.shape[1]:
        raise CothermError("features", "no columns", "at least one feature")
    t = _smoothing_time(graph) if time is None else validation.real("time", time)
    # Each feature in its own unit: it may be counts in the millions, or as large as floats allow.
    columns = columns / np.maximum(np.abs(columns).max(axis=0), np.finfo(np.float64).tiny)
    spread = np.ptp(columns, axis=0)
    if not np.all(spread > 0.0):
        raise CothermError("features", f"column {int(np.argmin(spread))} is constant", "features that vary", "Drop it.")
    columns = (columns - columns.min(axis=0)) / spread
    smooth = flow(graph, columns, np.array([t]), "auto", 1e-10)[0]
    centered = smooth - smooth.mean(axis=0)
    norms = np.linalg.norm(centered, axis=0)
    if not np.all(norms > 1e-9):
        raise CothermError(
            "time", f"{t:g}, after which feature {int(np.argmin(norms))} is even", "a shorter time", "Or drop it."
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
    """The time at which bumps cover ``enough`` vertices; log cover is interpolated linearly in log t."""
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
