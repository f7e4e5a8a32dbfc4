"""``cotherm functions``: what corresponds, as columns of numbers on every view."""

from __future__ import annotations

import argparse

from cotherm.cli import parser as options_of

HELP = "make corresponding functions from labels, landmarks or common features"
ABOUT = """\
Writes corresponding functions, one table for each view. Column c is the same function in every
table. Labels give the indicator of each class. Landmarks give a smooth bump around each. Features
are smoothed and scaled.

`cotherm couple` computes them by itself. Use this command to look at them or change them first.
"""
EXAMPLES = """\
examples, on the tables that `cotherm demo --tables .` writes:
  cotherm functions images.csv words.csv --labels labels.csv --out images-f.csv words-f.csv
  cotherm functions joined.csv apart.csv --landmarks hands.csv --out joined-f.csv apart-f.csv
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    from cotherm.cli.correspondence import add_sources
    from cotherm.cli.inputs import add_recipe

    parser.add_argument("views", nargs="+", metavar="VIEW", help="graphs, or points to make graphs from")
    parser.add_argument("--out", "-o", nargs="+", required=True, metavar="FILE", help=".csv or .npy, one for each view")
    parser.add_argument("--force", action="store_true", help="replace outputs that exist")
    add_sources(parser)
    add_recipe(parser)
    options_of.add_json(parser)


def run(options: argparse.Namespace) -> None:
    from cotherm.cli import outputs
    from cotherm.cli.correspondence import read_functions
    from cotherm.cli.inputs import name_of, read_views, view_count
    from cotherm.cli.notices import announce
    from cotherm.errors import visible

    places = outputs.free_places(options.out, view_count(options.views, options), (".csv", ".npy"), force=options.force)
    views = read_views(options.views, options)
    known = read_functions(views, options)
    announce(known.reading, as_json=options.json)
    functions = known.functions
    titles = [f"function {c + 1}" for c in range(functions[0].shape[1])]
    contents = [
        outputs.matrix_bytes(place, F, titles, view.names)
        for place, F, view in zip(places, functions, views, strict=True)
    ]
    outputs.write_all(places, contents, force=options.force)
    reading = [*(view.reading for view in views), *known.reading]
    report = {
        "functions": len(titles),
        "read": reading,
        "out": [str(place) for place in places],
    }
    lines = [
        visible(f"{name_of(view.graph, k)}: {len(titles)} functions on {view.graph.n} vertices, written: {place}")
        for k, (view, place) in enumerate(zip(views, places, strict=True))
    ]
    outputs.say(report, "\n".join(lines), as_json=options.json)
