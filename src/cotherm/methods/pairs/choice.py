"""What a coupling by pairs finds out without labels: trust in every view, functions, time, and strength.

- *Strength*: while a part of the pairs is kept back, views are coupled ever more strongly. Agreement on the pairs kept
  back rises, steeply at first. The weakest coupling is taken that has most of the gain.
- *Trust*: a view whose heat correlates well with that of the others is changed less than one whose heat does not. Of
  two views nothing but labels could tell which is the better one; they are equally rigid.
- *Time*: the fewer items are shared, the further heat has to go until it has met some.

All numbers are in :mod:`cotherm.methods.pairs.rules`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from cotherm.arrays import Floats, Ints
from cotherm.methods.pairs import rules
from cotherm.methods.pairs.relation import Link, Relation
from cotherm.pairs import Pairs


def trust(relation: Relation) -> float:
    """How far two views trust each other: the correlation of their heat times the evidence for it."""
    if np.isnan(relation.correlation):
        return rules.UNCERTAIN
    return max(relation.correlation * relation.evidence, rules.LEAST_TRUST)


def weights(linked: Sequence[Relation]) -> dict[Link, float]:
    """Weights of the terms of linked views: the evidence that they are related, or 1 if coupled regardless."""
    return {one.views: one.evidence or 1.0 for one in linked}


def rigidity(relations: Sequence[Relation], views: int) -> Floats:
    """How rigid every view is: by its median trust in the others, relative to the geometric mean over the views."""
    own = [[trust(one) for one in relations if view in one.views] for view in range(views)]
    medians = np.array([np.median(values) if values else 1.0 for values in own])
    return np.asarray((medians / np.exp(np.mean(np.log(medians)))) ** rules.TRUST_POWER)


def n_modes(pairs: Pairs, linked: Sequence[Link]) -> int:
    """How many modes of every view."""
    fewest = min((pairs.count(*views) for views in linked), default=rules.ITEMS_A_MODE)
    return modes_for(fewest, min(pairs.sizes))


def modes_for(shared: int, smallest: int) -> int:
    """The same for views that share ``shared`` items; the smallest view has ``smallest`` vertices."""
    return max(1, min(rules.MOST_MODES, shared // rules.ITEMS_A_MODE, smallest // 4))


def moves(pairs: Pairs, linked: Sequence[Link]) -> float:
    """The number of moves for which heat flows."""
    parts = [pairs.count(a, b) / max(pairs.sizes[a], pairs.sizes[b]) for a, b in linked]
    part = float(np.mean(parts)) if parts else 1.0
    return min(rules.MOVES, part**rules.TIME_POWER) if part > 0.0 else rules.MOVES


def strength(gains: Sequence[float], borrowed: float) -> int:
    """Choose a strength by the agreement that each has gained, compared with borrowing alone."""
    added = np.asarray(gains) - borrowed
    most = float(added.max())
    return int(np.argmax(added >= rules.ENOUGH * most)) if most > 0.0 else 0


def strength_by_own_edges(views: int, part: float) -> float:
    """The strength for ``views`` views that do not borrow and share the fraction ``part`` of their items.

    The norm of the coupling term grows with the number of views, and so does the unit of strength.
    """
    return rules.OWN_STRENGTH * max(views, 2) / 2.0 * float(max(part, rules.OWN_LEAST_PART) ** rules.OWN_POWER)


def parts(pairs: Pairs, share: float, seed: int) -> Iterator[Ints]:
    """Rows of the table to keep back, part after part, until enough have been."""
    count = len(pairs.table)
    size = round(share * count)
    if size < rules.FEWEST // 2:
        return
    order = np.random.default_rng(seed).permutation(count)
    for first in range(0, count - size + 1, size):
        yield np.sort(order[first : first + size])
        if first + size >= rules.KEPT_BACK:
            return
