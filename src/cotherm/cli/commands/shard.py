"""``cotherm shard``: a graph of any size, or points, in; a directory of shards out."""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

from cotherm import ranks
from cotherm.cli import options as declare
from cotherm.cli import outputs
from cotherm.cli.summary import about_shards
from cotherm.errors import CothermError
from cotherm.graphs.sharded.convert import shard_graph
from cotherm.graphs.sharded.knn.build import shard_knn_graph
from cotherm.graphs.sharded.staging import require_free_directory
from cotherm.graphs.sharded.store import ShardedGraph
from cotherm.io import atomic
from cotherm.ranks import Ranks

ABOUT = """\
Writes a graph as a directory of shards, of which processes read their own part: Parquet files of edges. An
edge list of numbers (.csv, .tsv, .txt, also .gz) is read in a stream and never held in memory; .npz, .mtx
and .graphml are read whole.

Of points, a .npy file, several or a directory of them, it makes the graph of nearest neighbors; with
--neighbors also of text tables of numbers.

It may be started by mpiexec: all processes then work on the same directory.
"""
EXAMPLES = """\
  cotherm graph images.csv --out images.npz --force
  cotherm shard images.npz --parts 4 --out images.shards
  cotherm info images.shards
  mpiexec -n 4 python -m cotherm shard edges.csv.gz --parts 64 --out big.shards
  mpiexec -n 4 python -m cotherm shard points/ --neighbors 10 --order cells --out knn.shards
"""
# Options that points alone have.
_POINTS = ("neighbors", "scale", "metric", "symmetrize", "search", "probes")

_OPTIONS = (
    {"files": declare.files("a graph, or points: .npy files or a directory of them")},
    declare.out("the shards, such as graph.shards", "DIRECTORY"),
    {
        "--parts": declare.value(declare.integer, "N", "number of shards (one for some eight million edges)"),
        "--order": declare.choice(
            ["given", "partition", "cells"],
            "numbers of vertices: as given, by PETSc's graph partitioner, or for points by cells of space; near ones "
            "then share a shard (given)",
            default="given",
        ),
        "--name": declare.value(str, "NAME", "name of the graph (that of the file)"),
    },
    declare.group(
        "graphs from points",
        {
            "--neighbors -k": declare.value(declare.integer, "K", "number of neighbors of each point (10)"),
            "--scale": declare.value(
                declare.either(declare.number, "self-tuning", "median", "none"),
                "S",
                "scale of the Gaussian weights: self-tuning (the default), median, none, or a number",
            ),
            "--metric": declare.choice(["euclidean", "cosine"], "distance between points (euclidean)"),
            "--symmetrize": declare.choice(
                ["max", "mean", "min"], "weight of pairs that are not mutual neighbors (max)"
            ),
            "--search": declare.choice(
                ["exact", "approximate"],
                "look into all blocks of points that could hold a neighbor, or into some and measure the recall "
                "(exact)",
            ),
            "--probes": declare.value(declare.integer, "N", "how many blocks those are (16)"),
        },
    ),
)


def _run(options: argparse.Namespace) -> None:
    world = ranks.world()
    with ranks.together(world):
        require_free_directory(options.out, overwrite=options.force, advice="Pass --force to replace it.")
    places = [atomic.as_path(one) for one in options.files]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        graph, recall = _made(places, options, world)
    if world.rank == 0:
        report, text = about_shards(graph)
        if recall is not None:
            report["recall"] = recall
            text += f"\n  recall of the search {recall:.4g}"
        for one in told:
            outputs.tell(f"note: {one.message}")
        outputs.say_written({"out": str(graph.path), **report}, text, [graph.path], as_json=options.json)


def _made(places: list[Path], options: argparse.Namespace, world: Ranks) -> tuple[ShardedGraph, float | None]:
    """The graph; the recall where it was made from points."""
    given = {one: getattr(options, one) for one in _POINTS if getattr(options, one) is not None}
    shards = {"parts": options.parts, "order": options.order, "overwrite": options.force, "ranks": world}
    if "neighbors" in given or all(place.suffix.lower() == ".npy" or place.is_dir() for place in places):
        if options.order == "partition":
            raise CothermError("--order", options.order, "given or cells, for points")
        if "probes" in given and given.get("search", "exact") == "exact":
            raise CothermError("--probes", f"{options.probes} for an exact search", "--search approximate")
        rare: dict[str, Any] = {name: given.pop(name) for name in ("symmetrize", "probes") if name in given}
        if options.scale == "none":
            given["scale"] = None
        k = given.pop("neighbors", 10)
        rare["name"] = options.name or places[0].stem
        return shard_knn_graph(
            places[0] if len(places) == 1 else places, options.out, k, **shards, **given, options=rare
        )
    for option in given:
        needed = "points: .npy files, or a directory of them"
        raise CothermError(f"--{option}", f"given with {places[0]}, which is a graph", needed)
    if len(places) > 1:
        raise CothermError("FILE", f"{len(places)} files", "one graph, or points in .npy files")
    if options.order == "cells":
        raise CothermError("--order", "cells", "given or partition, for a graph")
    return shard_graph(places[0], options.out, **shards, name=options.name), None


COMMANDS = {"shard": declare.Command(ABOUT, EXAMPLES, _OPTIONS, _run)}
