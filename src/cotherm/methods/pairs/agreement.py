"""How far two views agree about which items are near each other, and whether that is more than chance.

*Agreement*: how well heat in one view finds the nearest neighbors of the other, from items that the coupling did not
see as the same. For each of them, of all items in both views, the few that its heat in view l reaches most are to be
found, all are ranked by heat in view k, and average precision says how early they come; then the same with k and l
exchanged. The view to be predicted is taken as it was given, so that agreement cannot be had by making both views
alike.

*Chance*: the correlation of the two views' heat kernels, compared with what it is when the items of one view are
permuted (Mantel 1967).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats, Ints
from cotherm.engines import Engine
from cotherm.graphs.graph import Graph
from cotherm.heat.flow import flow
from cotherm.heat.times import diffusion_time

# Heat makes about so many moves along edges: as far as retrieval usually looks.
MOVES = 8.0
# For every item so many nearest neighbors are to be found, or a quarter of the items where there are few.
_NEIGHBORS = 10
_PERMUTATIONS = 99
# More items than this are not looked at: the figures do not change any more.
_MOST_ITEMS = 400
_ROUGHLY = 1e-6
# Views have nothing in common if the correlation of their heat kernels is below this, or within so many standard
# deviations of what permuted views have, which these exceed less than once in ten thousand times.
_LEAST_CORRELATION, _CHANCE = 0.05, 4.0
# Views that share too few items to be compared are trusted as if their heat had this correlation.
_UNCERTAIN = 0.25


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
        Number of these that were kept back to measure the agreement.
    before, after : float
        Mean average precision with which heat in one view finds the nearest neighbors of the other as given, before
        and after coupling; from 0 to 1.
    chance : float
        What items in random order would reach.
    correlation : float
        Correlation of the views' heat kernels between the items they share, as given.
    deviations : float
        By how many standard deviations that exceeds the correlation of permuted views.
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
    after: float
    chance: float
    correlation: float
    deviations: float
    coupled: bool

    @property
    def trust(self) -> float:
        """How far the two views trust each other: the correlation, 0 where they have nothing in common."""
        return trust(self.correlation, self.deviations)


def trust(correlation: float, deviations: float) -> float:
    """How far two views trust each other; with too few items to tell, a little."""
    if np.isnan(correlation):
        return _UNCERTAIN
    return correlation if related(correlation, deviations) else 0.0


def related(size: float, beyond_chance: float) -> bool:
    """Whether two views have something in common, by the correlation of their heat and how far it exceeds chance."""
    return size >= _LEAST_CORRELATION and beyond_chance >= _CHANCE


def some(vertices: tuple[Ints, Ints], seed: int) -> tuple[Ints, Ints]:
    """At most so many pairs as it takes."""
    count = len(vertices[0])
    if count <= _MOST_ITEMS:
        return vertices
    rows = np.random.default_rng(seed).choice(count, _MOST_ITEMS, replace=False)
    return vertices[0][rows], vertices[1][rows]


def heat_rows(graph: Graph, sources: Ints, targets: Ints, given: Graph, engine: Engine) -> Floats:
    """e^{−tL} from some vertices to others; t is that of a number of moves on the view as given."""
    points = np.zeros((graph.n, len(sources)))
    points[sources, np.arange(len(sources))] = 1.0
    t = diffusion_time(MOVES, given)
    return np.asarray(flow(graph, points, np.array([t]), "auto", _ROUGHLY, engine)[0][targets].T)


def precision(ranking: Floats, truth: Floats, itself: Ints) -> Floats:
    """For every row the average precision with which the ranking finds what is largest in the truth.

    ``itself`` is the column of each row's own item, which is left out.
    """
    rows, n = truth.shape
    others = np.ones((rows, n), dtype=bool)
    others[np.arange(rows), itself] = False
    by_ranking, by_truth = (K[others].reshape(rows, n - 1) for K in (ranking, truth))
    count = _wanted(n)
    wanted = np.zeros((rows, n - 1), dtype=bool)
    np.put_along_axis(wanted, np.argsort(-by_truth, axis=1, kind="stable")[:, :count], True, axis=1)
    found = np.take_along_axis(wanted, np.argsort(-by_ranking, axis=1, kind="stable"), axis=1)
    return np.asarray(np.sum(found * np.cumsum(found, axis=1) / np.arange(1, n), axis=1) / count)


def chance_precision(n: int) -> float:
    """The mean average precision of a random ranking of n − 1 others (Bestgen 2015)."""
    count, total = _wanted(n), n - 1
    harmonic = float(np.sum(1.0 / np.arange(1, total + 1)))
    rest = (count - 1) / (total - 1) if total > 1 else 0.0
    return (harmonic + rest * (total - harmonic)) / total


def _wanted(n: int) -> int:
    return max(1, min(_NEIGHBORS, (n - 1) // 4))


def compared(first: Floats, second: Floats, seed: int) -> tuple[float, float]:
    """The correlation of two heat kernels off the diagonal, and by how many standard deviations it exceeds chance.

    Chance is the correlation of the second with the first after a permutation of its items.
    """
    a, b = _standardized(first), _standardized(second)
    rng = np.random.default_rng(seed)
    permuted = []
    for _ in range(_PERMUTATIONS):
        order = rng.permutation(len(a))
        permuted.append(float(np.vdot(a[np.ix_(order, order)], b)))
    found, spread = float(np.vdot(a, b)), float(np.std(permuted))
    return found, (found - float(np.mean(permuted))) / spread if spread > 0.0 else 0.0


def _standardized(K: Floats) -> Floats:
    """With zeros on the diagonal, and mean 0 and norm 1 off it."""
    off: NDArray[np.bool_] = ~np.eye(len(K), dtype=bool)
    values = K[off] - K[off].mean()
    size = float(np.linalg.norm(values))
    result = np.zeros_like(K)
    result[off] = values / size if size > 0.0 else 0.0
    return result
