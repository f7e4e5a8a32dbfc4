"""Cells of space from a sample of points: halves of halves in few dimensions, those nearest to centers in many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from cotherm import limits
from cotherm.arrays import Floats, Ints

# Rows and centers compared together.
_PAIRS_AT_ONCE = 2**22


class Cells(Protocol):
    """A partition of space."""

    @property
    def count(self) -> int:
        """Number of cells."""

    def of(self, rows: Floats) -> Ints:
        """The cell of each row."""


@dataclass(frozen=True)
class Halves:
    """Space cut by planes x[axis] = value, again and again: node a has the children 2a + 1 and 2a + 2."""

    axis: Ints
    value: Floats

    @property
    def count(self) -> int:
        return len(self.axis) + 1

    def of(self, rows: Floats) -> Ints:
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
        cell = np.empty(len(rows), dtype=np.int64)
        norms = np.einsum("ij,ij->i", self.centers, self.centers)
        step = max(1, _PAIRS_AT_ONCE // self.count)
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            cell[part] = np.argmin(norms - 2 * (rows[part] @ self.centers.T), axis=1)
        return cell


def cells_of(sample: Floats, count: int, seed: int) -> Cells:
    """About ``count`` cells, with about equally many points of the sample in each."""
    count = max(1, min(count, len(sample)))
    if sample.shape[1] <= limits.TREE_DIMENSIONS:
        return _halved(sample, (count - 1).bit_length())
    from sklearn.cluster import KMeans

    # In many dimensions, planes in one coordinate hardly separate near from far.
    fitted = KMeans(count, n_init=1, max_iter=10, random_state=seed).fit(sample)
    return Nearest(np.ascontiguousarray(fitted.cluster_centers_, dtype=np.float64))


def _halved(sample: Floats, depth: int) -> Halves:
    """Each cell is cut at the median of the coordinate that varies most in it."""
    axis, value = np.zeros(2**depth - 1, dtype=np.int64), np.zeros(2**depth - 1)
    members = [np.arange(len(sample))]
    for level in range(depth):
        children = []
        for k, rows in enumerate(members):
            node = 2**level - 1 + k
            if len(rows):
                inside = sample[rows]
                axis[node] = np.argmax(inside.max(axis=0) - inside.min(axis=0))
                value[node] = np.median(inside[:, axis[node]])
            above = sample[rows, axis[node]] > value[node]
            children += [rows[~above], rows[above]]
        members = children
    return Halves(axis, value)
