"""How far two views agree on which items are near each other, measured on pairs that the coupling did not use.

*Agreement*: how well heat in one view finds the nearest neighbors of the other. For each item that was kept back, of
all items in both views, the few that its heat in view l reaches most are to be found, all are ranked by heat in view k,
and average precision says how early they come; then the same with k and l exchanged. The view to be predicted is taken
as it was given, so that agreement cannot be had by making both views alike.

*Ties* count by their expectation: items that heat reaches equally are in random order, in the ranking and where the
nearest end. So neither the order of rows nor rounding decides, and views without edges agree as much as chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cotherm import validation
from cotherm.arrays import Floats, Ints
from cotherm.engines import Engine
from cotherm.errors import shortened
from cotherm.graphs.graph import Graph
from cotherm.methods.pairs import rules
from cotherm.methods.pairs.relation import Link, evidence, heat_rows, some
from cotherm.methods.pairs.rules import NEIGHBORS
from cotherm.notebook import Shown, Table
from cotherm.pairs import Pairs

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


class KeptBack:
    """Some items that were kept back, and where heat from them goes in the views as given."""

    def __init__(
        self,
        graphs: Sequence[Graph],
        links: Sequence[Link],
        pairs: Pairs,
        rows: Ints,
        seed: int,
        engine: Engine,
    ) -> None:
        self._graphs, self._engine = graphs, engine
        kept = Pairs(pairs.table[rows], pairs.sizes)
        self._compared = []
        for a, b in links:
            targets = pairs.shared(a, b)
            sources = some(kept.shared(a, b), len(targets[0]) * len(links), seed)  # all links are held in memory
            if len(targets[0]) < 3:
                sources = sources[0][:0], sources[1][:0]
            given = [self._heat(graphs, view, *at) for view, *at in zip((a, b), sources, targets, strict=True)]
            itself = np.argsort(targets[0])[np.searchsorted(np.sort(targets[0]), sources[0])]
            self._compared.append(((a, b), sources, targets, given, itself))
        self.chance = [chance_precision(len(targets[0])) for _, _, targets, *_ in self._compared]

    def agreement(self, graphs: Sequence[Graph]) -> list[Floats]:
        """For every two linked views, and item by item, how well heat in one finds the neighbors of the other."""
        found = []
        for (a, b), sources, targets, given, itself in self._compared:
            if not len(itself):
                found.append(np.zeros(0))
                continue
            ends = zip((a, b), sources, targets, strict=True)
            heat = given if graphs is self._graphs else [self._heat(graphs, view, *at) for view, *at in ends]
            both = precision(heat[0], given[1], itself) + precision(heat[1], given[0], itself)
            found.append(0.5 * both)
        return found

    def _heat(self, graphs: Sequence[Graph], view: int, sources: Ints, targets: Ints) -> Floats:
        if not len(sources):
            return np.zeros((0, len(targets)))
        return heat_rows(graphs[view], sources, targets, self._graphs[view], self._engine)


class Agreed:
    """Agreement, gathered over the parts that were kept back: as given, borrowed, and at every strength.

    A part has an array for every stage and every two linked views.
    """

    def __init__(self, links: Sequence[Link]) -> None:
        self._links = list(links)
        self._stages: list[list[list[Floats]]] = []  # of each part, of each stage
        self._chance: list[float] = []

    def add(self, part: KeptBack, stages: list[list[Floats]]) -> None:
        """What was measured on a part, stage by stage."""
        self._stages.append(stages)
        self._chance = part.chance

    def __bool__(self) -> bool:
        return any(len(values) for part in self._stages for values in part[0])

    def gains(self, stage: int) -> tuple[float, float]:
        """The mean gain of a stage over the views as given, over all items and linked views, and its standard error."""
        differences = [
            after - before
            for part in self._stages
            for before, after in zip(part[0], part[stage], strict=True)
            if len(before)
        ]
        if not differences:
            return 0.0, 0.0
        every = np.concatenate(differences)
        return float(every.mean()), float(every.std() / np.sqrt(len(every)))

    def mean(self, stage: int) -> float:
        """The mean agreement of a stage; NaN before anything was compared."""
        found = [values for part in self._stages for values in part[stage]]
        return float(np.mean(np.concatenate(found))) if self else np.nan

    def of(self, link: Link, stage: int) -> dict[str, Any]:
        """What was measured of two views, with ``stage`` as the last stage; NaN where nothing was."""
        at = self._links.index(link)
        rows = [np.concatenate([*(part[one][at] for part in self._stages), np.zeros(0)]) for one in (0, 1, stage)]
        known = bool(len(rows[0]))
        before, borrowed, after = (float(values.mean()) if known else np.nan for values in rows)
        chance = self._chance[at] if known else np.nan
        return {"kept_back": len(rows[0]), "before": before, "borrowed": borrowed, "after": after, "chance": chance}


# Tables show names of graphs in at most this many characters.
_WIDEST = 24


@dataclass(frozen=True, eq=False, repr=False)
class PairReport(Shown):
    """What was known, what was chosen and what came of it when graphs were coupled by pairs of items.

    Attributes
    ----------
    table : ndarray of int of shape (items, graphs)
        The vertex that each item is in every graph, -1 where it is missing. Items in one graph only are left out.
    n_modes : int
        Number of smooth modes of every graph that were taken as functions.
    strength : float
        How strong the coupling is: α in units of the α at which coupling and distance weigh the same. NaN where α was
        given, or the coupling by all pairs was not reached.
    shares : tuple of float
        Share of the weights between shared items that each graph borrowed from the others; 0 for none.
    rigidity : tuple of float
        Penalty ρ on changing each graph.
    agreement : tuple of Agreement
        For every two graphs that share items, how far they agree.
    notes : tuple of str
        What was left out or left as given, and why, in plain words.

    See Also
    --------
    couple_pairs : Couple graphs by pairs of items.
    """

    table: Ints
    n_modes: int
    strength: float
    shares: tuple[float, ...]
    rigidity: tuple[float, ...]
    agreement: tuple[Agreement, ...]
    notes: tuple[str, ...]

    def trust(self, *, include_unrelated: bool = False) -> list[float]:
        """How far each graph is trusted: the mean correlation of its heat with that of the graphs related to it.

        Parameters
        ----------
        include_unrelated : bool, default False
            Whether to count graphs also where they are hardly related.

        Returns
        -------
        list of float
            A number from 0 to 1. 0 for graphs that have no more in common with any other than chance, and for two
            graphs whose correlation is below 0.1, unless they are included or were coupled all the same.
        """
        include_unrelated = validation.boolean("include_unrelated", include_unrelated)
        two = len({k for one in self.agreement if one.related for k in one.views}) <= 2
        found = []
        for k in range(self.table.shape[1]):
            own = [one for one in self.agreement if k in one.views]
            counted = [_trust(one.correlation) for one in own if include_unrelated or _is_counted(one, two)]
            found.append(float(np.mean(counted)) if counted else _trust(np.nan) * include_unrelated)
        return found

    def lines(self, names: Sequence[str]) -> list[str]:
        """Render the agreement as a table.

        Parameters
        ----------
        names : sequence of str
            Names of the graphs.

        Returns
        -------
        list of str
            Lines of text.
        """
        short = [shortened(name, _WIDEST) for name in names]
        pairs = [f"{short[one.views[0]]}, {short[one.views[1]]}" for one in self.agreement]
        width = max([32, *(len(pair) + 2 for pair in pairs)])
        titles = f"{'items':>7}{'given':>8}{'borrowed':>10}{'coupled':>9}{'chance':>8}"
        lines = [f"  {'agreement on items kept back':<{width}}{titles}"]
        for pair, one in zip(pairs, self.agreement, strict=True):
            before, borrowed, after, chance = map(_number, (one.before, one.borrowed, one.after, one.chance))
            figures = f"{before:>8}{borrowed:>10}{after:>9}{chance:>8}"
            lines.append(f"  {pair:<{width}}{one.shared:>7}{figures}{'' if one.coupled else '  not coupled'}")
        return [*lines, *(f"  {note}" for note in self.notes)]

    def __str__(self) -> str:
        return "\n".join([self._headline(), *self.lines(self._names())])

    def _names(self) -> list[str]:
        return [f"view {k + 1}" for k in range(self.table.shape[1])]

    def _headline(self) -> str:
        return f"Coupling of {self.table.shape[1]} views by {len(self.table)} pairs of items, {self.n_modes} modes"

    def _tables(self) -> Sequence[Table]:
        return [agreement_table(self.agreement, self._names())]

    def _remarks(self) -> Sequence[str]:
        return self.notes


def agreement_table(agreement: Sequence[Agreement], names: Sequence[str]) -> Table:
    """Titles and rows of a table of the agreement of views with these names."""
    rows: list[list[object]] = []
    for one in agreement:
        figures = map(_number, (one.before, one.borrowed, one.after, one.chance))
        pair = ", ".join(names[view] for view in one.views)
        rows.append([pair, one.shared, *figures, "yes" if one.coupled else "no"])
    return ("views", "items", "agreement as given", "borrowed", "coupled", "chance", "were coupled"), rows


def _number(value: float) -> str:
    """A dash for what was not measured."""
    return "-" if np.isnan(value) else f"{value:.3f}"


def _trust(correlation: float) -> float:
    return rules.UNCERTAIN if np.isnan(correlation) else max(correlation, rules.LEAST_TRUST)


def _is_counted(one: Agreement, two: bool) -> bool:
    """Whether two graphs are related enough to be merged, or were coupled although they are not related."""
    return (one.correlation >= rules.MERGED or not two) if one.related else one.coupled
