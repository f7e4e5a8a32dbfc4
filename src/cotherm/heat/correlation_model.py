"""How the heat of one view answers to its edge weights: Q(t) at any weights, and its derivative where asked.

A view is a graph's edges with its functions and times. Small graphs keep the eigendecomposition of L(u), from which
both follow; large ones flow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.engines.cpu.pattern import Pattern
from cotherm.graphs.graph import Graph
from cotherm.heat.chebyshev import chebyshev_flow, usable
from cotherm.heat.correlation import Batch, derivative_batches, filtered, gradient_by_spectrum, pairs
from cotherm.heat.spectrum import fit_spectrum

# Applies the terms of a batch to the functions of a view, (n, terms, q).
Terms = Callable[[Batch], Floats]

# Writes the derivatives by the weights of some edges, by their numbers among those asked for, into an array.
EdgeRows = Callable[[NDArray[np.intp], Floats], None]

# Up to this many vertices a dense decomposition is the faster way, as it serves Q and every term of the derivative.
_DENSE = 200
# Relative errors of Q, by which steps are judged, and of its derivative by filters, which only leads to them.
_EXACT, _DERIVATIVE = 1e-12, 1e-10
# Up to this t·λ_max rounding in eigenvalues and eigenvectors does no harm.
_LONG = 1e3
# By this t·λ all heat that λ belongs to is gone.
_FOREVER = 1e14


class State(Protocol):
    """A view at some weights."""

    def correlations(self) -> Floats:
        """Q_ab(t), √2 Q_ab(t) for a < b, as one vector (times · pairs): its norm is the Frobenius norm of all Q."""

    def derivative(self, edges: NDArray[np.intp], out: Floats) -> None:
        """Of that vector by the weights of some edges, into the first columns of (edges, times · pairs) or wider."""

    def rows(self, edges: NDArray[np.intp]) -> EdgeRows:
        """The same, row by row as they are needed; what they are computed from is computed now, and kept."""

    def gradient(self, slopes: Floats, edges: NDArray[np.intp]) -> Floats:
        """derivative(edges) @ slopes, without the derivative of every entry where there is a shorter way."""


class View:
    """One graph's edges, functions and times; ``at(u)`` is the view with the edge weights u."""

    def __init__(self, graph: Graph, F: Floats, times: Floats, pattern: Pattern | None = None) -> None:
        self.graph = graph
        self.F = F
        self.times = times
        self._pattern = pattern
        a, b = pairs(F.shape[1])
        self.pairs = (a, b)
        self.scale = np.where(a == b, 1.0, np.sqrt(2.0))

    @property
    def size(self) -> int:
        """How many numbers ``State.correlations`` has."""
        return len(self.times) * len(self.scale)

    def at_times(self, times: Floats) -> View:
        """The same graph and functions at other times."""
        return View(self.graph, self.F, times, self.pattern if self.graph.n > _DENSE else None)

    @property
    def pattern(self) -> Pattern:
        if self._pattern is None:
            self._pattern = Pattern.of(self.graph.n, self.graph.i, self.graph.j)
        return self._pattern

    def derivative(self, terms: Terms, batches: list[Batch], edges: NDArray[np.intp], out: Floats) -> None:
        """See :class:`State`; ``terms`` applies those of a batch to F."""
        i, j = self.graph.i[edges], self.graph.j[edges]
        for batch in batches:
            batch.write(terms(batch), i, j, self.scale, out)

    def rows(self, terms: Terms, batches: list[Batch], edges: NDArray[np.intp]) -> EdgeRows:
        """See :class:`State`."""
        i, j = self.graph.i[edges], self.graph.j[edges]
        kept = [(batch, terms(batch)) for batch in batches]

        def write(numbers: NDArray[np.intp], out: Floats) -> None:
            for batch, x in kept:
                batch.write(x, i[numbers], j[numbers], self.scale, out)

        return write

    def at(self, u: Floats) -> State:
        return _Dense(self, u) if self.graph.n <= _DENSE else _Flowing(self, u)


