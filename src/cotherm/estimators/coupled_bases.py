"""Coupled quasi-harmonic bases as an estimator."""

from __future__ import annotations

from typing import Any

from cotherm import validation
from cotherm.estimators.base import Given, MultiviewEstimator
from cotherm.methods.quasi_harmonic import QuasiHarmonic, coupled_bases


class CoupledBases(MultiviewEstimator):
    """Coupled quasi-harmonic bases: the smooth modes of the graphs of all views, turned to correspond.

    Views may have different samples. All are embedded in one common space; of one array, a sample's coordinates are the
    mean of those it has in its views.

    Parameters
    ----------
    mu : of :func:`cotherm.coupled_bases`.
    n_modes : how many modes of each graph are turned, the constant one included; by default as many as
        ``n_components`` and ``n_clusters`` ask for.
    correspondence : where corresponding functions come from when ``fit`` is given none: "labels", indicators of the
        classes in ``y`` that every view has; "landmarks", bumps around ``n_landmarks`` samples drawn at random, for
        views of the same samples; "auto", labels if there are any, else landmarks.
    unlabeled : the label of samples whose class is not known.
    n_landmarks : how many landmarks.
    tolerance, max_iterations, restarts : of :func:`cotherm.coupled_bases`.
    n_components, t, n_clusters, n_neighbors, scale, scale_neighbor, scale_factor, metric, symmetrize, affinity,
    view_columns, random_state : as for all estimators, see :class:`cotherm.estimators.base.MultiviewEstimator`, which
        also says what X may be and which attributes there are.

    Examples
    --------
    >>> import cotherm as ct
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(n_class=3, return_X_y=True)
    >>> model = ct.CoupledBases(n_clusters=3).fit([X[:200, :32], X[50:300, 32:]], [y[:200], y[50:300]])
    >>> [E.shape for E in model.embedding_], [len(labels) for labels in model.labels_]
    ([(200, 2), (250, 2)], [200, 250])
    """

    _uses_functions = True

    def __init__(
        self,
        *,
        mu: float | None = None,
        n_modes: int | None = None,
        correspondence: str = "auto",
        unlabeled: Any = -1,
        n_landmarks: int = 10,
        tolerance: float = 1e-6,
        max_iterations: int = 300,
        restarts: int = 12,
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
        self.mu = mu
        self.n_modes = n_modes
        self.correspondence = correspondence
        self.unlabeled = unlabeled
        self.n_landmarks = n_landmarks
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.restarts = restarts

    def _solve(self, given: Given) -> QuasiHarmonic:
        return coupled_bases(
            given.graphs,
            self._corresponding(given),
            self._modes() if self.n_modes is None else self.n_modes,
            mu=self.mu,
            tolerance=self.tolerance,
            max_iterations=self.max_iterations,
            restarts=self.restarts,
            seed=given.seed,
        )

    def _modes(self) -> int:
        """As many as coordinates, with the constant one, or clusters need."""
        return max(validation.integer("n_components", self.n_components, least=1) + 1, self.n_clusters or 1)
