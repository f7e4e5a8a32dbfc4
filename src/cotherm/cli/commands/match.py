"""``cotherm match``: which vertex of one graph is which of the other."""

from __future__ import annotations

import argparse

from cotherm.cli import parser as options_of

HELP = "find corresponding vertices of two coupled graphs"
ABOUT = """\
Finds corresponding vertices. For every vertex of one view it finds the vertex of another view that
receives the most similar heat from the corresponding functions. The match is refined by a functional
map. Then the functions are divided into two halves, and each half is matched by itself: where the
halves agree the match is supported, and where they agree no more often than chance it is worthless.
"""
EXAMPLES = """\
examples:
  cotherm match bodies.npz --out match.csv
  cotherm match cells.npz --source 1 --target 3 --out match.csv
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a coupling written by `cotherm couple`")
    options_of.add_out(parser, "a table .csv (source, target, agreement, round_trip), or everything as .npz")
    parser.add_argument(
        "--source", type=options_of.integer, default=1, metavar="K", help="view to match from, counted from 1 (1)"
    )
    parser.add_argument("--target", type=options_of.integer, default=2, metavar="K", help="view to match to (2)")
    options_of.add_json(parser)


def run(options: argparse.Namespace) -> None:
    from cotherm.cli import outputs
    from cotherm.cli.inputs import chosen, read_result
    from cotherm.errors import CothermError, known_as
    from cotherm.methods.coupling.result import Coupling
    from cotherm.methods.matching import file as match_file
    from cotherm.methods.matching.match import match

    place = outputs.free_place(options.out, (".csv", ".npz"), force=options.force)
    result = read_result(options.file)
    if not isinstance(result, Coupling):
        raise CothermError(options.file, "a graph", "a coupling, from `cotherm couple`")
    count = len(result.graphs)
    source, target = (
        chosen(k, count, option) for k, option in ((options.source, "--source"), (options.target, "--target"))
    )
    with known_as("target", "--target"):
        found = match(result, source=source, target=target)
    outputs.write(place, match_file.content(found, place), force=options.force)
    report = {
        "out": str(place),
        "status": found.status,
        "vertices": len(found.hard),
        "agreement": float(found.agreement.mean()),
        "exact_agreement": found.exact_agreement,
        "chance": found.chance,
        "round_trip": float(found.round_trip.mean()),
        "settings": dict(found.settings),
        "versions": dict(found.versions),
    }
    outputs.say_written(report, str(found), [place], as_json=options.json)
