"""What an estimator does that pairs the rows of its views: items that are in some views, one space for all of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from cotherm import validation
from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError, known_as
from cotherm.estimators.base import MultiviewEstimator, View
from cotherm.estimators.fitted_graph import FittedGraph, GivenGraph, Joined, fitted_view
from cotherm.estimators.items import (
    Items,
    NamedView,
    checked_masks,
    found_items,
    item_of_each,
    named_view,
    plain,
    restricted,
    seen_rows,
)
from cotherm.estimators.out_of_sample import extended, factors, votes
from cotherm.graphs.graph import Graph
from cotherm.heat.distance import diffusion_distance
from cotherm.methods.coupling.result import Coupling
from cotherm.methods.pairs.common import CommonGraph

# The cluster of items that are not in the common graph.
_NONE = -1


@dataclass(frozen=True)
class PairsGiven:
    """What coupling by pairs is given: graphs, the table of their vertices, and functions if there are any."""

    graphs: list[Graph]
    table: Ints
    functions: list[Any] | None
    seed: int


@dataclass(frozen=True)
class PartOfGraph:
    """A graph of which only some vertices were seen; new points have weights to all of its rows."""

    view: GivenGraph
    rows: Ints
    size: int

    @property
    def graph(self) -> Graph:
        return self.view.graph

    def join(self, argument: str, new: Any) -> Joined:
        shape = np.shape(new)
        if len(shape) != 2 or shape[1] != self.size:
            needed = f"weights of new points with the {self.size} rows of training, seen or not, one row each"
            raise CothermError(argument, f"an array of shape {shape}", needed, "This view was fitted as a graph.")
        columns = new.tocsr() if hasattr(new, "tocsr") else np.asarray(new)
        return self.view.join(argument, columns[:, self.rows])


@dataclass(frozen=True)
class NewRows:
    """New samples in one view: which rows were seen, and how these hang on the training samples."""

    view: NamedView
    seen: np.ndarray[Any, np.dtype[np.bool_]]
    joined: Joined | None

    def spread(self, values: Floats) -> Floats:
        """The values of rows that were seen in their places, NaN in the others."""
        return spread(values, np.flatnonzero(self.seen), len(self.seen))


class PairingEstimator(MultiviewEstimator):
    """Base of estimators that may pair rows; without pairs they do what others do."""

    result_: Coupling

    @abstractmethod
    def _solve_pairs(self, given: PairsGiven) -> Coupling:
        """The method, on two or more graphs whose vertices are paired."""

    @property
    def _paired(self) -> bool:
        return hasattr(self, "_items")

    def _fit_pairs(self, named: Sequence[View], functions: Any, masks: Any, pairs: Any) -> Self:
        seed = self._seed()
        self._require_answers(counts=True)
        blocks = self._checked_functions(functions, named)
        weights = self._precomputed()
        views = [named_view(view.argument, k, view.given, weights) for k, view in enumerate(named)]
        of_views = checked_masks(masks, len(views))
        items = found_items(views, [seen_rows(view, mask) for view, mask in zip(views, of_views, strict=True)], pairs)
        self._views = [self._seen_view(view, rows) for view, rows in zip(views, items.seen, strict=True)]
        self.n_views_ = len(views)
        self.graphs_ = [view.graph for view in self._views]
        table = items.vertices()
        self._require_answers(self._most_modes([graph.n for graph in self.graphs_]), len(table), counts=True)
        with known_as("pairs", "X" if pairs is None else "pairs"), known_as("graphs", "X"):
            given = PairsGiven(self.graphs_, table, blocks and _rows_of_functions(blocks, items), seed)
            self.result_ = self._solve_pairs(given)
        self._items = items
        self.items_ = items.table
        if items.names is not None:
            self.index_ = items.names
        self._embed_items(table)
        if self.n_clusters is not None:
            with known_as("k", "n_clusters"):
                found = self.common_graph_.clusters(self.n_clusters, seed=seed)
            self.labels_ = np.full(len(table), _NONE)
            self.labels_[self._common_rows] = found
        return self

    def _embed_items(self, table: Ints) -> None:
        """Coordinates in every view and in common, and the factors that place new samples there."""
        own = self._embedded()
        self._factors = [factors(graph, E) for graph, E in zip(self.graphs_, own, strict=True)]
        places = zip(own, self._items.seen, self._items.sizes, strict=True)
        self.embedding_ = [spread(E, rows, size) for E, rows, size in places]
        self.common_graph_, self._common_rows = in_order(self.result_.common_graph(), table)
        with known_as("k", "n_components"):
            found = self.common_graph_.embedding(self.n_components, t=self.t)
        self.common_embedding_ = spread(found, self._common_rows, len(table))
        self._common_factors = {
            k: factors(self.graphs_[k], self.common_embedding_[self._items.of_rows(k)])
            for k in self.common_graph_.views
        }

    def _seen_view(self, view: NamedView, rows: Ints) -> FittedGraph:
        if len(rows) < 2:
            given = f"{len(rows)} row(s) that were seen in view {view.number}"
            raise CothermError(view.argument, given, "at least two points, to be neighbors")
        kernel = self._kernel()
        fitted = fitted_view(view.argument, restricted(view, rows), kernel, precomputed=view.weights)
        if isinstance(fitted, GivenGraph) and len(rows) < view.size:
            return PartOfGraph(fitted, rows, view.size)
        return fitted

    def _new_rows(self, X: Any) -> list[NewRows | None]:
        """New samples in each view, None for views that were not given."""
        given = self._new_views(X, holes=True)
        found: list[NewRows | None] = []
        for k, (name, new, _) in enumerate(given):
            if new is None:
                found.append(None)
                continue
            view = named_view(name, k, new)
            seen = seen_rows(view)
            some = bool(seen.any())
            joined = self._views[k].join(name, restricted(view, np.flatnonzero(seen))) if some else None
            found.append(NewRows(view, seen, joined))
        return found

    def _placed_in_views(self, X: Any) -> list[Floats | None]:
        parts: list[Floats | None] = []
        for k, new in enumerate(self._new_rows(X)):
            if new is None:
                parts.append(None)
                continue
            E = self.embedding_[k][self._items.seen[k]]
            found = np.empty((0, E.shape[1])) if new.joined is None else extended(new.joined, E, self._factors[k])
            parts.append(new.spread(found))
        return parts

    def _placed_in_common(self, X: Any) -> Floats:
        def coordinates(k: int, joined: Joined) -> Floats:
            return extended(joined, self.common_embedding_[self._items.of_rows(k)], self._common_factors[k])

        total, count = self._summed(X, coordinates, self.common_embedding_.shape[1])
        total[count == 0.0] = np.nan  # seen in views only that are not in the common graph
        return total / np.maximum(count, 1.0)[:, np.newaxis]

    def _voted_in_common(self, X: Any) -> Ints:
        check_is_fitted(self, "labels_")
        clusters = int(self.labels_.max()) + 1

        def shares(k: int, joined: Joined) -> Floats:
            return votes(joined, self.labels_[self._items.of_rows(k)], clusters)

        total, count = self._summed(X, shares, clusters)
        return np.where(count > 0.0, total.argmax(axis=1), _NONE)

    def _summed(self, X: Any, of_view: Any, width: int) -> tuple[Floats, Floats]:
        """What ``of_view`` gives to new samples, summed over the views they were seen in, and the number of these.

        Views that were left out of the common graph do not count.
        """
        here = [new for new in self._new_rows(X) if new is not None]
        items = found_items([new.view for new in here], [new.seen for new in here], shared=False)
        total, count = np.zeros((len(items.table), width)), np.zeros(len(items.table))
        for column, new in enumerate(here):
            if new.joined is not None and new.view.number in self.common_graph_.views:
                rows = items.of_rows(column)
                total[rows] += of_view(new.view.number, new.joined)
                count[rows] += 1.0
        return total, count

    def _distances_of_rows(self, t: float, sources: ArrayLike | None) -> list[Floats]:
        """Between rows as given, NaN where one of them was not seen."""
        found = []
        for graph, rows, size in zip(self.result_.graphs, self._items.seen, self._items.sizes, strict=True):
            asked = np.arange(size) if sources is None else validation.indices("sources", sources, below=size)
            here = np.flatnonzero(np.isin(asked, rows))
            apart = np.full((len(asked), size), np.nan)
            vertices = None if sources is None else np.searchsorted(rows, asked[here])
            apart[np.ix_(here, rows)] = diffusion_distance(graph, t, sources=vertices)
            found.append(apart)
        return found


def spread(values: Floats, rows: Ints, size: int) -> Floats:
    """The values at their rows of ``size``, NaN elsewhere."""
    full = np.full((size, values.shape[1]), np.nan)
    full[rows] = values
    return full


def in_order(common: CommonGraph, table: Ints) -> tuple[CommonGraph, Ints]:
    """The common graph with its items in the order of the table, and the rows of these in the table."""
    place = np.empty(len(common.items), dtype=np.int64)  # of each item of the common graph
    for ours, theirs in zip(table.T, common.items.T, strict=True):
        here = np.flatnonzero(theirs >= 0)
        place[here] = item_of_each(ours)[theirs[here]]
    there = np.argsort(place)
    if np.array_equal(there, np.arange(len(there))):
        return common, place
    first = None if common.first_neighbors is None else common.first_neighbors.subgraph(there)
    graph, items = common.graph.subgraph(there), common.items[there]
    weights = common.view_weights[there]
    return replace(common, graph=graph, items=items, view_weights=weights, first_neighbors=first), place[there]


def _rows_of_functions(blocks: Sequence[Any], items: Items) -> list[Any]:
    """The functions on rows that were seen."""
    found = []
    for k, (block, rows, size) in enumerate(zip(blocks, items.seen, items.sizes, strict=True)):
        array = validation.as_array(f"functions[{k}]", plain(block))
        if array.ndim not in (1, 2) or len(array) != size:
            given = f"an array of shape {array.shape}"
            raise CothermError(f"functions[{k}]", given, f"a row for each of the {size} rows of view {k}")
        found.append(array[rows])
    return found
