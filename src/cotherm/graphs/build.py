"""Graphs from points and meshes."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from cotherm import validation
from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError
from cotherm.graphs import kernel
from cotherm.graphs.graph import Graph
from cotherm.graphs.search import exact
from cotherm.graphs.search.neighbors import Neighbors, find, search_options
from cotherm.graphs.search.points import Points
from cotherm.graphs.validation import checked_faces, checked_rows, checked_scale, checked_sigma

# Points in at most this many dimensions can be drawn where they are.
_DRAWABLE = 3


def knn_graph(
    X: ArrayLike | sp.sparray | sp.spmatrix,
    k: int,
    *,
    scale: str | float | None = "self-tuning",
    scale_neighbor: int = 7,
    scale_factor: float = 1.0,
    metric: str = "euclidean",
    symmetrize: str = "max",
    search: str = "auto",
    seed: int = 0,
    labels: ArrayLike | None = None,
    name: str | None = None,
) -> Graph:
    """The graph that joins every point to its k nearest neighbors.

    a_ij = exp(−d_ij² / (scale_factor σ_i σ_j)) if j is among the k nearest neighbors of i, else 0; the weights are
    W = max(A, Aᵀ), (A + Aᵀ)/2 or min(A, Aᵀ).

    Parameters
    ----------
    X : the points, (n, d), dense or scipy.sparse.
    k : neighbors of every point, at most n − 1.
    scale : "self-tuning", σ_i = the distance from i to its ``scale_neighbor``-th nearest neighbor; "median", one
        σ = the median of the n k distances to neighbors; a number > 0, σ itself; or None, unweighted,
        a_ij = 1 for all neighbors.
    scale_neighbor : for "self-tuning"; may exceed k.
    scale_factor : a number > 0.
    metric, search, seed : see :func:`cotherm.nearest_neighbors`. Under "cosine" d_ij = 1 − cos(x_i, x_j),
        and zero rows are isolated vertices.
    symmetrize : "max", "mean", or "min", which keeps only the edges between mutual neighbors and may leave
        isolated vertices.
    labels, name : passed on to the graph.

    Edges come sorted by (i, j). A weight too small for a float64 is 0, and its edge stays. Points in at most
    3 dimensions become the graph's coordinates. Where copies of a point make σ_i = 0, the distance to the
    nearest that is no copy, among its max(k, scale_neighbor) nearest neighbors, takes its place; if all of those
    are copies, the smallest σ_j > 0; if all points coincide, 1. A median of 0 gives way to the smallest
    distance to a neighbor that is > 0, or 1.

    The recipe fitted to the paper's NUS figures is
    ``knn_graph(X, 25, scale="self-tuning", scale_neighbor=15, scale_factor=4, symmetrize="mean")``.
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
        seed=seed,
        labels=labels,
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
    seed: int = 0,
    labels: ArrayLike | None = None,
    name: str | None = None,
) -> tuple[Graph, Floats]:
    """The same, and σ of every point, by which points that come later can be joined to the graph."""
    k = validation.integer("k", k, least=1)
    scale = checked_scale(scale, ("self-tuning", "median"))
    scale_neighbor = validation.integer("scale_neighbor", scale_neighbor, least=1)
    scale_factor = validation.real("scale_factor", scale_factor, positive=True)
    symmetrize = validation.choice("symmetrize", symmetrize, ("max", "mean", "min"))
    search, seed = search_options(search, seed)
    points = Points.of(X, metric)
    points.require("k", k)
    sought = k
    if scale == "self-tuning":
        points.require("scale_neighbor", scale_neighbor)
        sought = max(k, scale_neighbor)
    bare = _without_edges(X, points.n, labels, name)
    found = find(points, sought, search, seed)
    sigma = _sigma(found.distances, k, scale, scale_neighbor)
    i, j, d = _to_neighbors(found, k)
    a = np.ones(len(d)) if scale is None else kernel.gaussian(d, i, j, sigma, scale_factor)
    return _with_edges(bare, *_symmetrized(points.n, i, j, a, symmetrize)), sigma


def radius_graph(
    X: ArrayLike | sp.sparray | sp.spmatrix,
    radius: float,
    *,
    scale: str | float | None = None,
    scale_factor: float = 1.0,
    metric: str = "euclidean",
    labels: ArrayLike | None = None,
    name: str | None = None,
) -> Graph:
    """The graph that joins every two points at a distance d_ij ≤ radius.

    w_ij = 1, or with a scale w_ij = exp(−d_ij² / (scale_factor σ²)).

    Parameters
    ----------
    X : the points, (n, d), dense or scipy.sparse.
    radius : a number ≥ 0; 0 joins the copies of a point. More than 200,000,000 edges are refused.
    scale : None, unweighted; "median", σ = the median of the edges' d_ij; or a number > 0, σ itself. If the
        median is 0, σ is the smallest d_ij > 0, and 1 if there is none.
    scale_factor : a number > 0.
    metric : "euclidean", or "cosine", under which zero rows are isolated vertices.
    labels, name : passed on to the graph.

    Edges come sorted by (i, j). Points in at most 3 dimensions become the graph's coordinates.
    """
    radius = validation.real("radius", radius)
    scale = checked_scale(scale, ("median",))
    scale_factor = validation.real("scale_factor", scale_factor, positive=True)
    points = Points.of(X, metric)
    bare = _without_edges(X, points.n, labels, name)
    i, j, d = exact.within(points, radius)
    order = np.lexsort((j, i))
    return _with_edges(bare, points.kept[i][order], points.kept[j][order], _weights(d[order], scale, scale_factor))


