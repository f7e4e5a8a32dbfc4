"""Coupled quasi-harmonic bases as an estimator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cotherm import limits, validation
from cotherm.errors import known_as
from cotherm.estimators.base import Given, MultiviewEstimator
from cotherm.methods.quasi_harmonic import QuasiHarmonic, coupled_bases


class CoupledBases(MultiviewEstimator):
    """Rotate the smooth modes of all views so that they correspond.

    Scikit-learn estimator of coupled quasi-harmonic bases, :func:`cotherm.coupled_bases` [1]_. Views may have
    different samples. All are embedded in one common space. If X is one array, the coordinates of a sample are the
    mean of those in its views.

    X is one array of shape (samples, features), dense or sparse, whose columns `view_columns` splits into views; or a
    list of views, each a feature matrix, a :class:`cotherm.Graph` or, with ``affinity="precomputed"``, a symmetric
    matrix of weights. For one array the results are arrays, for a list of views they are lists with an array for each
    view.

    Parameters
    ----------
    strength : "auto" or float, default "auto"
        Weight of the coupling term, see :func:`cotherm.coupled_bases`.
    n_modes : int, optional
        Number of modes of each graph, including the constant one. By default as many as `n_components` and
        `n_clusters` need.
    correspondence : {"auto", "labels", "landmarks"}, default "auto"
        Where corresponding functions come from if ``fit`` gets none. "labels": indicators of the classes in ``y``
        that every view has. "landmarks": bumps around `n_landmarks` random samples, for views of the same samples.
        "auto": labels if there are any, otherwise landmarks.
    unlabeled : int or str, default -1
        Label of samples whose class is not known.
    n_landmarks : int, default 10
        Number of landmarks.
    tolerance : float, default 1e-6
        Stop when the relative gradient is below this.
    max_iterations : int, default 300
        Maximum number of Newton steps from every start.
    restarts : int, default 12
        Number of random starts.
    n_components : int, default 2
        Number of coordinates of every sample in each view, without the constant mode.
    t : float, default 0.0
        Time of the diffusion map: coordinates are e^{−tλ}φ.
    n_clusters : int, optional
        Number of clusters in ``labels_``. None for no clustering.
    n_neighbors : int, default 10
        Number of neighbors in the graphs of feature matrices; the parameter ``k`` of :func:`cotherm.knn_graph`.
    scale : {"self-tuning", "median"}, float or None, default "self-tuning"
        How to choose the scale σ of the weights, see :func:`cotherm.knn_graph`.
    scale_neighbor : int, default 7
        Neighbor that sets σ for "self-tuning".
    scale_factor : float, default 1.0
        Factor in the exponent of the weights.
    metric : {"euclidean", "cosine"}, default "euclidean"
        Distance between samples.
    symmetrize : {"max", "mean", "min"}, default "max"
        How to combine the two directions of the graphs.
    affinity : {"nearest_neighbors", "precomputed"}, default "nearest_neighbors"
        With "precomputed", matrices in a list of views are weights and not features.
    view_columns : list of int, or list of slice or array_like of int, optional
        For X as one array, its views: the numbers of consecutive columns, or the columns of each view. None means a
        single view; with one view there is nothing to couple.
    random_state : int, RandomState or None, default 0
        Random state of k-means and of everything else that is random.
    verbose : int, default 0
        1 shows progress on anything that takes over two seconds; 0 is silent.

    Attributes
    ----------
    graphs_ : list of Graph
        Graph of each view, as built or given.
    result_ : QuasiHarmonic
        Result of the method. A single view is in it twice.
    embedding_ : list of ndarray of shape (n, n_components)
        Coordinates in each view.
    labels_ : ndarray of int, or list of ndarray of int
        Clusters, if `n_clusters` is set: one array for X as one array, a list for a list of views.
    functions_ : list of ndarray of shape (n, q)
        Corresponding functions of each view.
    n_views_ : int
        Number of views.
    n_features_in_ : int
        Number of columns of X, if it was one array.
    feature_names_in_ : ndarray of str, or list of ndarray of str
        Names of the columns of data frames: an array for one frame, a list for a list of views, None for those without.

    See Also
    --------
    coupled_bases : The method as a function.
    HeatKernelCoupling : Change the graphs instead of the modes.

    References
    ----------
    .. [1] A. Kovnatsky, M. M. Bronstein, A. M. Bronstein, K. Glashoff and R. Kimmel, "Coupled quasi-harmonic bases",
       Computer Graphics Forum, 2013.

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
        strength: float | str = "auto",
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
        verbose: int = 0,
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
            verbose=verbose,
        )
        self.strength = strength
        self.n_modes = n_modes
        self.correspondence = correspondence
        self.unlabeled = unlabeled
        self.n_landmarks = n_landmarks
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.restarts = restarts

    def _solve(self, given: Given) -> QuasiHarmonic:
        # As many as coordinates, with the constant one, or clusters need.
        needed = max(self.n_components + 1, self.n_clusters or 1)
        with known_as("k", "n_modes"):
            return coupled_bases(
                given.graphs,
                self._corresponding(given),
                needed if self.n_modes is None else self.n_modes,
                strength=self.strength,
                tolerance=self.tolerance,
                max_iterations=self.max_iterations,
                restarts=self.restarts,
                seed=given.seed,
            )

    def _most_modes(self, sizes: Sequence[int]) -> int:
        most = min(limits.MODES, *sizes)
        return most if self.n_modes is None else validation.integer("n_modes", self.n_modes, least=1, most=most)
