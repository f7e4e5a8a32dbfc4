"""Heat kernel coupling as an estimator."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.errors import CothermError, known_as
from cotherm.estimators import correspondence as from_functions
from cotherm.estimators.base import Given, View, has_clusters, twice
from cotherm.estimators.pairing import PairingEstimator, PairsGiven
from cotherm.methods.coupling.couple import couple
from cotherm.methods.coupling.result import Coupling
from cotherm.methods.pairs.couple_pairs import couple_pairs

_WAYS = (*from_functions.WAYS, "pairs")
# Parameters that only one of the two ways to couple has, and their defaults.
_FOR_FUNCTIONS = {
    "n_landmarks": 10,
    "graph_weights": None,
    "function_weights": None,
    "continuation": "auto",
    "memory": "auto",
    "precision": "float64",
}
_FOR_PAIRS = {"n_modes": "auto", "borrow": "auto", "include_unrelated": False, "kept_back": 0.25}


class HeatKernelCoupling(PairingEstimator):
    """Couple the graphs of all views so that heat diffuses alike on them.

    Scikit-learn estimator of heat kernel coupling [1]_. Each view keeps a graph and an embedding space of its own. If X
    is one array, the coordinates of the views come side by side.

    X is one array of shape (samples, features), dense or sparse, whose columns `view_columns` splits into views; or a
    list of views, each a feature matrix, a :class:`cotherm.Graph` or, with ``affinity="precomputed"``, a symmetric
    matrix of weights. For one array the results are arrays, for a list of views they are lists with an array for each
    view.

    Without labels and functions the rows of the views are paired, see :func:`cotherm.couple_pairs`: they are the same
    items, and an item may be missing from a view. Then there are also one embedding and one clustering of all items.
    Rows are the same item one by one; data frames are paired by index, and graphs by their vertex names, unless these
    are equal. A data frame whose index is not 0 to n − 1 is refused beside an array. An item is missing from a view
    where its row is NaN throughout, or by ``fit(masks=)``. With labels or functions views may have different samples,
    see :func:`cotherm.couple`.

    Parameters
    ----------
    times : "auto" or array_like of float, default "auto"
        Diffusion times at which the graphs are compared.
    alpha : "auto" or float, default "auto"
        Weight of the coupling term, see :func:`cotherm.couple` and :func:`cotherm.couple_pairs`.
    correspondence : {"auto", "pairs", "labels", "landmarks"}, default "auto"
        What corresponds. "pairs": rows are the same items; functions given to ``fit`` are used as well, labels ``y``
        are ignored. "labels": indicators of the classes in ``y`` that every view has. "landmarks": bumps around
        `n_landmarks` random samples, for views of the same samples. "auto": functions given to ``fit``, else labels if
        there are any, otherwise pairs.
    unlabeled : int or str, default -1
        Label of samples whose class is not known.
    n_landmarks : int, default 10
        Number of landmarks. Not with pairs.
    rigidity : array_like of float, optional
        Penalty on changing each graph, one number for each view. With pairs it is by default chosen from the data.
    graph_weights : array_like of float, optional
        How much the agreement of each graph with the others counts. Not with pairs.
    function_weights : array_like of float, optional
        How much each function counts. Not with pairs.
    continuation : {"auto", "direct", "times", "alpha"} or sequence of Stage, default "auto"
        Sequence of easier problems to solve first, see :func:`cotherm.couple`. Not with pairs.
    tolerance : float, optional
        When to stop, see :func:`cotherm.couple` and :func:`cotherm.couple_pairs`, whose defaults these are.
    max_iterations : int, optional
        Maximum number of steps, by default that of these functions.
    max_seconds : float, optional
        Stop coupling after this time with the best weights so far; ``result_.status`` is then "time limit". By default
        there is no limit.
    memory : "auto", str or float, default "auto"
        How much memory coupling may take, in bytes or as "8GiB", see :func:`cotherm.couple`. Not with pairs.
    precision : {"float64", "float32"}, default "float64"
        Precision of stored derivatives. Not with pairs.
    n_modes : int or "auto", default "auto"
        Number of smooth modes of every graph, see :func:`cotherm.couple_pairs`. Only with pairs.
    borrow : float or "auto", default "auto"
        Share of the weights that a view borrows from the others, from 0 to 1. Only with pairs.
    include_unrelated : bool, default False
        Whether to couple and merge views also where they have nothing in common beyond chance, or share too few items
        to tell. Only with pairs.
    kept_back : float, default 0.25
        Fraction of the pairs to keep back when agreement is measured; 0 for no measurement, which is several times as
        fast. Only with pairs.
    n_components : int, default 2
        Number of coordinates of every sample in each view, without the constant mode.
    t : float, default 0.0
        Time of the diffusion map: coordinates are e^{−tλ}φ.
    n_clusters : int or "auto", optional
        Number of clusters in ``labels_``. None for no clustering. "auto", with pairs only, chooses it, see
        :meth:`cotherm.CommonGraph.clusters`.
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
        Graph of each view, as built or given. With pairs its vertices are the rows that were seen.
    result_ : Coupling
        Result of the method. A single view is in it twice.
    embedding_ : list of ndarray of shape (n, n_components)
        Coordinates in each view. With pairs NaN in rows that were not seen.
    labels_ : ndarray of int, or list of ndarray of int
        Clusters, if `n_clusters` is set: one array for X as one array, a list for a list of views. With pairs one array
        over all items, in the order of ``items_``.
    functions_ : list of ndarray of shape (n, q)
        Corresponding functions of each view. Not with pairs.
    items_ : ndarray of int of shape (items, views)
        With pairs, the row of each view that an item is, -1 where it is missing. Item r is row r, unless data frames
        were paired by index, or ``fit`` got a table of pairs.
    index_ : pandas.Index
        With pairs of data frames, the names of the items.
    common_graph_ : CommonGraph
        With pairs, one graph over all items: vertex r is row r of ``items_``. Views that are hardly related to the
        others are left out, and so are items that only these have; ``common_graph_.notes`` says so.
    common_embedding_ : ndarray of shape (items, n_components)
        With pairs, the coordinates of all items in one space; NaN for items that are not in the common graph, whose
        cluster in ``labels_`` is -1.
    n_views_ : int
        Number of views.
    n_features_in_ : int
        Number of columns of X, if it was one array.
    feature_names_in_ : ndarray of str, or list of ndarray of str
        Names of the columns of data frames: an array for one frame, a list for a list of views, None for those without.

    See Also
    --------
    couple : The method as a function.
    couple_pairs : The method for pairs of rows.
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

    Upper and lower halves of the same digits, without labels. Some have no lower half:

    >>> upper, lower = X[:120, :32], X[:120, 32:].copy()
    >>> lower[100:] = float("nan")
    >>> model = ct.HeatKernelCoupling(n_clusters=3, kept_back=0).fit([upper, lower])
    >>> model.items_[99:101].tolist(), model.common_embedding_.shape
    ([[99, 99], [100, -1]], (120, 2))
    >>> ct.evaluate.clustering_accuracy(y[:120], model.labels_) > 0.8
    True

    New digits are placed among them by the half that there is:

    >>> model.transform_common([None, X[200:203, 32:]]).shape
    (3, 2)
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
        tolerance: float | None = None,
        max_iterations: int | None = None,
        max_seconds: float | None = None,
        memory: str | float = "auto",
        precision: str = "float64",
        n_modes: int | str = "auto",
        borrow: float | str = "auto",
        include_unrelated: bool = False,
        kept_back: float = 0.25,
        n_components: int = 2,
        t: float = 0.0,
        n_clusters: int | str | None = None,
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
        self.max_seconds = max_seconds
        self.memory = memory
        self.precision = precision
        self.n_modes = n_modes
        self.borrow = borrow
        self.include_unrelated = include_unrelated
        self.kept_back = kept_back

    def fit(
        self,
        X: Any,
        y: Any = None,
        functions: Sequence[ArrayLike] | None = None,
        *,
        masks: Sequence[ArrayLike] | None = None,
        pairs: Any = None,
    ) -> Self:
        """Build the graphs and couple them.

        Parameters
        ----------
        X : array_like, sparse matrix or list of views
            One array of shape (samples, features), or a list of views.
        y : array_like of int or str, or list of array_like, optional
            Labels of the samples, one array for all views or one for each. A pandas Series is matched by its index with
            views that have one. Ignored with ``correspondence="pairs"``.
        functions : sequence of array_like of shape (n_k, q), optional
            Corresponding functions of each view, instead of labels. With ``correspondence="pairs"`` they are used
            beside the pairs.
        masks : sequence of array_like of bool of shape (n_k,), optional
            With pairs, for each view which rows were seen; the others are not looked at. None for a view: those that
            are not NaN throughout. Sparse views and graphs need masks where items are missing.
        pairs : "same", sequence of array_like of int, or array_like of int of shape (items, views), optional
            Which rows are the same item, as for :func:`cotherm.couple_pairs`, for views of different lengths. By
            default the index of data frames, or row by row.

        Returns
        -------
        Self
            The fitted estimator.

        Raises
        ------
        CothermError
            If X, y or a parameter cannot be used, or if a parameter was set that does not apply.
        """
        way = validation.choice("correspondence", self.correspondence, _WAYS)
        paired = way == "pairs" or (way == "auto" and y is None and functions is None)
        with self._anew(), self._progress():
            named = self._split(X, reset=True, holes=paired and self.view_columns is not None)
            return self._fit_views(named, y, functions, masks, pairs, paired=paired)

    def _fit_views(
        self, named: Sequence[View], y: Any, functions: Any, masks: Any, pairs: Any, *, paired: bool
    ) -> Self:
        if paired and len(named) > 1:
            self._refuse(
                _FOR_FUNCTIONS, "rows paired", 'Set correspondence="labels" or "landmarks", or give functions.'
            )
            return self._fit_pairs(named, functions, masks, pairs)
        for argument, given in (("masks", masks), ("pairs", pairs)):
            if given is not None:
                where = "a single view" if len(named) == 1 else "labels or functions, which say what corresponds"
                raise CothermError(
                    argument, f"{argument} beside {where}", "pairs of rows", 'Set correspondence="pairs".'
                )
        if len(named) > 1:
            self._refuse(_FOR_PAIRS, "corresponding functions", 'Set correspondence="pairs".')
        return self._fit(named, y, functions)

    def fit_transform(
        self,
        X: Any,
        y: Any = None,
        functions: Sequence[ArrayLike] | None = None,
        *,
        masks: Sequence[ArrayLike] | None = None,
        pairs: Any = None,
    ) -> Any:
        """Fit, and return the coordinates of the samples.

        Parameters
        ----------
        X : array_like, sparse matrix or list of views
            One array of shape (samples, features), or a list of views.
        y : array_like of int or str, or list of array_like, optional
            Labels of the samples, as for ``fit``.
        functions : sequence of array_like of shape (n_k, q), optional
            Corresponding functions of each view, as for ``fit``.
        masks : sequence of array_like of bool of shape (n_k,), optional
            Which rows of each view were seen, as for ``fit``.
        pairs : "same", sequence of array_like of int, or array_like of int of shape (items, views), optional
            Which rows are the same item, as for ``fit``.

        Returns
        -------
        ndarray of shape (samples, n_features_out), or list of ndarray
            The coordinates: an array for one array, a list for a list of views.
        """
        return self._together(self.fit(X, y, functions, masks=masks, pairs=pairs).embedding_)

    @available_if(has_clusters)  # type: ignore[untyped-decorator]
    def fit_predict(
        self,
        X: Any,
        y: Any = None,
        functions: Sequence[ArrayLike] | None = None,
        *,
        masks: Sequence[ArrayLike] | None = None,
        pairs: Any = None,
    ) -> Any:
        """Fit, and return the clusters of the samples.

        Parameters
        ----------
        X : array_like, sparse matrix or list of views
            One array of shape (samples, features), or a list of views.
        y : array_like of int or str, or list of array_like, optional
            Labels of the samples, as for ``fit``.
        functions : sequence of array_like of shape (n_k, q), optional
            Corresponding functions of each view, as for ``fit``.
        masks : sequence of array_like of bool of shape (n_k,), optional
            Which rows of each view were seen, as for ``fit``.
        pairs : "same", sequence of array_like of int, or array_like of int of shape (items, views), optional
            Which rows are the same item, as for ``fit``.

        Returns
        -------
        ndarray of int of shape (samples,), or list of ndarray
            The clusters: an array for one array and with pairs, otherwise a list for a list of views.
        """
        return self.fit(X, y, functions, masks=masks, pairs=pairs).labels_

    def transform(self, X: Any) -> Any:
        """Compute coordinates of samples, old or new, in every view.

        The coordinates of a new sample are s times the weighted mean of those of its nearest training samples, where
        s compensates for the shrinking of a mean. A sample that coincides with a training sample has its coordinates.

        Parameters
        ----------
        X : array_like, sparse matrix or list of views
            Samples in the form of ``fit``. Where a view was given as a graph, new samples are rows of weights to the
            training samples, of shape (new, n). After a fit by pairs a view may be None, and rows may be NaN.

        Returns
        -------
        ndarray of shape (samples, n_features_out), or list of ndarray
            The coordinates: an array for one array, a list for a list of views. After a fit by pairs None for a view
            that is None, and NaN for rows that are NaN.

        See Also
        --------
        transform_common : Coordinates in the one space of all items.
        """
        check_is_fitted(self)
        parts: Any = self._placed_in_views(X) if self._paired else self._placed(X)
        return self._together(parts)

    def transform_common(self, X: Any) -> Floats:
        """Compute coordinates of items, old or new, in the common space of a fit by pairs.

        The mean over the views in which an item was seen, each as in ``transform``.

        Parameters
        ----------
        X : array_like, sparse matrix or list of views
            Items in the form of ``fit``. A view may be None, and rows may be NaN. Data frames are paired by index,
            unless the indexes are equal: items come in the order in which they first occur.

        Returns
        -------
        ndarray of shape (items, n_components)
            The coordinates.

        Raises
        ------
        CothermError
            If an item is in no view, or if rows were not paired in ``fit``.
        """
        check_is_fitted(self)
        if not self._paired:
            raise CothermError(
                "X",
                "a fit without pairs, which has no common space",
                "a fit by pairs of rows",
                'Set correspondence="pairs" before fit, or use CoupledBases.',
            )
        return self._placed_in_common(X)

    @available_if(has_clusters)  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> Any:
        """Predict clusters of samples, old or new.

        A sample gets the label with the largest weight among its nearest training samples. After a fit by pairs the
        weights are summed over the views in which it was seen.

        Parameters
        ----------
        X : array_like, sparse matrix or list of views
            Samples in the form of ``fit``. After a fit by pairs a view may be None, and rows may be NaN.

        Returns
        -------
        ndarray of int of shape (samples,), or list of ndarray
            The clusters: an array for one array and after a fit by pairs, otherwise a list for a list of views.
        """
        check_is_fitted(self)
        return self._voted_in_common(X) if self._paired else self._voted(X)

    def distances(self, t: float, *, sources: ArrayLike | None = None) -> list[Floats]:
        """Compute diffusion distances in every view.

        Parameters
        ----------
        t : float
            Time t ≥ 0.
        sources : array_like of int, optional
            Samples whose distances to all samples are computed. By default all.

        Returns
        -------
        list of ndarray of shape (sources, n)
            The distances in each view, NaN where one of two samples was not seen.
        """
        check_is_fitted(self)
        return self._distances_of_rows(t, sources) if self._paired else super().distances(t, sources=sources)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.correspondence == "pairs" and self.view_columns is not None
        return tags

    def _way_to_functions(self) -> Any:
        # Of a single view, which agrees with itself whatever the functions.
        return "landmarks" if self.correspondence == "pairs" else self.correspondence

    def _refuse(self, defaults: dict[str, Any], beside: str, advice: str) -> None:
        """Parameters that were set, though they do not apply."""
        for name, default in defaults.items():
            value = getattr(self, name)
            if not _is_default(value, default):
                given = f"{validation.describe(value)}, with {beside}"
                raise CothermError(name, given, f"its default, {default!r}: it does not apply", advice)

    def _stopping(self) -> dict[str, Any]:
        """When to stop, where that was said: each function has defaults of its own."""
        given = {
            "tolerance": self.tolerance,
            "max_iterations": self.max_iterations,
            "max_seconds": self.max_seconds,
        }
        return {name: value for name, value in given.items() if value is not None}

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
            memory=self.memory,
            precision=self.precision,
            **self._stopping(),
        )

    def _solve_pairs(self, given: PairsGiven) -> Coupling:
        with known_as("seed", "random_state"):
            return couple_pairs(
                given.graphs,
                given.table,
                functions=given.functions,
                n_modes=self.n_modes,
                times=self.times,
                alpha=self.alpha,
                borrow=self.borrow,
                rigidity=self.rigidity,
                include_unrelated=self.include_unrelated,
                kept_back=self.kept_back,
                seed=given.seed,
                **self._stopping(),
            )


def _is_default(value: Any, default: Any) -> bool:
    if isinstance(default, Real):
        return isinstance(value, Real) and value == default
    return value is default or (isinstance(default, str) and isinstance(value, str) and value == default)
