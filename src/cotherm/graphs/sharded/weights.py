"""Other weights on the edges of a sharded graph, written by all ranks at once: the result is a sharded graph again."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from cotherm import validation
from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError
from cotherm.graphs.sharded import header as headers
from cotherm.graphs.sharded.assembly import Files, dealt
from cotherm.graphs.sharded.header import MIRROR, OWN, file_name
from cotherm.graphs.sharded.staging import write_file
from cotherm.graphs.sharded.store import GraphPart, ShardedGraph
from cotherm.io import array_file, atomic
from cotherm.io.array_file import ArrayFile
from cotherm.ranks import Ranks, together

# Weights read together while mirrors are filled in.
_AT_ONCE = 2**20
_CHANGED = ("w", "mirror_w")


def write_weights(
    ranks: Ranks, folder: Path, graph: ShardedGraph, part: GraphPart, u: ArrayLike, *, name: str | None = None
) -> ShardedGraph:
    """Write a graph with other weights into a new folder, within one that ``staged`` gave, or that folder itself.

    ``u`` are the weights of the own edges of this rank's part, in their order; the parts of all ranks must be all
    vertices, in order. Ends, labels and so on are linked where the file system can do that, else copied. All ranks
    call this together.
    """
    _require_cover(ranks, graph, part)
    with together(ranks):
        weights = _checked(u, part)
        if ranks.rank == 0:
            with atomic.writing(folder):
                folder.mkdir(exist_ok=True)
    mine = dealt(graph.shards, ranks)
    with together(ranks):
        for shard in mine:
            for array in (*OWN, *MIRROR, *graph.header.extras):
                if array not in _CHANGED:
                    _linked(graph.path / file_name(shard, array), folder / file_name(shard, array))
            place = folder / file_name(shard, "w")
            array_file.allocate(place, (int(graph.header.edges[shard]),), OWN["w"])
    with together(ranks):
        _put(folder, graph, part.first_edge, weights)
    files: Files = {}
    with together(ranks):
        for shard in mine:
            place = folder / file_name(shard, "w")
            files[place.name] = array_file.checksum(place)
            numbers = graph.array(shard, "mirror_e").read()
            other = folder / file_name(shard, "mirror_w")
            files[other.name] = array_file.save(other, _gathered(folder, graph, numbers))
    everything = dict(graph.header.files)
    for some in ranks.gather(files):
        everything |= some
    header = replace(graph.header, files=everything, name=graph.name if name is None else name)
    with together(ranks):
        if ranks.rank == 0:
            write_file(folder / headers.FILE, headers.render(header))
    return ShardedGraph(folder, header)


def _require_cover(ranks: Ranks, graph: ShardedGraph, part: GraphPart) -> None:
    """Require that the parts of all ranks, in order, cover all vertices."""
    told = ranks.gather((part.start, part.stop, part.first_edge, len(part.w)))
    vertex = edge = 0
    with together(ranks):
        for rank, (start, stop, first, count) in enumerate(told):
            if start != vertex or first != edge or stop < start:
                given = f"vertices {start} to {stop} on rank {rank}, behind {vertex}"
                raise CothermError("part", given, "parts that follow each other, from rank to rank")
            vertex, edge = stop, first + count
        if (vertex, edge) != (graph.n, graph.m):
            given = f"{vertex} vertices and {edge} edges in all parts"
            raise CothermError("part", given, f"{graph.n} and {graph.m}")


def _checked(u: ArrayLike, part: GraphPart) -> Floats:
    weights = validation.numeric("u", u, ndim=(1,))
    if len(weights) != len(part.w):
        raise CothermError("u", f"{len(weights)} weights", f"one for each own edge, {len(part.w)}")
    if len(weights) and weights.min() < 0.0:
        where = int(np.argmin(weights))
        given = f"{weights[where]} on the edge ({part.i[where]}, {part.j[where]})"
        raise CothermError("u", given, "weights >= 0")
    return weights + 0.0


def _linked(source: Path, target: Path) -> None:
    """Link a file under another name, or copy it if the file system has no links."""
    try:
        os.link(source, target)
    except OSError:
        with atomic.writing(target):
            shutil.copyfile(source, target)
            with target.open("rb") as file:
                atomic.synchronize(file.fileno())


def _file(folder: Path, graph: ShardedGraph, shard: int) -> ArrayFile:
    """The new weights of a shard."""
    shape = (int(graph.header.edges[shard]),)
    offset = len(array_file.description(shape, OWN["w"]))
    return ArrayFile(folder / file_name(shard, "w"), shape, OWN["w"], offset)


def _put(folder: Path, graph: ShardedGraph, first: int, weights: Floats) -> None:
    """Put weights in their place, those of the edges first, first + 1, … of all."""
    cuts, last = graph.first_edges, first + len(weights)
    for shard in np.flatnonzero((cuts[:-1] < last) & (cuts[1:] > first)).tolist():
        low, high = max(int(cuts[shard]), first), min(int(cuts[shard + 1]), last)
        _file(folder, graph, shard).write(low - int(cuts[shard]), weights[low - first : high - first])


def _gathered(folder: Path, graph: ShardedGraph, numbers: Ints) -> Floats:
    """The new weights of edges with ascending numbers, from all shards."""
    found = np.empty(len(numbers))
    cuts = graph.first_edges
    for shard in range(graph.shards):
        file, start = _file(folder, graph, shard), int(cuts[shard])
        low, high = np.searchsorted(numbers, cuts[shard : shard + 2])
        at = int(low)
        while at < high:  # only blocks that hold some of them
            begin = int(numbers[at]) - start
            end = min(begin + _AT_ONCE, file.shape[0])
            stop = int(np.searchsorted(numbers, start + end))
            found[at:stop] = file.read(begin, end)[numbers[at:stop] - start - begin]
            at = stop
    return found
