"""Closest commuting operators as an estimator."""

from __future__ import annotations

from typing import Any

from cotherm.errors import known_as
from cotherm.estimators.base import Given, MultiviewEstimator
from cotherm.methods.commuting.closest import Commuting, closest_commuting


class ClosestCommuting(MultiviewEstimator):
    """Closest commuting operators: Laplacians that commute, as near those of the views as can be; and their basis.

    Views are of the same samples, ``y`` is not looked at, and there is one embedding for all.
    Up to some 2,000 samples; with ``valid=True``, where they are Laplacians of the same edges, some hundred.

    Parameters
    ----------
    valid, tolerance, max_iterations, restarts : of :func:`cotherm.closest_commuting`.
    n_components, t, n_clusters, n_neighbors, scale, scale_neighbor, scale_factor, metric, symmetrize, affinity,
    view_columns, random_state : as for all estimators, see :class:`cotherm.estimators.base.MultiviewEstimator`, which
        also says what X may be and which attributes there are.

    Examples
    --------
    >>> import cotherm as ct
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(n_class=3, return_X_y=True)
    >>> model = ct.ClosestCommuting(view_columns=[32, 32]).fit(X[:100])
    >>> model.result_.commutator < 1e-10, model.transform(X[100:110]).shape
    (True, (10, 2))
    """

    def __init__(
        self,
        *,
        valid: bool = False,
        tolerance: float | None = None,
        max_iterations: int | None = None,
        restarts: int | None = None,
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
        self.valid = valid
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.restarts = restarts

    def _solve(self, given: Given) -> Commuting:
        with known_as("graphs", "X"):
            return closest_commuting(
                given.graphs,
                valid=self.valid,
                tolerance=self.tolerance,
                max_iterations=self.max_iterations,
                restarts=self.restarts,
                seed=given.seed,
            )
