"""``cotherm reproduce``: the paper's experiments, which are in the repository and not installed."""

from __future__ import annotations

import argparse
import runpy
import sys
from pathlib import Path

import cotherm
from cotherm.errors import CothermError

HELP = "rerun the paper's experiments, in a clone of the repository"
ABOUT = """\
Reruns experiments of the paper, checks their claims, draws the figures and writes a page. Exits with
code 1 if a claim does not hold. The experiments are not installed: this command finds them in a clone
of the repository that cotherm was installed from by `pip install -e .` or by make.
"""
EXAMPLES = """\
examples:
  cotherm reproduce circles
  cotherm reproduce ring --out results
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("experiment", metavar="EXPERIMENT", help="circles, ring, man, nus, digits, ..., or all")
    parser.add_argument(
        "options", nargs=argparse.REMAINDER, metavar="...", help="further options, as of python -m paper"
    )


def run(options: argparse.Namespace) -> None:
    root = Path(cotherm.__file__).parents[2]
    if not (root / "paper" / "__main__.py").is_file():
        raise CothermError(
            "reproduce",
            "an installation without the experiments",
            "a clone of the repository",
            "In the clone, make reproduce runs them.",
        )
    sys.path.insert(0, str(root))
    sys.argv = ["paper", options.experiment, *options.options]
    runpy.run_module("paper", run_name="__main__", alter_sys=True)
