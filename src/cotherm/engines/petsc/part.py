"""A rank's part of a graph: a range of the vertices, the edges that begin there, and the others that touch it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.engines.petsc.communicator import Communicator


@dataclass(frozen=True)
class Part:
    """Vertices ``ranges[rank]`` to ``ranges[rank + 1]`` of n. Ends of edges, i < j, are numbers among all n.

    An edge belongs to the rank of its lower end. ``mirrors`` are those that belong to other ranks and end here; the
    k-th is number ``mirror_places[k]`` among the edges of the rank ``mirror_owners[k]``.
    """

    n: int
    ranges: NDArray[np.int64]
    i: NDArray[Any]
    j: NDArray[Any]
    mirror_i: NDArray[Any]
    mirror_j: NDArray[Any]
    mirror_owners: NDArray[np.int64]
    mirror_places: NDArray[np.int64]

    @classmethod
    def of_whole(cls, communicator: Communicator, n: int, i: NDArray[Any], j: NDArray[Any]) -> Part:
        """Of edges that every rank has; edges of a rank are in the order of all edges."""
        ranges = equal_ranges(n, i, j, communicator.size)
        owners = owners_of(ranges, i)
        mine = owners == communicator.rank
        start, stop = ranges[communicator.rank], ranges[communicator.rank + 1]
        mirrors = np.flatnonzero((j >= start) & (j < stop) & ~mine)
        places = np.empty(len(i), dtype=np.int64)
        for rank in range(communicator.size):
            own = owners == rank
            places[own] = np.arange(np.count_nonzero(own))
        return cls(
            n, ranges, i[mine], j[mine], i[mirrors], j[mirrors], owners[mirrors].astype(np.int64), places[mirrors]
        )


def equal_ranges(n: int, i: NDArray[Any], j: NDArray[Any], size: int) -> NDArray[np.int64]:
    """Contiguous ranges of vertices, one for each rank, with about the same work: entries of rows, and the rows."""
    work = np.bincount(i, minlength=n) + np.bincount(j, minlength=n) + 4
    ends = np.cumsum(work)
    targets = ends[-1] * np.arange(1, size) / size
    return np.concatenate([[0], np.searchsorted(ends, targets, side="left"), [n]]).astype(np.int64)


def owners_of(ranges: NDArray[np.int64], vertices: NDArray[Any]) -> NDArray[np.intp]:
    """The rank of each vertex; ranges may be empty."""
    return np.searchsorted(ranges[1:], vertices, side="right")
