"""The edges of a view before and after: ends, both weights, and what happened to each, as ``changes`` says."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError
from cotherm.methods.coupling.result import Changes, Coupling

# The page's numbers for the words of ``changes``.
KINDS = {"kept": 0, "cut": 1, "weakened": 2, "strengthened": 3, "switched on": 4}


@dataclass(frozen=True)
class Edges:
    """All arrays have an entry for each edge, sorted by (i, j), i < j."""

    i: Ints
    j: Ints
    before: Floats
    after: Floats
    kind: NDArray[np.uint8]

    @property
    def changed(self) -> Ints:
        """Numbers of the edges that changed, those with the largest change first."""
        found = np.flatnonzero(self.kind)
        return found[np.argsort(-np.abs(self.after - self.before)[found], kind="stable")]

    def chosen(self, edges: Ints, number: Ints) -> Edges:
        """Some of the edges, between vertices that have other numbers, in their order."""
        ends = np.sort(np.stack([number[self.i[edges]], number[self.j[edges]]]), axis=0)
        order = np.lexsort((ends[1], ends[0]))
        take = edges[order]
        return Edges(ends[0, order], ends[1, order], self.before[take], self.after[take], self.kind[take])


def edges_of(result: Coupling) -> list[Edges]:
    """Those of every view."""
    for k, (old, new) in enumerate(zip(result.originals, result.graphs, strict=True)):
        same = old.n == new.n and np.array_equal(old.i, new.i[: old.m]) and np.array_equal(old.j, new.j[: old.m])
        if not same:
            given = f"graph {k} has other vertices or edges than before"
            raise CothermError("result", given, "a coupling, which changes weights and may add edges")
    return [_sorted(changes) for changes in result.changes()]


def _sorted(changes: Changes) -> Edges:
    kind = np.zeros(len(changes.kind), dtype=np.uint8)
    for word, code in KINDS.items():
        kind[changes.kind == word] = code
    order = np.lexsort((changes.j, changes.i))
    i, j = (np.asarray(ends[order], dtype=np.int64) for ends in (changes.i, changes.j))
    return Edges(i, j, changes.before[order], changes.after[order], kind[order])
