"""``cotherm couple``: the main job."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import cotherm as ct
from cotherm import ranks
from cotherm.cli import options as declare
from cotherm.cli import outputs, sharded
from cotherm.cli.advice import as_options
from cotherm.cli.correspondence import by_ids, by_options, first_line, labels_of_items, paired_rows, read_functions
from cotherm.cli.inputs import View, read_views
from cotherm.cli.outputs import announce, drop_checkpoint, tell, told_of_checkpoint
from cotherm.cli.signals import told_of_interrupts
from cotherm.cli.summary import about_coupling
from cotherm.errors import CothermError, visible
from cotherm.methods.coupling import file as coupling_file

if TYPE_CHECKING:
    from cotherm.ranks import Ranks

ABOUT = """\
Heat kernel coupling (Bronstein & Glashoff 2013). Changes edge weights as little as possible so that
heat diffuses alike on all views, which may have different sizes and items.

Rows with the same id are taken to be the same item, and nothing else is needed: no labels, no
landmarks. A part of the pairs is kept back to see how far the views agree before and after. Views
that have nothing in common with the others are left as they are, and the report says so.

Ctrl-C saves the best so far, marked as interrupted, and ends with exit code 130; a second Ctrl-C
stops at once and saves nothing. With --checkpoint FILE a run that ends early, by whatever cause,
writes no result: the same command goes on from FILE, to the same result. FILE is deleted when the
result has been written, unless --max-seconds was what ended the run.

Or say what corresponds: classes (--labels), items (--landmarks), features (--features), or functions,
which are a number at every vertex and describe the same thing in each view (--functions). Where rows
have ids in common, labels only judge, unless --by labels says otherwise. The first line that is
printed says by what is coupled.

A view is a file of points (rows of a .csv, .tsv, .txt, .npy, .xlsx, .parquet or .h5ad; an .h5mu has
a view for each modality), a mesh (.off, .obj, .ply) or a graph (.npz, .mtx, or an edge list .csv with
the header source,target,weight).

Several processes share the work: mpiexec -n 4 python -m cotherm couple ... (needs PETSc: docs/scaling.md).
Directories of shards (cotherm shard) are coupled without any process holding a whole graph; the result
is a directory too. What corresponds is then --paired (vertices with the same name, or number where none
has names), --landmarks, --functions (.npy) or --labels stored.
"""
EXAMPLES = """\
  cotherm couple images.csv words.csv --out by-id.npz
  cotherm couple images.csv words.csv --labels labels.csv --out coupled.npz --force
  cotherm couple images.csv words.csv --by labels --labels labels.csv --known 0.5 --out by-class.npz
  cotherm couple joined.csv apart.csv --neighbors 5 --landmarks hands.csv --times 5,20 --alpha 1e3 --out bodies.npz

then:
  cotherm show by-id.npz --out by-id.png
  cotherm retrieve coupled.npz --query photo-012
  cotherm common by-id.npz --clusters 7 --out by-id.csv
