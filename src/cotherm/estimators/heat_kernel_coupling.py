"""Heat kernel coupling as an estimator."""

from __future__ import annotations

from typing import Any

from cotherm.estimators.base import Given, MultiviewEstimator, twice
from cotherm.methods.coupling.couple import couple
from cotherm.methods.coupling.result import Coupling


class HeatKernelCoupling(MultiviewEstimator):
    """Couple the graphs of all views so that heat diffuses alike on them.

    Scikit-learn estimator of heat kernel coupling, :func:`cotherm.couple` [1]_. Views may have different samples.
    Each view keeps a graph and an embedding space of its own. If X is one array, the coordinates of the views come
    side by side.

    X is one array of shape (samples, features), dense or sparse, whose columns `view_columns` splits into views; or a
    list of views, each a feature matrix, a :class:`cotherm.Graph` or, with ``affinity="precomputed"``, a symmetric
    matrix of weights. For one array the results are arrays, for a list of views they are lists with an array for each
    view.

    Parameters
    ----------
    times : "auto" or array_like of float, default "auto"
        Diffusion times at which the graphs are compared.
    alpha : "auto" or float, default "auto"
        Weight of the coupling term, see :func:`cotherm.couple`.
    correspondence : {"auto", "labels", "landmarks"}, default "auto"
        Where corresponding functions come from if ``fit`` gets none. "labels": indicators of the classes in ``y``
        that every view has. "landmarks": bumps around `n_landmarks` random samples, for views of the same samples.
        "auto": labels if there are any, otherwise landmarks.
    unlabeled : int or str, default -1
        Label of samples whose class is not known.
    n_landmarks : int, default 10
        Number of landmarks.
    rigidity : array_like of float, optional
        Penalty on changing each graph, one number for each view.
    graph_weights : array_like of float, optional
        How much the agreement of each graph with the others counts.
    function_weights : array_like of float, optional
        How much each function counts.
    continuation : {"auto", "direct", "times", "alpha"} or sequence of Stage, default "auto"
        Sequence of easier problems to solve first, see :func:`cotherm.couple`.
    tolerance : float, default 1e-6
        Stop when the relative projected gradient is below this.
    max_iterations : int, default 2000
        Maximum number of steps.
    memory : "auto", str or float, default "auto"
        How much memory coupling may take, in bytes or as "8GiB", see :func:`cotherm.couple`.
    precision : {"float64", "float32"}, default "float64"
        Precision of stored derivatives.
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

    Attributes
    ----------
    graphs_ : list of Graph
        Graph of each view, as built or given.
    result_ : Coupling
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

    See Also
    --------
    couple : The method as a function.
    CoupledBases : Views of different samples in a common space.

    References
    ----------
    .. [1] M. M. Bronstein and K. Glashoff, "Heat kernel coupling for multiple graph analysis", arXiv preprint,
       December 2013.

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
        times: Any = "auto",
        alpha: float | str = "auto",
        correspondence: str = "auto",
        unlabeled: Any = -1,
        n_landmarks: int = 10,
        rigidity: Any = None,
        graph_weights: Any = None,
        function_weights: Any = None,
        continuation: Any = "auto",
        tolerance: float = 1e-6,
        max_iterations: int = 2_000,
        memory: str | float = "auto",
        precision: str = "float64",
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
        self.times = times
        self.alpha = alpha
        self.correspondence = correspondence
        self.unlabeled = unlabeled
        self.n_landmarks = n_landmarks
        self.rigidity = rigidity
        self.graph_weights = graph_weights
        self.function_weights = function_weights
        self.continuation = continuation
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.memory = memory
        self.precision = precision

    def _solve(self, given: Given) -> Coupling:
        return couple(
            given.graphs,
            self._corresponding(given),
            self.times,
            self.alpha,
            rigidity=twice(self.rigidity, self.n_views_),
            graph_weights=twice(self.graph_weights, self.n_views_),
            function_weights=self.function_weights,
            continuation=self.continuation,
            tolerance=self.tolerance,
            max_iterations=self.max_iterations,
            memory=self.memory,
            precision=self.precision,
        )
