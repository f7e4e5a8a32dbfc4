"""How well distances find things of the same class: leave-one-out retrieval.

Every item is a query once; all others are ranked by their distance from it, and those of its class are relevant. Where
distances are equal, order is drawn from a seed: were it the order of the items, data sorted by class would flatter
every score.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.errors import CothermError
from cotherm.lazy import lazy


@dataclass(frozen=True, eq=False)
class Retrieval:
    """Ranked answers to every query that has others of its class.

    Attributes
    ----------
    queries : their numbers.
    ranked : (queries, n − 1), all other items, nearest first.
    relevant : (queries, n − 1), whether each is of the query's class.
    """

    queries: NDArray[np.intp]
    ranked: NDArray[np.intp]
    relevant: NDArray[np.bool_]

    @lazy
    def precisions(self) -> Floats:
        """P(r): the part of the first r answers that is relevant, (queries, n − 1)."""
        return np.cumsum(self.relevant, axis=1) / np.arange(1, self.relevant.shape[1] + 1)

    @lazy
    def recalls(self) -> Floats:
        """R(r): the part of all relevant items that is among the first r answers, (queries, n − 1)."""
        return np.cumsum(self.relevant, axis=1) / self.relevant.sum(axis=1, keepdims=True)

    @lazy
    def average_precisions(self) -> Floats:
        """For every query Σ_r P(r) rel(r) divided by the number of relevant items; 1 if they all come first.

        The paper leaves the divisor out of its formula; without it scores would exceed 1.
        """
        hits = self.precisions * self.relevant
        return np.asarray(hits.sum(axis=1) / self.relevant.sum(axis=1))

    @property
    def mean_average_precision(self) -> float:
        """mAP, the mean over the queries."""
        return float(self.average_precisions.mean())

    def precision_at(self, k: int) -> float:
        """P(k), the mean over the queries."""
        k = validation.integer("k", k, least=1, most=self.relevant.shape[1])
        return float(self.precisions[:, k - 1].mean())

    def curve(self, levels: ArrayLike | None = None) -> tuple[Floats, Floats]:
        """Recall levels, by default 0, 0.01, …, 1, and the mean precision at each.

        The precision of a query at a level of recall is the best it has at that recall or a higher one, as is usual.
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

    Parameters
    ----------
    distances : (n, n); row q holds the distances from query q. The diagonal is not looked at.
    labels : the class of every item. An item alone in its class is no query, but an answer to others.
    seed : of the order of items at equal distances.
    """
    D = validation.numeric("distances", distances, ndim=(2,))
    known = validation.labels("labels", labels)
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
