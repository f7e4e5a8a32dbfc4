"""Heat kernel coupling as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.errors import CothermError, CothermWarning, known_as
from cotherm.estimators import correspondence
from cotherm.estimators.new_samples import Coordinates, Joined, PointsGraph, factors, fitted_view, votes
from cotherm.estimators.views import (
    View,
    column_names,
    columns_of_views,
    every_row,
    feature_names,
    found_items,
    in_order,
    is_list_of_views,
    listed_view,
    plain,
    require_columns,
    row_names,
    spread,
)
from cotherm.graphs.graph import Graph
from cotherm.methods.coupling.couple import couple
from cotherm.methods.pairs.couple_pairs import couple_pairs
from cotherm.progress import shown

_WAYS = ("auto", "pairs", "labels", "landmarks")
_OUTPUTS = ("views", "common")
# The cluster of items that are not in the common graph.
_NONE = -1


class NotNumbersError(CothermError, TypeError):
    """X holds objects that are no numbers, where scikit-learn asks for a TypeError."""


# New samples in one view, and how those of its rows that were seen hang on the training samples.
NewRows = tuple[View, Joined]


def _has_clusters(estimator: Any) -> bool:
    """Whether there are clusters to predict; scikit-learn asks this of an estimator by looking for its methods."""
    if estimator.n_clusters is None:
        raise AttributeError("n_clusters: None; needed: a number of clusters, set before the estimator is fitted.")
    return True


class HeatKernelCoupling(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Couple the graphs of all views so that heat diffuses alike on them.

    Scikit-learn estimator of heat kernel coupling [1]_. Each view keeps a graph and an embedding space of its own, and
    if rows are paired, there is one space and one clustering of all items.

    X is one array of shape (samples, features), dense or sparse, whose columns `view_columns` splits into views; or a
    list of views, each a feature matrix or a :class:`cotherm.Graph`. For one array the results are arrays, for a list
    of views lists with an array for each.

    By default the rows of the views are paired, see :func:`cotherm.couple_pairs`: they are the same items, and an item
    may be missing from a view. Rows are the same item one by one; data frames are paired by index, and graphs by their
    vertex names, unless these are equal. A data frame whose index is not 0 to n − 1 is refused beside an array. An item
    is missing from a view where its row is NaN throughout. With labels or functions views may have different samples,
    see :func:`cotherm.couple`.

    Parameters
    ----------
    n_components : int, default 2
        Number of coordinates of every sample in each view, without the constant mode, and in the common space.
    t : float, default 0.0
        Time of the diffusion map: coordinates are e^{−tλ}φ.
    n_clusters : int or "auto", optional
        Number of clusters in ``labels_``. None for no clustering. "auto", with pairs only, chooses it, see
        :meth:`cotherm.CommonGraph.clusters`.
    n_neighbors : int, default 10
        Number of neighbors in the graphs of feature matrices; the parameter ``k`` of :func:`cotherm.knn_graph`.
    metric : {"euclidean", "cosine"}, default "euclidean"
        Distance between samples.
    view_columns : list of int, or list of slice or array_like of int, optional
        For X as one array, its views: the numbers of consecutive columns, or the columns of each view. None means a
        single view; with one view there is nothing to couple.
    correspondence : {"auto", "pairs", "labels", "landmarks"}, default "auto"
        What corresponds. "pairs": rows are the same items; functions given to ``fit`` are used as well. "labels":
        indicators of the classes in ``y`` that every view has. "landmarks": bumps around random samples, for views of
        the same samples. "auto": functions given to ``fit``, otherwise pairs. Labels ``y`` are used with "labels" only.
    output : {"views", "common"}, default "views"
        What ``transform`` and ``fit_transform`` return. "views": the coordinates in every view, side by side if X is
        one array. "common": the coordinates of all items in their one common space; only with pairs or a single view.
    times : "auto" or array_like of float, default "auto"
        Diffusion times at which the graphs are compared.
    alpha : "auto" or float, default "auto"
        Weight of the coupling term, see :func:`cotherm.couple` and :func:`cotherm.couple_pairs`.
    options : dict, optional
        Further keyword arguments by name. What is not in it has the default of the function that takes it, and what
        does not apply is refused.

        - For the graphs of feature matrices, see :func:`cotherm.knn_graph`: scale, scale_neighbor, scale_factor,
          symmetrize.
        - For coupling: rigidity, tolerance, max_iterations, max_seconds.
        - With pairs, see :func:`cotherm.couple_pairs`: n_modes, borrow, include_unrelated, kept_back. With
          ``{"kept_back": 0}`` agreement is not measured, and the fit is several times as fast.
        - With labels, landmarks or functions, see :func:`cotherm.couple`: graph_weights, function_weights,
          continuation, memory.
        - With labels: unlabeled, the label of samples whose class is not known, by default -1. With landmarks:
          n_landmarks, their number, by default 10.
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
        cluster in ``labels_`` is -1. Of a single view its own coordinates.
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
    coupled_bases : Views of different samples in a common space.

    References
    ----------
    .. [1] M. M. Bronstein and K. Glashoff, "Heat kernel coupling for multiple graph analysis", arXiv preprint,
       December 2013.

    Examples
    --------
    Upper and lower halves of digits. Some have no lower half:

    >>> import cotherm as ct
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(n_class=3, return_X_y=True)
    >>> upper, lower = X[:120, :32], X[:120, 32:].copy()
    >>> lower[100:] = float("nan")
    >>> model = ct.HeatKernelCoupling(n_clusters=3, output="common", options={"kept_back": 0})
    >>> model.fit_transform([upper, lower]).shape, model.items_[99:101].tolist()
    ((120, 2), [[99, 99], [100, -1]])
    >>> ct.evaluate.clustering_accuracy(y[:120], model.labels_) > 0.8
    True

    New digits are placed among them by the half that there is:

    >>> model.transform([None, X[200:203, 32:]]).shape
    (3, 2)

    Coupled by labels, with a space for each half:

    >>> model = ct.HeatKernelCoupling(view_columns=[32, 32], n_clusters=3, correspondence="labels")
    >>> model.fit(X[:200], y[:200]).transform(X[200:203]).shape, [E.shape for E in model.embedding_]
    ((3, 4), [(200, 2), (200, 2)])
    >>> ct.evaluate.clustering_accuracy(y[200:], model.predict(X[200:])) > 0.9
    True
    """

    def __init__(
        self,
        *,
        n_components: int = 2,
        t: float = 0.0,
        n_clusters: int | str | None = None,
        n_neighbors: int = 10,
        metric: str = "euclidean",
        view_columns: Any = None,
        correspondence: str = "auto",
        output: str = "views",
        times: Any = "auto",
        alpha: float | str = "auto",
        options: Any = None,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.t = t
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.view_columns = view_columns
        self.correspondence = correspondence
        self.output = output
        self.times = times
        self.alpha = alpha
        self.options = options
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any = None,
        functions: Sequence[ArrayLike] | None = None,
        *,
        pairs: Any = None,
    ) -> Self:
        """Build the graphs and couple them.

        Parameters
        ----------
        X : array_like, sparse matrix or list of views
            One array of shape (samples, features), or a list of views.
        y : array_like of int or str, or list of array_like, optional
            With ``correspondence="labels"``, the labels of the samples, one array for all views or one for each. A
            pandas Series is matched by its index with views that have one. Otherwise ignored.
        functions : sequence of array_like of shape (n_k, q), optional
            Corresponding functions of each view, with ``correspondence="auto"`` in place of pairs, with "pairs" beside
            them.
        pairs : "same", sequence of array_like of int, or array_like of int of shape (items, views), optional
            Which rows are the same item, as for :func:`cotherm.couple_pairs`, for views of different lengths. By
            default the index of data frames, or row by row.

        Returns
        -------
        Self
            The fitted estimator.
        """
        if not isinstance(self.verbose, bool | np.bool_):  # scikit-learn takes those, too
            validation.integer("verbose", self.verbose, least=0)
        with self._anew(), shown(bool(self.verbose)):
            self._fit(X, y, functions, pairs)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit, and return the coordinates of the samples.

        Parameters
        ----------
        X : array_like, sparse matrix or list of views
            One array of shape (samples, features), or a list of views.
        y : array_like of int or str, or list of array_like, optional
            Labels of the samples, as for ``fit``.
        **fit_params : Any
            The other arguments of ``fit``.

        Returns
        -------
        ndarray of shape (samples, n_features_out), or list of ndarray
            The coordinates: an array for one array, a list for a list of views. With ``output="common"`` one array of
            shape (items, n_components), NaN for items that are not in the common graph.
        """
        self.fit(X, y, **fit_params)
        return self.common_embedding_ if self._in_common() else self._together(self.embedding_)

    @available_if(_has_clusters)  # type: ignore[untyped-decorator]
    def fit_predict(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit, and return the clusters of the samples.

        Parameters
        ----------
        X : array_like, sparse matrix or list of views
            One array of shape (samples, features), or a list of views.
        y : array_like of int or str, or list of array_like, optional
            Labels of the samples, as for ``fit``.
        **fit_params : Any
            The other arguments of ``fit``.

        Returns
        -------
        ndarray of int of shape (samples,), or list of ndarray
            The clusters: an array for one array and with pairs, otherwise a list for a list of views.
        """
        return self.fit(X, y, **fit_params).labels_

    def transform(self, X: Any) -> Any:
        """Compute coordinates of samples, old or new.

        The coordinates of a new sample in a view are s times the weighted mean of those of its nearest training
        samples, where s compensates for the shrinking of a mean. A sample that coincides with a training sample has its
        coordinates. With ``output="common"`` they are the mean over the views in which it was seen.

        Parameters
        ----------
        X : array_like, sparse matrix or list of views
            Samples in the form of ``fit``. Where a view was given as a graph, new samples are rows of weights to the
            training samples, of shape (new, n). After a fit by pairs a view may be None, and rows may be NaN.

        Returns
        -------
        ndarray of shape (samples, n_features_out), or list of ndarray
            The coordinates: an array for one array, a list for a list of views, with None for a view that is None and
            NaN for rows that are NaN. With ``output="common"`` an array of shape (items, n_components): data frames are
            paired by index, unless the indexes are equal, and items come in the order in which they first occur.

        Raises
        ------
        CothermError
            If an item is in no view, or if there is no common space.
        """
        check_is_fitted(self)
        common = self._in_common()
        new = self._new_rows(X)
        if not common:
            return self._together([one and self._placed(*one) for one in new])
        width = self.common_embedding_.shape[1]
        total, count = self._summed(new, lambda k, joined: self._common[k].of_new(joined), width)
        total[count == 0.0] = np.nan  # seen in views only that are not in the common graph
        return total / np.maximum(count, 1.0)[:, np.newaxis]

    @available_if(_has_clusters)  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> Any:
        """Predict clusters of samples, old or new.

        A sample gets the label with the largest weight among its nearest training samples; where all views have one
        clustering, summed over those in which it was seen.

        Parameters
        ----------
        X : array_like, sparse matrix or list of views
            Samples in the form of ``fit``. After a fit by pairs a view may be None, and rows may be NaN.

        Returns
        -------
        ndarray of int of shape (samples,), or list of ndarray
            The clusters: an array for one array and after a fit by pairs, otherwise a list for a list of views.
        """
        check_is_fitted(self, "labels_")
        new = self._new_rows(X)
        if isinstance(self.labels_, list):
            pairs = [(one[1], own) for one, own in zip(new, self.labels_, strict=True) if one is not None]
            return [votes(joined, labels, int(labels.max()) + 1).argmax(axis=1) for joined, labels in pairs]
        clusters = int(self.labels_.max()) + 1

        def shares(k: int, joined: Joined) -> Floats:
            return votes(joined, self.labels_[self._items.of_rows(k)], clusters)

        total, count = self._summed(new, shares, clusters)
        return np.where(count > 0.0, total.argmax(axis=1), _NONE)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns of transform, where its answer is one array.

        Parameters
        ----------
        input_features : array_like of str, optional
            Ignored; only here for the interface of scikit-learn.

        Returns
        -------
        ndarray of str
            The names.

        Raises
        ------
        CothermError
            If the estimator was fitted on a list of views, and `output` is "views".
        """
        check_is_fitted(self)
        if not self._stacked and not self._in_common():
            needed = 'one array, or output="common", for names of columns'
            raise CothermError("X", "a list of views, which has a list for an answer", needed)
        try:
            return super().get_feature_names_out(input_features)
        except (TypeError, ValueError) as error:  # scikit-learn compares them, though nothing comes of it
            raise CothermError("input_features", str(error), "the names of the columns, or None") from None

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_[0].shape[1]) * (1 if self._in_common() else self.n_views_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.correspondence in ("auto", "pairs") and self.view_columns is not None
        tags.target_tags.required = self.correspondence == "labels"
        tags.transformer_tags.preserves_dtype = []
        return tags

    @contextmanager
    def _anew(self) -> Iterator[None]:
        """A fit that forgets what was learned before, or, if it fails for whatever reason, leaves all as it was."""
        before = dict(self.__dict__)
        for learned in before.get("_learned", ()):
            self.__dict__.pop(learned, None)
        others = {*self.__dict__, "_learned"}  # parameters, and what scikit-learn keeps here
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        self._learned = tuple(name for name in self.__dict__ if name not in others)

    def _fit(self, X: Any, y: Any, functions: Any, pairs: Any) -> None:
        way = self._way(functions)
        views = self._split(X, reset=True, holes=way == "pairs" and self.view_columns is not None)
        self.n_views_ = len(views)
        paired = way == "pairs" and len(views) > 1
        self._require_common(paired)
        if pairs is not None and not paired:
            where = "a single view" if len(views) == 1 else f"correspondence by {way}, which says what corresponds"
            raise CothermError("pairs", f"pairs beside {where}", "pairs of rows", 'Set correspondence="pairs".')
        points = any(not isinstance(view.given, Graph) for view in views)
        options, seed = correspondence.checked_options(self.options, way, points=points), self._seed()
        self._require_answers(paired)
        blocks = correspondence.checked_functions(functions, views)
        if paired:
            self._items = found_items(views, pairs)
        else:
            self._items = every_row(views, together=self._stacked or len(views) == 1)
        own = correspondence.graph_options(options, self.n_neighbors, self.metric)
        self._views = [fitted_view(view, rows, own) for view, rows in zip(views, self._items.seen, strict=True)]
        self.graphs_ = [view.graph for view in self._views]
        smallest = min(graph.n for graph in self.graphs_)
        self._require_answers(paired, smallest, len(self._items.table) if paired else smallest)
        if paired:
            parts = blocks and [block[rows] for block, rows in zip(blocks, self._items.seen, strict=True)]
            self._couple_pairs(parts, "X" if pairs is None else "pairs", options, seed)
        else:
            self._couple(blocks or self._corresponding(views, y, way, options, seed), way, options)
        self._embed(paired, seed)

    def _way(self, functions: Any) -> str:
        """What corresponds: "pairs", "labels", "landmarks", or "functions"."""
        way = validation.choice("correspondence", self.correspondence, _WAYS)
        if functions is not None and way in ("labels", "landmarks"):
            needed = f"None, since correspondence={way!r} makes the functions"
            raise CothermError("functions", "functions", needed, 'Set correspondence="auto" to use them.')
        return way if way != "auto" else "pairs" if functions is None else "functions"

    def _corresponding(self, views: Sequence[View], y: Any, way: str, options: dict[str, Any], seed: int) -> list[Any]:
        """The functions, where none were given."""
        if way == "labels":
            if self._stacked and views[0].names is None:
                # Pipelines and splitters of scikit-learn hand over an array and a Series with the index of the whole.
                y = plain(y)
            return correspondence.from_labels(views, y, options.get("unlabeled", -1))
        # A single view agrees with itself whatever the functions.
        count = options.get("n_landmarks", 10) if way == "landmarks" else 1
        return list(correspondence.shared_landmarks(views, self.graphs_, count, seed))

    def _couple(self, functions: list[Any], way: str, options: dict[str, Any]) -> None:
        copies = 1 if self.n_views_ > 1 else 2  # a single view agrees with itself
        more = correspondence.for_couple(options, self.n_views_)
        self.result_ = couple(self.graphs_ * copies, functions * copies, self.times, self.alpha, **more)
        if way != "pairs":
            self.functions_ = functions

    def _couple_pairs(self, functions: Any, argument: str, options: dict[str, Any], seed: int) -> None:
        with known_as("pairs", argument), known_as("graphs", "X"):
            self.result_ = couple_pairs(
                self.graphs_,
                self._items.vertices(),
                functions=functions,
                times=self.times,
                alpha=self.alpha,
                random_state=seed,
                **correspondence.for_pairs(options),
            )
        self.items_ = self._items.table
        if self._items.names is not None:
            self.index_ = self._items.names

    def _embed(self, paired: bool, seed: int) -> None:
        """Coordinates in every view and in common, what places new samples there, and clusters."""
        with known_as("k", "n_components"):
            found = self.result_.embedding(self.n_components, t=self.t)[: self.n_views_]
        self._own = [Coordinates(E, factors(graph, E)) for graph, E in zip(self.graphs_, found, strict=True)]
        places = zip(found, self._items.seen, self._items.sizes, strict=True)
        self.embedding_ = [spread(E, rows, size) for E, rows, size in places]
        # The views whose new rows count for the items that they are.
        self._counted: tuple[int, ...] = tuple(range(self.n_views_))
        if paired:
            self._embed_items()
        elif self.n_views_ == 1:
            self.common_embedding_, self._common = self.embedding_[0], {0: self._own[0]}
        if self.n_clusters is not None:
            with known_as("k", "n_clusters"):
                self.labels_ = self._clustered(paired, seed)

    def _embed_items(self) -> None:
        items = self._items
        self.common_graph_, self._common_rows = in_order(self.result_.common_graph(), items.vertices())
        with known_as("k", "n_components"):
            found = self.common_graph_.embedding(self.n_components, t=self.t)
        E = self.common_embedding_ = spread(found, self._common_rows, len(items.table))
        self._counted = self.common_graph_.views
        of_views = {k: E[items.of_rows(k)] for k in self._counted}
        self._common = {k: Coordinates(own, factors(self.graphs_[k], own)) for k, own in of_views.items()}

    def _clustered(self, paired: bool, seed: int) -> Any:
        if paired:
            labels = np.full(len(self._items.table), _NONE)
            labels[self._common_rows] = self.common_graph_.clusters(self.n_clusters or 1, random_state=seed)
            return labels
        k = validation.integer("k", self.n_clusters, least=1)
        if self._stacked:
            return self.result_.common_clusters(k, random_state=seed)
        return list(self.result_.clusters(k, random_state=seed)[: self.n_views_])

    def _new_rows(self, X: Any) -> list[NewRows | None]:
        """New samples in each view, None for views that were not given."""
        paired = hasattr(self, "common_graph_")
        found: list[NewRows | None] = []
        given = self._split(X, reset=False, holes=paired)
        for view, own in zip(given, self._views, strict=True):
            if view.given is None:
                found.append(None)
            elif paired and not view.seen.any():
                found.append((view, Joined(sp.csr_array((0, own.graph.n)), np.zeros(0, dtype=bool))))
            else:
                rows = np.flatnonzero(view.seen) if paired else np.arange(view.size)
                found.append((view, own.join(view.argument, view.part(rows))))
        return found

    def _summed(self, new: Sequence[NewRows | None], of_view: Any, width: int) -> tuple[Floats, Floats]:
        """What ``of_view`` gives to new samples, summed over the views they were seen in, and the number of these.

        Views that were left out of the common graph do not count.
        """
        here = [one for one in new if one is not None]
        items = found_items([view for view, _ in here], shared=False)
        total, count = np.zeros((len(items.table), width)), np.zeros(len(items.table))
        for column, (view, joined) in enumerate(here):
            if view.number in self._counted:
                rows = items.of_rows(column)
                total[rows] += of_view(view.number, joined)
                count[rows] += 1.0
        return total, count

    def _placed(self, view: View, joined: Joined) -> Floats:
        """Coordinates in their view of rows that were seen, NaN in the places of the others."""
        return spread(self._own[view.number].of_new(joined), np.flatnonzero(view.seen), view.size)

    def _together(self, parts: list[Any]) -> Any:
        """The views side by side for one array."""
        return np.hstack(parts) if self._stacked else parts

    def _in_common(self) -> bool:
        """Whether samples are placed in the common space; refused where there is none."""
        self._require_common(hasattr(self, "common_graph_"))
        return bool(self.output == "common")

    def _require_common(self, paired: bool) -> None:
        if validation.choice("output", self.output, _OUTPUTS) == "common" and not paired and self.n_views_ > 1:
            given = "'common', with labels, landmarks or functions, which leave each view in a space of its own"
            raise CothermError("output", given, "rows paired", 'Set correspondence="pairs", or use coupled_bases.')

    def _require_answers(self, paired: bool, most: int | None = None, items: int | None = None) -> None:
        """Refuse, before coupling, what a result of ``most`` modes cannot give; ``items`` are clustered."""
        validation.integer("n_components", self.n_components, least=1, most=most and max(most - 1, 1))
        validation.real("t", self.t)
        found = isinstance(self.n_clusters, str) and self.n_clusters == "auto" and paired
        if self.n_clusters is not None and not found:
            validation.integer("n_clusters", self.n_clusters, least=1, most=items)

    def _seed(self) -> int:
        try:
            state = check_random_state(self.random_state)
        except ValueError:
            needed = "an integer, a RandomState or None"
            raise CothermError("random_state", validation.describe(self.random_state), needed) from None
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        return int(state.randint(2**31))

    def _split(self, X: Any, *, reset: bool, holes: bool) -> list[View]:
        """The views of X, of as many as in fit; one array may have NaN if there may be holes."""
        validation.refuse_cells("X", X)
        stacked = not is_list_of_views(X)
        if reset:
            self._stacked = stacked
        elif stacked is not self._stacked:
            kinds = ("a list of views", "one array")
            raise CothermError("X", kinds[stacked], f"{kinds[not stacked]}, as in fit")
        if not stacked:
            return self._listed(X, reset=reset)
        if reset:
            self._column_names = [column_names(X)]
        require_columns("X", self._column_names[0], X, warn=False)  # scikit-learn does
        array = self._checked_array(X, reset=reset, holes=holes)
        if reset:
            self._columns = columns_of_views(self.view_columns, array.shape[1])
        if reset and self.view_columns is None:
            warnings.warn(
                f"X is one table of {array.shape[1]} columns, so there is one view and nothing to bring together. Pass "
                "a list of views, [X, Y], or say where views begin: view_columns=.",
                CothermWarning,
                stacklevel=4,
            )
        return [View("X", k, array[:, chosen], row_names(X)) for k, chosen in enumerate(self._columns)]

    def _listed(self, X: Sequence[Any], *, reset: bool) -> list[View]:
        """The views of a list; those of new samples have the columns of training."""
        may_lack = not reset and hasattr(self, "common_graph_")
        found = [
            View(f"X[{k}]", k, None) if one is None and may_lack else listed_view(k, one) for k, one in enumerate(X)
        ]
        if reset:
            self._column_names = [column_names(view.given) for view in found]
            names = [feature_names(one) for one in self._column_names]
            if any(one is not None for one in names):
                self.feature_names_in_ = names
        elif len(found) != self.n_views_:
            raise CothermError("X", f"{len(found)} views", f"{self.n_views_}, as in fit")
        else:
            for view, fitted, own in zip(found, self._column_names, self._views, strict=True):
                if view.given is not None:
                    require_columns(view.argument, fitted, view.given, warn=isinstance(own, PointsGraph))
        return found

    def _checked_array(self, X: Any, *, reset: bool, holes: bool) -> Any:
        try:
            return validate_data(
                self,
                X,
                reset=reset,
                accept_sparse="csr",
                dtype=np.float64,
                ensure_min_samples=2 if reset else 1,
                ensure_all_finite="allow-nan" if holes else True,
            )
        except (ValueError, TypeError) as error:
            kind = NotNumbersError if isinstance(error, TypeError) else CothermError
            raise kind("X", str(error).rstrip("."), "an array (samples, features) or a list of views") from None
