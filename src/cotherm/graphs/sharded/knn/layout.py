"""Points put in the order of cells of space, in a file, and cut into blocks: what a block holds is near in space.

Cells come from a sample of the points: halves of halves in few dimensions, the points nearest to centers in many. A
block is a limited number of rows of one cell. The box and the ball around its rows bound how near any of its points
can be to any other point.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cotherm import limits
from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError
from cotherm.graphs.search import exact
from cotherm.graphs.search.points import EPSILON, Points, row_maxima, unit
from cotherm.graphs.sharded.knn.points import PointFiles, require_finite
from cotherm.graphs.sharded.writing import Buckets, dealt
from cotherm.graphs.validation import require_usable_size
from cotherm.io import array_file
from cotherm.io.array_file import ArrayFile
from cotherm.progress import track
from cotherm.ranks import Ranks, from_first, together

# Numbers of points read together, and of those sampled.
_NUMBERS_AT_ONCE = 2**18
_SAMPLED_NUMBERS = 2**20
_SAMPLED_POINTS = 2**16


@dataclass(frozen=True)
class Layout:
    """Rows in the order of cells. ``ids`` are the numbers of the points; those behind the rows have no direction."""

    n: int
    metric: str
    rows: ArrayFile
    ids: ArrayFile
    starts: Ints  # first row of each block, and their number
    low: Floats
    high: Floats
    center: Floats
    radius: Floats

    @property
    def count(self) -> int:
        """Number of rows."""
        return self.rows.shape[0]

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return len(self.starts) - 1

    def span(self, block: int) -> tuple[int, int]:
        """First row of a block, and the first behind it."""
        return int(self.starts[block]), int(self.starts[block + 1])

    def points(self, block: int) -> Points:
        """The rows of a block, as neighbor search takes them."""
        rows = self.rows.read(*self.span(block))
        return Points(self.n, self.metric, rows, np.arange(len(rows)))

    def least_to_blocks(self, block: int) -> Floats:
        """A lower bound of the distance between any row of a block and any row of every block."""
        return self.least(self.low[block], self.high[block], self.center[block], self.radius[block], slice(None))

    def least(self, low: Floats, high: Floats, center: Floats, radius: Any, block: int | slice) -> Floats:
        """The same between rows in boxes and balls, or rows themselves, and all rows of a block or of every one."""
        slack = 4 * (self.rows.shape[1] + 8) * EPSILON  # room for the rounding of sums of d squares
        outside = np.maximum(np.maximum(self.low[block] - high, low - self.high[block]), 0.0)
        box = np.sqrt(np.einsum("ij,ij->i", outside, outside)) * (1 - slack)
        away = center - self.center[block]
        to_center = np.sqrt(np.einsum("ij,ij->i", away, away))
        return np.maximum(box, to_center * (1 - slack) - (radius + self.radius[block]) * (1 + slack))


def lay_out(ranks: Ranks, points: PointFiles, metric: str, block: int, scratch: Path, seed: int) -> Layout:
    """Sort all points into cells, by all ranks together: each reads its share of the files, then places its cells."""
    n, d = points.shape
    found = from_first(ranks, lambda: _cells(points, metric, -(-n // block), seed))
    cells = found.count + 1  # the last holds points without a direction
    record = np.dtype([("id", "<i8"), ("row", "<f8", (d,))])
    buckets = Buckets(scratch, "cells", np.arange(cells + 1), record, ranks)
    largest = 0.0
    with together(ranks):
        for start, rows in _share(ranks, points):
            records = np.empty(len(rows), record)
            records["id"] = start + np.arange(len(rows))
            require_finite(rows, records["id"])
            largest = max(largest, float(np.abs(rows).max(initial=0.0)))
            records["row"], size = _prepared(rows, metric)
            buckets.add(np.where(size > 0, found.of(records["row"]), cells - 1), records)
        buckets.flush()
    largest = ranks.most(largest)
    with together(ranks):
        require_usable_size("points", largest)
    begin = np.concatenate([[0], np.cumsum([buckets.count(cell) for cell in range(cells)])])
    columns = ("rows", (int(begin[-2]), d), "<f8"), ("ids", (n,), "<i8")
    rows_file, ids_file = from_first(ranks, lambda: array_file.allocate_all(scratch, *columns))
    with together(ranks):
        for cell in dealt(cells, ranks):
            at = int(begin[cell])
            for records in buckets.pieces(cell):
                if cell < cells - 1:
                    rows_file.put(at, records["row"])
                ids_file.put(at, records["id"])
                at += len(records)
    starts = _cut(begin[:-1], block)
    return Layout(n, metric, rows_file, ids_file, starts, *_bounds(ranks, rows_file, starts))


def dealt_blocks(ranks: Ranks, starts: Ints) -> range:
    """The blocks of this rank: contiguous, with about equally many rows on every rank."""
    aims = starts[-1] * np.arange(ranks.size + 1) / ranks.size
    cuts = np.searchsorted(starts, aims)
    cuts[0], cuts[-1] = 0, len(starts) - 1
    return range(int(cuts[ranks.rank]), int(cuts[ranks.rank + 1]))


@dataclass(frozen=True)
class Halves:
    """Space cut by planes x[axis] = value, again and again: node a has the children 2a + 1 and 2a + 2."""

    axis: Ints
    value: Floats

    @property
    def count(self) -> int:
        return len(self.axis) + 1

    def of(self, rows: Floats) -> Ints:
        """The cell of each row."""
        node = np.zeros(len(rows), dtype=np.int64)
        every = np.arange(len(rows))
        for _ in range((self.count - 1).bit_length()):
            node = 2 * node + 1 + (rows[every, self.axis[node]] > self.value[node])
        return node - len(self.axis)


@dataclass(frozen=True)
class Nearest:
    """The rows nearest to each of some centers."""

    centers: Floats

    @property
    def count(self) -> int:
        return len(self.centers)

    def of(self, rows: Floats) -> Ints:
        """The cell of each row."""
        return exact.nearest_rows(np.nan_to_num(rows), self.centers, 1)[0][:, 0]


def _cells(points: PointFiles, metric: str, count: int, seed: int) -> Halves | Nearest:
    """About ``count`` cells, with about equally many points of a sample in each."""
    n, d = points.shape
    size = min(n, _SAMPLED_POINTS, max(1, _SAMPLED_NUMBERS // d))
    chosen = np.sort(np.random.default_rng(seed).choice(n, size, replace=False))
    sample = np.concatenate([points.read(row, row + 1) for row in chosen.tolist()])
    require_finite(sample, chosen)
    prepared, largest = _prepared(sample, metric)
    sample = prepared[largest > 0]
    if not len(sample):
        raise CothermError("points", "a sample of zero rows only", "rows with a direction, for the cosine metric")
    count = max(1, min(count, len(sample)))
    if d <= limits.TREE_DIMENSIONS:
        return _halved(sample, (count - 1).bit_length())
    from sklearn.cluster import KMeans

    # In many dimensions, planes in one coordinate hardly separate near from far.
    fitted = KMeans(count, n_init=1, max_iter=10, random_state=seed).fit(sample)
    return Nearest(np.ascontiguousarray(fitted.cluster_centers_, dtype=np.float64))


def _halved(sample: Floats, depth: int) -> Halves:
    """Each cell is cut at the median of the coordinate that varies most in it."""
    axis, value = np.zeros(2**depth - 1, dtype=np.int64), np.zeros(2**depth - 1)
    members = [np.arange(len(sample))]
    for node in range(2**depth - 1):
        rows = members[node]
        if len(rows):
            inside = sample[rows]
            axis[node] = np.argmax(inside.max(axis=0) - inside.min(axis=0))
            value[node] = np.median(inside[:, axis[node]])
        above = sample[rows, axis[node]] > value[node]
        members += [rows[~above], rows[above]]
    return Halves(axis, value)


def _share(ranks: Ranks, points: PointFiles) -> Iterator[tuple[int, Floats]]:
    """The rows that this rank reads, some at a time, with the number of the first."""
    n, d = points.shape
    mine = dealt(n, ranks)
    step = max(1, _NUMBERS_AT_ONCE // d)
    starts = mine[::step]
    for start in track(starts, total=len(starts), label="sorting points into cells"):
        yield start, points.read(start, min(start + step, mine.stop))


def _prepared(rows: Floats, metric: str) -> tuple[Floats, Floats]:
    """Rows whose Euclidean distances order the points, and their largest entries: zero where they have no direction."""
    if metric == "euclidean":
        return rows, np.ones(len(rows))
    with np.errstate(invalid="ignore"):
        largest = row_maxima(rows)
        return np.asarray(unit(rows, np.where(largest > 0, largest, 1.0))), largest


def _cut(begin: Ints, block: int) -> Ints:
    """Blocks of at most ``block`` rows of a single cell each; ``begin`` are the first rows of cells."""
    starts = [
        first + size * k // parts
        for first, size in zip(begin[:-1].tolist(), np.diff(begin).tolist(), strict=True)
        if (parts := -(-size // block))
        for k in range(parts)
    ]
    return np.array([*starts, int(begin[-1])], dtype=np.int64)


def _bounds(ranks: Ranks, rows: ArrayFile, starts: Ints) -> tuple[Floats, Floats, Floats, Floats]:
    """Box, center and radius of every block."""
    d = rows.shape[1]
    mine = dealt_blocks(ranks, starts)
    found = np.empty((len(mine), 3 * d + 1))
    with together(ranks):
        for row, block in zip(found, mine, strict=True):
            inside = rows.read(int(starts[block]), int(starts[block + 1]))
            center = inside.mean(axis=0)
            away = inside - center
            radius = np.sqrt(np.einsum("ij,ij->i", away, away).max())
            row[:] = np.concatenate([inside.min(axis=0), inside.max(axis=0), center, [radius]])
    table = np.concatenate(ranks.gather(found))
    return table[:, :d], table[:, d : 2 * d], table[:, 2 * d : 3 * d], table[:, -1]