"""
# What couple and couple_pairs take as ``options``.
RARE = ("rigidity", "tolerance", "max_iterations")
RARE_OF_FUNCTIONS = ("function_weights", "continuation", "memory")
_OF_FUNCTIONS = (
    "landmarks",
    "features",
    "functions",
    "known",
    "graph-weights",
    "function-weights",
    "continuation",
    "memory",
)
# Arguments of both ways to couple that have an option of the same name.
_NAMED = ("times", "alpha", "rigidity", "tolerance", "max_iterations", "max_seconds", "engine", "checkpoint")
_AUTO_NUMBER = declare.either(declare.number, "auto")
_COUPLING: declare.Options = {
    "--times": declare.value(
        declare.either(declare.numbers, "auto"),
        "T,T,...",
        "times at which heat is compared, the t of exp(-tL); auto (the default) chooses them from the data",
        default="auto",
    ),
    "--alpha": declare.value(
        _AUTO_NUMBER,
        "A",
        "weight of agreement; the larger, the more edges change; auto (the default) chooses it from the data",
        default="auto",
    ),
    "--rigidity": declare.value(
        declare.numbers, "R,R,...", "penalty on changing each view (1,1,...; with pairs by how far views agree)"
    ),
    "--borrow": declare.value(
        _AUTO_NUMBER,
        "S",
        "for pairs: share of weight, from 0 to 1, that a view borrows from the others where they have the same items; "
        "auto (the default) chooses it from the data",
        default="auto",
    ),
    "--include-unrelated": declare.flag(
        "for pairs: couple views also where they have nothing in common beyond chance, or share too few items to tell"
    ),
    "--graph-weights": declare.value(
        declare.numbers, "P,P,...", "weight of each view's agreement with the others (1,1,...)"
    ),
    "--function-weights": declare.value(declare.numbers, "O,O,...", "weight of each function (1,1,...)"),
    "--continuation": declare.choice(
        ["auto", "direct", "times", "alpha"],
        "easier problems to solve first: shorter times, smaller alpha, or none (auto)",
        default="auto",
    ),
    "--tolerance": declare.value(
        declare.number,
        "E",
        "stop when the relative projected gradient is below this (1e-6); for pairs, when a step lowers the cost by "
        "less than this fraction (1e-5)",
    ),
    "--max-iterations": declare.value(declare.integer, "N", "maximum number of steps (10000; for pairs 1000)"),
    "--max-seconds": declare.value(
        declare.number, "S", "stop coupling after this time with the best so far (no limit)"
    ),
    "--memory": declare.value(
        str,
        "SIZE",
        "memory limit, such as 8GiB: what needs more is refused; auto (the default) is the free memory",
        default="auto",
    ),
    "--checkpoint": declare.value(
        str,
        "FILE",
        "keep the state of a long run in this file: if it ends early, the same command goes on from there",
    ),
    **declare.ENGINE,
}

_OPTIONS = (
    {"views": declare.files("two or more views, before options that take several files, such as --labels", "VIEW")},
    declare.out("the coupling: graphs before and after, functions and settings, as .npz"),
    declare.sources_or_pairs,
    declare.group("coupling", _COUPLING),
    *declare.POINTS,
)


def _run(options: argparse.Namespace) -> None:
    world = ranks.world()
    by = by_options(options)
    options.paired = by == "pairs" and (options.paired or options.by is not None)  # two ways to say the same
    with sharded.one_speaks(world):
        with ranks.together(world):
            is_sharded = sharded.are_shards(options.views)
        if is_sharded:
            sharded.run(options, world)
        else:
            _run_files(options, by, world)


def _run_files(options: argparse.Namespace, by: str | None, world: Ranks) -> None:
    # Of several processes each reads all files and works on a part of the graphs.
    with ranks.together(world):
        place = outputs.free_place(options.out, (".npz",), force=options.force)
        if world.size > 1 and options.engine == "gpu":
            raise CothermError("--engine", f"gpu, with {world.size} processes", "one process for a GPU, or no --engine")
        views, by = _views(options, by)
    engine = options.engine if world.size == 1 else "petsc"
    with told_of_interrupts(), told_of_checkpoint(options.checkpoint):
        couple = _by_pairs if by == "pairs" else _by_functions
        result, how = couple(views, options, place, engine)
        if result.status == "interrupted" and options.checkpoint:
            raise SystemExit(130)
    with ranks.together(world):
        if world.rank == 0:
            outputs.write(place, coupling_file.render(result), force=options.force)
    drop_checkpoint(options.checkpoint, result.status, world)
    reading = [*(view.reading for view in views), *how]
    report, text = about_coupling(result)
    text = f"\n{text}\n\nWritten: {visible(str(place))}"
    outputs.say({"out": str(place), "by": by, "read": reading, **report}, text, as_json=options.json)
    if result.status == "interrupted":
        tell(f"interrupted: the best so far is in {place}, marked as interrupted. See it: cotherm info {place}")
        raise SystemExit(130)


def _views(options: argparse.Namespace, by: str | None) -> tuple[list[View], str]:
    """The views, and by what they are coupled, which is said first."""
    if by is not None:
        announce([first_line(by, options)], as_json=options.json)
    views = read_views(options.views, options, told=by is not None)
    if len(views) < 2:  # a file may hold several
        raise CothermError("VIEW", "one view", "two or more")
    if by is None:
        by = by_ids(views)
        announce([first_line(by, options), *(view.reading for view in views)], as_json=options.json)
    return views, by


def _by_functions(
    views: Sequence[View], options: argparse.Namespace, place: Path, engine: str
) -> tuple[ct.Coupling, list[str]]:
    """Couple by what the options name, and say how that was read."""
    needed = "to be left out: it applies to coupling by pairs only"
    declare.refuse_given(options, ("borrow", "include-unrelated"), needed, default="auto")
    known = read_functions(views, options)
    announce(known.reading, as_json=options.json)
    graphs = [view.graph for view in views]
    if known.labels is not None:
        graphs = [graph.replace(labels=labels) for graph, labels in zip(graphs, known.labels, strict=True)]
    outputs.require_room(place, coupling_file.least_size(graphs, known.functions))
    with as_options(*_NAMED, "graph_weights", "function_weights", "memory"):
        result = ct.couple(
            graphs,
            known.functions,
            options.times,
            options.alpha,
            graph_weights=options.graph_weights,
            max_seconds=options.max_seconds,
            engine=engine,
            checkpoint=options.checkpoint,
            options=rare_options(options, *RARE, *RARE_OF_FUNCTIONS),
        )
    return result, known.reading


def _by_pairs(
    views: Sequence[View], options: argparse.Namespace, place: Path, engine: str
) -> tuple[ct.Coupling, list[str]]:
    """Couple by rows that are the same item; labels only judge."""
    needed = "to be left out: it has no meaning for coupling by pairs"
    advice = "Or couple by labels: --by labels." if options.labels and not options.paired else ""
    declare.refuse_given(options, _OF_FUNCTIONS, needed, advice, default="auto")
    pairs, reading = paired_rows(views, row_by_row=options.paired)
    graphs = [view.graph for view in views]
    labels, read = labels_of_items(graphs, options)
    if labels is not None:
        graphs = [graph.replace(labels=one) for graph, one in zip(graphs, labels, strict=True)]
        reading = [*reading, *read, "--labels: stored to judge by; the coupling does not use them"]
    announce(reading, as_json=options.json)
    outputs.require_room(place, coupling_file.least_size(graphs, [np.zeros((graph.n, 0)) for graph in graphs]))
    with as_options(*_NAMED, "borrow"):
        result = ct.couple_pairs(
            graphs,
            pairs,
            times=options.times,
            alpha=options.alpha,
            borrow=options.borrow,
            max_seconds=options.max_seconds,
            engine=engine,
            checkpoint=options.checkpoint,
            options=rare_options(options, *RARE, "include_unrelated"),
        )
    return result, reading


def rare_options(options: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Those that were given, as couple and couple_pairs take them."""
    return {name: getattr(options, name) for name in names if getattr(options, name) is not None}


COMMANDS = {"couple": declare.Command(ABOUT, EXAMPLES, _OPTIONS, _run)}
