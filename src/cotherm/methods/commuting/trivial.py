"""Weights with which Laplacians commute whatever the graphs are: with these a search must compare what it finds.

*Equal*: the nearest weights that are equal on the edges all graphs share and zero elsewhere. *Proportional*: the same,
each graph times a number of its own, which is never further. *Alone*: the graph with the largest Laplacian as it is and
the others without weight.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.lazy import lazy
from cotherm.methods.commuting.commutation import Commutation
from cotherm.solve.bounded_newton import nearest_bounded

# Rounds in which weights and factors are fitted in turn, and the relative gain below which that ends.
_ROUNDS, _GAIN = 30, 1e-9


def alone(graphs: Commutation) -> Floats:
    """All graphs but one emptied, that with the largest Laplacian."""
    norms = [float(np.linalg.norm(L)) for L in graphs.laplacians(graphs.w)]
    return np.where(graphs.owner == int(np.argmax(norms)), graphs.w, 0.0)


class SharedEdges:
    """The edges that all graphs have, and weights on them alone."""

    def __init__(self, graphs: Commutation) -> None:
        self._graphs = graphs
        key = graphs.i * graphs.n + graphs.j
        names, number, times = np.unique(key, return_inverse=True, return_counts=True)
        columns = np.flatnonzero(times == graphs.count)
        place = np.full(len(names), -1)
        place[columns] = np.arange(len(columns))
        # For every edge of every graph its number among the shared ones, or -1.
        self._place = place[number]
        self._count = len(columns)

    def equal(self) -> Floats:
        """The nearest weights that are the same on every graph."""
        return self._spread(self._fitted(np.ones(self._graphs.count), None), np.ones(self._graphs.count))

    def proportional(self) -> Floats:
        """The nearest ones of which every graph has a multiple; weights and multiples are fitted in turn."""
        graphs, factors = self._graphs, np.ones(self._graphs.count)
        v = self._fitted(factors, None)
        u = self._spread(v, factors)
        for _ in range(_ROUNDS):
            size = float(v @ (self._metric @ v))
            if size <= 0.0:
                break
            factors = np.maximum(0.0, np.array([float(v @ row) for row in self._targets]) / size)
            v = self._fitted(factors, v)
            better = self._spread(v, factors)
            if graphs.distance(better) > graphs.distance(u) * (1.0 - _GAIN):
                break
            u = better
        return u

    def _fitted(self, factors: Floats, start: Floats | None) -> Floats:
        """v ≥ 0 that minimizes Σ_k ‖f_k L(v) − L(w_k)‖², which is (Σf²) vᵀ(G∘G)v − 2vᵀΣ f_k g_k and a constant."""
        u = np.zeros(self._count) if start is None else start
        H = float(factors @ factors) * self._metric
        found = nearest_bounded(H, H @ u - factors @ self._targets, u, u <= 0.0)
        assert found is not None  # G∘G is positive definite: 2I plus a Gram matrix
        return found[0]

    @lazy
    def _metric(self) -> Floats:
        """G∘G over the shared edges, G_ef = b_e·b_f."""
        of = self._of(0)
        return _ends(self._graphs.i[of], self._graphs.j[of]) ** 2

    @lazy
    def _targets(self) -> Floats:
        """(G∘G)w of every graph on the shared edges, all of its edges counted: (graphs, shared edges)."""
        gradient = self._graphs.distance_gradient(self._graphs.w)
        return np.array([gradient[self._of(k)] for k in range(self._graphs.count)])

    def _of(self, k: int) -> NDArray[np.intp]:
        """The shared edges among those of graph k, in their order."""
        edges = np.flatnonzero((self._place >= 0) & (self._graphs.owner == k))
        return edges[np.argsort(self._place[edges])]

    def _spread(self, v: Floats, factors: Floats) -> Floats:
        """All weights: on every graph its multiple of v, and zero off the shared edges."""
        padded = np.append(v, 0.0)  # the number -1 is the last
        return np.asarray(factors[self._graphs.owner] * padded[self._place])


def _ends(i: NDArray[np.intp], j: NDArray[np.intp]) -> Floats:
    """b_e·b_f."""
    G = np.zeros((len(i), len(i)))
    for a, b, sign in ((i, i, 1.0), (j, j, 1.0), (i, j, -1.0), (j, i, -1.0)):
        G += sign * (a[:, np.newaxis] == b)
    return G