class _Dense:
    def __init__(self, view: View, u: Floats) -> None:
        self._view = view
        L = _dense_laplacian(view.graph, u)
        # NumPy's, unlike SciPy's, leaves the interpreter lock: the other graphs' decompositions run meanwhile.
        values, vectors = np.linalg.eigh(L)
        longest = float(view.times.max(initial=0.0))
        if longest * float(values[-1]) > _LONG:
            # What rounding left in small eigenvalues and in constant eigenvectors would grow with the time.
            spectrum = fit_spectrum(view.graph.with_weights(u), values, vectors, longest)
            self._values, self._vectors = spectrum.values, spectrum.vectors
        else:
            # What is rounding beside the largest is zero: conserved heat must not decay.
            self._values = np.where(values > len(L) * np.finfo(np.float64).eps * values[-1], values, 0.0)
            self._vectors = vectors
        self._amounts = self._vectors.T @ view.F

    def correlations(self) -> Floats:
        view = self._view
        a, b = view.pairs
        half = _decay(0.5 * view.times, self._values)[:, :, np.newaxis] * self._amounts
        return np.ravel((half.transpose(0, 2, 1) @ half)[:, a, b] * view.scale)

    def derivative(self, edges: NDArray[np.intp], out: Floats) -> None:
        self._view.derivative(self._terms, self._batches(), edges, out)

    def rows(self, edges: NDArray[np.intp]) -> EdgeRows:
        return self._view.rows(self._terms, self._batches(), edges)

    def _batches(self) -> list[Batch]:
        # After so long nothing changes any more, and rounding, which the derivative multiplies by t, must not either.
        smallest = float(np.min(self._values, where=self._values > 0.0, initial=np.inf))
        times = np.minimum(self._view.times, _FOREVER / smallest) if np.isfinite(smallest) else self._view.times
        return derivative_batches(times, float(self._values[-1]), _EXACT, grid=4.0)

    def gradient(self, slopes: Floats, edges: NDArray[np.intp]) -> Floats:
        view = self._view
        a, b = view.pairs
        S = np.zeros((len(view.times), view.F.shape[1], view.F.shape[1]))
        # The vector holds √2 Q_ab for a < b; half of its slope goes to either of Q_ab and Q_ba.
        S[:, a, b] = slopes.reshape(len(view.times), -1) * view.scale
        S = 0.5 * (S + S.transpose(0, 2, 1))
        i, j = view.graph.i[edges], view.graph.j[edges]
        return gradient_by_spectrum(self._values, self._vectors, self._amounts, S, view.times, i, j)

    def _terms(self, batch: Batch) -> Floats:
        n, q = self._amounts.shape
        amounts = batch.at(self._values)[:, :, np.newaxis] * self._amounts[:, np.newaxis]
        return np.reshape(self._vectors @ amounts.reshape(n, -1), (n, batch.terms, q))


class _Flowing:
    def __init__(self, view: View, u: Floats) -> None:
        self._view = view
        self._matrix = usable(view.pattern.laplacian(u))

    def correlations(self) -> Floats:
        view = self._view
        a, b = view.pairs
        half = chebyshev_flow(self._matrix, view.F, 0.5 * view.times, _EXACT)
        return np.ravel((half.transpose(0, 2, 1) @ half)[:, a, b] * view.scale)

    def derivative(self, edges: NDArray[np.intp], out: Floats) -> None:
        self._view.derivative(self._terms, self._batches(), edges, out)

    def rows(self, edges: NDArray[np.intp]) -> EdgeRows:
        return self._view.rows(self._terms, self._batches(), edges)

    def _batches(self) -> list[Batch]:
        # A larger bound makes longer series.
        return derivative_batches(self._view.times, self._matrix.bound, _DERIVATIVE, grid=1.1)

    def gradient(self, slopes: Floats, edges: NDArray[np.intp]) -> Floats:
        J = np.empty((len(edges), len(slopes)))
        self.derivative(edges, J)
        return J @ slopes

    def _terms(self, batch: Batch) -> Floats:
        return filtered(self._matrix, self._view.F, batch)


def _decay(a: Floats, b: Floats) -> Floats:
    """e^{−ab} for all pairs; a product too large for a float has decayed to nothing."""
    with np.errstate(over="ignore"):
        return np.exp(-np.multiply.outer(a, b))


def _dense_laplacian(graph: Graph, u: Floats) -> Floats:
    L = np.zeros((graph.n, graph.n))
    L[graph.i, graph.j] = L[graph.j, graph.i] = -u
    np.fill_diagonal(L, -L.sum(axis=1))
    return L
