"""The edges of a rank's part of a graph, laid out for Laplacians and incidence products; its Laplacian.

Rows are those of the rank's own vertices, with numbers from 0. Other vertices that its edges touch, the halo, follow
them, ascending.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.engines.cpu.laplacian import Pattern as Rows
from cotherm.engines.cpu.laplacian import ReorderedLaplacian, Slices, fill_rows, spectral_bound
from cotherm.engines.cpu.thread_pool import ThreadPool
from cotherm.engines.petsc.array import DistributedArray
from cotherm.engines.petsc.communicator import Communicator
from cotherm.engines.petsc.halo import Halo
from cotherm.engines.petsc.part import Part, owners_of
from cotherm.lazy import lazy

if TYPE_CHECKING:
    from cotherm.engines.interface import Engine


class Pattern:
    """For every own vertex its neighbors, here or in the halo, and whose edge's weight belongs there."""

    def __init__(self, communicator: Communicator, part: Part, numbers: NDArray[np.intp] | None = None) -> None:
        """``numbers``: of a graph that every rank has whole, those of the edges of all ranks, one after the other."""
        self.communicator, self.part, self.numbers = communicator, part, numbers
        # Of a graph whose vertices were renumbered: row r belongs to vertex order[r].
        self.order: NDArray[np.int32] | None = None
        start, stop = part.ranges[communicator.rank : communicator.rank + 2].tolist()
        self.n, self.vertices = stop - start, part.n
        # The vertices of the halo.
        self.others = others = np.unique(np.concatenate([part.j[part.j >= stop], part.mirror_i]))
        owners = owners_of(part.ranges, others)
        self.halo = Halo(communicator, self.n, owners, others - part.ranges[owners])
        self.mirrors = Halo(communicator, len(part.i), part.mirror_owners, part.mirror_places)

        def here(vertices: NDArray[Any]) -> NDArray[np.int32]:
            inside = (vertices >= start) & (vertices < stop)
            found = np.where(inside, vertices - start, self.n + np.searchsorted(others, vertices))
            return found.astype(np.int32)

        i, j, mirror_i, mirror_j = map(here, (part.i, part.j, part.mirror_i, part.mirror_j))
        self.i = DistributedArray(i, communicator, halo=self.halo)
        self.j = DistributedArray(j, communicator, halo=self.halo)
        rows = Rows.of(self.n + len(others), np.concatenate([i, mirror_i]), np.concatenate([j, mirror_j]))
        self.offsets, self.columns, self.edges = rows.offsets[: self.n + 1], rows.columns, rows.edges
        self.inside = _longest_run(np.concatenate([i[j >= self.n], mirror_j]), self.n)

    @lazy
    def own_numbers(self) -> NDArray[np.intp]:
        """Of a graph that every rank has whole, the numbers of the edges here."""
        assert self.numbers is not None
        first = int(self.communicator.counts(len(self.part.i))[: self.communicator.rank].sum())
        return self.numbers[first : first + len(self.part.i)]

    def restricted(self, free: NDArray[Any]) -> Pattern:
        """The pattern of some of the edges here, by ascending number; the others are those of the other ranks."""
        places = np.full(len(self.part.i), -1, dtype=np.int64)
        places[free] = np.arange(len(free))
        there = self.mirrors.extended(places)[len(places) :]
        kept = there >= 0
        part = self.part
        return Pattern(
            self.communicator,
            Part(
                part.n,
                part.ranges,
                part.i[free],
                part.j[free],
                part.mirror_i[kept],
                part.mirror_j[kept],
                part.mirror_owners[kept],
                there[kept],
            ),
        )

    def laplacian(self, engine: Engine, w: Floats, *, bounded: bool = True) -> Laplacian:
        """L with the weights of the edges here, and a bound on its spectrum where one is wanted."""
        weights, degrees = np.empty(int(self.offsets[-1])), np.empty(self.n)
        fill_rows(0, self.n, self.offsets, self.edges, self.mirrors.extended(w), weights, degrees)
        order = np.empty(0, dtype=np.int32)  # rows are those of the vertices
        rows = ReorderedLaplacian(order, self.offsets, self.columns, weights, degrees, np.inf, in_order=True)
        return Laplacian(engine, self, rows, self._bound(rows) if bounded else np.inf)

    def _bound(self, rows: ReorderedLaplacian) -> float:
        with RankSlices(self, 2.0 * len(rows.weights)) as slices:
            return spectral_bound(slices, rows, np.empty(self.n + self.halo.count))


@dataclass(frozen=True)
class Laplacian:
    """L = D − W at some weights; ``rows`` are those of this rank's vertices."""

    engine: Engine
    pattern: Pattern
    rows: ReorderedLaplacian
    bound: float

    @property
    def n(self) -> int:
        """Of all ranks."""
        return self.pattern.vertices

    def work(self, columns: int) -> float:
        """Of this rank."""
        return float((len(self.rows.weights) + 4 * self.pattern.n) * columns)


def _longest_run(touching: NDArray[Any], n: int) -> tuple[int, int]:
    """Of n rows the longest run of those that need no other rank's."""
    ends = np.unique(np.concatenate([[-1, n], touching]))
    longest = int(np.argmax(np.diff(ends)))
    return int(ends[longest]) + 1, int(ends[longest + 1])


class RankSlices(Slices):
    """First those that need no other rank's rows, while these are on their way, then the rest."""

    def __init__(self, pattern: Pattern, work: float) -> None:
        self._pool, self._communicator, self._halo = ThreadPool(work), pattern.communicator, pattern.halo
        first, last = pattern.inside
        pieces = self._pool.pieces if self._pool.size > 1 else 1
        self._cuts = [first + (last - first) * k // pieces for k in range(pieces + 1)]
        self._outer = [[0, first], [last, pattern.n]]

    @property
    def places(self) -> NDArray[np.intp]:
        return np.array([0, *self._cuts, self._outer[1][1]])

    def run(self, kernel: Any, *arguments: Any, fetched: Floats | None = None) -> list[Any]:
        with nullcontext() if fetched is None else self._halo.fetching(fetched):
            found = self._pool.run(kernel, self._cuts, *arguments)
        return [*found, *(kernel(lo, hi, *arguments) for lo, hi in self._outer if lo < hi)]

    def fetch(self, rows: Floats) -> None:
        self._halo.fetch(rows)

    def total(self, sums: Floats) -> Floats:
        return self._communicator.sum(super().total(sums))

    def largest(self, numbers: list[float]) -> float:
        return float(self._communicator.max([max(numbers)])[0])
