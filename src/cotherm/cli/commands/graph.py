"""``cotherm graph``: points or a mesh in, a graph out."""

from __future__ import annotations

import argparse

from cotherm.cli import parser as options_of

HELP = "make a graph file from points or a mesh"
ABOUT = """\
Joins every point to its nearest neighbors, with Gaussian weights, and writes the graph. The graph of
a mesh has the edges of the mesh.

Points are rows of a table: .csv, .tsv, .txt (also .gz), .npy, .xlsx, .parquet, .h5ad or .h5mu. A header
row, a first column of names and decimal commas are recognized.
"""
EXAMPLES = """\
examples, on the tables that `cotherm demo --tables .` writes:
  cotherm graph images.csv --out images.npz
  cotherm graph words.csv --neighbors 25 --metric cosine --out words.npz
  cotherm graph images.csv --out edges.csv
  cotherm graph images.csv --drop-columns "color 1,color 2" --standardize --out fewer.npz
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    from cotherm.cli.inputs import add_recipe

    parser.add_argument("points", metavar="FILE", help="a table of points, or a mesh (.off, .obj, .ply)")
    options_of.add_out(
        parser, "the graph: .npz and .graphml store everything, .csv (edge list) and .mtx only edges and weights"
    )
    add_recipe(parser)
    options_of.add_json(parser)


def run(options: argparse.Namespace) -> None:
    from cotherm.cli import outputs
    from cotherm.cli.inputs import read_view
    from cotherm.cli.summary import about_graph

    place = outputs.free_place(options.out, (".npz", ".csv", ".mtx", ".graphml"), force=options.force)
    view = read_view(options.points, options)
    graph = view.graph
    report, text = about_graph(graph)
    outputs.write(place, outputs.graph_file(place, graph), force=options.force)
    answer = {"out": str(place), **report}
    outputs.say_written(answer, text, [place], reading=[view.reading], as_json=options.json)
