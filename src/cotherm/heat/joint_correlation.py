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
from cotherm.heat.correlation_map import SCATTERED, Filtered
from cotherm.heat.correlation_model import DERIVATIVE, EXACT, CorrelationModel
from cotherm.lazy import lazy

# Numbers of pieces into which the rows of a graph are split, the first that divides them: short sums allow more of them
# to be computed at the same time.
_PIECES = (16, 10, 8, 7, 6, 5, 4, 3, 2, 1)

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

    @lazy
    def entries(self) -> Entries:
        """Of symmetric matrices, all times and graphs alike."""
        return Entries(self.whole)

    @lazy
    def _pieces(self) -> int:
        """Of how many pieces of equal length the vertices are, each within a graph; 0 if graphs differ in size."""
        sizes = {model.graph.n for model in self.models}
        if len(sizes) > 1:
            return 0
        (n,) = sizes
        return len(self.models) * next(count for count in _PIECES if n % count == 0)

    def squares(self, x: Array, y: Array) -> Array:
        """x_kᵀy_k for the rows k of every graph, (graphs, …); x and y are (vertices · terms, q), or many of these."""
        *times, rows, q = x.shape
        if not self._pieces:
            terms = rows // self.vertices[-1].stop
            parts = [slice(terms * at.start, terms * at.stop) for at in self.vertices]
            return np.stack([np.moveaxis(x[..., at, :], -1, -2) @ y[..., at, :] for at in parts])
        shape = (*times, self._pieces, rows // self._pieces, q)
        products = np.moveaxis(x.reshape(shape), -1, -2) @ y.reshape(shape)
        graphs = (*times, len(self.models), -1, q, q)
        return np.moveaxis(products.reshape(graphs).sum(axis=-3), -3, 0)

    def times_each(self, x: Array, S: Array) -> Array:
        """x_k S_k for the rows k of every graph: x is (vertices, terms, q), S (graphs, q, q)."""
        if self._pieces:
            return (x.reshape(len(S), -1, x.shape[2]) @ S).reshape(x.shape)
        z = self.engine.xp.empty(x.shape, x.dtype)
        for at, factor in zip(self.vertices, S, strict=True):
            z[at] = x[at] @ factor
        return z

    def at_times(self, models: Sequence[CorrelationModel]) -> JointModel:
        """The same graphs and functions, at the times of these models."""
        return JointModel(models, self.whole.at_times(models[0].times))

    def at(self, weights: Sequence[Array]) -> JointCorrelation:
        """Q with the edge weights of every graph."""
        return JointCorrelation(self, np.concatenate(weights))


class Entries:
    """Between symmetric matrices (…, q, q) and vectors of entries (…, pairs), √2 Q_ab for a < b, on the engine."""

    def __init__(self, model: CorrelationModel) -> None:
        (a, b), asarray = model.pairs, model.engine.asarray
        q, self._count = model.F.shape[1], len(a)
        places = np.empty((q, q), dtype=np.int64)
        places[a, b] = places[b, a] = np.arange(len(a))
        self._upper, self._lower = asarray(a * q + b), asarray(b * q + a)
        self._places = asarray(places.ravel())
        self._half = asarray(0.5 * model.scale)
        # Q_ab and Q_ba each have half of what the vector has for a < b.
        self._shares = asarray(np.where(np.eye(q, dtype=bool), 1.0, 0.5 * np.sqrt(2.0)))

    def vectors(self, Q: Array) -> Array:
        """From matrices that are symmetric but for rounding."""
        flat = Q.reshape(*Q.shape[:-2], -1)
        return (flat[..., self._upper] + flat[..., self._lower]) * self._half

    def matrices(self, x: Array) -> Array:
        """Whose inner products with symmetric ones are those of the vectors: (…, times · pairs) to (…, times, q, q)."""
        *others, _ = x.shape
        entries = x.reshape(*others, -1, self._count)[..., self._places]
        return entries.reshape(*others, -1, *self._shares.shape) * self._shares


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
        model, whole, graphs = self.model, self.model.whole, len(self.model.vertices)
        # Errors are relative to the functions of all graphs together.
        half = chebyshev_flow(self._matrix, whole.engine_functions, 0.5 * whole.times, EXACT / graphs)
        return model.engine.to_numpy(model.entries.vectors(model.squares(half, half)).reshape(graphs, -1))

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

    def derivative(self, v: Array) -> Array:
        """Of the values in the direction v, which has an entry for each edge that counts: (graphs, times · pairs)."""
        engine, model = self._engine, self._model
        weights = engine.xp.zeros(model.whole.graph.m)
        weights[self._edges] = v
        found = []
        for part in self._terms:
            moved, q = engine.laplacian_products(self._pattern, weights, part.x, part.weights), part.x.shape[2]
            products = model.squares(part.x.reshape(-1, q), moved.reshape(-1, q))
            found.append(model.entries.vectors(products.astype(np.float64)))
        return found[0] if len(found) == 1 else np.concatenate(found, axis=1)

    def gradient(self, slopes: Array) -> Array:
        """Of the sum of values times ``slopes``, (graphs, times · pairs) on the engine."""
        engine, model = self._engine, self._model
        S, total = model.entries.matrices(slopes), None
        for k, part in enumerate(self._terms):
            z = model.times_each(part.x, S[:, k].astype(part.x.dtype))
            products = engine.edge_inner_products(part.x, z, self._i, self._j, part.weights)
            total = products if total is None else total + products
        return engine.xp.zeros(len(self._i)) if total is None else total


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
