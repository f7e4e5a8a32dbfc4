"""The graph of nearest neighbors of points in files, as shards: ``knn_graph`` for points that no process could hold."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from cotherm import limits, validation
from cotherm.arrays import Floats
from cotherm.errors import CothermError
from cotherm.graphs import kernel
from cotherm.graphs.search.neighbors import warn_if_low
from cotherm.graphs.search.points import METRICS, warn_of_zero_rows
from cotherm.graphs.sharded.knn.layout import Layout, dealt_blocks, lay_out
from cotherm.graphs.sharded.knn.points import PointFiles, PointPaths
from cotherm.graphs.sharded.knn.search import BlockSearch
from cotherm.graphs.sharded.staging import SCRATCH, staged
from cotherm.graphs.sharded.store import MOST_SHARDS, ShardedGraph
from cotherm.graphs.sharded.writing import Buckets, Records, ShardWriter, dealt, edges, repeated, taken
from cotherm.graphs.validation import checked_name, checked_scale
from cotherm.io import array_file, atomic
from cotherm.io.array_file import ArrayFile
from cotherm.progress import track
from cotherm.ranks import ONE, Ranks, from_first, require_equal, together

# Rows whose true neighbors are found to measure the recall.
_SAMPLE = 200
_DRAWABLE = 3
# Edges weighed together.
_EDGES_AT_ONCE = 2**20
# σ of a vertex on its way to a file of all.
_SCALE = np.dtype([("vertex", "<i4"), ("sigma", "<f8")])
# Bits of a number that are looked at together for the median.
_BITS = 16
# The options, with their defaults.
_RARE = {"symmetrize": "max", "probes": 16, "block": 16_384, "seed": 0, "name": None}
_RARE |= {"scale_neighbor": 7, "scale_factor": 1.0}


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


def shard_knn_graph(
    points: PointPaths,
    path: str | os.PathLike[str],
    k: int = 10,
    *,
    parts: int | None = None,
    scale: str | float | None = "self-tuning",
    metric: str = "euclidean",
    search: str = "exact",
    order: str = "given",
    labels: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    ranks: Ranks = ONE,
    options: Mapping[str, Any] | None = None,
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
    metric : {"euclidean", "cosine"}, default "euclidean"
        Distance between points.
    search : {"exact", "approximate"}, default "exact"
        "exact" looks into every block of points that could hold a neighbor, which in many dimensions are nearly all.
        "approximate" looks only into some of them for every point; the recall is measured.
    order : {"given", "cells"}, default "given"
        Numbers of the vertices: as the points come, or by cells of space, so that few edges join different shards.
    labels : str or path-like, optional
        A ``.npy`` file of labels of the points, integers or strings.
    overwrite : bool, default False
        Whether to replace an existing directory, if cotherm wrote it.
    ranks : Ranks, optional
        The processes that do this together, see :func:`cotherm.ranks.world`. By default this one alone.
    options : mapping, optional
        What few need. As in :func:`cotherm.knn_graph`: ``scale_neighbor``, ``scale_factor``, ``symmetrize`` and
        ``name``. ``probes``, default 16: blocks that an approximate search looks into for every point. ``block``,
        default 16384: points that are compared together; a few blocks are in memory at a time. ``seed``, default 0, of
        the sample that cells are made from, and of that which measures the recall.

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
    farther than the k-th neighbor so far. Disk: the points twice, and 16 k bytes a point, until it is done.

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
    recipe = SimpleNamespace(
        k=validation.integer("k", k, least=1),
        scale=checked_scale(scale, ("self-tuning", "median")),
        metric=validation.choice("metric", metric, METRICS),
        search=validation.choice("search", search, ("exact", "approximate")),
        order=validation.choice("order", order, ("given", "cells")),
        parts=None if parts is None else validation.integer("parts", parts, least=1, most=MOST_SHARDS),
        **_checked_options(options),
    )
    recipe.sought = max(recipe.k, recipe.scale_neighbor) if recipe.scale == "self-tuning" else recipe.k
    require_equal(ranks, "arguments", (recipe, str(path), str(points)))
    with staged(ranks, path, overwrite=overwrite) as folder:
        scratch = folder / SCRATCH
        files, extras = _opened(ranks, points, labels, recipe, scratch)
        layout = lay_out(ranks, files, recipe.metric, recipe.block, scratch, recipe.seed)
        if ranks.rank == 0:
            warn_of_zero_rows("points", layout.n - layout.count, layout.n)
        shards = recipe.parts or max(ranks.size, -(-layout.n * recipe.k // limits.SHARD_EDGES))
        writer = ShardWriter(ranks, folder, layout.n * np.arange(shards + 1) // shards)
        weigh, recall = _add_neighbors(ranks, layout, recipe, writer, scratch)
        if ranks.rank == 0:
            warn_if_low(recall, "more probes")
        original = None if recipe.order == "given" else layout.ids.read
        merge = partial(_merged, recipe.symmetrize, weigh)
        writer.finish(merge, extras, original, name=recipe.name, order=recipe.order)
    return NeighborShards(ShardedGraph.open(path), recall)


def _checked_options(options: Mapping[str, Any] | None) -> dict[str, Any]:
    rare = validation.options_of(options, _RARE)
    return {
        "scale_neighbor": validation.integer("scale_neighbor", rare["scale_neighbor"], least=1),
        "scale_factor": validation.real("scale_factor", rare["scale_factor"], positive=True),
        "symmetrize": validation.choice("symmetrize", rare["symmetrize"], ("max", "mean", "min")),
        "probes": validation.integer("probes", rare["probes"], least=1),
        "block": validation.integer("block", rare["block"], least=2),
        "seed": validation.integer("seed", rare["seed"], least=0, most=2**32 - 1),
        "name": checked_name(rare["name"]),
    }


def _merged(how: str, weigh: Callable[[Records], Floats], records: Records) -> Records:
    """One record for the one or two of each edge, of which ``w`` is the distance: "max", "mean" or "min" of weights.

    Weights of both directions are the same, so that only their number matters.
    """
    first = np.flatnonzero(~repeated(records))
    times = np.diff(np.append(first, len(records)))
    merged = records[first]
    for start in range(0, len(merged), _EDGES_AT_ONCE):
        merged["w"][start : start + _EDGES_AT_ONCE] = weigh(merged[start : start + _EDGES_AT_ONCE])
    if how == "mean":
        merged["w"] = merged["w"] * times / 2
    return merged[times == 2] if how == "min" else merged


def _opened(
    ranks: Ranks, points: PointPaths, labels: str | os.PathLike[str] | None, recipe: SimpleNamespace, scratch: Path
) -> tuple[PointFiles, dict[str, PointFiles | ArrayFile]]:
    """The points, and the extras of vertices; one rank parses text."""
    files = from_first(ranks, lambda: PointFiles.open(points, scratch))
    n, d = files.shape
    extras: dict[str, PointFiles | ArrayFile] = {"coordinates": files} if d <= _DRAWABLE else {}
    with together(ranks):
        _require_points(recipe, n, f"n = {n} points")
        if labels is not None:
            extras["labels"] = found = array_file.describe(atomic.as_path(labels))
            if found.shape != (n,) or found.dtype.kind not in "biuU":
                given = f"an array of shape {found.shape} and dtype {found.dtype}"
                raise CothermError("labels", given, f"a row for each of {n} vertices")
    return files, extras


def _require_points(recipe: SimpleNamespace, n: int, told: str) -> None:
    for argument, number in (("k", recipe.k), ("scale_neighbor", recipe.sought)):
        if number >= n:
            given, needed = (
                f"{number} neighbors among {told}",
                f"at most {max(n - 1, 0)}, one less than there are points",
            )
            raise CothermError(argument, given, needed)


def _add_neighbors(
    ranks: Ranks, layout: Layout, recipe: SimpleNamespace, writer: ShardWriter, scratch: Path
) -> tuple[Callable[[Records], Floats], float]:
    """Search for neighbors: edges with distances, on their way to shards. How to weigh them, and the recall."""
    probes = recipe.probes if recipe.search == "approximate" else None
    with together(ranks):
        _require_points(recipe, layout.count, f"{layout.count} points that are not zero")
    mine = dealt_blocks(ranks, layout.starts)
    sample = np.sort(np.random.default_rng(recipe.seed).choice(layout.count, min(layout.count, _SAMPLE), replace=False))
    scales = Buckets(scratch, "scales", writer.starts, _SCALE, ranks)
    right, judged, least = 0, 0, np.inf
    with together(ranks):
        search = BlockSearch(layout, recipe.sought, probes)
        for block in track(mine, total=len(mine), label="neighbors"):
            start, stop = layout.span(block)
            found = search.of_block(block)
            given = recipe.order == "given"
            vertices = layout.ids.read(start, stop) if given else np.arange(start, stop)
            others, d = (found.ids if given else found.place)[:, : recipe.k], found.distance[:, : recipe.k]
            there = others >= 0
            writer.add(edges(np.repeat(vertices, there.sum(axis=1)), others[there], d[there]))
            if recipe.scale == "self-tuning":
                rows = np.empty(len(vertices), _SCALE)
                rows["vertex"], rows["sigma"] = vertices, kernel.own_sigma(found.distance, recipe.scale_neighbor)
                scales.add(vertices, rows)
                least = min(least, float(np.min(rows["sigma"][rows["sigma"] > 0], initial=np.inf)))
            if probes is not None and len(chosen := sample[(sample >= start) & (sample < stop)] - start):
                true = search.exactly(block, chosen).distance[:, recipe.k - 1 : recipe.k]
                right += int(np.count_nonzero(d[chosen] <= true * (1 + 1e-12)))
                judged += len(chosen) * recipe.k
        scales.flush()
        writer.edges.flush()
    right, judged, least = ranks.sum(right), ranks.sum(judged), -ranks.most(-least)
    recall = right / judged if judged else 1.0
    if recipe.scale == "self-tuning":
        return _self_tuning(ranks, scales, least if np.isfinite(least) else 1.0, recipe.scale_factor, scratch), recall
    sigma = _median_distance(ranks, writer) if recipe.scale == "median" else recipe.scale
    if sigma is None:
        return lambda records: np.ones(len(records)), recall
    return lambda records: kernel.gaussian(records["w"], sigma, sigma, recipe.scale_factor), recall


def _self_tuning(
    ranks: Ranks, scales: Buckets, least: float, factor: float, scratch: Path
) -> Callable[[Records], Floats]:
    """Weights from σ of every vertex; ``least`` where only copies are near."""
    starts = scales.starts
    (file,) = from_first(ranks, lambda: array_file.allocate_all(scratch, ("sigma", (int(starts[-1]),), "<f8")))
    with together(ranks):
        for shard in dealt(len(starts) - 1, ranks):
            sigma = np.full(starts[shard + 1] - starts[shard], least)
            for rows in scales.pieces(shard):
                sigma[rows["vertex"] - starts[shard]] = np.where(np.isinf(rows["sigma"]), least, rows["sigma"])
            file.put(int(starts[shard]), sigma)

    def weigh(records: Records) -> Floats:
        return kernel.gaussian(records["w"], taken(file, records["i"]), taken(file, records["j"]), factor)

    return weigh


def _median_distance(ranks: Ranks, writer: ShardWriter) -> float:
    """As ``kernel.common_sigma``."""

    def blocks() -> Iterator[Floats]:
        for shard in dealt(len(writer.starts) - 1, ranks):
            for records in writer.edges.pieces(shard, keep=True):
                yield records["w"]

    middle = _median(ranks, blocks, ranks.sum(sum(len(one) for one in blocks())))
    least = -ranks.most(-min((float(np.min(one[one > 0], initial=np.inf)) for one in blocks()), default=np.inf))
    return middle or (least if np.isfinite(least) else 1.0)


def _median(ranks: Ranks, blocks: Callable[[], Iterable[Floats]], count: int) -> float:
    """The median of ``count`` numbers ≥ 0 on all ranks, of which ``blocks`` goes through those of this rank: exact."""
    if count == 0:
        return 0.0
    return float(np.mean([_selected(ranks, blocks, place) for place in ((count - 1) // 2, count // 2)]))


def _selected(ranks: Ranks, blocks: Callable[[], Iterable[Floats]], left: int) -> float:
    """The number with ``left`` smaller ones, digit by digit: floats ≥ 0 are ordered as their bits are."""
    prefix = 0
    for shift in range(64 - _BITS, -1, -_BITS):
        counts = np.zeros(2**_BITS, dtype=np.int64)
        for block in blocks():
            bits = np.ascontiguousarray(block).view(np.int64).ravel() >> shift
            digits = bits[bits >> _BITS == prefix] & (2**_BITS - 1)
            counts += np.bincount(digits, minlength=2**_BITS)
        below = np.cumsum(ranks.sum(counts))
        chosen = int(np.searchsorted(below, left, side="right"))
        left -= int(below[chosen - 1]) if chosen else 0
        prefix = prefix << _BITS | chosen
    return float(np.array(prefix, dtype=np.int64).view(np.float64))
