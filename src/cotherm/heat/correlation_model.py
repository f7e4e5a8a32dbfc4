"""Q(t) = Fᵀe^{−tL(u)}F of one graph as a function of its edge weights u, with derivatives.

Small graphs keep the eigendecomposition of L(u), from which both follow; large ones use Chebyshev series.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from cotherm import limits
from cotherm.arrays import Floats
from cotherm.engines import Engine, default_engine
from cotherm.engines.interface import Array, Pattern
from cotherm.graphs.graph import Graph
from cotherm.heat.chebyshev import chebyshev_flow, exponential_coefficients, require_bound, tail_tolerances
from cotherm.heat.correlation import Batch, derivative_batches
from cotherm.heat.correlation_map import CorrelationMap, Filtered
from cotherm.heat.spectrum import Spectrum, fit_spectrum
from cotherm.lazy import lazy

# Relative errors of Q, which judges steps, and of its derivative by filters, which only proposes them.
EXACT, DERIVATIVE = 1e-12, 1e-10
# Up to this t·λ_max rounding in eigenvalues and eigenvectors does no harm.
_LONG = 1e3
# From this t·λ on, the heat in the mode of λ has vanished.
_FOREVER = 1e14


class CorrelationModel:
    """One graph's edges, functions and times; ``at(u)`` is Q with the edge weights u."""

    def __init__(
        self, graph: Graph, F: Floats, times: Floats, engine: Engine | None = None, *, pattern: Pattern | None = None
    ) -> None:
        self.engine = default_engine() if engine is None else engine
        self.graph, self.F, self.times = graph, F, times
        self.pattern = self.engine.pattern(graph.n, graph.i, graph.j) if pattern is None else pattern
        # The q(q + 1)/2 pairs a ≤ b of functions, in the order in which derivatives come.
        self.pairs = a, b = np.triu_indices(F.shape[1])
        self.scale = np.where(a == b, 1.0, np.sqrt(2.0))

    @property
    def size(self) -> int:
        """The length of :meth:`Correlation.values`."""
        return len(self.times) * len(self.scale)

    @lazy
    def engine_functions(self) -> Array:
        """F with the engine."""
        return self.engine.vertex_rows(self.pattern, self.F)

    def at(self, u: Array, *, gradient: bool = False) -> Correlation:
        """Q at some weights; with ``gradient`` as descents by gradients alone need it, less accurate and sooner."""
        if gradient:
            return _BothByChebyshev(self, u)
        # Of a part of a graph there is no decomposition.
        small = isinstance(self.graph, Graph) and self.graph.n <= limits.SPECTRAL_CORRELATION
        return (_SpectralCorrelation if small else _ChebyshevCorrelation)(self, u)


class Correlation(ABC):
    """Q at some weights."""

    def __init__(self, model: CorrelationModel) -> None:
        self._model = model

    @property
    def size(self) -> int:
        """The length of :meth:`values`."""
        return self._model.size

    @abstractmethod
    def values(self) -> Floats:
        """Q_ab(t), √2 Q_ab(t) for a < b, as one vector (times · pairs): its norm is the Frobenius norm of all Q."""

    @abstractmethod
    def _batches(self) -> list[Batch]:
        """The terms of the derivative."""

    @abstractmethod
    def _terms(self, batch: Batch) -> Array:
        """Those of a batch applied to the functions, (n, terms, q)."""

    def write_derivative(self, edges: Array, out: Array) -> None:
        """Its derivative by some edge weights, into the first columns of an array (edges, times · pairs) or wider."""
        model = self._model
        i, j = model.pattern.i[edges], model.pattern.j[edges]
        for batch in self._batches():
            batch.write(model.engine, self._terms(batch), i, j, model.scale, out)

    def derivative_map(self, edges: Array) -> CorrelationMap:
        """The derivative as a linear map that is not formed; its inputs are computed now and kept."""
        model = self._model
        parts: list[Filtered] = []
        for batch in self._batches():
            x, start = self._terms(batch), 0
            for kernel, k in zip(batch.kernels, batch.numbers, strict=True):
                own = x[:, start : start + len(kernel.signs)]
                parts.append(Filtered(own.copy(), -float(batch.times[k]) * kernel.signs))
                start += len(kernel.signs)
        return CorrelationMap(model.engine, model.pattern, edges, parts, model.pairs, model.scale)


