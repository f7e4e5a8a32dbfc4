"""The k nearest neighbors of every point: exact where affordable, else approximate with known recall."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from cotherm import limits, validation
from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError, CothermWarning
from cotherm.graphs.search import approximate, exact
from cotherm.graphs.search.points import Points

# Below this recall a warning is given: the fine structure of a graph may be wrong.
_GOOD_RECALL = 0.95


class Neighbors(NamedTuple):
    """The neighbors of n points.

    indices : (n, k), the numbers of the k nearest other points of every point, nearest first; −1 for none.
    distances : (n, k), how far they are, ascending; infinite for none.
    recall : the share of true neighbors among those found: 1 if exact, else measured on a sample of points.
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
) -> Neighbors:
    """The k nearest other points of every point.

    Parameters
    ----------
    X : the points, (n, d), dense or scipy.sparse.
    k : how many neighbors, at most n − 1.
    metric : "euclidean", d_ij = ‖x_i − x_j‖, or "cosine", d_ij = 1 − x_i·x_j / (‖x_i‖ ‖x_j‖).
    search : "exact"; "approximate" (pynndescent, the extra ``neighbors``); or "auto", which is exact up to
        50,000 points, and for any number of points in at most 15 dimensions.
    seed : for the approximate search and the sample that measures its recall; the same seed, the same answer.

    A point is not its own neighbor, but its copies are, at distance 0. Which of several points at the k-th
    distance are taken is arbitrary but reproducible. Under "cosine" a zero row has no direction: it has no
    neighbors (index −1, distance infinite) and is nobody's neighbor; a CothermWarning says how many there
    are. Another says so if the recall is below 0.95.
    """
    k = validation.integer("k", k, least=1)
    search, seed = search_options(search, seed)
    points = Points.of(X, metric)
    points.require("k", k)
    return find(points, k, search, seed)


def search_options(search: object, seed: object) -> tuple[str, int]:
    """The checked ``search`` and ``seed``."""
    search = validation.choice("search", search, ("auto", "exact", "approximate"))
    return search, validation.integer("seed", seed, least=0, most=2**32 - 1)


def find(points: Points, k: int, search: str, seed: int) -> Neighbors:
    """The neighbors of checked points, numbered as the points were given."""
    if _is_approximate(points, search):
        indices, distances = approximate.nearest(points, k, seed)
        recall = approximate.recall(points, distances, seed)
        _warn_if_low(recall)
    else:
        indices, distances = exact.nearest(points, k)
        recall = 1.0
    if points.count == points.n:
        return Neighbors(indices, distances, recall)
    padded = Neighbors(np.full((points.n, k), -1), np.full((points.n, k), np.inf), recall)
    padded.indices[points.kept] = points.kept[indices]
    padded.distances[points.kept] = distances
    return padded


def _is_approximate(points: Points, search: str) -> bool:
    affordable = points.count <= limits.EXACT_NEIGHBORS or exact.few_dimensions(points)
    if search == "exact" or (search == "auto" and affordable):
        return False
    if approximate.available():
        return True
    if search == "approximate":
        raise CothermError("search", "'approximate' without pynndescent", "the extra", f"Run: {approximate.INSTALL}")
    warnings.warn(
        f"X: all pairs of {points.count:,} points are compared, which will be slow; for the approximate "
        f"search run: {approximate.INSTALL}",
        CothermWarning,
        stacklevel=4,
    )
    return False


def _warn_if_low(recall: float) -> None:
    if recall < _GOOD_RECALL:
        warnings.warn(
            f"search: only {recall:.1%} of the true neighbors were found; use 'exact', or a larger k",
            CothermWarning,
            stacklevel=4,
        )
