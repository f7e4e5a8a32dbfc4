"""How tables of points are read: the options, the tables of all views, and hints about their scales."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np

from cotherm.arrays import Floats
from cotherm.cli.advice import in_options
from cotherm.cli.header import NOTHING_SAID, Header
from cotherm.errors import CothermError
from cotherm.io import kinds
from cotherm.io.ids import Suspects, refuse_shared
from cotherm.io.missing import WAYS
from cotherm.io.selection import Selection, shown
from cotherm.io.table import Found, Request, read_tables

# From this ratio of standard deviations on, the largest columns alone decide nearly all distances.
_UNLIKE = 100.0
# In wide tables, the few columns that vary least say little.
_LEAST = 0.1
# The word that says that no column holds ids.
_NONE = "none"


def add_tables(parser: argparse.ArgumentParser) -> None:
    """How tables of points are read."""
    group = parser.add_argument_group("tables of points")
    group.add_argument(
        "--columns",
        type=_titles,
        action="extend",
        metavar="A,B,...",
        help="compare items by these columns only; of several tables each must have some of them",
    )
    group.add_argument(
        "--drop-columns", type=_titles, action="extend", metavar="A,B,...", help="leave out these columns"
    )
    group.add_argument(
        "--label-column",
        metavar="TITLE",
        help="this column holds classes: the labels of the graph, not compared by; of .h5ad and .h5mu a column of obs",
    )
    group.add_argument(
        "--id-column",
        type=_titles,
        action="extend",
        metavar="TITLE",
        help="this column holds ids, which pair rows (the first column, if its title or its cells tell); titles "
        "separated by commas for tables that differ; none if no column does",
    )
    group.add_argument(
        "--missing",
        choices=WAYS,
        help="missing values: drop their rows, or fill in the median of the column (by default they are refused)",
    )
    group.add_argument(
        "--decimal",
        choices=[".", ","],
        metavar="MARK",
        help="decimal mark of text, point or comma (by default recognized, unless commas separate cells)",
    )
    group.add_argument("--sheet", metavar="NAME", help="sheet of an .xlsx file (the first)")
    group.add_argument("--rep", metavar="KEY", help="representation in .h5ad and .h5mu: a key of obsm, or X (X)")
    group.add_argument("--modality", metavar="NAME", help="one modality of an .h5mu file (all, each a view)")


def request_of(options: argparse.Namespace, files: int) -> Request:
    """What the options say about ``files`` files; if there are several, a column need not be in all of them."""
    said = {name: getattr(options, name, None) for name in ("missing", "decimal", "sheet", "rep", "modality")}
    columns, drop = getattr(options, "columns", None), getattr(options, "drop_columns", None)
    label = getattr(options, "label_column", None)
    ids = getattr(options, "id_column", None)
    selection = Selection(
        None if columns is None else tuple(columns),
        tuple(drop or ()),
        label,
        strict=files == 1,
        ids=None if ids is None else () if ids == [_NONE] else tuple(ids),
    )
    return Request(selection=selection, **said)


def tables_in(place: Path, request: Request, header: Header = NOTHING_SAID, *, recipe: bool = True) -> list[Found]:
    """The tables in a file; ``recipe`` says whether the command has the options of this module for it."""
    said = header.said(place) if kinds.suffix_of(place) in kinds.CELLS else None
    with in_options(points=recipe):
        found = read_tables(place, replace(request, header=said))
        if recipe:
            for one in found:
                one.require_features(place)
        return found


def require_no_shared_ids(tables: Sequence[tuple[Path, Found]], new: Sequence[tuple[Path, Found]]) -> None:
    """Refuse columns of distinct whole numbers that two tables share: ids would look like agreement."""
    for (place, one), (other, two) in product(tables, new):
        with in_options(points=True):
            refuse_shared(_suspects(place, one), _suspects(other, two))


def _suspects(place: Path, found: Found) -> Suspects:
    return Suspects(str(place), found.table.values, found.doubtful, found.table.titles)


def require_use(request: Request, places: Sequence[Path], found: Sequence[Found]) -> None:
    """Refuse options that concern none of the files."""
    for option, value, suffixes in (
        ("--decimal", request.decimal, (*kinds.TEXT, *kinds.PACKED)),
        ("--sheet", request.sheet, kinds.SHEETS),
        ("--rep", request.rep, kinds.SINGLE_CELLS),
        ("--modality", request.modality, (kinds.MUDATA,)),
    ):
        if value is not None and not any(kinds.suffix_of(place) in suffixes for place in places):
            raise CothermError(option, f"{value}, and no file that has it", f"a {suffixes[0]} file")
    absent = [set(one.absent) for one in found]
    nowhere = set(request.selection.asked).intersection(*absent)
    if not nowhere:
        return
    known = [title for one in found for title in one.known or ()]
    title = next(title for title in request.selection.asked if title in nowhere)
    needed = f"some of {shown(known)}" if known else "tables with titles"
    raise CothermError(_option_of(request.selection, title), f"no column {title!r} in any table", needed)


def hint_of_scales(points: Floats, titles: Sequence[str] | None) -> str:
    """A hint if a few columns decide nearly all distances by their units alone; otherwise empty."""
    with np.errstate(over="ignore", invalid="ignore"):  # numbers past the square root of the largest
        spread = points.std(axis=0)
    varied = np.flatnonzero((spread > 0.0) & np.isfinite(spread))
    if len(varied) < 2:
        return ""
    order = varied[np.argsort(spread[varied], kind="stable")]
    least, greatest = order[int(_LEAST * (len(order) - 1))], order[-1]
    ratio = float(spread[greatest] / spread[least])
    if not ratio > _UNLIKE:
        return ""
    named = [titles[c] if titles else f"column {c + 1}" for c in (greatest, least)]
    words = " and ".join(f"{spread[c]:.3g} of {name}" for c, name in zip((greatest, least), named, strict=True))
    return (
        f"Hint: its columns differ in scale, standard deviations are {words}; --standardize gives all the same weight."
    )


def _option_of(selection: Selection, title: str) -> str:
    if title in (selection.columns or ()):
        return "--columns"
    if title in (selection.ids or ()):
        return "--id-column"
    return "--drop-columns" if title in selection.drop else "--label-column"


def _titles(text: str) -> list[str]:
    """Titles separated by commas, as in a table: a,b,"c, d" is three."""
    titles = [title.strip() for title in next(csv.reader([text], skipinitialspace=True), [])]
    if not titles or not all(titles):
        raise argparse.ArgumentTypeError(f"{text!r}; needed: titles of columns separated by commas, such as age,height")
    return titles
