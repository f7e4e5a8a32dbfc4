"""Edges as numbers, and graphs whose edges come from several lists."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats, Ints
from cotherm.graphs.graph import Graph


def edge_keys(i: NDArray[Any], j: NDArray[Any], n: int) -> Ints:
    """One number for each edge."""
    return i.astype(np.int64) * n + j


def summed(graph: Graph, keys: Ints, weights: Floats) -> Graph:
    """The graph with new weights: edges by their keys, its own ones first, weights of the same edge added."""
    unique, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    total = np.bincount(inverse, weights)[order]
    i, j = np.divmod(unique[order], graph.n)
    return graph.with_edges(i, j, total)