class _SpectralCorrelation(Correlation):
    """Q by a dense eigendecomposition on the host."""

    def __init__(self, model: CorrelationModel, u: Array) -> None:
        super().__init__(model)
        weights = model.engine.edges_to_numpy(model.pattern, u)
        L = _dense_laplacian(model.graph, weights)
        # NumPy's, unlike SciPy's, releases the interpreter lock, so that other graphs are decomposed meanwhile.
        values, vectors = np.linalg.eigh(L)
        longest = float(model.times.max(initial=0.0))
        if longest * float(values[-1]) > _LONG:
            # Rounding in small eigenvalues and in constant eigenvectors would grow with the time.
            self._spectrum = fit_spectrum(model.graph.with_weights(weights), values, vectors, longest)
        else:
            # Eigenvalues that are rounding beside the largest become zero: conserved heat must not decay.
            values = np.where(values > len(L) * np.finfo(np.float64).eps * values[-1], values, 0.0)
            self._spectrum = Spectrum(values, vectors)
        self._coefficients = self._spectrum.vectors.T @ model.F

    def values(self) -> Floats:
        model = self._model
        a, b = model.pairs
        half = self._spectrum.decay(0.5 * model.times[:, np.newaxis])[:, :, np.newaxis] * self._coefficients
        return np.ravel((half.transpose(0, 2, 1) @ half)[:, a, b] * model.scale)

    def _batches(self) -> list[Batch]:
        # Past these times nothing changes any more; they are cut, since the derivative multiplies rounding by t.
        values = self._spectrum.values
        smallest = float(np.min(values, where=values > 0.0, initial=np.inf))
        times = np.minimum(self._model.times, _FOREVER / smallest) if np.isfinite(smallest) else self._model.times
        return derivative_batches(times, float(values[-1]), EXACT, grid=4.0)

    def _terms(self, batch: Batch) -> Array:
        n, q = self._coefficients.shape
        scaled = batch.at(self._spectrum.values)[:, :, np.newaxis] * self._coefficients[:, np.newaxis]
        terms = np.reshape(self._spectrum.vectors @ scaled.reshape(n, -1), (n, batch.terms, q))
        return self._model.engine.vertex_rows(self._model.pattern, terms)


class _ChebyshevCorrelation(Correlation):
    """Q by Chebyshev series on the engine."""

    _exact, _derivative = EXACT, DERIVATIVE

    def __init__(self, model: CorrelationModel, u: Array) -> None:
        super().__init__(model)
        self._matrix = require_bound(model.engine.laplacian(model.pattern, u))

    def values(self) -> Floats:
        model = self._model
        a, b = model.pairs
        half = chebyshev_flow(self._matrix, model.engine_functions, 0.5 * model.times, self._exact)
        Q = model.engine.to_numpy(half.transpose(0, 2, 1) @ half)
        return np.ravel(Q[:, a, b] * model.scale)

    def _batches(self) -> list[Batch]:
        # A larger bound makes longer series.
        return derivative_batches(self._model.times, self._matrix.bound, self._derivative, grid=1.1)

    def _terms(self, batch: Batch) -> Array:
        model = self._model
        return model.engine.chebyshev_sums(self._matrix, model.engine_functions, batch.series(), batch.bound)


class _BothByChebyshev(_ChebyshevCorrelation):
    """Q and the terms of its derivative by one recurrence, where the terms are one batch."""

    _exact, _derivative = 1e-11, 1e-8

    def __init__(self, model: CorrelationModel, u: Array) -> None:
        super().__init__(model, u)
        self._kept: Array = None

    def values(self) -> Floats:
        batches = self._batches()
        if len(batches) != 1:
            return super().values()
        (batch,), model, matrix = batches, self._model, self._matrix
        F, times, (a, b) = model.engine_functions, 0.5 * model.times, model.pairs
        tails = tail_tolerances(matrix, F, times, self._exact)
        heat, terms = exponential_coefficients(times, batch.bound, tails), batch.series()
        table = np.zeros((max(len(heat), len(terms)), len(times) + batch.terms))
        table[: len(heat), : len(times)], table[: len(terms), len(times) :] = heat, terms
        x = model.engine.chebyshev_sums(matrix, F, table, batch.bound)
        half, self._kept = x[:, : len(times)].transpose(1, 0, 2), x[:, len(times) :]
        Q = model.engine.to_numpy(half.transpose(0, 2, 1) @ half)
        return np.ravel(Q[:, a, b] * model.scale)

    def _terms(self, batch: Batch) -> Array:
        return super()._terms(batch) if self._kept is None else self._kept


def _dense_laplacian(graph: Graph, u: Floats) -> Floats:
    L = np.zeros((graph.n, graph.n))
    L[graph.i, graph.j] = L[graph.j, graph.i] = -u
    np.fill_diagonal(L, -L.sum(axis=1))
    return L
