"""How tables of points are read: what the options say about them, the tables of all views, hints about their scales."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np

from cotherm.arrays import Floats
from cotherm.cli.advice import in_options
from cotherm.errors import CothermError
from cotherm.io import kinds
from cotherm.io.cells import shown
from cotherm.io.columns import Selection
from cotherm.io.ids import Suspects, refuse_shared
from cotherm.io.table import Found, Request, read_tables

# Whether the first rows of tables are titles, by the real paths of the files, as far as the user said so.
Headers = Mapping[str, bool]
NO_HEADERS: Headers = {}

# From this ratio of standard deviations on, the largest columns alone decide nearly all distances.
_UNLIKE = 100.0
# In wide tables, the few columns that vary least say little.
_LEAST = 0.1
# The word that says that no column holds ids.
_NONE = "none"


def read_headers(options: argparse.Namespace) -> Headers:
    """What --header and --no-header say; every file in them must be one that the command reads."""
    values = [value for name, value in vars(options).items() if name not in ("header", "no_header", "out")]
    flat = [entry for value in values for entry in (value if isinstance(value, list) else [value])]
    read = {os.path.realpath(entry) for entry in flat if isinstance(entry, str) and "\0" not in entry}
    said: dict[str, bool] = {}
    for option, titled in (("--header", True), ("--no-header", False)):
        for path in getattr(options, option[2:].replace("-", "_"), None) or []:
            place = os.path.realpath(path)
            if place not in read:
                raise CothermError(f"{option} {path}", "not a table of this command", "one of the files it reads")
            if said.setdefault(place, titled) != titled:
                raise CothermError("--header", f"{place}, which is under --no-header too", "one of the two")
    return said


def header_of(place: Path, headers: Headers) -> bool | None:
    """Whether the first row of a table holds titles; None where nothing was said."""
    return headers.get(os.path.realpath(place))


def request_of(options: argparse.Namespace, files: int) -> Request:
    """What the options say about ``files`` files; if there are several, a column need not be in all of them."""
    ids = options.id_column
    selection = Selection(
        None if options.columns is None else tuple(options.columns),
        tuple(options.drop_columns or ()),
        options.label_column,
        strict=files == 1,
        ids=None if ids is None else () if ids == [_NONE] else tuple(ids),
    )
    said = {name: getattr(options, name) for name in ("missing", "decimal", "sheet", "rep", "modality")}
    return Request(selection=selection, **said)


def tables_in(place: Path, request: Request, headers: Headers = NO_HEADERS, *, points: bool = True) -> list[Found]:
    """The tables in a file; ``points`` says whether the command has the options of tables for it."""
    said = header_of(place, headers) if kinds.suffix_of(place) in kinds.CELLS else None
    with in_options(points=points):
        found = read_tables(place, replace(request, header=said))
        if points:
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
    selection = request.selection
    nowhere = set(selection.asked).intersection(*(set(one.absent) for one in found))
    if not nowhere:
        return
    title = next(title for title in selection.asked if title in nowhere)
    by_option = {"--columns": selection.columns, "--id-column": selection.ids, "--drop-columns": selection.drop}
    option = next((name for name, titles in by_option.items() if title in (titles or ())), "--label-column")
    known = [title for one in found for title in one.known or ()]
    needed = f"some of {shown(known)}" if known else "tables with titles"
    raise CothermError(option, f"no column {title!r} in any table", needed)


def hint_of_scales(points: Floats, titles: Sequence[str] | None) -> str:
    """A hint if a few columns decide nearly all distances by their units alone; otherwise empty."""
    with np.errstate(over="ignore", invalid="ignore"):  # numbers past the square root of the largest
        spread = points.std(axis=0)
    varied = np.flatnonzero((spread > 0.0) & np.isfinite(spread))
    if len(varied) < 2:
        return ""
    order = varied[np.argsort(spread[varied], kind="stable")]
    least, greatest = order[int(_LEAST * (len(order) - 1))], order[-1]
    if not float(spread[greatest] / spread[least]) > _UNLIKE:
        return ""
    said = [f"{spread[c]:.3g} of {titles[c] if titles else f'column {c + 1}'}" for c in (greatest, least)]
    return (
        f"Hint: its columns differ in scale, standard deviations are {' and '.join(said)}; --standardize gives all the "
        "same weight."
    )
