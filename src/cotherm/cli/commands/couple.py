"""``cotherm couple``: the main job."""

from __future__ import annotations

import argparse
from contextlib import ExitStack

from cotherm.cli import parser as options_of

HELP = "change edge weights so that heat diffuses alike on all views"
ABOUT = """\
Heat kernel coupling (Bronstein & Glashoff 2013). Changes edge weights as little as possible so that
heat that starts from corresponding functions diffuses alike on all views. The views may have
different sizes, and their vertices need not correspond.

A function is a number at every vertex. Corresponding functions describe the same thing in each
view: a bump around the same landmark, the indicator of a class, or a quantity measured in both.

A view is a file of points (rows of a .csv, .tsv, .txt or .npy), a mesh (.off, .obj, .ply) or a
graph (.npz, .mtx, or an edge list .csv with the header source,target,weight).
"""
EXAMPLES = """\
examples:
  cotherm couple images.csv words.csv --labels labels.csv --out coupled.npz
  cotherm couple rna.csv atac.csv methylation.csv --labels stages.csv --known 0.5 --out cells.npz
  cotherm couple left.off right.off --landmarks pairs.csv --times 1,5,20 --alpha 1e6 --out bodies.npz

then:
  cotherm show coupled.npz --out coupled.png
  cotherm retrieve coupled.npz
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    from cotherm.cli.correspondence import add_sources
    from cotherm.cli.inputs import add_recipe

    parser.add_argument("views", nargs="+", metavar="VIEW", help="two or more views")
    options_of.add_out(parser, "the coupling: graphs before and after, functions and settings, as .npz")
    add_sources(parser)
    group = parser.add_argument_group("coupling")
    group.add_argument(
        "--times",
        type=options_of.numbers_or_auto,
        default="auto",
        metavar="T,T,...",
        help="times at which heat is compared, the t of exp(-tL); auto (the default) chooses them from the data",
    )
    group.add_argument(
        "--alpha",
        type=options_of.number_or("auto"),
        default="auto",
        metavar="A",
        help="weight of agreement; the larger, the more edges change; auto (the default) chooses it from the data",
    )
    group.add_argument(
        "--rigidity", type=options_of.numbers, metavar="R,R,...", help="penalty on changing each view (1,1,...)"
    )
    group.add_argument(
        "--graph-weights",
        type=options_of.numbers,
        metavar="P,P,...",
        help="weight of each view's agreement with the others (1,1,...)",
    )
    group.add_argument(
        "--function-weights", type=options_of.numbers, metavar="O,O,...", help="weight of each function (1,1,...)"
    )
    group.add_argument(
        "--continuation",
        choices=["auto", "direct", "times", "alpha"],
        default="auto",
        help="easier problems to solve first: shorter times, smaller alpha, or none (auto)",
    )
    group.add_argument(
        "--tolerance",
        type=options_of.number,
        default=1e-6,
        metavar="E",
        help="stop when the relative projected gradient is below this (1e-6)",
    )
    group.add_argument(
        "--max-iterations", type=options_of.integer, default=2_000, metavar="N", help="maximum number of steps (2000)"
    )
    group.add_argument(
        "--memory",
        default="auto",
        metavar="SIZE",
        help="memory limit, such as 8GiB: derivatives that do not fit are recomputed or stored in a temporary "
        "file; auto (the default) is the free memory",
    )
    group.add_argument(
        "--precision",
        choices=["float64", "float32"],
        default="float64",
        help="precision of stored derivatives: float32 takes half the memory and gives nearly the same result",
    )
    add_recipe(parser)
    options_of.add_json(parser)


def run(options: argparse.Namespace) -> None:
    from cotherm.cli import outputs
    from cotherm.cli.correspondence import read_functions
    from cotherm.cli.inputs import read_views
    from cotherm.cli.summary import about_coupling
    from cotherm.errors import CothermError, known_as, visible
    from cotherm.methods.coupling import file as coupling_file
    from cotherm.methods.coupling.couple import couple

    if len(options.views) < 2:
        raise CothermError("VIEW", "one view", "two or more")
    place = outputs.free_place(options.out, (".npz",), force=options.force)
    views = read_views(options.views, options)
    known = read_functions(views, options)
    graphs = [view.graph for view in views]
    if known.labels is not None:
        graphs = [graph.replace(labels=labels) for graph, labels in zip(graphs, known.labels, strict=True)]
    outputs.require_room(place, coupling_file.least_size(graphs, known.functions))
    named = ("times", "alpha", "rigidity", "graph_weights", "function_weights", "tolerance", "max_iterations", "memory")
    with ExitStack() as stack:
        for name in named:
            stack.enter_context(known_as(name, f"--{name.replace('_', '-')}"))
        result = couple(
            graphs,
            known.functions,
            options.times,
            options.alpha,
            rigidity=options.rigidity,
            graph_weights=options.graph_weights,
            function_weights=options.function_weights,
            continuation=options.continuation,
            tolerance=options.tolerance,
            max_iterations=options.max_iterations,
            memory=options.memory,
            precision=options.precision,
        )
    if result.status == "interrupted":  # half a coupling would pass for a whole one
        raise KeyboardInterrupt
    outputs.write(place, coupling_file.render(result), force=options.force)
    reading = [*(view.reading for view in views), *known.reading]
    report, text = about_coupling(result)
    text = "\n".join([*map(visible, reading), "", text, "", visible(f"Written: {place}")])
    outputs.say({"out": str(place), "read": reading, **report}, text, as_json=options.json)
