"""What a coupling by pairs reports beside its graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cotherm import validation
from cotherm.arrays import Ints
from cotherm.errors import shortened
from cotherm.methods.pairs import rules
from cotherm.methods.pairs.agreement import Agreement
from cotherm.notebook import Shown, Table

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
