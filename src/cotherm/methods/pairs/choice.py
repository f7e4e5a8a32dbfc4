"""What a coupling by pairs needs to know and finds out without labels.

- *By which edges.* Two ways are tried while a part of the pairs is kept back. Strongly, by the edges that views have:
  right where these include many wrong ones, as with more neighbors than an item has of its own kind. Or weakly, after
  borrowing weights that other views bear out: right where views lack edges, and strong coupling would only cut. The
  first is tried only if all views have many neighbors an item, and if their heat correlates well, since it forces them
  to agree. It is taken if it adds clearly more to the agreement on the pairs kept back.
- *Whether at all.* If agreement on the pairs kept back falls, all views are left as they are.

Units: strength is α in units of the α at which coupling and distance weigh the same. The numbers below were chosen on
some seventy sets of two to six views, with labels as judges. They gain on most and cost a good view something on some,
above all where one of two views is much poorer than the other: nothing but labels could tell which of two is poor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cotherm.arrays import Floats, Ints
from cotherm.graphs.graph import Graph
from cotherm.methods.pairs.relation import FEWEST, Link, Relation
from cotherm.pairs import Pairs

# By the edges they have: so many moves of heat along edges, and a strong coupling. Functions that end where the shared
# items end are rough there, which makes coupling look strong; it is made up for by this power of the shared part.
OWN_MOVES, _OWN_STRENGTH, _OF_PART = 1.0, 100.0, -4.0
# With borrowed weight: longer times, and a weak coupling.
_BORROWED_MOVES, _BORROWED_STRENGTH = 8.0, 1.0
# Strong coupling takes views whose heat correlates at least so far, and that have so many neighbors an item.
_CLOSE, _MANY = 0.3, 20.0
# It has to add this many times the agreement that borrowing adds, and this much more.
_CLEARLY, _AT_LEAST = 1.15, 0.001
_MOST_MODES = 24
# For each mode so many items, so that modes can be told apart on them.
_ITEMS_A_MODE = 6
# Pairs are kept back in parts, one part after the other, until so many have been.
_ENOUGH = 100
# Shared parts below this are treated alike.
_LEAST_PART = 0.1
# Views that share too few items to be compared trust each other as if their heat had the first correlation, views that
# are not related the second, where they are to be coupled all the same.
_UNCERTAIN, _LEAST_TRUST = 0.25, 0.01


@dataclass(frozen=True)
class Setting:
    """How to couple: whether weight is borrowed, for how many moves heat flows, and how strong the coupling is.

    ``times`` and ``alpha`` are None where they follow from the moves and the strength.
    """

    borrows: bool
    moves: float
    strength: float
    times: Floats | None = None
    alpha: float | None = None


def trusted(correlation: float) -> float:
    """How far two views trust each other whose heat has a correlation, NaN where it is not known."""
    return _UNCERTAIN if np.isnan(correlation) else max(correlation, _LEAST_TRUST)


def n_modes(pairs: Pairs, linked: Sequence[Link]) -> int:
    """How many modes of every view, if it is not said."""
    fewest = min((pairs.count(*views) for views in linked), default=_ITEMS_A_MODE)
    return modes_for(fewest, min(pairs.sizes))


def modes_for(shared: int, smallest: int) -> int:
    """The same for views that share so many items, of which the smallest has so many vertices."""
    return max(1, min(_MOST_MODES, shared // _ITEMS_A_MODE, smallest // 4))


def settings(graphs: Sequence[Graph], linked: Sequence[Relation], share: float | None) -> list[Setting]:
    """What may be tried; ``share`` is what the caller asks to borrow, None if it is not said."""
    views = {k for one in linked for k in one.views}
    own = Setting(borrows=False, moves=OWN_MOVES, strength=_own_strength(len(views)))
    borrowed = Setting(borrows=True, moves=_BORROWED_MOVES, strength=_BORROWED_STRENGTH)
    if share is None and linked:
        close = all(one.correlation >= _CLOSE for one in linked)
        many = all(has_many_neighbors(graphs[k]) for k in views)
        return [own, borrowed] if close and many else [borrowed]
    return [borrowed] if share else [own]


def has_many_neighbors(graph: Graph) -> bool:
    """Whether a view has so many neighbors an item that coupling has edges enough to choose from."""
    return bool(2.0 * np.count_nonzero(graph.w) >= _MANY * graph.n)


def best(tried: Sequence[Setting], gains: Sequence[float]) -> int:
    """Which of the settings to take, by what each adds to the agreement on pairs kept back."""
    if len(tried) == 1:
        return 0
    own, borrowed = gains
    return 0 if own > _CLEARLY * max(borrowed, 0.0) + _AT_LEAST else 1


def strength(setting: Setting, pairs: Pairs, linked: Sequence[Link]) -> float:
    """The strength for these pairs."""
    if setting.borrows or not linked:
        return setting.strength
    parts = [pairs.count(a, b) / max(pairs.sizes[a], pairs.sizes[b]) for a, b in linked]
    return setting.strength * _for_part(float(np.mean(parts)))


def strength_by_own_edges(views: int, part: float) -> float:
    """The strength for so many views that do not borrow and share such a part of their items."""
    return _own_strength(views) * _for_part(part)


def _own_strength(views: int) -> float:
    """The norm of the coupling's part grows with the number of views, and the unit of strength with it."""
    return _OWN_STRENGTH * max(views, 2) / 2.0


def _for_part(part: float) -> float:
    return float(max(part, _LEAST_PART) ** _OF_PART)


def parts(pairs: Pairs, share: float, seed: int) -> Iterator[Ints]:
    """Rows of the table to keep back, part after part, until enough have been."""
    count = len(pairs.table)
    size = round(share * count)
    if size < FEWEST // 2:
        return
    order = np.random.default_rng(seed).permutation(count)
    for first in range(0, count - size + 1, size):
        yield np.sort(order[first : first + size])
        if first + size >= _ENOUGH:
            return