def mesh_graph(
    vertices: ArrayLike,
    faces: ArrayLike,
    *,
    weights: str = "unit",
    scale: str | float = "median",
    scale_factor: float = 1.0,
    labels: ArrayLike | None = None,
    name: str | None = None,
) -> Graph:
    """The graph of the edges of a triangle mesh.

    With the length l_ij of the edge, w_ij = 1 for "unit", 1/l_ij for "inverse-length" and
    exp(−l_ij² / (scale_factor σ²)) for "gaussian".

    Cotangent weights are not offered: they are negative at obtuse angles, and the Laplacian then leaves the
    set L(V, E) of valid ones, in which heat stays ≥ 0 and which every method here works in.

    Parameters
    ----------
    vertices : (n, d) positions; those that no face uses are isolated vertices of the graph.
    faces : (f, 3) corners of the triangles, integers in [0, n).
    weights : "unit", "inverse-length" or "gaussian".
    scale : σ for "gaussian": "median", the median length of the edges, or a number > 0.
    scale_factor : for "gaussian", a number > 0.
    labels, name : passed on to the graph.

    Edges come sorted by (i, j); vertices in at most 3 dimensions become the graph's coordinates.
    """
    weights = validation.choice("weights", weights, ("unit", "inverse-length", "gaussian"))
    sigma = checked_sigma(scale, ("median",))
    scale_factor = validation.real("scale_factor", scale_factor, positive=True)
    position = validation.numeric("vertices", vertices, ndim=(2,))
    n = checked_rows("vertices", position).shape[0]
    bare = _without_edges(position, n, labels, name)
    i, j = _sides(checked_faces(faces, n), n)
    length = np.linalg.norm(position[i] - position[j], axis=1)
    if weights == "inverse-length":
        return _with_edges(bare, i, j, 1 / _positive(length, i, j))
    return _with_edges(bare, i, j, _weights(length, None if weights == "unit" else sigma, scale_factor))


def _without_edges(X: Any, n: int, labels: ArrayLike | None, name: str | None) -> Graph:
    """The graph's vertices; made before the search, so that wrong labels do not cost the time of one."""
    drawable = not sp.issparse(X) and np.shape(X)[1] <= _DRAWABLE
    return Graph(n, [], [], [], coordinates=X if drawable else None, labels=labels, name=name)


def _with_edges(bare: Graph, i: Ints, j: Ints, w: Floats) -> Graph:
    return Graph(bare.n, i, j, w, coordinates=bare.coordinates, labels=bare.labels, name=bare.name)


def _weights(d: Floats, scale: str | float | None, scale_factor: float) -> Floats:
    if scale is None:
        return np.ones(len(d))
    zero = np.zeros(len(d), dtype=np.int64)
    return kernel.gaussian(d, zero, zero, np.array([kernel.common_sigma(d, scale)]), scale_factor)


def _sigma(distances: Floats, k: int, scale: str | float | None, scale_neighbor: int) -> Floats:
    """One σ per point."""
    if scale == "self-tuning":
        return kernel.self_tuned_sigma(distances, scale_neighbor)
    near = distances[:, :k]
    return np.full(len(distances), kernel.common_sigma(near[np.isfinite(near)], scale))


def _to_neighbors(found: Neighbors, k: int) -> tuple[Ints, Ints, Floats]:
    """Every point i with every one of its k neighbors j, and d_ij."""
    j = found.indices[:, :k]
    there = j >= 0
    i = np.broadcast_to(np.arange(len(j))[:, np.newaxis], j.shape)
    return i[there], j[there], found.distances[:, :k][there]


def _symmetrized(n: int, i: Ints, j: Ints, a: Floats, how: str) -> tuple[Ints, Ints, Floats]:
    """The edges of W, sorted, from the entries of A."""
    # The formula is symmetric: where a_ij and a_ji are both there they agree, and only their number matters.
    key, first, times = np.unique(np.minimum(i, j) * n + np.maximum(i, j), return_index=True, return_counts=True)
    w = a[first]
    if how == "mean":
        w = w * times / 2
    if how == "min":
        mutual = times == 2
        key, w = key[mutual], w[mutual]
    return key // n, key % n, w


def _sides(corners: Ints, n: int) -> tuple[Ints, Ints]:
    """The sides of the triangles, each once, sorted, i < j."""
    i, j = corners.ravel(), np.roll(corners, -1, axis=1).ravel()
    key = np.unique(np.minimum(i, j) * n + np.maximum(i, j))
    return key // n, key % n


def _positive(length: Floats, i: Ints, j: Ints) -> Floats:
    zero = np.flatnonzero(length == 0)
    if len(zero):
        e = zero[0]
        raise CothermError(
            "vertices",
            f"vertices {i[e]} and {j[e]} coincide but share an edge ({len(zero)} such edge(s))",
            "edges of positive length for weights='inverse-length'",
            "Merge them, or use other weights.",
        )
    return length
