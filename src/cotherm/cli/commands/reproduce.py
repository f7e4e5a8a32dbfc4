"""``cotherm reproduce``: the paper's experiments."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from cotherm.cli import parser as options_of

HELP = "rerun the paper's experiments and compare with its numbers"
ABOUT = """\
Reruns experiments of the paper, checks their claims, draws the figures and writes a page. Exits with
code 1 if a claim does not hold.
"""
EXAMPLES = """\
examples:
  cotherm reproduce circles
  cotherm reproduce ring --out results
"""
# As in cotherm.experiments.reproduce, which is loaded only when it is needed.
EXPERIMENTS = ("circles", "ring", "man", "nus", "digits", "sources", "scnmt", "scgem")


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("experiment", choices=[*EXPERIMENTS, "all"], help="the experiment, or all")
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
    options_of.add_json(parser)
    parser.set_defaults(outputs=("out", "page"))


def run(options: argparse.Namespace) -> None:
    from cotherm.experiments.reproduce import NAMES, reproduce

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
        print(f"cotherm: {claim}", file=sys.stderr)
    if failed:
        sys.exit(1)


def _spaced(text: str) -> None:
    print(text, end="\n\n", flush=True)
