"""From points of one space to correspondences: the nearest, shares of the nearest few, and whether they lead back."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from cotherm.arrays import Floats, Ints
from cotherm.graphs.graph import Graph
from cotherm.graphs.search.exact import nearest_rows
from cotherm.methods.matching.halves import neighborhoods

# The share of the m-th nearest is e to the minus this of that of the nearest.
_FALL = 3.0


def shares(X: Floats, Y: Floats, m: int) -> tuple[Ints, sp.csr_array]:
    """For rows of X the nearest row of Y, and shares of the m nearest: a row-stochastic matrix of m entries a row.

    Shares are the softmax of −β_v d², the plan of least Σ p d² − (entropy of p)/β_v over those m. β_v is the vertex's
    own: with it the m-th nearest has e⁻³ of the share of the nearest, at any density of vertices.
    """
    near, distances = nearest_rows(X, Y, m)
    squares = distances**2
    excess = squares - squares[:, :1]
    widest = excess[:, -1:]
    p = np.exp(-_FALL * np.divide(excess, widest, out=np.zeros_like(excess), where=widest > 0.0))
    p /= p.sum(axis=1, keepdims=True)
    hard = near[:, 0].copy()  # before the rows of the matrix, which may share their memory, are sorted
    soft = sp.csr_array((p.ravel(), near.ravel(), np.arange(0, near.size + 1, m)), shape=(len(X), len(Y)))
    soft.sort_indices()
    return hard, soft


def round_trip(graph: Graph, there: Any, back: Any) -> Floats:
    """For every vertex v the chance to come back to v or a neighbor: Σ_u (PQ)_vu over u = v and u ~ v.

    P are the shares from the graph to the other and Q those from the other to it.
    """
    chance = np.asarray((sp.csr_array(there @ back) * neighborhoods(graph)).sum(axis=1)).ravel()
    return np.clip(chance, 0.0, 1.0)
