"""``cotherm average``: one graph between several."""

from __future__ import annotations

import argparse

from cotherm.cli import parser as options_of

HELP = "the mean of several graphs on the same vertices"
ABOUT = """\
Averages the weights of graphs on the same vertices, edge by edge. This is the baseline that every
other method should beat.
"""
EXAMPLES = """\
examples, on the tables that `cotherm demo --tables .` writes:
  cotherm average images.csv words.csv --normalized --out mean.npz
  cotherm average images.csv words.csv --power harmonic --out mean.csv
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    from cotherm.cli.inputs import add_recipe

    parser.add_argument(
        "views", nargs="+", metavar="VIEW", help="two or more views of the same items, in the same order"
    )
    options_of.add_out(parser, "the graph: .npz, .csv (edge list) or .mtx")
    parser.add_argument(
        "--power",
        type=options_of.number_or("arithmetic", "geometric", "harmonic"),
        default="arithmetic",
        metavar="P",
        help="which mean: arithmetic (the default), geometric, harmonic, or the power as a number",
    )
    parser.add_argument(
        "--graph-weights", type=options_of.numbers, metavar="P,P,...", help="weight of each view (1,1,...)"
    )
    parser.add_argument("--normalized", action="store_true", help="normalize the weights by the degrees first")
    add_recipe(parser)
    options_of.add_json(parser)


def run(options: argparse.Namespace) -> None:
    from cotherm.cli import outputs
    from cotherm.cli.inputs import read_same_items
    from cotherm.cli.summary import about_graph
    from cotherm.errors import known_as
    from cotherm.methods.average import average

    place = outputs.free_place(options.out, (".npz", ".csv", ".mtx", ".graphml"), force=options.force)
    views = read_same_items(options.views, options)
    graphs = [view.graph for view in views]
    with known_as("power", "--power"), known_as("graph_weights", "--graph-weights"):
        mean = average(graphs, options.graph_weights, power=options.power, normalized=options.normalized).graph
    report, text = about_graph(mean)
    outputs.write(place, outputs.graph_file(place, mean), force=options.force)
    answer, reading = {"out": str(place), **report}, [view.reading for view in views]
    outputs.say_written(answer, text, [place], reading=reading, as_json=options.json)
