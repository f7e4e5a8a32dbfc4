"""Functions from pairs for sharded graphs: smooth modes of every graph, carried to the same items of the others.

With Φ_k the smoothest modes of graph k, all graphs get the same columns [Φ_1, …, Φ_N] at the items that all have, of
unit norm, and zeros at other vertices. The graphs cut the items among ranks differently. So each item has a rank of its
own, where the columns of all graphs meet: modes are sent there from the vertices of every graph, and come back to them.
That takes 8 bytes a column for every item of a rank, twice, and no rank has all of them.
"""

from __future__ import annotations

import hashlib
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm import limits
from cotherm import ranks as processes
from cotherm.arrays import Floats, Ints
from cotherm.engines.petsc.communicator import Communicator
from cotherm.engines.petsc.engine import PetscEngine
from cotherm.engines.petsc.halo import Halo
from cotherm.engines.petsc.part import owners_of
from cotherm.errors import CothermError
from cotherm.functions import not_converged, smooth_modes
from cotherm.heat.chebyshev import require_bound
from cotherm.methods.coupling.shard_views import ShardView, median_degree
from cotherm.pairs import MISSING, checked_pairs, require_shared, require_word, same_sizes
from cotherm.ranks import Ranks, require_equal_content, together
from cotherm.solve.eigenpairs import NotConverged
from cotherm.solve.filtered_eigenpairs import smooth_eigenvectors


@dataclass(frozen=True, eq=False)
class ShardPairs:
    """Items that are in all graphs.

    ``items`` are, graph by graph, those of the vertices of this rank's part, −1 for all other vertices.
    Items ``ranges[rank]`` to ``ranges[rank + 1]`` meet on a rank.
    """

    items: list[Ints]
    ranges: NDArray[np.int64]

    @property
    def count(self) -> int:
        return int(self.ranges[-1])

    def part(self, views: Sequence[ShardView]) -> float:
        """The fraction of the vertices of two graphs that is paired, the mean over every two graphs."""
        sizes = [view.sharded.n for view in views]
        return float(np.mean([self.count / max(two) for two in combinations(sizes, 2)]))


def checked_shard_pairs(ranks: Ranks, engine: PetscEngine, views: Sequence[ShardView], pairs: Any) -> ShardPairs:
    """Read the word "same" or "names", index arrays or a table, as :func:`cotherm.couple_pairs` takes them."""
    processes.require_equal(ranks, "pairs", pairs if isinstance(pairs, str) else "a table")
    if not isinstance(pairs, str):
        return _of_table(ranks, engine, views, pairs)
    with together(ranks):
        require_word(pairs)
    return _same(ranks, engine, views) if pairs == "same" else _named(ranks, engine, views)


def _of_table(ranks: Ranks, engine: PetscEngine, views: Sequence[ShardView], pairs: Any) -> ShardPairs:
    """Every rank has the table and looks up its own vertices in it."""
    with together(ranks):
        table = checked_pairs(pairs, [view.sharded.n for view in views]).table
        _require_all(int(np.sum(np.any(table == MISSING, axis=1))), len(views))
    require_equal_content(engine.ranks, "pairs", table)
    items = [_places(table[:, k], _numbers(view)) for k, view in enumerate(views)]
    return ShardPairs(items, _even_ranges(len(table), ranks.size))


def _same(ranks: Ranks, engine: PetscEngine, views: Sequence[ShardView]) -> ShardPairs:
    """Vertex v of every graph, by its number before shards were put in another order."""
    with together(ranks):
        same_sizes([view.sharded.n for view in views])
    found = ShardPairs([_numbers(view) for view in views], _even_ranges(views[0].sharded.n, ranks.size))
    with together(ranks):
        require_shared(found.count)
    _require_same_names(ranks, engine, views, found)
    return found


def _require_same_names(ranks: Ranks, engine: PetscEngine, views: Sequence[ShardView], pairs: ShardPairs) -> None:
    """Compare the names of vertices, if several graphs have them, by a digest of each name."""
    named = [k for k, view in enumerate(views) if view.part.vertex_names is not None]
    wrong: str | None = None
    for k in named[1:]:
        first, other = (_digests(engine, views[one], pairs, one) for one in (named[0], k))
        apart = np.flatnonzero(first != other)
        if len(apart) and wrong is None:
            v = int(pairs.ranges[ranks.rank] + apart[0])
            wrong = f'"same", but vertex {v} has different names in graph {named[0]} and graph {k}'
    told = [one for one in ranks.gather(wrong) if one is not None]
    with together(ranks):
        if told:
            raise CothermError("pairs", told[0], "the same vertices", 'Give "names" to pair by name.')


def _digests(engine: PetscEngine, view: ShardView, pairs: ShardPairs, k: int) -> Floats:
    """Numbers for the names of the items that meet here: whole numbers that floats hold exactly."""
    names = np.asarray(view.part.vertex_names).tolist()
    numbers = [int.from_bytes(hashlib.blake2b(repr(name).encode(), digest_size=6).digest()) for name in names]
    route = _Route(engine.communicator, pairs.items[k], pairs.ranges)
    return route.to_items(np.array(numbers, dtype=np.float64)[:, np.newaxis])[:, 0]


