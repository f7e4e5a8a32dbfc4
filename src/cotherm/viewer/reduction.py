"""The edges of a view before and after, and what is shown of a graph that is too large for a page.

The ends of changed edges come first, those of the largest changes where they are too many. Around them, and around
vertices drawn evenly from the whole graph, whole neighborhoods are added, ring by ring, until there are enough
vertices. All edges between shown vertices are shown, or, where these are too many, the changed ones and then those of
the inner rings. So every change is seen with what is around it, the rest is seen in patches that are as dense as the
graph itself, and no edge is made up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from cotherm.arrays import Floats, Ints
from cotherm.methods.coupling.result import Coupling
from cotherm.pairs import Pairs

# The page's numbers for the words of ``changes``.
KINDS = {"kept": 0, "cut": 1, "weakened": 2, "strengthened": 3, "switched on": 4}
# The approximate number of vertices in a patch around a drawn vertex.
_PATCH = 25
# The fraction of vertices that may be ends of changed edges, or their neighbors.
_AROUND_CHANGES = 0.7
_SEED = 0


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
    found = []
    for changes in result.changes():
        kind = np.select([changes.kind == word for word in KINDS], list(KINDS.values())).astype(np.uint8)
        order = np.lexsort((changes.j, changes.i))
        i, j = (np.asarray(ends[order], dtype=np.int64) for ends in (changes.i, changes.j))
        found.append(Edges(i, j, changes.before[order], changes.after[order], kind[order]))
    return found


@dataclass(frozen=True)
class Part:
    """Numbers of the shown vertices and edges, ascending; how many edges changed, and how many of these are shown."""

    vertices: Ints
    edges: Ints
    n: int
    m: int
    changed: int
    of_changed: int

    @property
    def whole(self) -> bool:
        return len(self.vertices) == self.n and len(self.edges) == self.m

    def note(self, name: str) -> str:
        """Say what is left out."""
        if not self.of_changed:
            changed = "no edge changed;"
        elif self.changed == self.of_changed:
            changed = f"all {self.of_changed:,} changed edges with what is around them, and"
        else:
            of = f"{self.changed:,} of {self.of_changed:,} changed edges"
            changed = f"{of}, those that changed most among them, with what is around them, and"
        return (
            f"{name}: {len(self.vertices):,} of {self.n:,} vertices and {len(self.edges):,} of {self.m:,} edges are "
            f"shown: {changed} patches all over the graph."
        )


def parts_of(
    views: Sequence[Edges], sizes: Sequence[int], pairs: Pairs | None, most_vertices: int, most_edges: int
) -> list[Part]:
    """The part of every view to show, at most ``most_vertices`` and ``most_edges``; small views are kept whole."""
    kept = [_most_changed(edges, most_vertices // 2, most_edges // 2) for edges in views]
    parts = []
    for k, (edges, n) in enumerate(zip(views, sizes, strict=True)):
        rings = np.zeros(n, dtype=np.int32)
        if n > most_vertices or len(edges.i) > most_edges:
            patches = _patches(k, n, pairs, views, kept, most_vertices)
            rings = _rings(edges, n, most_vertices, _ends(edges, kept[k]), patches)
        parts.append(_part(edges, n, rings, kept[k], most_edges))
    return parts


def _part(edges: Edges, n: int, rings: NDArray[np.int32], kept: Ints, most_edges: int) -> Part:
    shown = rings >= 0
    between = np.flatnonzero(shown[edges.i] & shown[edges.j])
    if len(between) > most_edges:
        outer = np.maximum(rings[edges.i[between]], rings[edges.j[between]])
        outer[np.isin(between, kept)] = -1
        between = np.sort(between[np.argsort(outer, kind="stable")[:most_edges]])
    changed = int(np.count_nonzero(edges.kind[between]))
    return Part(np.flatnonzero(shown), between, n, len(edges.i), changed, int(np.count_nonzero(edges.kind)))


def _most_changed(edges: Edges, most_ends: int, most_edges: int) -> Ints:
    """The edges that changed most, within the limits on edges and on their ends."""
    changed = edges.changed[:most_edges]
    ends = np.column_stack([edges.i[changed], edges.j[changed]]).ravel()
    first_seen = np.sort(np.unique(ends, return_index=True)[1])
    if len(first_seen) <= most_ends:
        return changed
    return changed[: int(first_seen[most_ends]) // 2]


def _ends(edges: Edges, chosen: Ints) -> Ints:
    return np.unique(np.concatenate([edges.i[chosen], edges.j[chosen]]))


def _patches(
    k: int, n: int, pairs: Pairs | None, views: Sequence[Edges], kept: Sequence[Ints], most_vertices: int
) -> Ints:
    """Vertices whose neighborhoods are shown: evenly drawn, the same items in all views where pairs are known.

    Partners of the ends of changed edges in other views are among them.
    """
    rng = np.random.default_rng(_SEED)  # the same for all views, so that views of the same size show the same
    count = max(1, most_vertices // _PATCH)
    if pairs is None:
        return rng.choice(n, min(count, n), replace=False)
    rows = rng.choice(len(pairs.table), min(count, len(pairs.table)), replace=False)
    found = [pairs.table[rows, k]]
    for other, edges in enumerate(views):
        if other != k:
            mine, theirs = pairs.shared(k, other)
            found.append(mine[np.isin(theirs, _ends(edges, kept[other]))][: most_vertices // 8])
    vertices = np.unique(np.concatenate(found))
    return vertices[vertices >= 0]


def _rings(edges: Edges, n: int, most: int, ends: Ints, patches: Ints) -> NDArray[np.int32]:
    """Distance in edges of every shown vertex from the nearest vertex it is shown for; −1 if not shown.

    Neighbors of the ends of changed edges come before patches, with part of the room.
    """
    live = (edges.before > 0.0) | (edges.after > 0.0)
    i, j = edges.i[live], edges.j[live]
    A = sp.csr_array((np.ones(2 * len(i)), (np.append(i, j), np.append(j, i))), shape=(n, n))
    rings = np.full(n, -1, dtype=np.int32)
    rng = np.random.default_rng(_SEED)

    def next_ring(ring: int) -> Ints:
        return np.flatnonzero((A @ (rings == ring) > 0) & (rings < 0))

    def add(vertices: Ints, ring: int, most: int) -> None:
        """Add these vertices, or a random choice of them if there is not room for all."""
        new = vertices[rings[vertices] < 0]
        room = max(0, most - int(np.count_nonzero(rings >= 0)))
        rings[new if len(new) <= room else rng.choice(new, room, replace=False)] = ring

    add(ends, 0, most)
    add(next_ring(0), 1, int(_AROUND_CHANGES * most))
    add(patches, 1, most)
    ring = 1
    while np.count_nonzero(rings >= 0) < min(most, n):
        new = next_ring(ring)
        ring += 1
        add(new if len(new) else np.flatnonzero(rings < 0), ring, most)  # other components: vertices in order
    return rings
