"""Q(t) of several graphs, computed as that of one graph of as many parts: few large steps in place of many small ones.

For engines to which a small step costs as much as a large one. The functions of all graphs stand below each other, and
so do the terms of the derivative; what belongs to a graph is a range of rows. The bound on the spectrum is that of all
graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from cotherm.arrays import Floats
from cotherm.engines.interface import Array
from cotherm.graphs.graph import Graph
from cotherm.heat.chebyshev import chebyshev_flow, require_bound
from cotherm.heat.correlation import Batch, derivative_batches, filtered
from cotherm.heat.correlation_map import SCATTERED, Filtered, symmetric
from cotherm.heat.correlation_model import DERIVATIVE, EXACT, CorrelationModel
from cotherm.lazy import lazy

# Writes rows of the derivative, by the numbers of edges, into an array.
RowWriter = Callable[[Array, Array], None]


class JointModel:
    """The models of several graphs with the same times and as many functions."""

    def __init__(self, models: Sequence[CorrelationModel], whole: CorrelationModel | None = None) -> None:
        first = models[0]
        self.engine, self.models = first.engine, models
        self.vertices = [slice(lo, hi) for lo, hi in pairwise(_cuts([model.graph.n for model in models]))]
        if whole is None:
            F = np.vstack([model.F for model in models])
            whole = CorrelationModel(_disjoint([model.graph for model in models]), F, first.times, self.engine)
        self.whole = whole

    def at_times(self, models: Sequence[CorrelationModel]) -> JointModel:
        """The same graphs and functions, at the times of these models."""
        return JointModel(models, self.whole.at_times(models[0].times))

    def at(self, weights: Sequence[Array]) -> JointCorrelation:
        """Q with the edge weights of every graph."""
        return JointCorrelation(self, np.concatenate(weights))


class JointCorrelation:
    """Q of every graph at some weights; see :class:`cotherm.heat.correlation_model.Correlation`."""

    def __init__(self, model: JointModel, u: Array) -> None:
        self.model = model
        self._matrix = require_bound(model.engine.laplacian(model.whole.pattern, u))

    @property
    def size(self) -> int:
        """The number of values of one graph."""
        return self.model.whole.size

    def values(self) -> Floats:
        """(graphs, times · pairs)."""
        whole, parts = self.model.whole, self.model.vertices
        a, b = whole.pairs
        # Errors are relative to the functions of all graphs together.
        half = chebyshev_flow(self._matrix, whole.engine_functions, 0.5 * whole.times, EXACT / len(parts))
        Q = np.stack([half[:, at].transpose(0, 2, 1) @ half[:, at] for at in parts])
        found = self.model.engine.to_numpy(Q)[:, :, a, b] * whole.scale
        return found.reshape(len(parts), -1)

    @lazy
    def _terms(self) -> list[tuple[Batch, Array]]:
        whole = self.model.whole
        batches = derivative_batches(whole.times, self._matrix.bound, DERIVATIVE, grid=1.1)
        return [(batch, filtered(self._matrix, whole.engine_functions, batch)) for batch in batches]

    def row_writer(self, edges: Array) -> RowWriter:
        """Derivatives by the weights of some edges, by their numbers among those of all graphs."""
        whole = self.model.whole
        i, j = whole.pattern.i[edges], whole.pattern.j[edges]

        def write(numbers: Array, out: Array) -> None:
            for batch, x in self._terms:
                batch.write(self.model.engine, x, i[numbers], j[numbers], whole.scale, out)

        return write

    def derivative_map(self, edges: Array) -> JointMap:
        """By the weights of some edges, by their numbers among those of all graphs."""
        parts: list[Filtered] = []
        for batch, x in self._terms:
            start = 0
            for kernel, k in zip(batch.kernels, batch.numbers, strict=True):
                # A view where it is all: terms are large.
                alone = len(kernel.signs) == x.shape[1]
                own = x if alone else x[:, start : start + len(kernel.signs)].copy()
                parts.append(Filtered(own, -float(batch.times[k]) * kernel.signs))
                start += len(kernel.signs)
        return JointMap(self.model, edges, parts)


class JointMap:
    """The derivative of all graphs' values as a linear map: see :mod:`cotherm.heat.correlation_map`."""

    def __init__(self, model: JointModel, edges: Array, terms: Sequence[Filtered]) -> None:
        self._model, self._edges, self._terms = model, edges, terms
        self._engine, self._pattern = model.engine, model.whole.pattern
        self._i, self._j = self._pattern.i[edges], self._pattern.j[edges]

    def single(self) -> JointMap:
        """The same in single precision."""
        terms = [Filtered(part.x.astype(np.float32), part.weights) for part in self._terms]
        return JointMap(self._model, self._edges, terms)

    @property
    def work(self) -> float:
        """Multiply-adds of applying the map once in both directions, in units of those of dense algebra."""
        n, q = self._pattern.n, self._terms[0].x.shape[2] if self._terms else 0
        terms = sum(len(part.weights) * part.x.dtype.itemsize / 8.0 for part in self._terms)
        return 2.0 * terms * (n * q**2 + SCATTERED * (len(self._pattern.i) + len(self._i)) * q)

    def derivative(self, v: Array) -> Floats:
        """Of the values in the direction v, which has an entry for each edge that counts: (graphs, times · pairs)."""
        engine, whole, (a, b) = self._engine, self._model.whole, self._model.whole.pairs
        weights = engine.xp.zeros(whole.graph.m)
        weights[self._edges] = v
        found = []
        for part in self._terms:
            moved, q = engine.laplacian_products(self._pattern, weights, part.x, part.weights), part.x.shape[2]
            products = [part.x[at].reshape(-1, q).T @ moved[at].reshape(-1, q) for at in self._model.vertices]
            found.append(engine.to_numpy(np.stack(products)).astype(np.float64))
        Q = np.stack(found, axis=1)
        values = 0.5 * (Q[:, :, a, b] + Q[:, :, b, a]) * whole.scale
        return np.reshape(values, (len(values), -1))

    def gradient(self, slopes: Floats) -> Array:
        """Of the sum of values times ``slopes``, (graphs, times · pairs)."""
        engine, whole = self._engine, self._model.whole
        S = np.stack([symmetric(slope, whole.pairs, whole.scale) for slope in slopes], axis=1)
        total = engine.xp.zeros(len(self._i))
        for matrices, part in zip(S, self._terms, strict=True):
            factors, z = engine.asarray(matrices.astype(part.x.dtype)), engine.xp.empty(part.x.shape, part.x.dtype)
            for at, factor in zip(self._model.vertices, factors, strict=True):
                z[at] = part.x[at] @ factor
            total += engine.edge_inner_products(part.x, z, self._i, self._j, part.weights)
        return total


def _cuts(sizes: Sequence[int]) -> list[int]:
    return np.cumsum([0, *sizes]).tolist()


def _disjoint(graphs: Sequence[Graph]) -> Graph:
    """One graph of all, the vertices of each after those of the one before."""
    firsts = _cuts([g.n for g in graphs])
    i, j = (
        np.concatenate([getattr(g, end).astype(np.int64) + first for g, first in zip(graphs, firsts[:-1], strict=True)])
        for end in ("i", "j")
    )
    return Graph(firsts[-1], i, j, np.concatenate([g.w for g in graphs]))
