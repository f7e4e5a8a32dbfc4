"""``cotherm show``: pictures of graphs and couplings."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from cotherm.cli import parser as options_of

HELP = "draw a graph or a coupling"
ABOUT = """\
Draws a coupling: each view before and after, with classes in color and weights as the width and
gray level of edges. Every view is laid out once and keeps its positions. Edges that were cut,
weakened, strengthened or are new are marked and counted. Graphs without coordinates are laid out
by their diffusion distances.

  --kind graphs       before and after (the default)
  --kind heat         heat from one function at the coupling's times, before and after, in one color
                      scale
  --kind coupling     how much heat differs between the views at each time, before and after
  --kind convergence  how the views come to agree step by step, and how far they move for it

With a name that ends in .html, all of this in one page for the browser, as `cotherm view` writes it.
"""
EXAMPLES = """\
examples, on the tables that `cotherm demo --tables .` writes:
  cotherm couple images.csv words.csv --labels labels.csv --out coupled.npz --force
  cotherm show coupled.npz --out coupled.png
  cotherm show coupled.npz --kind heat --function 1 --out heat.pdf
  cotherm show coupled.npz --out coupled.html
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    from cotherm.cli.header import add_header

    parser.add_argument("file", metavar="FILE", help="a coupling or a graph")
    options_of.add_out(parser, "the picture: .png, .pdf or .svg; or a page: .html")
    parser.add_argument("--kind", choices=["graphs", "heat", "coupling", "convergence"], default="graphs")
    parser.add_argument(
        "--function",
        type=options_of.integer,
        default=1,
        metavar="C",
        help="for --kind heat: the function, counted from 1 (1)",
    )
    parser.add_argument(
        "--labels", nargs="+", metavar="FILE", help="classes to color by (default: those stored in FILE)"
    )
    parser.add_argument("--column", metavar="NAME", help="column of --labels to use")
    add_header(parser)
    options_of.add_json(parser)


def run(options: argparse.Namespace) -> None:
    from cotherm.cli import outputs
    from cotherm.cli.figures import coupling_picture, graph_picture
    from cotherm.cli.inputs import read_result
    from cotherm.errors import CothermError
    from cotherm.graphs.graph import Graph

    place = outputs.free_place(options.out, (".png", ".pdf", ".svg", ".html"), force=options.force)
    if place.suffix.lower() == ".html":
        _write_page(place, options)
        return
    result = read_result(options.file)
    if isinstance(result, Graph):
        if options.kind != "graphs":
            raise CothermError("--kind", options.kind, "graphs, for a file with one graph")
        figure: Any = graph_picture(result, options)
    else:
        figure = coupling_picture(result, options)
    outputs.write(place, outputs.figure_bytes(place, figure), force=options.force)
    outputs.say({"out": str(place), "kind": options.kind}, f"Picture: {place}", as_json=options.json)


def _write_page(place: Path, options: argparse.Namespace) -> None:
    from cotherm.cli import outputs
    from cotherm.cli.pages import coupling_page
    from cotherm.errors import CothermError

    if options.kind != "graphs":
        raise CothermError("--kind", f"{options.kind}, with a page", "a page without it: it shows all of them")
    page = coupling_page(options.file, options)
    outputs.write(place, page.html.encode(), force=options.force)
    report = {"out": str(place), "kind": "page", "notes": list(page.notes)}
    outputs.say(report, "\n".join([*page.notes, f"Page: {place}"]), as_json=options.json)
