"""Closest commuting operators as an estimator."""

from __future__ import annotations

from typing import Any

from cotherm.errors import known_as
from cotherm.estimators.base import Given, MultiviewEstimator
from cotherm.methods.commuting.closest import Commuting, closest_commuting


class ClosestCommuting(MultiviewEstimator):
    """Find the closest commuting matrices to the Laplacians of all views, and their joint eigenbasis.

    Scikit-learn estimator of :func:`cotherm.closest_commuting` [1]_. Views are of the same samples, ``y`` is ignored,
    and there is one embedding for all views. It takes up to about 2,000 samples; with ``valid=True``, where the
    matrices are Laplacians of the same edges, a few hundred.

    X is one array of shape (samples, features), dense or sparse, whose columns `view_columns` splits into views; or a
    list of views, each a feature matrix, a :class:`cotherm.Graph` or, with ``affinity="precomputed"``, a symmetric
    matrix of weights. For one array the results are arrays, for a list of views they are lists with an array for each
    view.

    Parameters
    ----------
    valid : bool, default False
        Whether the matrices must be Laplacians of the same edges.
    tolerance : float, optional
        Tolerance, see :func:`cotherm.closest_commuting`.
    max_iterations : int, optional
        Maximum number of Newton steps, without `valid`.
    restarts : int, optional
        Number of random starts, with `valid`.
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
    result_ : Commuting
        Result of the method. A single view is in it twice.
    embedding_ : list of ndarray of shape (n, n_components)
        Coordinates in each view.
    labels_ : ndarray of int, or list of ndarray of int
        Clusters, if `n_clusters` is set: one array for X as one array, a list for a list of views.
    n_views_ : int
        Number of views.
    n_features_in_ : int
        Number of columns of X, if it was one array.
    feature_names_in_ : ndarray of str, or list of ndarray of str
        Names of the columns of data frames: an array for one frame, a list for a list of views, None for those without.

    See Also
    --------
    closest_commuting : The method as a function.
    JointDiagonalization : The joint basis of the unrestricted problem.

    References
    ----------
    .. [1] M. M. Bronstein, K. Glashoff and T. A. Loring, "Making Laplacians commute", arXiv preprint, 2013.

    Examples
    --------
    >>> import cotherm as ct
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(n_class=3, return_X_y=True)
    >>> model = ct.ClosestCommuting(view_columns=[32, 32]).fit(X[:100])
    >>> model.result_.commutator < 1e-10, model.transform(X[100:110]).shape
    (True, (10, 2))
    """

    _same_samples = True

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
