"""The graph of nearest neighbors of points in files, as shards: ``knn_graph`` for points that no process could hold."""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cotherm import limits, validation
from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError, CothermWarning
from cotherm.graphs import kernel
from cotherm.graphs.search.points import METRICS
from cotherm.graphs.sharded import vertex_rows
from cotherm.graphs.sharded.assembly import Files, assemble, dealt
from cotherm.graphs.sharded.buckets import EDGE, Buckets, shard_of
from cotherm.graphs.sharded.header import EXTRAS, MOST_SHARDS
from cotherm.graphs.sharded.knn.layout import Layout, dealt_blocks, lay_out
from cotherm.graphs.sharded.knn.point_files import PointFiles, PointPaths
from cotherm.graphs.sharded.knn.search import BlockSearch
from cotherm.graphs.sharded.knn.selection import median
from cotherm.graphs.sharded.merging import symmetrized
from cotherm.graphs.sharded.sources import Rows
from cotherm.graphs.sharded.staging import OVERWRITE, staged
from cotherm.graphs.sharded.store import ShardedGraph
from cotherm.graphs.validation import checked_name, checked_scale
from cotherm.io import array_file, atomic
from cotherm.io.array_file import ArrayFile
from cotherm.progress import track
from cotherm.ranks import ONE, Ranks, require_equal, together

# Rows whose true neighbors are found to measure the recall.
_SAMPLE = 200
_GOOD_RECALL = 0.95
_DRAWABLE = 3


class NeighborShards(NamedTuple):
    """A sharded graph of nearest neighbors.

    Attributes
    ----------
    graph : ShardedGraph
        The graph.
    recall : float
        Fraction of the true neighbors that were found: 1 for the exact search, otherwise measured on a sample.

    See Also
    --------
    shard_knn_graph : Make one.
    """

    graph: ShardedGraph
    recall: float


@dataclass(frozen=True)
class _Recipe:
    """Checked arguments that define the graph."""

    k: int
    scale: str | float | None
    scale_neighbor: int
    scale_factor: float
    metric: str
    symmetrize: str

    @property
    def sought(self) -> int:
        """Neighbors to search for."""
        return max(self.k, self.scale_neighbor) if self.scale == "self-tuning" else self.k


