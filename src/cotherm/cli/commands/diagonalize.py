"""``cotherm diagonalize``: one basis for several graphs."""

from __future__ import annotations

import argparse

from cotherm.cli import parser as options_of

HELP = "one basis of modes for several graphs on the same vertices"
ABOUT = """\
Joint diagonalization: finds the orthonormal basis in which the Laplacians of all graphs are as
diagonal as possible. The first modes after the constant one are coordinates for plots and clustering.
"""
EXAMPLES = """\
examples, on the tables that `cotherm demo --tables .` writes:
  cotherm diagonalize images.csv words.csv --normalized --modes 7 --out modes.csv
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    from cotherm.cli.inputs import add_recipe

    parser.add_argument(
        "views", nargs="+", metavar="VIEW", help="two or more views of the same items, in the same order"
    )
    options_of.add_out(parser, "the modes, a row for every item: .csv or .npy")
    parser.add_argument("--modes", type=options_of.integer, metavar="K", help="number of modes to write (all)")
    parser.add_argument(
        "--graph-weights", type=options_of.numbers, metavar="P,P,...", help="weight of each view (1,1,...)"
    )
    parser.add_argument("--normalized", action="store_true", help="use normalized Laplacians")
    add_recipe(parser)
    options_of.add_json(parser)


def run(options: argparse.Namespace) -> None:
    from cotherm import validation
    from cotherm.cli import outputs
    from cotherm.cli.inputs import read_same_items
    from cotherm.errors import known_as
    from cotherm.methods.joint_diagonalization import joint_diagonalize

    place = outputs.free_place(options.out, (".csv", ".npy"), force=options.force)
    views = read_same_items(options.views, options)
    n = min(view.graph.n for view in views)
    k = n if options.modes is None else validation.integer("--modes", options.modes, least=1, most=n)
    outputs.require_room(place, outputs.least_matrix_size(place, n, k))
    graphs = [view.graph for view in views]
    with known_as("graph_weights", "--graph-weights"):
        result = joint_diagonalize(graphs, options.graph_weights, normalized=options.normalized)
    titles = [f"mode {c}" for c in range(k)]
    outputs.write(place, outputs.matrix_bytes(place, result.basis[:, :k], titles, views[0].names), force=options.force)
    report = {
        "out": str(place),
        "status": result.status,
        "off": result.off,
        "off_before": result.off_before,
        "values": result.values[:, :k].tolist(),
        "versions": dict(result.versions),
    }
    reading = [view.reading for view in views]
    outputs.say_written(report, str(result), [place], reading=reading, as_json=options.json)
