"""Points put in the order of their cells, in a file, and cut into blocks: what a block holds is near in space.

A block is a limited number of rows of one cell. The box and the ball around its rows bound how near any of its points
can be to any other point.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError
from cotherm.graphs.search.points import EPSILON, Points, row_maxima, unit
from cotherm.graphs.sharded.knn.cells import Cells, cells_of
from cotherm.graphs.sharded.knn.point_files import PointFiles, require_finite
from cotherm.graphs.validation import require_usable_size
from cotherm.io import array_file, atomic
from cotherm.io.array_file import ArrayFile
from cotherm.progress import track
from cotherm.ranks import Ranks, together

# Numbers of points read together, and of those sampled.
_NUMBERS_AT_ONCE = 2**19
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

    def least_distances(self, rows: Floats, block: int) -> Floats:
        """A lower bound of the Euclidean distance between each row and all rows of a block."""
        slack = self._slack()
        outside = np.maximum(np.maximum(self.low[block] - rows, rows - self.high[block]), 0.0)
        box = np.sqrt(np.einsum("ij,ij->i", outside, outside)) * (1 - slack)
        away = rows - self.center[block]
        to_center = np.sqrt(np.einsum("ij,ij->i", away, away))
        ball = to_center * (1 - slack) - self.radius[block] * (1 + slack)
        return np.maximum(box, ball)

    def least_to_blocks(self, block: int) -> Floats:
        """A lower bound of the distance between any row of a block and any row of every block."""
        slack = self._slack()
        outside = np.maximum(np.maximum(self.low[block] - self.high, self.low - self.high[block]), 0.0)
        box = np.sqrt(np.einsum("ij,ij->i", outside, outside)) * (1 - slack)
        away = self.center - self.center[block]
        to_center = np.sqrt(np.einsum("ij,ij->i", away, away))
        ball = to_center * (1 - slack) - (self.radius + self.radius[block]) * (1 + slack)
        return np.maximum(box, ball)

    def _slack(self) -> float:
        """Room for the rounding of sums of d squares."""
        return 4 * (self.rows.shape[1] + 8) * EPSILON


def lay_out(ranks: Ranks, points: PointFiles, metric: str, block: int, scratch: Path, seed: int) -> Layout:
    """Sort all points into cells, by all ranks together: each reads its share of the files, and writes it in place."""
    cells = _cells(ranks, points, metric, block, seed)
    counts = np.zeros(cells.count + 1, dtype=np.int64)  # the last cell holds rows without a direction
    largest = 0.0
    place = scratch / f"cells-{ranks.rank:05d}.bin"
    with together(ranks), atomic.writing(place), place.open("xb") as file:
        for start, rows in _share(ranks, points, "sorting points into cells"):
            require_finite(rows, start)
            largest = max(largest, float(np.abs(rows).max(initial=0.0)))
            cell = _cell_of(cells, rows, metric)
            counts += np.bincount(cell, minlength=cells.count + 1)
            file.write(array_file.octets(cell))
    told = ranks.gather((counts, largest))
    with together(ranks):
        require_usable_size("points", max(one for _, one in told))
    table = np.array([one for one, _ in told])
    totals = table.sum(axis=0)
    begin = np.concatenate([[0], np.cumsum(totals)])
    kept, n = int(begin[-2]), points.shape[0]
    rows_file, ids_file = _allocated(ranks, scratch, kept, n, points.shape[1])
    with together(ranks):
        _place(ranks, points, metric, place, begin[:-1] + table[: ranks.rank].sum(axis=0), rows_file, ids_file)
        place.unlink()
    starts = _cut(begin[:-1], block)
    return Layout(n, metric, rows_file, ids_file, starts, *_bounds(ranks, rows_file, starts))


def dealt_blocks(ranks: Ranks, starts: Ints) -> range:
    """The blocks of this rank: contiguous, with about equally many rows on every rank."""
    aims = starts[-1] * np.arange(ranks.size + 1) / ranks.size
    cuts = np.searchsorted(starts, aims)
    cuts[0], cuts[-1] = 0, len(starts) - 1
    return range(int(cuts[ranks.rank]), int(cuts[ranks.rank + 1]))


def _cells(ranks: Ranks, points: PointFiles, metric: str, block: int, seed: int) -> Cells:
    """Cells from a sample, of which each rank reads a part."""
    n, d = points.shape
    size = min(n, _SAMPLED_POINTS, max(1, _SAMPLED_NUMBERS // d))
    chosen = np.sort(np.random.default_rng(seed).choice(n, size, replace=False))
    mine = chosen[size * ranks.rank // ranks.size : size * (ranks.rank + 1) // ranks.size]
    sampled = np.empty((0, d))
    with together(ranks):
        sampled = points.rows_at(mine)
        for row, start in zip(sampled, mine.tolist(), strict=True):
            require_finite(row[np.newaxis], start)
    sample = np.concatenate(ranks.gather(sampled))
    if metric == "cosine":
        largest = row_maxima(sample)
        sample = np.asarray(unit(sample[largest > 0], largest[largest > 0]))
    with together(ranks):
        if not len(sample):
            raise CothermError("points", "a sample of zero rows only", "rows with a direction, for the cosine metric")
    cells: Cells | None = None
    with together(ranks):
        if ranks.rank == 0:
            cells = cells_of(sample, -(-n // block), seed)
    shared: Cells = ranks.share(cells)
    return shared


def _share(ranks: Ranks, points: PointFiles, label: str) -> Iterator[tuple[int, Floats]]:
    """The rows that this rank reads, some at a time, with the number of the first."""
    n, d = points.shape
    first, last = (n * (ranks.rank + k) // ranks.size for k in (0, 1))
    step = max(1, _NUMBERS_AT_ONCE // d)
    starts = range(first, last, step)
    for start in track(starts, total=len(starts), label=label):
        yield start, points.read(start, min(start + step, last))


def _prepared(rows: Floats, metric: str) -> tuple[Floats, Floats]:
    """Rows whose Euclidean distances order the points, and their largest entries: zero where they have no direction."""
    largest = row_maxima(rows)
    if metric == "euclidean":
        return rows, np.ones(len(rows))
    return np.asarray(unit(rows, np.where(largest > 0, largest, 1.0))), largest


def _cell_of(cells: Cells, rows: Floats, metric: str) -> Ints:
    with np.errstate(invalid="ignore"):
        prepared, largest = _prepared(rows, metric)
    return np.where(largest > 0, cells.of(np.nan_to_num(prepared)), cells.count)


def _allocated(ranks: Ranks, scratch: Path, kept: int, n: int, d: int) -> tuple[ArrayFile, ArrayFile]:
    """Files for the rows and their numbers, made by one rank."""
    rows, ids = scratch / "rows.npy", scratch / "ids.npy"
    with together(ranks):
        if ranks.rank == 0:
            array_file.allocate(rows, (kept, d), np.dtype("<f8"))
            array_file.allocate(ids, (n,), np.dtype("<i8"))
    return array_file.describe(rows), array_file.describe(ids)


def _place(
    ranks: Ranks, points: PointFiles, metric: str, cells: Path, begin: Ints, rows_file: ArrayFile, ids_file: ArrayFile
) -> None:
    """Write the rows of this rank where their cells are, from ``begin`` on; those of a cell keep their order."""
    at, done = begin.copy(), 0
    for start, rows in _share(ranks, points, "writing cells"):
        cell = np.fromfile(cells, np.int64, len(rows), offset=8 * done)
        done += len(rows)
        with np.errstate(invalid="ignore"):
            prepared, _ = _prepared(rows, metric)
        order = np.argsort(cell, kind="stable")
        prepared, ids = prepared[order], start + order
        cuts = np.searchsorted(cell, np.arange(len(begin) + 1), sorter=order)
        for c in np.flatnonzero(np.diff(cuts)).tolist():
            part = slice(int(cuts[c]), int(cuts[c + 1]))
            if c < len(begin) - 1:
                rows_file.put(int(at[c]), prepared[part])
            ids_file.put(int(at[c]), ids[part])
            at[c] += part.stop - part.start


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