def shard_knn_graph(
    points: PointPaths,
    path: str | os.PathLike[str],
    k: int = 10,
    *,
    parts: int | None = None,
    scale: str | float | None = "self-tuning",
    scale_neighbor: int = 7,
    scale_factor: float = 1.0,
    metric: str = "euclidean",
    symmetrize: str = "max",
    search: str = "exact",
    probes: int = 16,
    block: int = 16_384,
    order: str = "given",
    labels: str | os.PathLike[str] | None = None,
    seed: int = 0,
    name: str | None = None,
    overwrite: bool = False,
    advice: str = OVERWRITE,
    ranks: Ranks = ONE,
) -> NeighborShards:
    """Join every point in some files to its k nearest neighbors, and write the graph as shards.

    Neither the points nor the graph are ever in memory. The graph is that of :func:`cotherm.knn_graph`.

    Parameters
    ----------
    points : str, path-like or sequence of these
        A ``.npy`` file of shape (n, d), several of them, or a directory of them: their rows one after the other. Also
        text tables (``.csv``, ``.tsv``, ``.txt``, also ``.gz``) of numbers only, with or without a line of titles.
    path : str or path-like
        The directory to make, by convention with the suffix ``.shards``.
    k : int, default 10
        Number of neighbors of every point, at most n − 1.
    parts : int, optional
        Number of shards. By default shards have about eight million edges each, and there is at least one for each
        rank.
    scale : {"self-tuning", "median"}, float or None, default "self-tuning"
        How to choose the scale of the Gaussian weights, as in :func:`cotherm.knn_graph`.
    scale_neighbor : int, default 7
        Neighbor that sets the scale of a point for "self-tuning".
    scale_factor : float, default 1.0
        Factor > 0 in the exponent.
    metric : {"euclidean", "cosine"}, default "euclidean"
        Distance between points.
    symmetrize : {"max", "mean", "min"}, default "max"
        How to combine the two directions.
    search : {"exact", "approximate"}, default "exact"
        "exact" looks into every block of points that could hold a neighbor, which in many dimensions are nearly all.
        "approximate" looks only into `probes` of them for every point; the recall is measured.
    probes : int, default 16
        Number of blocks to look into for every point when the search is approximate.
    block : int, default 16384
        Points that are compared together; a few blocks are in memory at a time.
    order : {"given", "cells"}, default "given"
        Numbers of the vertices: as the points come, or by cells of space, so that few edges join different shards.
    labels : str or path-like, optional
        A ``.npy`` file of labels of the points, integers or strings.
    seed : int, default 0
        Seed of the sample that cells are made from, and of that which measures the recall.
    name : str, optional
        Name of the graph.
    overwrite : bool, default False
        Whether to replace an existing directory, if cotherm wrote it.
    advice : str, optional
        What to do about a directory that exists, in the message that refuses it.
    ranks : Ranks, optional
        The processes that do this together, see :func:`cotherm.ranks.world`. By default this one alone.

    Returns
    -------
    NeighborShards
        The graph and the recall. It unpacks as a tuple.

    Raises
    ------
    CothermError
        If an argument or a file cannot be used, or the disk is full: then nothing is left behind.

    Warns
    -----
    CothermWarning
        If the recall is below 0.95, or if rows are zero under "cosine".

    See Also
    --------
    knn_graph : The same in memory.
    shard_graph : Shards from a file of a graph.

    Notes
    -----
    Where several points are equally far as the k-th neighbor, another one may be taken than by
    :func:`cotherm.knn_graph`.

    Points are sorted into cells of space, from a sample, and cells are cut into blocks. Each rank searches for the
    neighbors of its blocks, first in the block itself, then in all others whose bounding box and ball are no
    farther than the k-th neighbor so far. Disk: the points once more, and 16 k bytes a point, until it is done.

    Examples
    --------
    >>> import cotherm as ct
    >>> import numpy as np, tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = pathlib.Path(folder)
    ...     np.save(place / "points.npy", [[0.0], [1.0], [2.0], [10.0]])
    ...     graph, recall = ct.shard_knn_graph(place / "points.npy", place / "knn.shards", k=1, scale=None)
    ...     graph.to_graph().edges.tolist()
    [[0, 1], [1, 2], [2, 3]]
    """
    name = checked_name(name)
    recipe = _Recipe(
        validation.integer("k", k, least=1),
        checked_scale(scale, ("self-tuning", "median")),
        validation.integer("scale_neighbor", scale_neighbor, least=1),
        validation.real("scale_factor", scale_factor, positive=True),
        validation.choice("metric", metric, METRICS),
        validation.choice("symmetrize", symmetrize, ("max", "mean", "min")),
    )
    search = validation.choice("search", search, ("exact", "approximate"))
    order = validation.choice("order", order, ("given", "cells"))
    block = validation.integer("block", block, least=2)
    probes = validation.integer("probes", probes, least=1)
    seed = validation.integer("seed", seed, least=0, most=2**32 - 1)
    if parts is not None:
        parts = validation.integer("parts", parts, least=1, most=MOST_SHARDS)
    require_equal(ranks, "arguments", (recipe, parts, search, probes, block, order, str(path), seed))
    with staged(ranks, path, overwrite=overwrite, advice=advice) as folder:
        scratch = folder / "scratch"
        with together(ranks):
            if ranks.rank == 0:
                scratch.mkdir()
        files, extras = _opened(ranks, points, labels, recipe, scratch)
        layout = lay_out(ranks, files, recipe.metric, block, scratch, seed)
        _warn_of_zero_rows(ranks, layout)
        table, recall = _neighbors(ranks, layout, recipe, probes if search == "approximate" else None, scratch, seed)
        shards = parts or max(ranks.size, -(-layout.n * recipe.k // limits.SHARD_EDGES))
        starts = layout.n * np.arange(shards + 1) // shards
        buckets = _edges(ranks, layout, recipe, table, scratch, starts, order)
        written = _extras(ranks, layout, extras, folder, starts, order)
        names = tuple(one for one in EXTRAS if one in {*extras, *(["original"] if order == "cells" else [])})
        merge = symmetrized(recipe.symmetrize)
        assemble(ranks, folder, scratch, buckets, starts, merge, written, name=name, order=order, extras=names)
        with together(ranks):
            if ranks.rank == 0:
                shutil.rmtree(scratch)
    return NeighborShards(ShardedGraph.open(path), recall)


def _opened(
    ranks: Ranks, points: PointPaths, labels: str | os.PathLike[str] | None, recipe: _Recipe, scratch: Path
) -> tuple[PointFiles, dict[str, Rows]]:
    """The points, the same on all ranks, and the extras of vertices; one rank parses text."""
    extras: dict[str, Rows] = {}
    files: PointFiles | None = None
    with together(ranks):
        if ranks.rank == 0:
            files = PointFiles.open(points, scratch)
    with together(ranks):
        files = files or PointFiles.open(points, scratch, parse=False)
        _require_enough(recipe, files.shape[0])
        if files.shape[1] <= _DRAWABLE:
            extras["coordinates"] = files
        if labels is not None:
            extras["labels"] = array_file.describe(atomic.as_path(labels))
            vertex_rows.check("labels", extras["labels"], files.shape[0])
    assert files is not None
    require_equal(ranks, "points", (str(points), files.key()))
    return files, extras


def _require_enough(recipe: _Recipe, n: int) -> None:
    for argument, number in (("k", recipe.k), ("scale_neighbor", recipe.sought)):
        if number >= n:
            given = f"{number} neighbors among n = {n} points"
            raise CothermError(argument, given, f"at most {n - 1}, one less than there are points")


def _warn_of_zero_rows(ranks: Ranks, layout: Layout) -> None:
    zero = layout.n - layout.count
    if zero and ranks.rank == 0:
        warnings.warn(
            f"points: {zero} of {layout.n} rows are zero and have no direction: under the cosine metric "
            "they have no neighbors and are nobody's neighbor",
            CothermWarning,
            stacklevel=3,
        )


@dataclass(frozen=True)
class _Table:
    """Neighbors of all rows of a layout, in files: where they are, distances to them, and σ of every row."""

    place: ArrayFile
    distance: ArrayFile
    sigma: ArrayFile


def _neighbors(
    ranks: Ranks, layout: Layout, recipe: _Recipe, probes: int | None, scratch: Path, seed: int
) -> tuple[_Table, float]:
    """Search for all neighbors, and measure the recall where it may be less than 1."""
    with together(ranks):
        if recipe.sought >= layout.count:
            given = f"{recipe.sought} neighbors among {layout.count} points that are not zero"
            raise CothermError("k", given, f"at most {max(layout.count - 1, 0)}")
        if ranks.rank == 0:
            array_file.allocate(scratch / "place.npy", (layout.count, recipe.k), np.dtype("<i8"))
            array_file.allocate(scratch / "distance.npy", (layout.count, recipe.k), np.dtype("<f8"))
            array_file.allocate(scratch / "sigma.npy", (layout.count,), np.dtype("<f8"))
    table = _Table(*(array_file.describe(scratch / f"{one}.npy") for one in ("place", "distance", "sigma")))
    mine = dealt_blocks(ranks, layout.starts)
    sample = np.sort(np.random.default_rng(seed).choice(layout.count, min(layout.count, _SAMPLE), replace=False))
    right, judged, least = 0, 0, np.inf
    with together(ranks):
        search = BlockSearch(layout, recipe.sought, probes)
        for block in track(mine, total=len(mine), label="neighbors"):
            start, stop = layout.span(block)
            found = search.of_block(block)
            table.place.put(start, found.place[:, : recipe.k])
            table.distance.put(start, found.distance[:, : recipe.k])
            sigma = _sigma_of_rows(found.distance, recipe)
            table.sigma.put(start, sigma)
            least = min(least, float(np.min(sigma[sigma > 0], initial=np.inf)))
            rows = sample[(sample >= start) & (sample < stop)] - start
            if probes is not None and len(rows):
                true = search.exactly(block, rows).distance[:, recipe.k - 1 : recipe.k]
                right += int(np.count_nonzero(found.distance[rows, : recipe.k] <= true * (1 + 1e-12)))
                judged += len(rows) * recipe.k
    told = ranks.gather((right, judged, least))
    recall = 1.0 if probes is None else sum(one for one, _, _ in told) / sum(one for _, one, _ in told)
    _warn_if_low(ranks, recall)
    _fill_sigma(ranks, layout, recipe, table, mine, min(one for _, _, one in told))
    return table, recall


def _warn_if_low(ranks: Ranks, recall: float) -> None:
    if recall < _GOOD_RECALL and ranks.rank == 0:
        warnings.warn(
            f"search: only {recall:.1%} of the true neighbors were found; use 'exact', or more probes",
            CothermWarning,
            stacklevel=4,
        )


def _sigma_of_rows(distance: Floats, recipe: _Recipe) -> Floats:
    """σ from the neighbors of the rows alone; infinite where all of them are copies."""
    if recipe.scale == "self-tuning":
        return kernel.own_sigma(distance, recipe.scale_neighbor)
    return np.full(len(distance), recipe.scale if isinstance(recipe.scale, float) else 1.0)


def _fill_sigma(ranks: Ranks, layout: Layout, recipe: _Recipe, table: _Table, mine: range, least: float) -> None:
    """Values that need all rows: the median, and σ of points whose neighbors are all copies."""
    first, last = _rows_of(layout, mine)

    def blocks() -> Iterator[Floats]:
        for block in mine:
            d = table.distance.read(*layout.span(block))
            yield d[np.isfinite(d)]

    if recipe.scale == "median":
        count = sum(ranks.gather(sum(len(one) for one in blocks())))
        sigma = median(ranks, blocks, count)
        if sigma == 0.0:
            smallest = min((float(np.min(one[one > 0], initial=np.inf)) for one in blocks()), default=np.inf)
            sigma = min(ranks.gather(smallest))
            sigma = sigma if np.isfinite(sigma) else 1.0
        with together(ranks):
            table.sigma.put(first, np.full(last - first, sigma))
    elif recipe.scale == "self-tuning":
        instead = least if np.isfinite(least) else 1.0
        with together(ranks):
            for block in mine:
                start, stop = layout.span(block)
                values = table.sigma.read(start, stop)
                if np.isinf(values).any():
                    table.sigma.put(start, np.where(np.isinf(values), instead, values))


def _rows_of(layout: Layout, blocks: range) -> tuple[int, int]:
    return int(layout.starts[blocks.start]), int(layout.starts[blocks.stop])


def _edges(
    ranks: Ranks, layout: Layout, recipe: _Recipe, table: _Table, scratch: Path, starts: Ints, order: str
) -> Buckets:
    """Weighted edges from every row to its neighbors, on their way to shards."""
    buckets = Buckets(scratch, "edges", len(starts) - 1, EDGE, ranks.rank)
    mine = dealt_blocks(ranks, layout.starts)
    with together(ranks):
        for block in track(mine, total=len(mine), label="weights"):
            start, stop = layout.span(block)
            place, d = table.place.read(start, stop), table.distance.read(start, stop)
            there = place >= 0
            row = np.broadcast_to(np.arange(start, stop)[:, np.newaxis], place.shape)[there]
            other, d = place[there], d[there]
            w = np.ones(len(d)) if recipe.scale is None else _weights(table, row, other, d, recipe.scale_factor)
            i, j = (row, other) if order == "cells" else (vertex_rows.taken(layout.ids, one) for one in (row, other))
            records = np.zeros(len(d), EDGE)
            records["i"], records["j"], records["w"] = np.minimum(i, j), np.maximum(i, j), w
            buckets.add(shard_of(starts, records["i"]), records)
    return buckets


def _weights(table: _Table, row: Ints, other: Ints, d: Floats, factor: float) -> Floats:
    ends = np.concatenate([row, other])
    sigma = vertex_rows.taken(table.sigma, ends)
    count = len(row)
    return kernel.gaussian(d, np.arange(count), np.arange(count, 2 * count), sigma, factor)


def _extras(ranks: Ranks, layout: Layout, extras: dict[str, Rows], folder: Path, starts: Ints, order: str) -> Files:
    """Coordinates, labels and original numbers of the vertices of every shard."""
    files: Files = {}
    with together(ranks):
        for shard in dealt(len(starts) - 1, ranks):
            span = slice(int(starts[shard]), int(starts[shard + 1]))
            original = layout.ids.read(span.start, span.stop) if order == "cells" else None
            for extra, rows in extras.items():
                files |= vertex_rows.write_some(folder, shard, extra, rows, span, original)
            if original is not None:
                files |= vertex_rows.save(folder, shard, "original", original)
    return files
