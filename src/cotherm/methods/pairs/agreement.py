"""How far two views agree on which items are near each other, measured on pairs that the coupling did not use.

*Agreement*: how well heat in one view finds the nearest neighbors of the other. For each item that was kept back, of
all items in both views, the few that its heat in view l reaches most are to be found, all are ranked by heat in view k,
and average precision says how early they come; then the same with k and l exchanged. The view to be predicted is taken
as it was given, so that agreement cannot be had by making both views alike.

*Ties* count by their expectation: items that heat reaches equally are in random order, in the ranking and where the
nearest end. So neither the order of rows nor rounding decides, and views without edges agree as much as chance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cotherm.arrays import Floats, Ints
from cotherm.methods.pairs.relation import evidence
from cotherm.methods.pairs.rules import NEIGHBORS

# Heat is compared in this many digits after the point: what symmetry makes equal differs by rounding.
_DIGITS = 9


@dataclass(frozen=True)
class Agreement:
    """Agreement of two views on items that the coupling did not see.

    Attributes
    ----------
    views : tuple of int
        The two views.
    shared : int
        Number of items in both.
    kept_back : int
        Number of items that agreement was measured on. Those of coupled views were kept back from the coupling.
    before, borrowed, after : float
        Mean average precision with which heat in one view finds the nearest neighbors of the other as given: of the
        views as given, after they have borrowed weight from each other, and after coupling; from 0 to 1. NaN where it
        was not measured.
    chance : float
        What items in random order would reach; NaN where nothing was measured.
    correlation : float
        Correlation of the views' heat kernels between the items they share, as given. NaN, as the next two, where the
        views share too few items to be compared.
    deviations : float
        By how many standard deviations that exceeds the correlation of permuted views.
    p_value : float
        Probability that permuted views have such a correlation.
    coupled : bool
        Whether the two views were coupled.

    See Also
    --------
    couple_pairs : Reports it for every pair of views.
    """

    views: tuple[int, int]
    shared: int
    kept_back: int
    before: float
    borrowed: float
    after: float
    chance: float
    correlation: float
    deviations: float
    p_value: float
    coupled: bool

    @property
    def related(self) -> bool:
        """Whether the views have more in common than chance; False where they share too few items to tell."""
        return evidence(self.p_value) > 0.0


def precision(ranking: Floats, truth: Floats, itself: Ints) -> Floats:
    """For every row the expected average precision with which the ranking finds what is largest in the truth.

    ``itself`` is the column of each row's own item, which is left out.
    """
    rows, n = truth.shape
    others = np.ones((rows, n), dtype=bool)
    others[np.arange(rows), itself] = False
    by_ranking, by_truth = (np.round(K, _DIGITS)[others].reshape(rows, n - 1) for K in (ranking, truth))
    count = wanted(n)
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, n))])
    return np.array([_expected(-a, b, count, harmonic) for a, b in zip(by_ranking, by_truth, strict=True)])


def _expected(ranking: Floats, truth: Floats, count: int, harmonic: Floats) -> float:
    """The expected average precision of one row, from the first in the ranking to the last.

    Where the truth is tied at its least wanted value, r of τ items are drawn. An item of them is wanted with the
    probability p = r/τ, two of them with q = r(r − 1)/τ(τ − 1). Items tied in the ranking, the g after the first s, are
    in random order: one of them is at each place, and (place − 1)/(g − 1) of the others come before it.
    """
    least = np.partition(truth, -count)[-count]
    found = np.flatnonzero(truth >= least)
    tied = truth[found] == least
    among = int(tied.sum())
    drawn = count - (len(found) - among)
    p = drawn / among
    q = drawn * (drawn - 1) / (among * (among - 1)) if among > 1 else 0.0
    in_order = np.sort(ranking)
    s, group = np.unique(np.searchsorted(in_order, ranking[found]), return_inverse=True)
    size = np.searchsorted(in_order, in_order[s], side="right") - s
    x, y = (np.bincount(group, one, len(s)) for one in (~tied, tied))
    X, Y = np.cumsum(x) - x, np.cumsum(y) - y
    places = harmonic[s + size] - harmonic[s]  # Σ 1/place
    before = (size - (s + 1) * places) / np.maximum(size - 1, 1)  # Σ (position in the group − 1)/(g − 1)/place
    alone_or_after = x + p * y + x * X + p * (x * Y + y * X) + q * y * Y
    together = x * (x - 1) + 2.0 * p * x * y + q * y * (y - 1)
    return float(np.sum((places * alone_or_after + before * together) / size) / count)


def chance_precision(n: int) -> float:
    """The mean average precision of a random ranking of n − 1 others (Bestgen 2015)."""
    count, total = wanted(n), n - 1
    harmonic = float(np.sum(1.0 / np.arange(1, total + 1)))
    rest = (count - 1) / (total - 1) if total > 1 else 0.0
    return (harmonic + rest * (total - harmonic)) / total


def wanted(n: int) -> int:
    """How many nearest neighbors are to be found among n items."""
    return max(1, min(NEIGHBORS, (n - 1) // 4))
