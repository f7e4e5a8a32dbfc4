"""How well distances find things of the same class: leave-one-out retrieval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.errors import CothermError
from cotherm.indexed import index_of, square_in_order
from cotherm.lazy import lazy
from cotherm.notebook import ArraysInShort


@dataclass(frozen=True, eq=False, repr=False)
class Retrieval(ArraysInShort):
    """Ranked items for every query, and scores of the ranking.

    Only items that have others of their class are queries.

    Attributes
    ----------
    queries : ndarray of int of shape (q,)
        The queries.
    ranked : ndarray of int of shape (q, n - 1)
        All other items for each query, nearest first.
    relevant : ndarray of bool of shape (q, n - 1)
        Whether each of them is of the class of the query.

    See Also
    --------
    retrieval : Rank items by distances.
    """

    queries: NDArray[np.intp]
    ranked: NDArray[np.intp]
    relevant: NDArray[np.bool_]

    @lazy
    def precisions(self) -> Floats:
        """Precision P(r) of the first r items for every query, an array of shape (q, n − 1)."""
        return np.cumsum(self.relevant, axis=1) / np.arange(1, self.relevant.shape[1] + 1)

    @lazy
    def recalls(self) -> Floats:
        """Recall R(r) of the first r items for every query, an array of shape (q, n − 1)."""
        return np.cumsum(self.relevant, axis=1) / self.relevant.sum(axis=1, keepdims=True)

    @lazy
    def average_precisions(self) -> Floats:
        """Average precision of every query: Σ_r P(r) rel(r) divided by the number of relevant items.

        It is 1 if all relevant items come first. The heat kernel coupling paper leaves the divisor out of its
        formula; without it scores would exceed 1.
        """
        hits = self.precisions * self.relevant
        return np.asarray(hits.sum(axis=1) / self.relevant.sum(axis=1))

    @property
    def mean_average_precision(self) -> float:
        """Mean average precision (mAP), the mean over the queries."""
        return float(self.average_precisions.mean())

    def precision_at(self, k: int) -> float:
        """Compute the mean precision P(k) of the first k items.

        Parameters
        ----------
        k : int
            Number of items.

        Returns
        -------
        float
            The mean over the queries.
        """
        k = validation.integer("k", k, least=1, most=self.relevant.shape[1])
        return float(self.precisions[:, k - 1].mean())

    def curve(self, levels: ArrayLike | None = None) -> tuple[Floats, Floats]:
        """Compute the mean precision at levels of recall.

        The precision of a query at a level of recall is the best that it has at that recall or a higher one, as is
        usual.

        Parameters
        ----------
        levels : array_like of float, optional
            Levels of recall in [0, 1]. By default 0, 0.01, …, 1.

        Returns
        -------
        recall : ndarray
            The levels.
        precision : ndarray
            The mean precision over the queries at each level.
        """
        wanted = np.linspace(0.0, 1.0, 101) if levels is None else validation.numeric("levels", levels, ndim=(1,))
        if not len(wanted) or wanted.min() < 0.0 or wanted.max() > 1.0:
            raise CothermError("levels", validation.describe(wanted), "recalls from 0 to 1")
        best_from = np.maximum.accumulate(self.precisions[:, ::-1], axis=1)[:, ::-1]
        precision = np.zeros(len(wanted))
        for recalls, best in zip(self.recalls, best_from, strict=True):
            # A recall of 1/3 summed up is not quite 1/3.
            precision += best[np.searchsorted(recalls, wanted - 1e-12)]
        return wanted, precision / len(self.queries)


def retrieval(distances: ArrayLike, labels: ArrayLike, *, seed: int = 0) -> Retrieval:
    """Rank all items for every query by a matrix of distances.

    Every item is a query once, and the other items of its class are relevant.

    Parameters
    ----------
    distances : array_like of shape (n, n)
        Row q has the distances from query q. The diagonal is ignored.
    labels : array_like of int or str of shape (n,)
        Class of every item. An item alone in its class is not a query, but is ranked for others. A pandas Series is
        matched by its index with the rows of a data frame of distances; beside an array only an index that counts the
        items from 0 is taken.
    seed : int, default 0
        Seed of the order of items at equal distances.

    Returns
    -------
    Retrieval
        The ranking and its scores.

    Raises
    ------
    CothermError
        If the shapes do not fit together, or if no class has two items.

    See Also
    --------
    cotherm.diffusion_distance : Distances to rank by.

    Notes
    -----
    Items at equal distances are in random order. In the order of the items, data sorted by class would improve every
    score.

    Examples
    --------
    >>> import cotherm as ct
    >>> found = ct.evaluate.retrieval([[0, 1, 5], [1, 0, 5], [5, 5, 0]], ["a", "a", "b"])
    >>> found.mean_average_precision, found.precision_at(1)
    (1.0, 1.0)
    """
    distances = square_in_order("distances", distances)
    D = validation.numeric("distances", distances, ndim=(2,))
    known = validation.labels("labels", labels, index_of(distances))
    n = len(D)
    if D.shape != (n, n) or n < 2:
        raise CothermError("distances", f"shape {D.shape}", "a square matrix of two rows or more")
    if known.shape != (n,):
        raise CothermError("labels", f"shape {known.shape}", f"one label for each of {n} items")
    seed = validation.integer("seed", seed, least=0)
    classes, counts = np.unique(known, return_counts=True)
    queries = np.flatnonzero(np.isin(known, classes[counts > 1]))
    if not len(queries):
        raise CothermError("labels", "no two items of one class", "classes of two or more items")
    ranked = _ranked(D, seed)[queries]
    return Retrieval(queries, ranked, known[ranked] == known[queries][:, np.newaxis])


def _ranked(D: Floats, seed: int) -> NDArray[Any]:
    """All other items for every row, nearest first, equal ones in random order."""
    n = len(D)
    drawn = np.random.default_rng(seed).permutation(n)
    order = drawn[np.argsort(D[:, drawn], axis=1, kind="stable")]
    return order[order != np.arange(n)[:, np.newaxis]].reshape(n, n - 1)
