"""A view as an estimator keeps it: its graph, and how new points are joined to it.

Points become a graph by nearest neighbors. A new point x is joined to its k nearest training points by the same
kernel, a_xj = exp(−d_xj² / (scale_factor σ_x σ_j)), σ_x being, like theirs, the distance to its ``scale_neighbor``-th
nearest. For graphs that were given, the weights of new points have to be given too.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError, CothermWarning, known_as
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


class FittedGraph(Protocol):
    """A graph to which new points can be joined."""

    @property
    def graph(self) -> Graph: ...

    def join(self, argument: str, new: Any) -> Joined:
        """The shares of training points in new ones."""


@dataclass(frozen=True)
class Kernel:
    """How graphs are made of points: options of :func:`cotherm.knn_graph`."""

    k: int
    scale: str | float | None
    scale_neighbor: int
    scale_factor: float
    metric: str
    symmetrize: str

    @property
    def sought(self) -> int:
        """Neighbors that have to be known of every point."""
        return max(self.k, self.scale_neighbor) if self.scale == "self-tuning" else self.k


def fitted_view(argument: str, given: Any, options: Kernel, *, precomputed: bool) -> FittedGraph:
    """A view of a Graph, a matrix of weights (``precomputed``) or points."""
    if isinstance(given, Graph):
        return GivenGraph(given)
    if precomputed:
        with known_as("W", argument):
            return GivenGraph(Graph.from_adjacency(given))
    with known_as("X", argument), known_as("X.data", argument), known_as("k", "n_neighbors"):
        X = _rows(given)
        if X.shape[0] == 1:
            raise CothermError("X", "n_samples = 1, a single point", "at least two points, to be neighbors")
        graph, sigma = scaled_knn_graph(
            X,
            options.k,
            scale=options.scale,
            scale_neighbor=options.scale_neighbor,
            scale_factor=options.scale_factor,
            metric=options.metric,
            symmetrize=options.symmetrize,
        )
    return PointsGraph(graph, X, sigma, options)


@dataclass(frozen=True)
class GivenGraph:
    """A graph that was given as such."""

    graph: Graph

    def join(self, argument: str, new: Any) -> Joined:
        """New points as rows of weights to the training points, (new, n)."""
        needed = f"weights >= 0 of new points with the {self.graph.n} of training, one row each"
        with known_as("A", argument, advice="This view was fitted as a graph."):
            A = sp.csr_array(_rows(new, "A"))
            if A.shape[1] != self.graph.n:
                raise CothermError("A", f"{A.shape[1]} columns", needed)
            if A.nnz and A.data.min() < 0.0:
                raise CothermError("A", f"a weight of {A.data.min():g}", needed)
            total = np.asarray(A.sum(axis=1)).ravel()
            if not total.all():
                raise CothermError("A", f"row {int(np.argmin(total))} without weight", needed)
        return Joined(sp.csr_array(sp.diags_array(1.0 / total) @ A), np.zeros(A.shape[0], dtype=bool))


@dataclass(frozen=True)
class PointsGraph:
    """The nearest-neighbor graph of points, with what is needed to join others to it."""

    graph: Graph
    X: Rows
    sigma: Floats
    options: Kernel

    def join(self, argument: str, new: Any) -> Joined:
        with known_as("X", argument), known_as("X.data", argument):
            rows = _rows(new)
            if rows.shape[1] != self.X.shape[1]:
                raise CothermError("X", f"{rows.shape[1]} features", f"{self.X.shape[1]}, as in training")
            indices, distances = _nearest(self.X, rows, self.options)
        k, n = self.options.k, self.graph.n
        copies = distances[:, 0] == 0.0
        logs = self._log_weights(indices, distances)[:, :k]
        # In units of the largest weight: only shares matter, and no row vanishes.
        a = np.exp(logs - logs.max(axis=1, keepdims=True))
        a[copies] = distances[copies, :k] == 0.0
        a /= a.sum(axis=1, keepdims=True)
        starts = np.arange(0, a.size + 1, a.shape[1])
        return Joined(sp.csr_array((a.ravel(), indices[:, :k].ravel(), starts), shape=(len(a), n)), copies)

    def _log_weights(self, indices: Ints, distances: Floats) -> Floats:
        if self.options.scale is None:
            return np.zeros(distances.shape)
        sigma = self.sigma[indices]
        if self.options.scale == "self-tuning":
            own = kernel.self_tuned_sigma(distances, self.options.scale_neighbor)
            return -(distances / own[:, np.newaxis]) * (distances / sigma) / self.options.scale_factor
        return -((distances / sigma) ** 2) / self.options.scale_factor


def _rows(given: Any, argument: str = "X") -> Rows:
    """Checked rows with all their columns, empty ones too, so that others can be put below."""
    checked = checked_rows(argument, given)
    return given.tocsr() if hasattr(given, "tocsr") else checked


def _nearest(training: Rows, new: Rows, options: Kernel) -> tuple[Ints, Floats]:
    """The nearest training points of new ones, numbered as in training, and their distances, ascending."""
    n = training.shape[0]
    stack: Any = np.vstack if isinstance(training, np.ndarray) and isinstance(new, np.ndarray) else sp.vstack
    both = stack([training, new])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CothermWarning)  # of zero rows: fit has warned of those it has
        points = Points.of(both if isinstance(both, np.ndarray) else both.tocsr(), options.metric)
    known, asked = np.flatnonzero(points.kept < n), np.flatnonzero(points.kept >= n)
    if len(asked) < new.shape[0]:
        stray = np.setdiff1d(np.arange(new.shape[0]), points.kept[asked] - n)
        raise CothermError("X", f"row {stray[0]} is zero and has no direction", "rows with a direction for 'cosine'")
    indices, distances = nearest_to(points.take(known), points.take(asked), options.sought)
    return points.kept[known[indices]], distances
