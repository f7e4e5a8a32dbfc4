"""``cotherm bench``: measured side by side in one run."""

from __future__ import annotations

import argparse
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from cotherm.cli import parser as options_of
from cotherm.errors import CothermError, known_as
from cotherm.memory import amount

HELP = "measure against other solvers, side by side in one run"
ABOUT = "Benchmarks with one judge, as ratios measured side by side in one run."
EXAMPLES = """\
examples:
  cotherm bench heat
  cotherm bench couple --data DIR --json
  cotherm bench suite --family heat --family neighbors --out results
  cotherm bench all --quick
"""
NAMES = ("heat", "couple", "scale", "profile", "routes", "threads", "diagonalize", "match", "suite")
_WITH_DATA = ("couple", "scale", "diagonalize", "match", "suite")
# Options of the suite alone, and what its function calls them.
_OF_SUITE = {
    "family": "families",
    "out": "out",
    "page": "page",
    "largest": "largest",
    "seconds": "seconds",
    "patience": "patience",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "problem",
        choices=[*NAMES, "all"],
        help="heat: e^(-tL)F on 200,000 vertices; couple: the paper's four problems against other optimizers; "
        "scale: planted short cuts on up to a million vertices, and a body in two poses, all 52,565 vertices; "
        "profile: where a coupling of a million vertices spends its time; "
        "routes: how often each route of couple finds the best minimum known; "
        "threads: the Ring in threads and processes, its answers and its times; "
        "diagonalize: joint bases against pyRiemann and qndiag; match: correspondences against pyFM and POT; "
        "suite: all problems, all contestants, each in a process of its own with limits; all: every one of these",
    )
    options_of.add_json(parser)
    parser.add_argument("--quick", action="store_true", help="smaller: each under a minute or two, all in four")
    parser.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        help="where tosca/, nus/ and the others are (default: COTHERM_DATA)",
    )
    suite = parser.add_argument_group("of suite and all")
    suite.add_argument(
        "--family",
        action="append",
        metavar="NAME",
        help="only this: surgery, correspondence, heat, diagonalize, clusters or neighbors; may be repeated",
    )
    suite.add_argument("--out", type=Path, metavar="DIR", help="write suite.json and plots of time and memory there")
    suite.add_argument("--page", type=Path, metavar="FILE", help="write a Markdown page of tables and plots")
    suite.add_argument("--largest", type=options_of.integer, metavar="N", help="leave out problems larger than N")
    suite.add_argument(
        "--seconds", type=options_of.number, metavar="S", help="limit of every contestant on every problem"
    )
    suite.add_argument(
        "--patience", type=options_of.number, metavar="X", help="multiply the problems' own limits by this"
    )
    suite.add_argument("--memory", metavar="SIZE", help="limit of every contestant, such as 8GiB (default: 3/4 of all)")


def run(options: argparse.Namespace) -> None:
    if options.problem not in ("suite", "all"):
        _refuse_options_of_suite(options)
    if options.problem == "all":
        _run_all(options)
        return
    report, text = _measured(options.problem, options)
    print(json.dumps(report, indent=2) if options.json else text)


def _run_all(options: argparse.Namespace) -> None:
    """One after the other; the tables as they come, or one object of all reports."""
    reports = {}
    for name in NAMES:
        _say(f"cotherm bench {name} ...")
        reports[name], text = _measured(name, options)
        if not options.json:
            print(f"{text}\n", flush=True)
    if options.json:
        print(json.dumps(reports, indent=2))


def _measured(name: str, options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    benchmark = import_module(f"cotherm.benchmarks.{name}")
    given: dict[str, Any] = {"data": options.data} if name in _WITH_DATA else {}
    if name == "suite":
        given |= {argument: getattr(options, option) for option, argument in _OF_SUITE.items()}
        given |= {"memory": None if options.memory is None else amount("--memory", options.memory), "say": _say}
    with known_as("families", "--family"):
        report = benchmark.run(quick=options.quick, **given)
    return report, benchmark.table(report)


def _refuse_options_of_suite(options: argparse.Namespace) -> None:
    for option in (*_OF_SUITE, "memory"):
        if getattr(options, option) is not None:
            raise CothermError(f"--{option}", f"given with {options.problem}", "suite or all, which alone have it")


def _say(line: str) -> None:
    """Progress goes where results do not."""
    print(line, file=sys.stderr, flush=True)
