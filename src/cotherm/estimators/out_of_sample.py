"""Coordinates of points that were not there when the graph was made.

An eigenfunction of L = D − W satisfies d_x φ(x) − Σ_j a_xj φ_j = λ φ(x) also at a new vertex x that hangs on the others
by weights a_xj, so φ(x) = s Σ_j p_xj φ_j with p_xj = a_xj / d_x and s = 1 / (1 − λ/d_x): the weighted mean of its
neighbors (the harmonic extension), made good for what a mean loses. Modes of coupled, averaged or jointly diagonalized
graphs are no eigenfunctions of the graph that new points are joined to, and λ has another unit there. So s is measured:
it is the factor that brings the means Pφ, P = D⁻¹W, over the neighbors of the training points nearest to φ itself,
s = ⟨φ, Pφ⟩ / ⟨Pφ, Pφ⟩.
"""

from __future__ import annotations

import numpy as np

from cotherm.arrays import Floats, Ints
from cotherm.estimators.fitted_graph import Joined
from cotherm.graphs.graph import Graph


def factors(graph: Graph, E: Floats) -> Floats:
    """s for every column of E; 1 where the means vanish."""
    degrees = graph.degrees[:, np.newaxis]
    # Not by 1/d, which overflows where weights are among the smallest floats.
    means = np.divide(graph.adjacency() @ E, degrees, out=np.zeros(E.shape), where=degrees > 0.0)
    # Vertices without neighbors have no mean to compare with.
    own = E * (degrees > 0.0)
    size = np.sum(means**2, axis=0)
    return np.divide(np.sum(own * means, axis=0), size, out=np.ones(E.shape[1]), where=size > 0.0)


def extended(joined: Joined, E: Floats, s: Floats) -> Floats:
    """The coordinates of new points; copies of training points have theirs."""
    means = np.asarray(joined.shares @ E)
    return means * np.where(joined.copies[:, np.newaxis], 1.0, s)


def votes(joined: Joined, labels: Ints, count: int) -> Floats:
    """The share of each label among the neighbors of new points, (new, labels)."""
    indicators = np.zeros((len(labels), count))
    indicators[np.arange(len(labels)), labels] = 1.0
    return np.asarray(joined.shares @ indicators)
