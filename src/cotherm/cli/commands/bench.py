"""``cotherm bench``: measured side by side in one run."""

from __future__ import annotations

import argparse
import json
from importlib import import_module
from pathlib import Path

from cotherm.cli import parser as options_of

HELP = "measure against other solvers, side by side in one run"
ABOUT = "Benchmarks with one judge, as ratios measured side by side in one run."
EXAMPLES = """\
examples:
  cotherm bench heat
  cotherm bench couple --data DIR --json
"""
_WITH_DATA = ("couple", "scale", "diagonalize", "match")


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "problem",
        choices=["heat", "couple", "scale", "routes", "diagonalize", "match"],
        help="heat: e^(-tL)F on 200,000 vertices; couple: the paper's four problems against other optimisers; "
        "scale: planted short cuts on up to a million vertices, and a body in two poses, all 52,565 vertices; "
        "routes: how often each route of couple finds the best minimum known; "
        "diagonalize: joint bases against pyRiemann and qndiag; match: correspondences against pyFM and POT",
    )
    options_of.add_json(parser)
    parser.add_argument("--quick", action="store_true", help="smaller, under a minute")
    parser.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        help="for couple, scale, diagonalize and match: where tosca/, nus/ and the others are (default: COTHERM_DATA)",
    )


def run(options: argparse.Namespace) -> None:
    benchmark = import_module(f"cotherm.benchmarks.{options.problem}")
    given = {"data": options.data} if options.problem in _WITH_DATA else {}
    report = benchmark.run(quick=options.quick, **given)
    print(json.dumps(report, indent=2) if options.json else benchmark.table(report))
