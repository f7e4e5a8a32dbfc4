"""The average of Laplacians as an estimator."""

from __future__ import annotations

from typing import Any

from cotherm.errors import known_as
from cotherm.estimators.base import Given, MultiviewEstimator, twice
from cotherm.methods.average import Average, average


class LaplacianAverage(MultiviewEstimator):
    """The average graph of all views: the simplest answer, and hard to beat in clustering.

    Views are of the same samples, ``y`` is not looked at, and there is one embedding for all.

    Parameters
    ----------
    weights, power, normalized : of :func:`cotherm.average`; unlike there weights are normalized, w_ij/√(d_i d_j),
        unless you say otherwise, as that is what helps clustering.
    n_components, t, n_clusters, n_neighbors, scale, scale_neighbor, scale_factor, metric, symmetrize, affinity,
    view_columns, random_state : as for all estimators, see :class:`cotherm.estimators.base.MultiviewEstimator`, which
        also says what X may be and which attributes there are.

    Examples
    --------
    >>> import cotherm as ct
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(n_class=3, return_X_y=True)
    >>> labels = ct.LaplacianAverage(view_columns=[32, 32], n_clusters=3).fit_predict(X)
    >>> ct.evaluate.clustering_accuracy(y, labels) > 0.9
    True
    """

    def __init__(
        self,
        *,
        graph_weights: Any = None,
        power: float | str = 1.0,
        normalized: bool = True,
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
        self.graph_weights = graph_weights
        self.power = power
        self.normalized = normalized

    def _solve(self, given: Given) -> Average:
        with known_as("graphs", "X"):
            return average(
                given.graphs, twice(self.graph_weights, self.n_views_), power=self.power, normalized=self.normalized
            )
