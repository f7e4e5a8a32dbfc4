"""``cotherm couple`` of sharded graphs, and of files by several processes."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cotherm.cli import outputs
from cotherm.cli.correspondence import first_line, landmark_columns
from cotherm.cli.inputs import read_headers
from cotherm.cli.options import refuse_given
from cotherm.errors import CothermError, visible
from cotherm.graphs.sharded.staging import require_free_directory
from cotherm.graphs.sharded.store import FILE, ShardedGraph
from cotherm.methods.coupling.couple import couple
from cotherm.methods.pairs.couple_pairs import couple_pairs
from cotherm.ranks import Ranks, together

if TYPE_CHECKING:
    from cotherm.methods.coupling.shards import ShardedCoupling

_STORED = "stored"
_MAKE = "Make them: cotherm shard FILE --out DIRECTORY"
# Number of names that are compared to see whether a row holds names.
_NAMES = 1_000


def are_shards(views: list[str]) -> bool:
    """Whether all views are directories of shards; a mixture is refused, and so are other directories."""
    for view in views:
        place = Path(view)
        if not (place / FILE).is_file() and (place.is_dir() or (place.suffix == ".shards" and not place.exists())):
            given = f"a directory without {FILE}" if place.is_dir() else "no such directory"
            raise CothermError(view, given, "files, or directories of shards", _MAKE)
    directories = [(Path(one) / FILE).is_file() for one in views]
    if any(directories) and not all(directories):
        other = views[directories.index(False)]
        raise CothermError(other, "a file beside shards", "shards too", _MAKE)
    return all(directories)


@contextmanager
def one_speaks(world: Ranks) -> Iterator[None]:
    """Only one process prints."""
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(sys.stdout if world.rank == 0 else nowhere):
        yield


def run(options: argparse.Namespace, world: Ranks) -> None:
    """Couple sharded graphs, on one process or several."""
    with together(world):
        _refuse_others(options)
        require_free_directory(options.out, overwrite=options.force, advice="Pass --force to replace it.")
        by = next((name for name in ("labels", "landmarks", "functions") if getattr(options, name)), "pairs")
        outputs.announce([first_line(by, options)], as_json=options.json)
    sources = _sources(options, world)
    with outputs.told_of_checkpoint(options.checkpoint):
        result = _coupled(options, sources)
    outputs.drop_checkpoint(options.checkpoint, result.status, world)
    report = {"out": str(options.out), "by": by, **result.summary()}
    outputs.say(report, f"{result}\n\nWritten: {visible(str(options.out))}", as_json=options.json)


def _coupled(options: argparse.Namespace, sources: dict[str, Any]) -> ShardedCoupling:
    from cotherm.cli.commands.couple import RARE, RARE_OF_FUNCTIONS, rare_options

    rare = rare_options(options, *RARE, *RARE_OF_FUNCTIONS) | {"out": options.out, "overwrite": options.force}
    given: dict[str, Any] = {"max_seconds": options.max_seconds, "checkpoint": options.checkpoint, "engine": "petsc"}
    if "pairs" in sources:
        rare |= rare_options(options, "graph_weights")
        return couple_pairs(
            options.views, sources["pairs"], times=options.times, alpha=options.alpha, **given, options=rare
        )
    given |= {"graph_weights": options.graph_weights, "options": rare}
    return couple(options.views, sources["functions"], options.times, options.alpha, **given)


def _refuse_others(options: argparse.Namespace) -> None:
    if not (options.labels or options.landmarks or options.features or options.functions or options.paired):
        needed = "--paired, --landmarks, --functions or --labels stored"
        raise CothermError("--landmarks", "nothing that says what corresponds", needed)
    refuse_given(options, ("known", "column"), "to be left out: sharded graphs do not take it")
    if options.features:
        raise CothermError("--features", " ".join(options.features), "to be left out: sharded graphs take functions")
    others = [f"--{name}" for name in ("labels", "landmarks", "functions") if getattr(options, name)]
    if options.paired and others:
        raise CothermError("--paired", f"beside {others[0]}", "one of them: sharded graphs take no labels to judge by")
    if options.borrow not in ("auto", 0.0):
        raise CothermError("--borrow", str(options.borrow), "0, or to be left out: sharded graphs do not borrow")
    refuse_given(options, ["include-unrelated"], "to be left out: whether sharded graphs are related is not tested")
    if options.labels and options.labels != [_STORED]:
        given = " ".join(options.labels)
        raise CothermError("--labels", given, f"the word {_STORED}: sharded graphs hold their labels")


def _sources(options: argparse.Namespace, world: Ranks) -> dict[str, Any]:
    if options.paired:
        return {"pairs": _how_paired(options.views, world)}
    if options.labels:
        return {"functions": "labels"}
    if options.functions:
        return {"functions": options.functions}
    from cotherm.methods.coupling.shard_views import find_vertices

    with together(world):
        graphs = [ShardedGraph.open(one) for one in options.views]
        names, most = list(map(_some_names, graphs)), max(graph.n for graph in graphs)
        columns, _ = landmark_columns(options.landmarks, read_headers(options), names, most)
    found = [find_vertices(world, *of, options.landmarks) for of in zip(graphs, columns, strict=True)]
    return {"functions": {"landmarks": np.column_stack(found)}}


def _how_paired(views: list[str], world: Ranks) -> str:
    """Landmarks by name if all graphs have names of vertices, else by number."""
    with together(world):
        named = [ShardedGraph.open(view).has("vertex_names") for view in views]
        if any(named) and not all(named):
            without = views[named.index(False)]
            raise CothermError(without, "no names of vertices, though another view has some", "names in all, or none")
    return "names" if all(named) else "same"


def _some_names(graph: ShardedGraph) -> set[str] | None:
    """Some of the names of the vertices; None if they have only numbers."""
    if not graph.has("vertex_names"):
        return None
    return set(map(str, graph.read_vertices("vertex_names", 0, min(graph.n, _NAMES)).tolist()))
