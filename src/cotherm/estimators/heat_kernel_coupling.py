"""Heat kernel coupling as an estimator."""

from __future__ import annotations

from typing import Any

from cotherm.estimators.base import Given, MultiviewEstimator
from cotherm.methods.coupling.couple import couple
from cotherm.methods.coupling.result import Coupling


class HeatKernelCoupling(MultiviewEstimator):
    """Heat kernel coupling: new edge weights, near the old, with which heat flows alike on the graphs of all views.

    Views may have different samples. Each view keeps a graph of its own, so its embedding is in a space of its own;
    of one array, the views' coordinates come side by side.

    Parameters
    ----------
    alpha, times : of :func:`cotherm.couple`; "auto" chooses them from the data.
    correspondence : where corresponding functions come from when ``fit`` is given none: "labels", indicators of the
        classes in ``y`` that every view has; "landmarks", bumps around ``n_landmarks`` samples drawn at random, for
        views of the same samples; "auto", labels if there are any, else landmarks.
    unlabeled : the label of samples whose class is not known.
    n_landmarks : how many landmarks.
    continuation, tolerance, max_iterations : of :func:`cotherm.couple`.
    n_components, t, n_clusters, n_neighbors, scale, scale_neighbor, scale_factor, metric, symmetrize, affinity,
    view_columns, random_state : as for all estimators, see :class:`cotherm.estimators.base.MultiviewEstimator`, which
        also says what X may be and which attributes there are.

    Examples
    --------
    >>> import cotherm as ct
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(n_class=3, return_X_y=True)
    >>> model = ct.HeatKernelCoupling(view_columns=[32, 32], n_clusters=3).fit(X[:200], y[:200])
    >>> model.transform(X[200:203]).shape, [E.shape for E in model.embedding_]
    ((3, 4), [(200, 2), (200, 2)])
    >>> ct.evaluate.clustering_accuracy(y[200:], model.predict(X[200:])) > 0.9
    True
    """

    _uses_functions = True

    def __init__(
        self,
        *,
        alpha: float | str = "auto",
        times: Any = "auto",
        correspondence: str = "auto",
        unlabeled: Any = -1,
        n_landmarks: int = 10,
        continuation: Any = "auto",
        tolerance: float = 1e-6,
        max_iterations: int = 2_000,
        n_components: int = 2,
        t: float = 0.0,
        n_clusters: int | None = None,
        n_neighbors: int = 10,
        scale: str | float | None = "self-tuning",
        scale_neighbor: int = 7,
        scale_factor: float = 1.0,
        metric: str = "euclidean",
        symmetrize: str = "max",
        affinity: str = "nearest_neighbors",
        view_columns: Any = None,
        random_state: Any = 0,
    ) -> None:
        super().__init__(
            n_components=n_components,
            t=t,
            n_clusters=n_clusters,
            n_neighbors=n_neighbors,
            scale=scale,
            scale_neighbor=scale_neighbor,
            scale_factor=scale_factor,
            metric=metric,
            symmetrize=symmetrize,
            affinity=affinity,
            view_columns=view_columns,
            random_state=random_state,
        )
        self.alpha = alpha
        self.times = times
        self.correspondence = correspondence
        self.unlabeled = unlabeled
        self.n_landmarks = n_landmarks
        self.continuation = continuation
        self.tolerance = tolerance
        self.max_iterations = max_iterations

    def _solve(self, given: Given) -> Coupling:
        return couple(
            given.graphs,
            self._corresponding(given),
            self.times,
            self.alpha,
            continuation=self.continuation,
            tolerance=self.tolerance,
            max_iterations=self.max_iterations,
        )
