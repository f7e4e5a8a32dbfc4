"""``cotherm commute``: the closest commuting operators."""

from __future__ import annotations

import argparse

from cotherm.cli import parser as options_of

HELP = "the closest matrices to the Laplacians that commute"
ABOUT = """\
Closest commuting operators: symmetric matrices with a common basis, as near the Laplacians of the
views as possible. With --valid they are Laplacians of graphs with the same edges, which takes far
longer: for some hundred vertices. Graphs that are equal on the edges they share always commute. The
report says how far away these are, and whether anything nearer was found.
"""
EXAMPLES = """\
examples, on the tables that `cotherm demo --tables .` writes:
  cotherm commute images.csv words.csv --out images-c.npy words-c.npy
  cotherm commute joined.csv apart.csv --neighbors 5 --valid --out joined-c.npz apart-c.npz
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    from cotherm.cli.inputs import add_recipe

    parser.add_argument("views", nargs="+", metavar="VIEW", help="two or more views of the same items, in one order")
    parser.add_argument(
        "--out",
        "-o",
        nargs="+",
        required=True,
        metavar="FILE",
        help="one for each view: .npy, with --valid graphs .npz",
    )
    parser.add_argument("--force", action="store_true", help="replace outputs that exist")
    parser.add_argument("--valid", action="store_true", help="graphs with the same edges instead of matrices")
    add_recipe(parser)
    options_of.add_json(parser)


def run(options: argparse.Namespace) -> None:
    from cotherm.cli import outputs
    from cotherm.cli.inputs import read_same_items, view_count
    from cotherm.graphs.formats import npz
    from cotherm.methods.commuting.closest import closest_commuting

    suffix = ".npz" if options.valid else ".npy"
    places = outputs.free_places(options.out, view_count(options.views, options), (suffix,), force=options.force)
    views = read_same_items(options.views, options)
    result = closest_commuting([view.graph for view in views], valid=options.valid)
    if result.graphs is None:
        contents = [outputs.matrix_bytes(place, L, ()) for place, L in zip(places, result.laplacians, strict=True)]
    else:
        contents = [npz.render(graph) for graph in result.graphs]
    outputs.write_all(places, contents, force=options.force)
    report = {
        "out": [str(place) for place in places],
        "status": result.status,
        "distance": result.distance,
        "commutator": result.commutator,
        "commutator_before": result.commutator_before,
        "moved": list(result.moved),
        "relation": result.relation,
        "origin": result.origin,
        "distance_equal": result.distance_equal,
        "versions": dict(result.versions),
    }
    reading = [view.reading for view in views]
    outputs.say_written(report, str(result), places, reading=reading, as_json=options.json)
