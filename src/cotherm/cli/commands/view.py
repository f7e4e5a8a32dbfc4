"""``cotherm view``: a coupling as a page for the browser."""

from __future__ import annotations

import argparse

from cotherm.cli import parser as options_of

HELP = "look at heat and at what changed in a browser"
ABOUT = """\
Writes one HTML page that shows a coupling: all graphs before and after, side by side. Heat flows on
all of them from a function or from any vertex; edges that were cut, weakened, strengthened or are
new are marked and listed. The page opens from disk. It needs no server and no network, and nothing
in the data can run in it.

On a terminal the page is opened in a browser. Without --out it is a temporary file; where the page
is, is always printed.

Pages stay below 25 MB. Of graphs with more than 50,000 vertices or 500,000 edges a part is shown,
and the page says which.
"""
EXAMPLES = """\
examples, on the tables that `cotherm demo --tables .` writes:
  cotherm couple images.csv words.csv --out viewed.npz --force
  cotherm view viewed.npz --out viewed.html --labels labels.csv --no-open
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    from cotherm.cli.header import add_header

    parser.add_argument("file", metavar="RESULT", help="a coupling written by `cotherm couple`")
    options_of.add_out(parser, "the page: .html (a temporary file)", required=False)
    parser.add_argument("--no-open", action="store_true", help="do not open a browser")
    parser.add_argument("--title", metavar="TEXT", help="title of the page")
    parser.add_argument(
        "--labels", nargs="+", metavar="FILE", help="classes to color by (default: those stored in RESULT)"
    )
    parser.add_argument("--column", metavar="NAME", help="column of --labels to use")
    parser.add_argument("--names", nargs="+", metavar="FILE", help="names of items (default: those stored in RESULT)")
    parser.add_argument(
        "--positions",
        nargs="+",
        metavar="FILE",
        help="where vertices are: a table of two or three columns, or a mesh, one file for all views or one for each",
    )
    parser.add_argument("--pairs", choices=["same", "names"], help="which vertices are the same item in all views")
    add_header(parser)
    options_of.add_json(parser)


def run(options: argparse.Namespace) -> None:
    from cotherm.cli import outputs
    from cotherm.cli.pages import coupling_page, is_terminal, temporary_place
    from cotherm.viewer.browser import open_file

    given = None if options.out is None else outputs.free_place(options.out, (".html", ".htm"), force=options.force)
    page = coupling_page(options.file, options)
    if given is None:
        place = temporary_place(page)
    else:
        place = given
        outputs.write(place, page.html.encode(), force=options.force)
    opened = not options.no_open and not options.json and is_terminal() and open_file(place)
    lines = [*page.notes, f"Page: {place}"]
    report = {"out": str(place), "bytes": len(page.html.encode()), "notes": list(page.notes), "opened": opened}
    outputs.say(report, "\n".join(lines), as_json=options.json)
