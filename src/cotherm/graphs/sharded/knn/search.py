"""The k nearest rows of every row of a block, among all blocks: no block is left out that could hold one of them.

The neighbors in a row's own block bound the distance to its k-th neighbor. Other blocks follow in the order of how near
they can be, and only rows whose bound reaches a block are searched for in it; each search tightens the bounds. When no
bound reaches the next block the answer is exact. An approximate search looks for a row only in a fixed number of
blocks, those with the nearest centers; all other steps are the same.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

import numpy as np

from cotherm.arrays import Floats, Ints
from cotherm.graphs.search import exact
from cotherm.graphs.search.points import Points
from cotherm.graphs.sharded.knn.layout import Layout

# Blocks kept in memory while others are searched.
_KEPT_BLOCKS = 4


class Found(NamedTuple):
    """Neighbors of some rows, nearest first: where they are in the layout, the numbers of points, and distances.

    Where fewer than k are there, the place is −1 and the distance infinite.
    """

    place: Ints
    ids: Ints
    distance: Floats


class BlockSearch:
    """Neighbors in a layout of points."""

    def __init__(self, layout: Layout, k: int, probes: int | None) -> None:
        self._layout, self._k, self._probes = layout, k, probes
        self._kept: OrderedDict[int, tuple[Points, Ints]] = OrderedDict()

    def of_block(self, block: int) -> Found:
        """The neighbors of all rows of a block."""
        return self._search(block, np.arange(self._block(block)[0].count), self._probes)

    def exactly(self, block: int, rows: Ints) -> Found:
        """Those of some rows of a block, whatever blocks it takes."""
        return self._search(block, rows, None)

    def _search(self, block: int, own: Ints, probes: int | None) -> Found:
        queries = self._block(block)[0].take(own)
        found = self._within(block, queries, own)
        rows = np.asarray(queries.rows)
        count = min(probes or 0, self._layout.blocks)
        probed = exact.nearest_rows(rows, self._layout.center, count)[0] if count else None
        least = self._layout.least_to_blocks(block)
        for other in np.argsort(least, kind="stable").tolist():
            if other == block:
                continue
            reach = _reach(queries, found.distance[:, -1])
            if least[other] > reach.max(initial=0.0):
                break
            near = self._layout.least(rows, rows, rows, 0.0, other) <= reach
            if probed is not None:
                near &= (probed == other).any(axis=1)
            asked = np.flatnonzero(near)
            if len(asked):
                more = self._within(other, queries.take(asked), None)
                merged = _merged(Found(found.place[asked], found.ids[asked], found.distance[asked]), more, self._k)
                for array, values in zip(found, merged, strict=True):
                    array[asked] = values
        return found

    def _within(self, block: int, queries: Points, own: Ints | None) -> Found:
        """The nearest in one block; ``own`` are the rows of it that the queries are."""
        points, ids = self._block(block)
        count = min(self._k, points.count - (own is not None))
        shape = (queries.count, self._k)
        found = Found(np.full(shape, -1), np.full(shape, -1), np.full(shape, np.inf))
        if count > 0:
            index, distance = exact.nearest_to(points, queries, count, own=own)
            found.place[:, :count] = self._layout.span(block)[0] + index
            found.ids[:, :count] = ids[index]
            found.distance[:, :count] = distance
        return found

    def _block(self, block: int) -> tuple[Points, Ints]:
        if block not in self._kept:
            self._kept[block] = self._layout.points(block), self._layout.ids.read(*self._layout.span(block))
            if len(self._kept) > _KEPT_BLOCKS:
                self._kept.popitem(last=False)
        self._kept.move_to_end(block)
        return self._kept[block]


def _reach(points: Points, distance: Floats) -> Floats:
    """Euclidean distances between rows that those of points at most so far apart do not exceed."""
    with np.errstate(over="ignore"):
        return np.sqrt(points.squares_of(distance)) * (1 + 1e-9)


def _merged(a: Found, b: Found, k: int) -> Found:
    """The k nearest of both; equal distances are ordered by the numbers of points."""
    place, ids, distance = (np.concatenate(pair, axis=1) for pair in zip(a, b, strict=True))
    order = np.lexsort((ids, distance), axis=1)[:, :k]
    chosen = (np.take_along_axis(array, order, axis=1) for array in (place, ids, distance))
    return Found(*chosen)
