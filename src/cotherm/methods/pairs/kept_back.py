"""Agreement on the pairs that were kept back, before and after a coupling that did not see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cotherm.arrays import Floats, Ints
from cotherm.engines import Engine
from cotherm.graphs.graph import Graph
from cotherm.methods.pairs.agreement import chance_precision, precision
from cotherm.methods.pairs.relation import Link, heat_rows, some
from cotherm.pairs import Pairs


@dataclass(frozen=True)
class Measured:
    """Agreement of two views on so many items; NaN where it was not measured."""

    items: int = 0
    before: float = np.nan
    after: float = np.nan
    chance: float = np.nan


class KeptBack:
    """Agreement before and after, gathered over the parts that were kept back."""

    def __init__(self, graphs: Sequence[Graph], links: Sequence[Link], seed: int, engine: Engine) -> None:
        self._graphs, self._links, self._seed, self._engine = graphs, links, seed, engine
        self._before: dict[Link, list[Floats]] = {link: [] for link in links}
        self._after: dict[Link, list[Floats]] = {link: [] for link in links}
        self._chance: dict[Link, float] = {}

    def add(self, coupled: Sequence[Graph], pairs: Pairs, rows: Ints) -> None:
        """Compare the coupled views, and the given ones, on the items in some rows, which were kept back."""
        kept = Pairs(pairs.table[rows], pairs.sizes)
        for a, b in self._links:
            targets = pairs.shared(a, b)
            sources = some(kept.shared(a, b), len(targets[0]), self._seed)
            if not len(sources[0]) or len(targets[0]) < 3:
                continue
            itself = np.argsort(targets[0])[np.searchsorted(np.sort(targets[0]), sources[0])]
            given = [self._heat(self._graphs[v], v, x, y) for v, x, y in zip((a, b), sources, targets, strict=True)]
            after = [self._heat(coupled[v], v, x, y) for v, x, y in zip((a, b), sources, targets, strict=True)]
            before = precision(given[0], given[1], itself) + precision(given[1], given[0], itself)
            now = precision(after[0], given[1], itself) + precision(after[1], given[0], itself)
            self._before[a, b].append(0.5 * before)
            self._after[a, b].append(0.5 * now)
            self._chance[a, b] = chance_precision(len(targets[0]))

    def _heat(self, graph: Graph, view: int, sources: Ints, targets: Ints) -> Floats:
        return heat_rows(graph, sources, targets, self._graphs[view], self._engine)

    def gain(self, links: Sequence[Link]) -> tuple[float, float]:
        """The mean gain over all items and linked views, and its standard error."""
        gains = [
            after - before
            for link in links
            for before, after in zip(self._before[link], self._after[link], strict=True)
        ]
        if not gains:
            return 0.0, 0.0
        every = np.concatenate(gains)
        return float(every.mean()), float(every.std() / np.sqrt(len(every)))

    def agreement(self) -> float:
        """The mean over all items and views after coupling; NaN before anything was compared."""
        found = [one for parts in self._after.values() for one in parts]
        return float(np.concatenate(found).mean()) if found else np.nan

    def of(self, link: Link) -> Measured:
        """Between two views."""
        before, after = (np.concatenate([*found[link], np.zeros(0)]) for found in (self._before, self._after))
        if not len(before):
            return Measured()
        return Measured(len(before), float(before.mean()), float(after.mean()), self._chance[link])
