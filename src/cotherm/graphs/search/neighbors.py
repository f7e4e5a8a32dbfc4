"""The k nearest neighbors of every point: exact where affordable, else approximate with known recall."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from cotherm import limits, validation
from cotherm.arrays import Floats, Ints
from cotherm.engines import Engine, get_engine, resolved
from cotherm.errors import CothermError, CothermWarning
from cotherm.graphs.search import approximate, exact
from cotherm.graphs.search.points import Points

# Below this recall a warning is given, since the fine structure of a graph may be wrong.
_GOOD_RECALL = 0.95


class Neighbors(NamedTuple):
    """Nearest neighbors of n points.

    Attributes
    ----------
    indices : ndarray of int of shape (n, k)
        The k nearest other points of every point, nearest first; −1 for none.
    distances : ndarray of float of shape (n, k)
        Distances to them, ascending; infinite for none.
    recall : float
        Fraction of the true neighbors that were found: 1 for the exact search, otherwise measured on a sample of
        points.

    See Also
    --------
    nearest_neighbors : Find them.
    """

    indices: Ints
    distances: Floats
    recall: float


def nearest_neighbors(
    X: ArrayLike | sp.sparray | sp.spmatrix,
    k: int,
    *,
    metric: str = "euclidean",
    search: str = "auto",
    seed: int = 0,
    engine: str | Engine = "auto",
) -> Neighbors:
    """Find the k nearest other points of every point.

    Parameters
    ----------
    X : array_like or sparse matrix of shape (n, d)
        The points.
    k : int
        Number of neighbors, at most n − 1.
    metric : {"euclidean", "cosine"}, default "euclidean"
        Distance d_ij = ‖x_i − x_j‖, or d_ij = 1 − x_i·x_j / (‖x_i‖ ‖x_j‖).
    search : {"auto", "exact", "approximate"}, default "auto"
        "approximate" is nearest neighbor descent by pynndescent, which needs the extra ``neighbors``. "auto" is exact
        for up to 100,000 points and for any number of points in at most 15 dimensions.
    seed : int, default 0
        Seed of the approximate search and of the sample that measures its recall. The same seed gives the same
        result.
    engine : {"auto", "cpu", "gpu"} or Engine, default "auto"
        What compares the points. "gpu" finds the same neighbors as the exact search of the processor, and pays for
        10,000 or more dense points in more than 15 dimensions: the processor searches among fewer, in fewer
        dimensions, among sparse points, and for more than 1,000 neighbors. With it "auto" for `search` is exact for
        up to 2,000,000 points. "auto" is the GPU if `X` lives on one, and the processor otherwise.

    Returns
    -------
    Neighbors
        Indices, distances and recall. It unpacks as a tuple.

    Raises
    ------
    CothermError
        If an argument cannot be used, if "approximate" is asked for without pynndescent or of a GPU, or if the GPU
        lacks memory.

    Warns
    -----
    CothermWarning
        If the recall is below 0.95, if rows are zero under "cosine", or if an exact search will be slow.

    See Also
    --------
    knn_graph : Graph of nearest neighbors.

    Notes
    -----
    A point is not its own neighbor, but its copies are, at distance 0. Which of several points at the k-th distance
    are taken is arbitrary but reproducible. Under "cosine" a zero row has no direction: it has no neighbors (index
    −1, distance infinite) and is not a neighbor of any point.

    Examples
    --------
    >>> import cotherm as ct
    >>> found = ct.nearest_neighbors([[0.0], [1.0], [3.0]], k=1)
    >>> found.indices.ravel().tolist(), found.distances.ravel().tolist(), found.recall
    ([1, 0, 1], [1.0, 1.0, 2.0], 1.0)
    """
    k = validation.integer("k", k, least=1)
    search = validation.choice("search", search, ("auto", "exact", "approximate"))
    seed = validation.integer("seed", seed, least=0, most=2**32 - 1)
    run_by = _engine(engine, X, search)
    points = Points.of(X, metric)
    points.require("k", k)
    if _is_approximate(points, k, search, run_by):
        indices, distances = approximate.nearest(points, k, seed)
        recall = approximate.recall(points, distances, seed)
        warn_if_low(recall, "a larger k")
    else:
        indices, distances = exact.nearest(points, k, run_by)
        recall = 1.0
    if points.count == points.n:
        return Neighbors(indices, distances, recall)
    padded = Neighbors(np.full((points.n, k), -1), np.full((points.n, k), np.inf), recall)
    padded.indices[points.kept] = points.kept[indices]
    padded.distances[points.kept] = distances
    return padded


def _engine(engine: str | Engine, X: object, search: str) -> Engine | None:
    """The engine that searches among the points X, not approximately; None for the processor without its kernels."""
    named = resolved(engine, X)
    is_auto = isinstance(engine, str) and engine == "auto"
    if (isinstance(named, str) and named == "cpu") or (is_auto and search == "approximate"):
        return None
    chosen = get_engine(named)
    if search == "approximate" and chosen.name != "cpu":
        needed = "'auto' or 'exact', which compare all pairs there, or engine='cpu'"
        raise CothermError("search", f"'approximate' with engine={chosen.name!r}", needed)
    return chosen


def _is_approximate(points: Points, k: int, search: str, engine: Engine | None) -> bool:
    most = limits.GPU_EXACT_NEIGHBORS if exact.runs_on(engine, points, k) else limits.EXACT_NEIGHBORS
    affordable = points.count <= most or exact.few_dimensions(points)
    if search == "exact" or (search == "auto" and affordable):
        return False
    remedy = approximate.remedy()
    if remedy is None:
        return True
    if search == "approximate":
        advice = remedy[0].upper() + remedy[1:]
        raise CothermError("search", "'approximate', which is not available", "pynndescent, compiled", advice)
    told = f"X: all pairs of {points.count:,} points are compared, which will be slow; for the approximate search "
    warnings.warn(told + remedy, CothermWarning, stacklevel=3)
    return False


def warn_if_low(recall: float, other: str) -> None:
    """Warn of a search that missed too many neighbors; ``other`` is what helps besides an exact search."""
    if recall < _GOOD_RECALL:
        told = f"search: only {recall:.1%} of the true neighbors were found; use 'exact', or {other}"
        warnings.warn(told, CothermWarning, stacklevel=3)