def _named(ranks: Ranks, engine: PetscEngine, views: Sequence[ShardView]) -> ShardPairs:
    """Pair vertices with the same name. All graphs send a name to the rank that its checksum gives."""
    with together(ranks):
        without = [k for k, view in enumerate(views) if view.part.vertex_names is None]
        if without:
            given = f'"names", but the vertices of graph {without[0]} have none'
            raise CothermError("pairs", given, "graphs whose vertices have names (vertex_names)")
        kinds = [np.asarray(view.part.vertex_names).dtype.kind for view in views]
        if len({kind == "U" for kind in kinds}) > 1:
            raise CothermError("pairs", "names that are text and names that are numbers", "names of one type")
    comm, size = engine.communicator.comm, ranks.size
    asked = [_sent(np.asarray(view.part.vertex_names).tolist(), size) for view in views]
    brought = [comm.alltoall([names for names, _ in one]) for one in asked]
    seen = Counter(name for one in brought for part in one for name in part)
    kept = [name for name, count in seen.items() if count == len(views)]
    partly = sum(1 < count < len(views) for count in seen.values())
    counts = engine.communicator.counts(len(kept))
    ranges = np.concatenate([[0], np.cumsum(counts)])
    numbers = {name: int(ranges[ranks.rank]) + at for at, name in enumerate(kept)}
    total_partly = engine.ranks.sum(partly)
    with together(ranks):
        _require_all(total_partly, len(views))
        require_shared(int(ranges[-1]))
    items = []
    for view, sent, one in zip(views, asked, brought, strict=True):
        answers = comm.alltoall([[numbers.get(name, MISSING) for name in part] for part in one])
        found = np.full(view.rows, MISSING, dtype=np.int64)
        for (_, rows), answer in zip(sent, answers, strict=True):
            found[rows] = answer
        items.append(found)
    return ShardPairs(items, ranges)


def _sent(names: list[Any], size: int) -> list[tuple[list[Any], Ints]]:
    """For each rank the names that belong to it, and their rows here."""
    owners = np.array([zlib.crc32(str(name).encode()) % size for name in names], dtype=np.int64)
    rows = [np.flatnonzero(owners == rank) for rank in range(size)]
    return [([names[row] for row in some], some) for some in rows]


def _require_all(partly: int, views: int) -> None:
    if partly:
        raise CothermError(
            "pairs",
            f"{partly} items that are in some of {views} graphs only",
            "items that are in all graphs, where graphs are sharded",
            "Leave the others out, or couple whole graphs by couple_pairs, which takes them.",
        )


def _numbers(view: ShardView) -> Ints:
    """The vertices of this rank's part, numbered as the graph was given."""
    part = view.part
    return np.arange(part.start, part.stop, dtype=np.int64) if part.original is None else part.original


def _places(column: Ints, numbers: Ints) -> Ints:
    """The place of each number in a column of distinct numbers, −1 if it is missing."""
    order = np.argsort(column)
    at = np.minimum(np.searchsorted(column[order], numbers), len(column) - 1)
    return np.where(column[order[at]] == numbers, order[at], MISSING)


def _even_ranges(count: int, size: int) -> NDArray[np.int64]:
    return count * np.arange(size + 1, dtype=np.int64) // size


class _Route:
    """From the vertices of this rank's part of a graph to where their items meet, and back."""

    def __init__(self, communicator: Communicator, items: Ints, ranges: NDArray[np.int64]) -> None:
        self._paired, self._count = np.flatnonzero(items >= 0), len(items)
        found = items[self._paired]
        owners = owners_of(ranges, found)
        here = int(ranges[communicator.rank + 1] - ranges[communicator.rank])
        self._halo = Halo(communicator, here, owners, found - ranges[owners])

    def to_items(self, X: Floats) -> Floats:
        """Send rows of vertices to where their items meet."""
        table = np.zeros((self._halo.own, X.shape[1]))
        self._halo.put(np.ascontiguousarray(X[self._paired]), table)
        return table

    def to_vertices(self, table: Floats) -> Floats:
        """Send rows of items to the vertices of this rank's part; zeros at vertices without an item."""
        X = np.zeros((self._count, table.shape[1]))
        X[self._paired] = self._halo.extended(table)[self._halo.own :]
        return X


def pair_rows(
    ranks: Ranks, engine: PetscEngine, views: Sequence[ShardView], pairs: ShardPairs, n_modes: int
) -> list[Floats]:
    """The functions of every graph: rows of this rank's part."""
    routes = [_Route(engine.communicator, items, pairs.ranges) for items in pairs.items]
    table = np.hstack(
        [route.to_items(_modes(ranks, engine, view, n_modes)) for route, view in zip(routes, views, strict=True)]
    )
    size = np.sqrt(engine.ranks.sum(np.sum(table**2, axis=0)))
    table /= np.where(size > 0.0, size, 1.0)
    return [route.to_vertices(table) for route in routes]


def _modes(ranks: Ranks, engine: PetscEngine, view: ShardView, k: int) -> Floats:
    """As :func:`cotherm.functions.smooth_modes`: the rows of this rank's part."""
    if view.sharded.n <= limits.DENSE:
        with together(ranks):
            return smooth_modes(view.sharded.to_graph(), k)[view.part.start : view.part.stop]
    matrix = require_bound(engine.laplacian(view.pattern, engine.edge_rows(view.pattern, view.graph.w)))
    vertices = np.arange(view.part.start, view.part.stop, dtype=np.int64)
    modes: Floats | None = None
    try:
        modes = engine.to_numpy(smooth_eigenvectors(engine, matrix, vertices, k))
    except NotConverged:  # on all ranks
        with together(ranks):
            raise not_converged(k) from None
    return modes


def same_units(engine: PetscEngine, views: Sequence[ShardView]) -> tuple[list[ShardView], Floats, float]:
    """Graphs scaled to the same median degree, the divisors of their weights, and that degree."""
    degrees = np.array([median_degree(engine, [view]) or 1.0 for view in views])
    common = float(np.exp(np.mean(np.log(degrees))))
    units = degrees / common
    scaled = [replace(one.graph, w=one.graph.w / unit) for one, unit in zip(views, units.tolist(), strict=True)]
    return [replace(view, graph=graph) for view, graph in zip(views, scaled, strict=True)], units, common
