"""Nearest rows of one array to the rows of another, in a space of a hundred dimensions."""

from __future__ import annotations

import numpy as np

from cotherm.arrays import Floats, Ints
from cotherm.graphs.search.exact import FEW_DIMENSIONS


def nearest_rows(X: Floats, Y: Floats, m: int) -> tuple[Ints, Floats]:
    """For every row of X the m nearest rows of Y, nearest first, and their squared distances.

    A k-d tree in few dimensions; in many, where trees look at all rows anyway, products of blocks, never all at once.
    """
    from sklearn.neighbors import NearestNeighbors

    how = "kd_tree" if X.shape[1] <= FEW_DIMENSIONS else "brute"
    distance, index = NearestNeighbors(n_neighbors=m, algorithm=how).fit(Y).kneighbors(X)
    return np.asarray(index, dtype=np.int64), np.asarray(distance**2)
