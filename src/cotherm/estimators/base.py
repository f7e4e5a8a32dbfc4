"""What all estimators share: views in, a joint answer, coordinates, clusters, and both for new points."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from cotherm import validation
from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError, CothermWarning, known_as
from cotherm.estimators.columns import column_names, feature_names, require_columns
from cotherm.estimators.correspondence import functions_of
from cotherm.estimators.fitted_graph import FittedGraph, Joined, Kernel, PointsGraph, fitted_view
from cotherm.estimators.items import require_one_order
from cotherm.estimators.out_of_sample import extended, factors, votes
from cotherm.estimators.splitting import columns_of_views, is_list_of_views
from cotherm.graphs.graph import Graph
from cotherm.indexed import index_of, rows_in_order, square_in_order
from cotherm.methods.result import JointResult
from cotherm.progress import shown

_AFFINITIES = ("nearest_neighbors", "precomputed")


def has_clusters(estimator: Any) -> bool:
    """Whether there are clusters to predict; scikit-learn asks this of an estimator by looking for its methods."""
    if estimator.n_clusters is None:
        raise AttributeError("n_clusters: None; needed: a number of clusters, set before the estimator is fitted.")
    return True


@dataclass(frozen=True)
class Given:
    """What a method is given: two or more graphs, and labels or functions if there are any."""

    graphs: list[Graph]
    y: Any
    functions: list[Any] | None
    seed: int
    rows: list[list[Any] | None]  # names of the samples of each view


class View(NamedTuple):
    """A view as it was given, its name in messages, and the names of its rows, if they have any."""

    argument: str
    given: Any
    rows: list[Any] | None


class NotNumbersError(CothermError, TypeError):
    """X holds objects that are no numbers, where scikit-learn asks for a TypeError."""


class MultiviewEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Base of all estimators: views to graphs, to a joint result, to an embedding and clusters.

    X is one array of shape (samples, features), dense or sparse, whose columns `view_columns` splits into views; or a
    list of views, each a feature matrix, a :class:`cotherm.Graph` or, with ``affinity="precomputed"``, a symmetric
    matrix of weights. For one array the results are arrays, for a list of views they are lists with an array for each
    view.

    Parameters
    ----------
    n_components : int
        Number of coordinates of every sample in each view, without the constant mode.
    t : float
        Time of the diffusion map: coordinates are e^{−tλ}φ.
    n_clusters : int, optional
        Number of clusters in ``labels_``. None for no clustering.
    n_neighbors : int
        Number of neighbors in the graphs of feature matrices; the parameter ``k`` of :func:`cotherm.knn_graph`.
    scale : {"self-tuning", "median"}, float or None
        How to choose the scale σ of the weights, see :func:`cotherm.knn_graph`.
    scale_neighbor : int
        Neighbor that sets σ for "self-tuning".
    scale_factor : float
        Factor in the exponent of the weights.
    metric : {"euclidean", "cosine"}
        Distance between samples.
    symmetrize : {"max", "mean", "min"}
        How to combine the two directions of the graphs.
    affinity : {"nearest_neighbors", "precomputed"}
        With "precomputed", matrices in a list of views are weights and not features.
    view_columns : list of int, or list of slice or array_like of int, optional
        For X as one array, its views: the numbers of consecutive columns, or the columns of each view. None means a
        single view; with one view there is nothing to couple.
    random_state : int, RandomState or None
        Random state of k-means and of everything else that is random.
    verbose : int
        1 shows progress on anything that takes over two seconds; 0 is silent.

    Attributes
    ----------
    graphs_ : list of Graph
        Graph of each view, as built or given.
    result_ : JointResult
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
    """

    _uses_functions = False
    # Whether row r of every view is the same sample.
    _same_samples = False

    def __init__(
        self,
        *,
        n_components: int,
        t: float,
        n_clusters: Any,
        n_neighbors: int,
        scale: str | float | None,
        scale_neighbor: int,
        scale_factor: float,
        metric: str,
        symmetrize: str,
        affinity: str,
        view_columns: Any,
        random_state: Any,
        verbose: int,
    ) -> None:
        self.n_components = n_components
        self.t = t
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.scale = scale
        self.scale_neighbor = scale_neighbor
        self.scale_factor = scale_factor
        self.metric = metric
        self.symmetrize = symmetrize
        self.affinity = affinity
        self.view_columns = view_columns
        self.random_state = random_state
        self.verbose = verbose

    @abstractmethod
    def _solve(self, given: Given) -> JointResult:
        """The method, on two or more graphs."""

    def _corresponding(self, given: Given) -> Sequence[Floats]:
        """For estimators that use functions: as given, or from labels or landmarks; ``functions_`` keeps them."""
        functions = given.functions
        if functions is None:
            functions = functions_of(
                given.graphs,
                given.y,
                way=self._way_to_functions(),
                unlabeled=self.unlabeled,
                landmarks=self.n_landmarks,
                seed=given.seed,
                rows=given.rows,
            )
        self.functions_ = list(functions[: self.n_views_])
        return functions

    def _way_to_functions(self) -> Any:
        return self.correspondence

    def fit(self, X: Any, y: Any = None, functions: Sequence[ArrayLike] | None = None) -> Self:
        """Build the graphs and run the method.

        Parameters
        ----------
        X : array_like, sparse matrix or list of views
            One array of shape (samples, features), or a list of views.
        y : array_like of int or str, or list of array_like, optional
            Labels of the samples, one array for all views or one for each. A pandas Series is matched by its index with
            views that have one. Methods that need no corresponding functions ignore them.
        functions : sequence of array_like of shape (n_k, q), optional
            Corresponding functions of each view, instead of labels. Only for methods that use them.

        Returns
        -------
        Self
            The fitted estimator.

        Raises
        ------
        CothermError
            If X, y or a parameter cannot be used.
        """
        with self._anew(), self._progress():
            return self._fit(self._split(X, reset=True), y, functions)

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

    def _fit(self, named: Sequence[View], y: Any, functions: Any) -> Self:
        seed = self._seed()
        self._require_answers()
        rows = [view.rows for view in named]
        if self._stacked and rows[0] is None:
            # Pipelines and splitters of scikit-learn hand over an array and a Series with the index of the whole.
            y = _plain(y)
        if self._same_samples:
            require_one_order([view.argument for view in named], rows)
        blocks = self._checked_functions(functions, named)
        precomputed = self._precomputed()
        self._views = [
            fitted_view(view.argument, _plain(view.given), self._kernel(), precomputed=precomputed) for view in named
        ]
        self.n_views_ = len(named)
        self.graphs_ = [view.graph for view in self._views]
        self._require_answers(self._most_modes([graph.n for graph in self.graphs_]))
        copies = 1 if self.n_views_ > 1 else 2  # a single view agrees with itself
        given = Given(self.graphs_ * copies, y, blocks and blocks * copies, seed, rows * copies)
        self.result_ = self._solve(given)
        self.embedding_ = self._embedded()
        self._factors = [factors(g, E) for g, E in zip(self.graphs_, self.embedding_, strict=True)]
        if self.n_clusters is not None:
            self.labels_ = self._clustered(seed)
        return self

    def fit_transform(self, X: Any, y: Any = None, functions: Sequence[ArrayLike] | None = None) -> Any:
        """Fit, and return the coordinates of the samples.

        Parameters
        ----------
        X : array_like, sparse matrix or list of views
            One array of shape (samples, features), or a list of views.
        y : array_like of int or str, or list of array_like, optional
            Labels of the samples, one array for all views or one for each. A pandas Series is matched by its index with
            views that have one. Methods that need no corresponding functions ignore them.
        functions : sequence of array_like of shape (n_k, q), optional
            Corresponding functions of each view, instead of labels. Only for methods that use them.

        Returns
        -------
        ndarray of shape (samples, n_features_out), or list of ndarray
            The coordinates: an array for one array, a list for a list of views.
        """
        return self._together(self.fit(X, y, functions).embedding_)

    @available_if(has_clusters)  # type: ignore[untyped-decorator]
    def fit_predict(self, X: Any, y: Any = None, functions: Sequence[ArrayLike] | None = None) -> Any:
        """Fit, and return the clusters of the samples.

        Parameters
        ----------
        X : array_like, sparse matrix or list of views
            One array of shape (samples, features), or a list of views.
        y : array_like of int or str, or list of array_like, optional
            Labels of the samples, one array for all views or one for each. A pandas Series is matched by its index with
            views that have one. Methods that need no corresponding functions ignore them.
        functions : sequence of array_like of shape (n_k, q), optional
            Corresponding functions of each view, instead of labels. Only for methods that use them.

        Returns
        -------
        ndarray of int of shape (samples,), or list of ndarray
            The clusters: an array for one array, a list for a list of views.
        """
        return self.fit(X, y, functions).labels_

    def transform(self, X: Any) -> Any:
        """Compute coordinates of samples, old or new.

        The coordinates of a new sample are s times the weighted mean of those of its nearest training samples, where
        s compensates for the shrinking of a mean. A sample that coincides with a training sample has its coordinates.

        Parameters
        ----------
        X : array_like, sparse matrix or list of views
            Samples in the form of ``fit``. Where a view was given as a graph, new samples are rows of weights to the
            training samples, of shape (new, n).

        Returns
        -------
        ndarray of shape (samples, n_features_out), or list of ndarray
            The coordinates: an array for one array, a list for a list of views.
        """
        return self._together(self._placed(X))

    @available_if(has_clusters)  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> Any:
        """Predict clusters of samples, old or new.

        A sample gets the label with the largest weight among its nearest training samples.

        Parameters
        ----------
        X : array_like, sparse matrix or list of views
            Samples in the form of ``fit``.

        Returns
        -------
        ndarray of int of shape (samples,), or list of ndarray
            The clusters: an array for one array, a list for a list of views.
        """
        return self._voted(X)

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
            The distances in each view.
        """
        check_is_fitted(self)
        return list(self.result_.distances(t, sources=sources)[: self.n_views_])

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns of transform, for X as one array.

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
            If the estimator was fitted on a list of views.
        """
        check_is_fitted(self)
        if not self._stacked:
            raise CothermError(
                "X", "a list of views, which has a list for an answer", "one array, for names of columns"
            )
        try:
            return super().get_feature_names_out(input_features)
        except (TypeError, ValueError) as error:  # scikit-learn compares them, though nothing comes of it
            raise CothermError("input_features", str(error), "the names of the columns, or None") from None

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_[0].shape[1]) * (1 if self.result_.common else self.n_views_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _precomputed(self) -> bool:
        return validation.choice("affinity", self.affinity, _AFFINITIES) == "precomputed"

    def _kernel(self) -> Kernel:
        return Kernel(
            self.n_neighbors, self.scale, self.scale_neighbor, self.scale_factor, self.metric, self.symmetrize
        )

    def _progress(self) -> AbstractContextManager[None]:
        """While this lasts, progress is shown if ``verbose`` says so."""
        if not isinstance(self.verbose, bool | np.bool_):  # scikit-learn takes those, too
            validation.integer("verbose", self.verbose, least=0)
        return shown(bool(self.verbose))

    def _seed(self) -> int:
        try:
            state = check_random_state(self.random_state)
        except ValueError:
            raise CothermError(
                "random_state", validation.describe(self.random_state), "an integer, a RandomState or None"
            ) from None
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        return int(state.randint(2**31))

    def _split(self, X: Any, *, reset: bool, holes: bool = False) -> list[View]:
        """Views as given and their names in messages; one array may have NaN if there may be holes."""
        validation.refuse_cells("X", X)
        if is_list_of_views(X):
            if reset:
                self._stacked = False
            self._require_kind(stacked=False)
            return self._listed(X, reset=reset)
        if reset:
            self._stacked = True
            self._column_names = [column_names(X)]
        self._require_kind(stacked=True)
        if self._precomputed():
            raise CothermError("X", "one array", "a list of matrices of weights for affinity='precomputed'")
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
        return [View("X", array[:, chosen], index_of(X)) for chosen in self._columns]

    def _listed(self, X: Sequence[Any], *, reset: bool) -> list[View]:
        """The views of a list; those of new samples have the columns of training."""
        weights = reset and self._precomputed()
        found = []
        for k, one in enumerate(X):
            argument = f"X[{k}]"
            validation.refuse_cells(argument, one)
            given = square_in_order(argument, one) if weights else one
            found.append(View(argument, given, column_names(given) if isinstance(given, Graph) else index_of(given)))
        if reset:
            self._column_names = [column_names(view.given) for view in found]
            names = [feature_names(one) for one in self._column_names]
            if any(one is not None for one in names):
                self.feature_names_in_ = names
        elif len(found) == self.n_views_:
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

    def _require_kind(self, *, stacked: bool) -> None:
        if self._stacked is not stacked:
            kinds = ("a list of views", "one array")
            raise CothermError("X", kinds[stacked], f"{kinds[not stacked]}, as in fit")

    def _require_answers(self, most: int | None = None, items: int | None = None, *, counts: bool = False) -> None:
        """Refuse, before the method runs, what its result of ``most`` modes cannot give; ``items`` may be clustered.

        ``counts`` says that the number of clusters may be chosen.
        """
        validation.integer("n_components", self.n_components, least=1, most=most and max(most - 1, 1))
        validation.real("t", self.t)
        if self.n_clusters is not None and not (counts and self.n_clusters == "auto"):
            validation.integer("n_clusters", self.n_clusters, least=1, most=items or most)

    def _most_modes(self, sizes: Sequence[int]) -> int:
        """How many modes a result on views of these sizes has."""
        return min(sizes)

    def _checked_functions(self, functions: Any, views: Sequence[View]) -> list[Any] | None:
        count = len(views)
        if functions is None:
            return None
        if not self._uses_functions:
            raise CothermError("functions", "functions", "None: this method has no use for them")
        if isinstance(functions, np.ndarray | str) or not isinstance(functions, Sequence) or len(functions) != count:
            needed = f"a list with a block of functions for each of {count} views"
            raise CothermError("functions", validation.describe(functions), needed)
        named = zip(views, functions, strict=True)
        return [_plain(rows_in_order(f"functions[{k}]", F, view.rows)) for k, (view, F) in enumerate(named)]

    def _embedded(self) -> list[Floats]:
        with known_as("k", "n_components"):
            return list(self.result_.embedding(self.n_components, t=self.t)[: self.n_views_])

    def _together(self, parts: list[Floats]) -> Any:
        """One array for one array: the mean over views in a common space, else the views side by side."""
        if not self._stacked:
            return parts
        return np.mean(parts, axis=0) if self.result_.common else np.hstack(parts)

    def _clustered(self, seed: int) -> Any:
        with known_as("k", "n_clusters"):
            k = validation.integer("k", self.n_clusters, least=1)
            if self._stacked:
                return self.result_.common_clusters(k, seed=seed)
            return list(self.result_.clusters(k, seed=seed)[: self.n_views_])

    def _all_labels(self) -> list[Ints]:
        return [self.labels_] * self.n_views_ if self._stacked else self.labels_

    def _placed(self, X: Any) -> list[Floats]:
        """The coordinates of new samples in each view."""
        joined = self._joined(X)
        return [extended(one, E, s) for one, E, s in zip(joined, self.embedding_, self._factors, strict=True)]

    def _voted(self, X: Any) -> Any:
        """The clusters of new samples."""
        check_is_fitted(self, "labels_")
        joined = self._joined(X)
        count = max(int(labels.max()) + 1 for labels in self._all_labels())
        shares = [votes(one, labels, count) for one, labels in zip(joined, self._all_labels(), strict=True)]
        if self._stacked:
            return np.sum(shares, axis=0).argmax(axis=1)
        return [share.argmax(axis=1) for share in shares]

    def _joined(self, X: Any) -> list[Joined]:
        given = self._new_views(X)
        views: list[FittedGraph] = self._views
        return [view.join(new.argument, _plain(new.given)) for view, new in zip(views, given, strict=True)]

    def _new_views(self, X: Any, *, holes: bool = False) -> list[View]:
        """The views of new samples, as many as in fit."""
        check_is_fitted(self)
        given = self._split(X, reset=False, holes=holes)
        if len(given) != self.n_views_:
            raise CothermError("X", f"{len(given)} views", f"{self.n_views_}, as in fit")
        return given


def _plain(view: Any) -> Any:
    """Data frames as arrays; graphs, sparse matrices and arrays as they are."""
    return view.to_numpy() if hasattr(view, "to_numpy") else view


def twice(weights: Any, views: int) -> Any:
    """Weights of views where a single view is there twice."""
    return list(weights) * 2 if views == 1 and isinstance(weights, Sequence) else weights
