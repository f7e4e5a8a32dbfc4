"""``cotherm info``: what is in a file."""

from __future__ import annotations

import argparse

from cotherm.cli import parser as options_of

HELP = "describe a file: graph, coupling, mesh or table; or a directory of shards"
ABOUT = """\
Describes the content of a file: sizes, weights, connected components. For a coupling it prints all
settings, as needed for a methods section.
"""
EXAMPLES = """\
examples, on the tables that `cotherm demo --tables .` writes:
  cotherm couple images.csv words.csv --labels labels.csv --out coupled.npz --force
  cotherm info coupled.npz
  cotherm info images.csv --json
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    from cotherm.cli.header import add_header

    parser.add_argument("file", metavar="FILE", help="any file that cotherm reads or writes, or a directory of shards")
    add_header(parser)
    options_of.add_json(parser)


def run(options: argparse.Namespace) -> None:
    from cotherm.cli.header import header_of
    from cotherm.cli.outputs import say
    from cotherm.cli.summary import about_file

    report, text = about_file(options.file, header_of(options))
    say(report, text, as_json=options.json)
