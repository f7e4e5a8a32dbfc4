"""A view as the estimator keeps it: its graph, how new points are joined to it, and where that places them.

Points become a graph by nearest neighbors. A new point x is joined to its k nearest training points by the same
kernel, a_xj = exp(−d_xj² / (scale_factor σ_x σ_j)), σ_x being, like theirs, the distance to its ``scale_neighbor``-th
nearest. For graphs that were given, the weights of new points have to be given too.

An eigenfunction of L = D − W satisfies d_x φ(x) − Σ_j a_xj φ_j = λ φ(x) also at a new vertex x that hangs on the others
by weights a_xj, so φ(x) = s Σ_j p_xj φ_j with p_xj = a_xj / d_x and s = 1 / (1 − λ/d_x): the weighted mean of its
neighbors (the harmonic extension), corrected for the shrinking of a mean. Modes of coupled graphs and of the common
graph are not eigenfunctions of the graph that new points are joined to, and λ has another unit there. So s is measured:
it is the factor that brings the means Pφ, P = D⁻¹W, over the neighbors of the training points nearest to φ itself,
s = ⟨φ, Pφ⟩ / ⟨Pφ, Pφ⟩.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError, CothermWarning, known_as
from cotherm.estimators.views import View
from cotherm.graphs import kernel
from cotherm.graphs.build import scaled_knn_graph
from cotherm.graphs.graph import Graph
from cotherm.graphs.search.exact import nearest_to
from cotherm.graphs.search.points import Points
from cotherm.graphs.validation import Rows, checked_rows


@dataclass(frozen=True)
class Joined:
    """How new points hang on the training points: rows of ``shares`` sum to 1; ``copies`` marks those that are copies.

    A point that coincides with training points has shares in those alone.
    """

    shares: sp.csr_array
    copies: np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True)
class GivenGraph:
    """A graph that was given as such."""

    graph: Graph

    def join(self, argument: str, new: Any) -> Joined:
        """New points as rows of weights to the training points, (new, n)."""
        needed = f"weights >= 0 of new points with the {self.graph.n} rows of training, one row each"
        with known_as("A", argument, advice="This view was fitted as a graph."):
            shape = np.shape(new)
            if len(shape) != 2 or shape[1] != self.graph.n:
                raise CothermError("A", f"an array of shape {shape}", needed)
            A = sp.csr_array(_rows(new, "A"))
            if A.nnz and A.data.min() < 0.0:
                raise CothermError("A", f"a weight of {A.data.min():g}", needed)
            total = np.asarray(A.sum(axis=1)).ravel()
            if not total.all():
                raise CothermError("A", f"row {int(np.argmin(total))} without weight", needed)
        return Joined(sp.csr_array(sp.diags_array(1.0 / total) @ A), np.zeros(A.shape[0], dtype=bool))


@dataclass(frozen=True)
class PointsGraph:
    """The nearest-neighbor graph of points, and what is needed to join others to it: ``options`` of ``knn_graph``."""

    graph: Graph
    X: Rows
    sigma: Floats
    options: dict[str, Any]

    def join(self, argument: str, new: Any) -> Joined:
        with known_as("X", argument), known_as("X.data", argument):
            rows = _rows(new)
            if rows.shape[1] != self.X.shape[1]:
                raise CothermError("X", f"{rows.shape[1]} features", f"{self.X.shape[1]}, as in training")
            indices, distances = _nearest(self.X, rows, self.options)
        k, n = self.options["k"], self.graph.n
        copies = distances[:, 0] == 0.0
        logs = self._log_weights(indices, distances)[:, :k]
        # In units of the largest weight: only shares matter, and no row vanishes.
        a = np.exp(logs - logs.max(axis=1, keepdims=True))
        a[copies] = distances[copies, :k] == 0.0
        a /= a.sum(axis=1, keepdims=True)
        starts = np.arange(0, a.size + 1, a.shape[1])
        return Joined(sp.csr_array((a.ravel(), indices[:, :k].ravel(), starts), shape=(len(a), n)), copies)

    def _log_weights(self, indices: Ints, distances: Floats) -> Floats:
        scale, factor = self.options["scale"], self.options["scale_factor"]
        if scale is None:
            return np.zeros(distances.shape)
        sigma = self.sigma[indices]
        if scale == "self-tuning":
            own = kernel.self_tuned_sigma(distances, self.options["scale_neighbor"])
            return -(distances / own[:, np.newaxis]) * (distances / sigma) / factor
        return -((distances / sigma) ** 2) / factor


# A graph to which new points can be joined.
FittedGraph = GivenGraph | PointsGraph


def fitted_view(view: View, rows: Ints, options: dict[str, Any]) -> FittedGraph:
    """The graph of those rows of a view that were seen: a Graph or points."""
    argument = view.argument
    if len(rows) < 2:
        what = "a single row" if view.size == 1 else f"{len(rows)} row(s) that were seen in view {view.number}"
        raise CothermError(argument, what, "at least two points, to be neighbors")
    given = view.part(rows)
    if isinstance(given, Graph):
        return GivenGraph(given)
    with known_as("X", argument), known_as("X.data", argument), known_as("k", "n_neighbors"):
        X = _rows(given)
        graph, sigma = scaled_knn_graph(X, **options)
    return PointsGraph(graph, X, sigma, options)


def _rows(given: Any, argument: str = "X") -> Rows:
    """Checked rows with all their columns, empty ones too, so that others can be put below."""
    checked = checked_rows(argument, given)
    return given.tocsr() if hasattr(given, "tocsr") else checked


def _nearest(training: Rows, new: Rows, options: dict[str, Any]) -> tuple[Ints, Floats]:
    """The nearest training points of new ones, numbered as in training, and their distances, ascending."""
    n = training.shape[0]
    stack: Any = np.vstack if isinstance(training, np.ndarray) and isinstance(new, np.ndarray) else sp.vstack
    both = stack([training, new])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CothermWarning)  # of zero rows: fit has warned of those it has
        points = Points.of(both if isinstance(both, np.ndarray) else both.tocsr(), options["metric"])
    known, asked = np.flatnonzero(points.kept < n), np.flatnonzero(points.kept >= n)
    if len(asked) < new.shape[0]:
        stray = np.setdiff1d(np.arange(new.shape[0]), points.kept[asked] - n)
        raise CothermError("X", f"row {stray[0]} is zero and has no direction", "rows with a direction for 'cosine'")
    sought = max(options["k"], options["scale_neighbor"] if options["scale"] == "self-tuning" else 1)
    indices, distances = nearest_to(points.take(known), points.take(asked), sought)
    return points.kept[known[indices]], distances


@dataclass(frozen=True)
class Coordinates:
    """Coordinates E of the training points of a view, and the factor s of every column."""

    E: Floats
    s: Floats

    def of_new(self, joined: Joined) -> Floats:
        """The coordinates of new points; copies of training points have theirs."""
        means = np.asarray(joined.shares @ self.E)
        return means * np.where(joined.copies[:, np.newaxis], 1.0, self.s)


def factors(graph: Graph, E: Floats) -> Floats:
    """s for every column of E; 1 where the means vanish."""
    degrees = graph.degrees[:, np.newaxis]
    # Not by 1/d, which overflows where weights are among the smallest floats.
    means = np.divide(graph.adjacency() @ E, degrees, out=np.zeros(E.shape), where=degrees > 0.0)
    # Vertices without neighbors have no mean to compare with.
    own = E * (degrees > 0.0)
    size = np.sum(means**2, axis=0)
    return np.divide(np.sum(own * means, axis=0), size, out=np.ones(E.shape[1]), where=size > 0.0)


def votes(joined: Joined, labels: Ints, count: int) -> Floats:
    """The share of each label among the neighbors of new points, (new, labels)."""
    indicators = np.zeros((len(labels), count))
    indicators[np.arange(len(labels)), labels] = 1.0
    return np.asarray(joined.shares @ indicators)
