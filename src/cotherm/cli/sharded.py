"""``cotherm couple`` of sharded graphs, and of files by several processes."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cotherm.cli import outputs
from cotherm.errors import CothermError, visible
from cotherm.io import atomic
from cotherm.io.text_table import open_text_table
from cotherm.ranks import Ranks, together

_STORED = "stored"


def are_shards(views: list[str]) -> bool:
    """Whether all views are directories of shards; some of them are refused."""
    from cotherm.graphs.sharded.header import FILE

    directories = [(Path(one) / FILE).is_file() for one in views]
    if any(directories) and not all(directories):
        other = views[directories.index(False)]
        raise CothermError(other, "a file beside shards", "shards too", "Make them: cotherm shard FILE --out DIRECTORY")
    return all(directories)


@contextmanager
def one_speaks(world: Ranks) -> Iterator[None]:
    """What is printed is printed by one process."""
    if world.rank == 0:
        yield
        return
    kept = sys.stdout
    with Path(os.devnull).open("w") as nowhere:
        sys.stdout = nowhere
        try:
            yield
        finally:
            sys.stdout = kept


def run(options: argparse.Namespace, world: Ranks) -> None:
    """Couple sharded graphs, on one process or several."""
    from cotherm.graphs.sharded.staging import require_free_directory
    from cotherm.methods.coupling.couple_shards import couple_shards

    with together(world):
        _refuse_others(options)
        require_free_directory(options.out, overwrite=options.force, advice="Pass --force to replace it.")
    sources = _sources(options, world)
    result = couple_shards(
        options.views,
        options.out,
        **sources,
        times=options.times,
        alpha=options.alpha,
        rigidity=options.rigidity,
        graph_weights=options.graph_weights,
        continuation=options.continuation,
        tolerance=1e-6 if options.tolerance is None else options.tolerance,
        max_iterations=2_000 if options.max_iterations is None else options.max_iterations,
        max_seconds=options.max_seconds,
        memory=options.memory,
        precision=options.precision,
        overwrite=options.force,
    )
    report = {"out": str(options.out), **result.summary()}
    before, after = (", ".join(f"{x:.4g}" for x in one) for one in (result.coupling_before, result.coupling))
    lines = [
        f"Heat kernel coupling of {len(result.graphs)} sharded graphs: {result.status}, {result.seconds:.2g} s",
        *(f"  {g.name or g.path.name}: {g.n:,} vertices, {g.m:,} edges" for g in result.graphs),
        f"  cost {result.cost:.6g}, of which distance {result.distance:.6g}",
        f"  coupling error at t = {', '.join(f'{t:.4g}' for t in result.times)}: {before} before, {after} after",
        "",
        f"Written: {visible(str(options.out))}",
    ]
    outputs.say(report, "\n".join(lines), as_json=options.json)


def _refuse_others(options: argparse.Namespace) -> None:
    if not (options.labels or options.landmarks or options.functions):
        raise CothermError(
            "--landmarks", "nothing that says what corresponds", "--landmarks, --functions or --labels stored"
        )
    for name in ("function_weights", "known", "column"):
        if getattr(options, name) is not None:
            given = str(getattr(options, name))
            raise CothermError(f"--{name.replace('_', '-')}", given, "to be left out: sharded graphs do not take it")
    if options.paired:
        raise CothermError("--paired", "sharded graphs", "--landmarks, --functions or --labels stored")
    if options.labels and options.labels != [_STORED]:
        given = " ".join(options.labels)
        raise CothermError("--labels", given, f"the word {_STORED}: sharded graphs hold their labels")


def _sources(options: argparse.Namespace, world: Ranks) -> dict[str, Any]:
    if options.labels:
        return {"labels": True}
    if options.functions:
        return {"functions": options.functions}
    import numpy as np

    from cotherm.cli.header import header_of
    from cotherm.graphs.sharded.store import ShardedGraph
    from cotherm.methods.coupling.shard_views import find_vertices

    with together(world):
        place = atomic.as_path(options.landmarks)
        rows = [row.cells for row in open_text_table(place).rows()]
        if header_of(options).said(place):
            rows = rows[1:]
        graphs = [ShardedGraph.open(one) for one in options.views]
        if not rows or any(len(row) not in (1, len(graphs)) for row in rows):
            raise CothermError(str(place), "no such table", f"a row for each landmark, {len(graphs)} columns or one")
    columns = []
    for k, graph in enumerate(graphs):
        cells = [row[k if len(row) > 1 else 0] for row in rows]
        columns.append(find_vertices(world, graph, cells, str(place)))
    return {"landmarks": np.column_stack(columns)}
