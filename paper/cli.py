"""``python -m paper NAME``: runs the paper's experiments and compares with its numbers."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from cotherm.cli import options as options_of
from cotherm.cli.main import run_program
from paper.reproduce import NAMES, reproduce

PROGRAM = "python -m paper"
ABOUT = """\
Reruns experiments of the paper, checks their claims, draws the figures and writes a page. Exits with
code 1 if a claim does not hold.
"""
EXAMPLES = f"""\
examples:
  {PROGRAM} circles
  {PROGRAM} ring --out results
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one experiment, or all; exit with 1 if a claim does not hold, with 2 and one line on bad input."""
    run_program(PROGRAM, partial(_run, arguments))


def _run(arguments: Sequence[str] | None) -> None:
    options = _parser().parse_args(arguments)
    names = NAMES if options.experiment == "all" else (options.experiment,)
    quiet = options.json
    found = reproduce(
        names, data=options.data, out=options.out, page=options.page, say=(lambda _: None) if quiet else _spaced
    )
    if options.json:
        print(json.dumps([experiment.figures() for experiment in found], indent=2))
    else:
        print(f"Page, numbers and pictures: {options.out}")
    failed = [claim for experiment in found for claim in experiment.claims if not claim.holds]
    for claim in failed:
        print(f"{PROGRAM}: {claim}", file=sys.stderr)
    if failed:
        sys.exit(1)


def _parser() -> argparse.ArgumentParser:
    parser = options_of.Parser(prog=PROGRAM, description=ABOUT, epilog=EXAMPLES)
    parser.add_argument("experiment", choices=[*NAMES, "all"], help="the experiment, or all")
    parser.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        help="real data (default: COTHERM_DATA if set, otherwise built-in stand-ins)",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("out/results"), metavar="DIR", help="directory for all output (out/results)"
    )
    parser.add_argument(
        "--page", type=Path, metavar="FILE", help="also write a page without restricted data, such as docs/results.md"
    )
    options_of.add(parser, options_of.JSON)
    return parser


def _spaced(text: str) -> None:
    print(text, end="\n\n", flush=True)
