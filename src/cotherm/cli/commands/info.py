"""``cotherm info``: what is in a file."""

from __future__ import annotations

import argparse

from cotherm.cli import parser as options_of

HELP = "what is in a file: graph, coupling, mesh or table"
ABOUT = """\
Says what a file holds: sizes, weights, parts; for a coupling how it came about, which is what a
methods section needs.
"""
EXAMPLES = """\
examples:
  cotherm info coupled.npz
  cotherm info graph.npz --json
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    from cotherm.cli.header import add_header

    parser.add_argument("file", metavar="FILE", help="any file cotherm reads or writes")
    add_header(parser)
    options_of.add_json(parser)


def run(options: argparse.Namespace) -> None:
    from cotherm.cli.header import header_of
    from cotherm.cli.outputs import say
    from cotherm.cli.summary import about_file

    report, text = about_file(options.file, header_of(options))
    say(report, text, as_json=options.json)
