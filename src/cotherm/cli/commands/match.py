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
examples, on the tables that `cotherm demo --tables .` writes:
  cotherm couple joined.csv apart.csv -k 5 --landmarks hands.csv --times 5,20 --alpha 1e3 --out hands.npz --force
  cotherm match hands.npz --source joined --target apart --out match.csv
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a coupling written by `cotherm couple`")
    options_of.add_out(parser, "a table .csv (source, target, agreement, round_trip), or everything as .npz")
    parser.add_argument(
        "--source", default="1", metavar="VIEW", help="view to match from, by name or counted from 1 (1)"
    )
    parser.add_argument("--target", default="2", metavar="VIEW", help="view to match to (2)")
    options_of.add_json(parser)


def run(options: argparse.Namespace) -> None:
    from cotherm.cli import outputs
    from cotherm.cli.inputs import read_result, views_of
    from cotherm.cli.names import names_of, view_number
    from cotherm.errors import CothermError, known_as
    from cotherm.methods.coupling.result import Coupling
    from cotherm.methods.matching import file as match_file
    from cotherm.methods.matching.match import match

    place = outputs.free_place(options.out, (".csv", ".npz"), force=options.force)
    result = read_result(options.file)
    if not isinstance(result, Coupling):
        raise CothermError(options.file, "a graph", "a coupling, from `cotherm couple`")
    names = views_of(result)
    source, target = view_number(options.source, names, "--source"), view_number(options.target, names, "--target")
    with known_as("target", "--target"):
        found = match(result, source=source, target=target)
    by_name = [names_of(result.graphs[k]) for k in (source, target)]
    whole = place.suffix.lower() == ".npz"
    content = match_file.content(found, place) if whole else match_file.table(found, *by_name)
    outputs.write(place, content, force=options.force)
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
