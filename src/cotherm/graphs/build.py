"""Graphs from points and meshes."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from cotherm import validation
from cotherm.arrays import Floats, Ints
from cotherm.engines import Engine
from cotherm.errors import known_as
from cotherm.graphs import kernel
from cotherm.graphs.graph import Graph
from cotherm.graphs.search import exact
from cotherm.graphs.search.neighbors import nearest_neighbors
from cotherm.graphs.search.points import Points
from cotherm.graphs.validation import (
    checked_faces,
    checked_rows,
    checked_scale,
    checked_sigma,
    checked_vertex_names,
    names_of_rows,
    refuse_where,
)
from cotherm.indexed import index_of

# Points in at most this many dimensions can be drawn as they are.
_DRAWABLE = 3


def knn_graph(
    X: ArrayLike | sp.sparray | sp.spmatrix,
    k: int = 10,
    *,
    scale: str | float | None = "self-tuning",
    scale_neighbor: int = 7,
    scale_factor: float = 1.0,
    metric: str = "euclidean",
    symmetrize: str = "max",
    search: str = "auto",
    engine: str | Engine = "auto",
    labels: ArrayLike | None = None,
    vertex_names: ArrayLike | None = None,
    name: str | None = None,
) -> Graph:
    r"""Build the graph that joins every point to its k nearest neighbors.

    Directed weights

    .. math:: a_{ij} = \exp\left(-\frac{d_{ij}^2}{c \, \sigma_i \sigma_j}\right)
        \quad\text{if } j \text{ is among the } k \text{ nearest neighbors of } i, \text{ else } 0,

    are made symmetric: the weight matrix is :math:`\max(A, A^\top)`, :math:`(A + A^\top)/2` or
    :math:`\min(A, A^\top)`. Here :math:`c` is `scale_factor` and :math:`\sigma_i` is set by `scale`.

    Parameters
    ----------
    X : array_like or sparse matrix of shape (n, d)
        The points.
    k : int, default 10
        Number of neighbors of every point, at most n − 1.
    scale : {"self-tuning", "median"}, float or None, default "self-tuning"
        How to choose σ. "self-tuning": σ_i is the distance from point i to its `scale_neighbor`-th nearest neighbor
        [1]_. "median": one σ, the median of the n·k distances to neighbors. A number > 0: σ itself. None: unweighted,
        all neighbors have weight 1.
    scale_neighbor : int, default 7
        Neighbor that sets σ_i for "self-tuning", at most n − 1. It may exceed `k`.
    scale_factor : float, default 1.0
        Factor c > 0 in the exponent.
    metric : {"euclidean", "cosine"}, default "euclidean"
        Distance between points. Under "cosine" d_ij = 1 − cos(x_i, x_j), and zero rows become isolated vertices.
    symmetrize : {"max", "mean", "min"}, default "max"
        How to combine the two directions. "min" keeps only edges between mutual neighbors and may leave isolated
        vertices.
    search : {"auto", "exact", "approximate"}, default "auto"
        How to find neighbors, see :func:`cotherm.nearest_neighbors`.
    engine : {"auto", "cpu", "gpu"} or Engine, default "auto"
        What finds the neighbors, see :func:`cotherm.nearest_neighbors`: "auto" is the GPU if `X` lives on one, and the
        processor otherwise. The graph is the same, and lives on the host.
    labels : array_like of int or str, optional
        Labels of the vertices, stored in the graph. A pandas Series is matched by its index.
    vertex_names : array_like of int or str, optional
        Names of the vertices, each once. By default the index of a pandas data frame.
    name : str, optional
        Name of the graph.

    Returns
    -------
    Graph
        The graph, with edges sorted by (i, j). Points in at most 3 dimensions become its coordinates.

    Raises
    ------
    CothermError
        If an argument cannot be used.

    See Also
    --------
    radius_graph : Join all points within a distance.
    mesh_graph : Graph of the edges of a triangle mesh.
    nearest_neighbors : The search by itself.

    Notes
    -----
    A weight that underflows is stored as 0 and its edge stays.

    If copies of a point make σ_i = 0, the distance to the nearest point that is not a copy is used, among its max(k,
    scale_neighbor) nearest neighbors. If all of those are copies, the smallest σ_j > 0 is used, and if all points
    coincide, 1. A median of 0 is replaced by the smallest positive distance to a neighbor, or by 1.

    The recipe fitted to the NUS figures of the heat kernel coupling paper is
    ``knn_graph(X, 25, scale="self-tuning", scale_neighbor=15, scale_factor=4, symmetrize="mean")``.

    References
    ----------
    .. [1] L. Zelnik-Manor and P. Perona, "Self-tuning spectral clustering", Advances in Neural Information Processing
       Systems 17, 2004.

    Examples
    --------
    >>> import cotherm as ct
    >>> g = ct.knn_graph([[0.0], [1.0], [2.0], [10.0]], k=1, scale=None)
    >>> g.edges.tolist()
    [[0, 1], [1, 2], [2, 3]]
    """
    graph, _ = scaled_knn_graph(
        X,
        k,
        scale=scale,
        scale_neighbor=scale_neighbor,
        scale_factor=scale_factor,
        metric=metric,
        symmetrize=symmetrize,
        search=search,
        engine=engine,
        labels=labels,
        vertex_names=vertex_names,
        name=name,
    )
    return graph


def scaled_knn_graph(
    X: ArrayLike | sp.sparray | sp.spmatrix,
    k: int,
    *,
    scale: str | float | None,
    scale_neighbor: int,
    scale_factor: float,
    metric: str,
    symmetrize: str,
    search: str = "auto",
    engine: str | Engine = "auto",
    labels: ArrayLike | None = None,
    vertex_names: ArrayLike | None = None,
    name: str | None = None,
) -> tuple[Graph, Floats]:
    """The same, with σ of every point, which is needed to join later points to the graph."""
    k = validation.integer("k", k, least=1)
    scale = checked_scale(scale, ("self-tuning", "median"))
    scale_neighbor = validation.integer("scale_neighbor", scale_neighbor, least=1)
    scale_factor = validation.real("scale_factor", scale_factor, positive=True)
    symmetrize = validation.choice("symmetrize", symmetrize, ("max", "mean", "min"))
    bare = _without_edges(X, checked_rows("X", X).shape[0], labels, vertex_names, name)
    sought = max(k, scale_neighbor) if scale == "self-tuning" else k
    with known_as("k", "scale_neighbor" if sought > k else "k"):
        found = nearest_neighbors(X, sought, metric=metric, search=search, engine=engine)
    sigma = _sigma(found.distances, k, scale, scale_neighbor)
    j, d = found.indices[:, :k], found.distances[:, :k]
    i, j, d = np.nonzero(j >= 0)[0], j[j >= 0], d[j >= 0]
    a = np.ones(len(d)) if scale is None else kernel.gaussian(d, sigma[i], sigma[j], scale_factor)
    return bare.with_edges(*_symmetrized(bare.n, i, j, a, symmetrize)), sigma


def radius_graph(
    X: ArrayLike | sp.sparray | sp.spmatrix,
    radius: float,
    *,
    scale: str | float | None = None,
    scale_factor: float = 1.0,
    metric: str = "euclidean",
    labels: ArrayLike | None = None,
    vertex_names: ArrayLike | None = None,
    name: str | None = None,
) -> Graph:
    r"""Build the graph that joins every two points within a given distance.

    Points with :math:`d_{ij} \le` `radius` are joined with weight 1 or, with a scale,

    .. math:: w_{ij} = \exp\left(-\frac{d_{ij}^2}{c \, \sigma^2}\right), \qquad c = \mathtt{scale\_factor}.

    Parameters
    ----------
    X : array_like or sparse matrix of shape (n, d)
        The points.
    radius : float
        Largest distance, ≥ 0. A radius of 0 joins copies of a point.
    scale : "median", float or None, default None
        None: unweighted. "median": σ is the median length of the edges; if that is 0, the smallest positive length,
        or 1 if there is none. A number > 0: σ itself.
    scale_factor : float, default 1.0
        Factor c > 0 in the exponent.
    metric : {"euclidean", "cosine"}, default "euclidean"
        Distance between points. Under "cosine" zero rows become isolated vertices.
    labels : array_like of int or str, optional
        Labels of the vertices, stored in the graph. A pandas Series is matched by its index.
    vertex_names : array_like of int or str, optional
        Names of the vertices, each once. By default the index of a pandas data frame.
    name : str, optional
        Name of the graph.

    Returns
    -------
    Graph
        The graph, with edges sorted by (i, j). Points in at most 3 dimensions become its coordinates.

    Raises
    ------
    CothermError
        If an argument cannot be used, or if there would be more than 200,000,000 edges.

    See Also
    --------
    knn_graph : Join every point to its nearest neighbors.

    Examples
    --------
    >>> import cotherm as ct
    >>> ct.radius_graph([[0.0], [1.0], [3.0]], radius=2.0).edges.tolist()
    [[0, 1], [1, 2]]
    """
    radius = validation.real("radius", radius)
    scale = checked_scale(scale, ("median",))
    scale_factor = validation.real("scale_factor", scale_factor, positive=True)
    points = Points.of(X, metric)
    bare = _without_edges(X, points.n, labels, vertex_names, name)
    i, j, d = exact.within(points, radius)
    order = np.lexsort((j, i))
    return bare.with_edges(points.kept[i][order], points.kept[j][order], _weights(d[order], scale, scale_factor))


def mesh_graph(
    vertices: ArrayLike,
    faces: ArrayLike,
    *,
    weights: str = "unit",
    scale: str | float = "median",
    scale_factor: float = 1.0,
    labels: ArrayLike | None = None,
    vertex_names: ArrayLike | None = None,
    name: str | None = None,
) -> Graph:
    r"""Build the graph of the edges of a triangle mesh.

    With the length :math:`l_{ij}` of an edge, its weight is 1 ("unit"), :math:`1 / l_{ij}` ("inverse-length") or
    :math:`\exp(-l_{ij}^2 / (c \sigma^2))` ("gaussian"), where :math:`c` is `scale_factor`.

    Parameters
    ----------
    vertices : array_like of shape (n, d)
        Positions. Vertices that no face uses become isolated vertices of the graph.
    faces : array_like of int of shape (f, 3)
        Corners of the triangles, in [0, n).
    weights : {"unit", "inverse-length", "gaussian"}, default "unit"
        Weights of the edges.
    scale : "median" or float, default "median"
        Scale σ for "gaussian": the median length of the edges, or a number > 0.
    scale_factor : float, default 1.0
        Factor c > 0 for "gaussian".
    labels : array_like of int or str, optional
        Labels of the vertices, stored in the graph. A pandas Series is matched by its index.
    vertex_names : array_like of int or str, optional
        Names of the vertices, each once. By default the index of a pandas data frame.
    name : str, optional
        Name of the graph.

    Returns
    -------
    Graph
        The graph, with edges sorted by (i, j). Vertices in at most 3 dimensions become its coordinates.

    Raises
    ------
    CothermError
        If an argument cannot be used, or if an edge of length 0 would get the weight "inverse-length".

    See Also
    --------
    read_mesh : Read vertices and faces from a file.
    knn_graph : Graph of nearest neighbors of points.

    Notes
    -----
    Cotangent weights are not offered. They are negative at obtuse angles, and the Laplacian then leaves the set L(V,
    E) of valid Laplacians, in which heat stays ≥ 0 and in which every method here works.

    Examples
    --------
    >>> import cotherm as ct
    >>> vertices = [[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]]
    >>> ct.mesh_graph(vertices, [[0, 1, 2]], weights="inverse-length").w.round(2).tolist()
    [0.33, 0.25, 0.2]
    """
    weights = validation.choice("weights", weights, ("unit", "inverse-length", "gaussian"))
    sigma = checked_sigma(scale, ("median",))
    scale_factor = validation.real("scale_factor", scale_factor, positive=True)
    position = validation.numeric("vertices", vertices, ndim=(2,))
    n = checked_rows("vertices", position).shape[0]
    with known_as("X", "vertices"):
        bare = _without_edges(vertices, n, labels, vertex_names, name)
    corners = checked_faces(faces, n)
    i, j, _ = _symmetrized(n, corners.ravel(), np.roll(corners, -1, axis=1).ravel(), np.ones(corners.size), "max")
    length = np.linalg.norm(position[i] - position[j], axis=1)
    if weights == "inverse-length":
        needed = "edges of positive length for weights='inverse-length'"
        told = lambda e: f"vertices {i[e]} and {j[e]} coincide but share an edge"  # noqa: E731
        refuse_where("vertices", length == 0, told, needed, "Merge them, or use other weights.")
        return bare.with_edges(i, j, 1 / length)
    return bare.with_edges(i, j, _weights(length, None if weights == "unit" else sigma, scale_factor))


def _without_edges(X: Any, n: int, labels: ArrayLike | None, vertex_names: ArrayLike | None, name: str | None) -> Graph:
    """The graph's vertices; checked before the search, so that wrong labels are found early."""
    drawable = not sp.issparse(X) and np.shape(X)[1] <= _DRAWABLE
    rows = index_of(X)
    names = names_of_rows(X) if vertex_names is None else checked_vertex_names(vertex_names, n, rows)
    known = None if labels is None else validation.labels("labels", labels, rows, names)
    points = validation.as_array("X", X) if drawable else None
    return Graph(n, [], [], [], coordinates=points, labels=known, vertex_names=names, name=name)


def _weights(d: Floats, scale: str | float | None, scale_factor: float) -> Floats:
    sigma = kernel.common_sigma(d, scale)
    return np.ones(len(d)) if scale is None else kernel.gaussian(d, sigma, sigma, scale_factor)


def _sigma(distances: Floats, k: int, scale: str | float | None, scale_neighbor: int) -> Floats:
    """One σ per point."""
    if scale == "self-tuning":
        return kernel.self_tuned_sigma(distances, scale_neighbor)
    near = distances[:, :k]
    return np.full(len(distances), kernel.common_sigma(near[np.isfinite(near)], scale))


def _symmetrized(n: int, i: Ints, j: Ints, a: Floats, how: str) -> tuple[Ints, Ints, Floats]:
    """The edges of W, sorted, from the entries of A."""
    # The formula is symmetric: if a_ij and a_ji are both stored they agree, and only their number matters.
    key, first, times = np.unique(np.minimum(i, j) * n + np.maximum(i, j), return_index=True, return_counts=True)
    w = a[first]
    if how == "mean":
        w = w * times / 2
    if how == "min":
        mutual = times == 2
        key, w = key[mutual], w[mutual]
    return key // n, key % n, w
