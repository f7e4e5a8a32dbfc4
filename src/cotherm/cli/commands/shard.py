"""``cotherm shard``: a graph of any size, or points, in; a directory of shards out."""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cotherm.cli import options as declare
from cotherm.errors import CothermError

if TYPE_CHECKING:
    from cotherm.graphs.sharded.store import ShardedGraph
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
_POINTS = {"neighbors": 10, "scale": "self-tuning", "metric": "euclidean", "symmetrize": "max", "search": "exact"}


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


def run(options: argparse.Namespace) -> None:
    from cotherm import ranks
    from cotherm.cli.outputs import say_written
    from cotherm.cli.summary import about_shards
    from cotherm.graphs.sharded.staging import require_free_directory
    from cotherm.io import atomic

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
        _tell(told)
        say_written({"out": str(graph.path), **report}, text, [graph.path], as_json=options.json)


def _made(places: list[Path], options: argparse.Namespace, world: Ranks) -> tuple[ShardedGraph, float | None]:
    """The graph; the recall where it was made from points."""
    points = all(place.suffix.lower() == ".npy" or place.is_dir() for place in places)
    if points or options.neighbors is not None:
        return _of_points(places, options, world)
    from cotherm.graphs.sharded.convert import shard_graph

    for option in (*_POINTS, "probes"):
        if getattr(options, option) is not None:
            given = f"given with {places[0]}, which is a graph"
            raise CothermError(f"--{option}", given, "points: .npy files, or a directory of them")
    if len(places) > 1:
        raise CothermError("FILE", f"{len(places)} files", "one graph, or points in .npy files")
    if options.order == "cells":
        raise CothermError("--order", "cells", "given or partition, for a graph")
    graph = shard_graph(
        places[0],
        options.out,
        options.parts,
        order=options.order,
        name=options.name,
        overwrite=options.force,
        ranks=world,
    )
    return graph, None


def _of_points(places: list[Path], options: argparse.Namespace, world: Ranks) -> tuple[ShardedGraph, float | None]:
    from cotherm.graphs.sharded.knn.build import shard_knn_graph

    if options.order not in ("given", "cells"):
        raise CothermError("--order", options.order, "given or cells, for points")
    said = {one: getattr(options, one) for one in _POINTS}
    chosen: dict[str, Any] = {one: _POINTS[one] if value is None else value for one, value in said.items()}
    if chosen["scale"] == "none":
        chosen["scale"] = None
    rare = {"symmetrize": chosen.pop("symmetrize"), "name": options.name or places[0].stem}
    if options.probes is not None:
        if chosen["search"] == "exact":
            raise CothermError("--probes", f"{options.probes} for an exact search", "--search approximate")
        rare["probes"] = options.probes
    return shard_knn_graph(
        places[0] if len(places) == 1 else places,
        options.out,
        chosen.pop("neighbors"),
        parts=options.parts,
        order=options.order,
        overwrite=options.force,
        ranks=world,
        **chosen,
        options=rare,
    )


def _tell(told: list[warnings.WarningMessage]) -> None:
    from cotherm.cli.outputs import tell

    for one in told:
        tell(f"note: {one.message}")


COMMANDS = {"shard": declare.Command(ABOUT, EXAMPLES, _OPTIONS, run)}
