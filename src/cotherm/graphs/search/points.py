"""Points as neighbor search sees them: checked rows and the distance between any two of them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from cotherm import limits, validation
from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError, CothermWarning
from cotherm.graphs.validation import Rows, checked_rows

EPSILON = float(np.finfo(np.float64).eps)

METRICS = ("euclidean", "cosine")

# Numbers in memory at once while distances are computed: 32 MiB.
_BLOCK = 2**22


@dataclass(frozen=True)
class Points:
    """n points, and the rows whose Euclidean distances order them.

    With s = ‖r_i − r_j‖², the distance is d_ij = √s for "euclidean", where r_i = x_i, and d_ij = s/2 for
    "cosine", where r_i = x_i/‖x_i‖, because s/2 = 1 − cos(x_i, x_j) for unit vectors. One search serves both
    metrics, and points that coincide are at distance exactly 0.

    ``kept`` holds the numbers of the points that the rows stand for: all, but for "cosine" not the zero rows.
    """

    n: int
    metric: str
    rows: Rows
    kept: Ints

    @classmethod
    def of(cls, X: ArrayLike | sp.sparray | sp.spmatrix, metric: object) -> Points:
        """The points of a checked (n, d) array or sparse matrix; warns of rows that have no direction."""
        metric = validation.choice("metric", metric, METRICS)
        rows = checked_rows("X", X)
        n = rows.shape[0]
        if metric == "euclidean":
            return cls(n, metric, rows, np.arange(n))
        largest = row_maxima(rows)
        kept = np.flatnonzero(largest)
        warn_of_zero_rows("X", n - len(kept), n)
        if len(kept) < n:
            rows, largest = rows[kept], largest[kept]
        return cls(n, metric, unit(rows, largest), kept)

    @property
    def count(self) -> int:
        """Number of points that can have neighbors."""
        return len(self.kept)

    def require(self, argument: str, k: int) -> None:
        """Refuse to look for more neighbors than there are other points, or than fit into memory."""
        if self.n == 1:
            raise CothermError("X", "a single point", "at least two points, to be neighbors")
        if k >= self.count:
            zero = "" if self.count == self.n else f", of which {self.n - self.count} are zero rows"
            needed = f"at most {max(self.count - 1, 0)}, one less than there are points"
            raise CothermError(argument, f"{k} neighbors among n = {self.n} points{zero}", needed)
        if k * self.count > limits.NEIGHBOR_PAIRS:
            needed = f"at most {limits.NEIGHBOR_PAIRS:,} pairs, k of at most {limits.NEIGHBOR_PAIRS // self.count:,}"
            given = f"{k} neighbors of {self.count:,} points, {k * self.count:,} pairs"
            raise CothermError(argument, given, needed)

    def take(self, rows: Ints) -> Points:
        """Some of the rows."""
        return Points(self.n, self.metric, self.rows[rows], self.kept[rows])

    def distances_to(self, others: Points, a: Ints, b: Ints) -> Floats:
        """d between row a[p] and row b[p] of others for every p, from the differences of their entries."""
        # |a|² + |b|² − 2ab would be quicker, but loses every digit for points close together.
        found = np.empty(len(a))
        # Two gathered blocks of rows and their difference must fit into the cache.
        width = 1 + int(self.rows.size) // max(self.count, 1)  # SciPy counts stored entries, NumPy all entries
        for part in slices(len(a), 8 * width):
            found[part] = self.from_squares(squares(self.rows[a[part]] - others.rows[b[part]]))
        return found

    def squares_of(self, d: Floats) -> Floats:
        """‖r_i − r_j‖² for distances d, rounded up to the largest value that gives the same distance."""
        return d**2 if self.metric == "euclidean" else np.maximum(2 * d, self._blur() ** 2)

    def reach(self, radius: float) -> float:
        """A Euclidean distance between rows that no pair of points within ``radius`` exceeds."""
        euclidean = radius if self.metric == "euclidean" else np.sqrt(2 * radius)
        return float(euclidean) * (1 + 1e-9) + self._blur()  # room for rounding

    def from_squares(self, s: Floats) -> Floats:
        """The distances d for s = ‖r_i − r_j‖², which may be overwritten."""
        if self.metric == "euclidean":
            return np.sqrt(s)
        # Parallel vectors of different length are scaled to unit length with different rounding.
        s[s <= self._blur() ** 2] = 0
        return np.minimum(s / 2, 2.0)

    def _blur(self) -> float:
        """The largest distance that rounding can make between two rows of the same direction."""
        if self.metric == "euclidean":
            return 0.0
        return (int(self.rows.shape[1]) + 4) * EPSILON


def warn_of_zero_rows(argument: str, zero: int, n: int) -> None:
    if zero:
        told = f"{argument}: {zero} of {n} rows are zero and have no direction: under the cosine metric "
        warnings.warn(f"{told}they have no neighbors and are nobody's neighbor", CothermWarning, stacklevel=4)


def centered(rows: Rows, about: Rows) -> Rows:
    """The rows less a mean: distances are the same and rounding is less. Sparse rows stay as they are."""
    return rows - about.mean(axis=0) if isinstance(rows, np.ndarray) else rows


def squares(rows: Rows) -> Floats:
    """Σ_c r_ic² for every row."""
    if isinstance(rows, np.ndarray):
        return np.asarray(np.einsum("ic,ic->i", rows, rows), dtype=np.float64)
    return np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float64).ravel()


def slices(length: int, width: int) -> Iterator[slice]:
    """Consecutive slices of 0, …, length − 1, so short that ``width`` numbers per item fit in memory."""
    step = max(1, _BLOCK // max(width, 1))
    for start in range(0, length, step):
        yield slice(start, min(start + step, length))


def row_maxima(rows: Rows) -> Floats:
    """max_c |x_ic| for every row."""
    if isinstance(rows, np.ndarray):
        return np.asarray(np.abs(rows).max(axis=1), dtype=np.float64)
    return np.asarray(abs(rows).max(axis=1).toarray(), dtype=np.float64).ravel()


def unit(rows: Rows, largest: Floats) -> Rows:
    """The rows scaled to length 1."""
    rows = _divided(rows, largest)  # first, to keep squares from vanishing
    return _divided(rows, np.sqrt(squares(rows)))


def _divided(rows: Rows, by: Floats) -> Rows:
    if isinstance(rows, np.ndarray):
        return rows / by[:, np.newaxis]
    stored = np.repeat(by, np.diff(rows.indptr))
    return sp.csr_array((rows.data / stored, rows.indices, rows.indptr), shape=rows.shape)


def best(points: Points, queries: Points, found: Ints, k: int, own: Ints | None) -> tuple[Ints, Floats]:
    """The k nearest among the points found for every query, ``own`` and −1 (nothing found) aside.

    Equal distances are ordered by index; where fewer than k are left, the distance is infinite.
    """
    found = np.sort(found, axis=1)
    return in_order(found, measured(points, queries, np.arange(queries.count), found, own), k)


def measured(points: Points, queries: Points, asked: Ints, found: Ints, own: Ints | None) -> Floats:
    """Distances of queries ``asked[a]`` and points ``found[a, c]``; infinite where it is ``own`` or −1."""
    q = np.broadcast_to(asked[:, np.newaxis], found.shape)
    d = queries.distances_to(points, q.ravel(), np.maximum(found, 0).ravel()).reshape(found.shape)
    d[found < 0] = np.inf
    if own is not None:
        d[found == own[asked, np.newaxis]] = np.inf
    return d


def in_order(found: Ints, d: Floats, k: int) -> tuple[Ints, Floats]:
    """The k nearest of every row, nearest first; ``found`` ascends, so that equal distances are ordered by index."""
    order = np.argsort(d, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(found, order, axis=1), np.take_along_axis(d, order, axis=1)
