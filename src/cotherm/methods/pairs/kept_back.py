"""Agreement on pairs that a coupling did not see: of the views as given, after borrowing, and after coupling."""

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
    """Agreement of two views on ``items`` items; NaN where it was not measured."""

    items: int = 0
    before: float = np.nan
    borrowed: float = np.nan
    after: float = np.nan
    chance: float = np.nan


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

    def of(self, link: Link, stage: int) -> Measured:
        """The agreement of two views, with ``stage`` as the last stage."""
        at = self._links.index(link)
        rows = [np.concatenate([*(part[one][at] for part in self._stages), np.zeros(0)]) for one in (0, 1, stage)]
        if not len(rows[0]):
            return Measured()
        before, borrowed, after = (float(values.mean()) for values in rows)
        return Measured(len(rows[0]), before, borrowed, after, self._chance[at])
