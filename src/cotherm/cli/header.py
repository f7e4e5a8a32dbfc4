"""The options ``--header FILE`` and ``--no-header FILE``: what the user says about the first rows of tables."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cotherm.errors import CothermError
from cotherm.io.ids import LATE
from cotherm.io.labels import CHOOSE_COLUMN, DROP_NAMES, NOT_CLASSES
from cotherm.io.missing import ADVICE, DROP, MEDIAN, NAMELESS
from cotherm.io.number_table import COMMAS, POINTS
from cotherm.io.selection import CHOOSE, CLASSES, IDS, LEAVE, NO_IDS, TAKE
from cotherm.io.single_cells import MODALITY, REPRESENTATION
from cotherm.io.titles import TITLED, UNTITLED


@dataclass(frozen=True)
class Header:
    """What the user said about the first rows of tables, by the real paths of the files."""

    titled: frozenset[str] = frozenset()
    untitled: frozenset[str] = frozenset()

    def said(self, path: Path) -> bool | None:
        """Whether the first row holds titles; None where nothing was said."""
        place = os.path.realpath(path)
        if place in self.titled:
            return True
        return False if place in self.untitled else None


NOTHING_SAID = Header()
# Advice as Python users get it, and as the command line says it.
_WORDS = {
    CHOOSE_COLUMN: "Choose one with --column TITLE.",
    DROP_NAMES: "Couplings keep labels, not names: leave --labels out to use those.",
    NOT_CLASSES: "Items known to be the same are --landmarks, quantities are --functions.",
}
# The same for commands that make graphs of tables.
_RECIPE = {
    TAKE: "--columns",
    LEAVE: "--drop-columns",
    CLASSES: "--label-column",
    NO_IDS: "--id-column none",
    IDS: "--id-column ",
    DROP: "--missing drop",
    MEDIAN: "--missing median",
    COMMAS: "--decimal ,",
    POINTS: "--decimal .",
    REPRESENTATION: "--rep",
    MODALITY: "--modality",
}
# And for tables that those options do not concern.
_NO_RECIPE = {
    NAMELESS: "Leave out rows without a name.",
    LATE: "Put it first.",
    ADVICE: "Fill in or leave out missing values first.",
    CHOOSE: "Leave out columns that are not numbers.",
    f"If commas mark decimals: {COMMAS}. Else numbers": "Numbers",
    f"Say that they mark decimals: {COMMAS}.": "Write decimal points.",
    f"If points mark decimals and commas something else: {POINTS}.": "Write decimal points.",
}


def add_header(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("tables whose first row could be a header or data")
    group.add_argument("--header", action="append", metavar="FILE", help="the first row of this table is a header")
    group.add_argument("--no-header", action="append", metavar="FILE", help="the first row of this table is data")


def header_of(options: argparse.Namespace) -> Header:
    """Read the options; every file in them must be one that the command reads."""
    said = {}
    read = _paths(options, {"header", "no_header", "out"})
    for name in ("header", "no_header"):
        option = "--" + name.replace("_", "-")
        given = getattr(options, name, None) or []
        for path in given:
            if os.path.realpath(path) not in read:
                raise CothermError(f"{option} {path}", "not a table of this command", "one of the files it reads")
        said[name] = frozenset(map(os.path.realpath, given))
    if twice := said["header"] & said["no_header"]:
        raise CothermError("--header", f"{min(twice)}, which is under --no-header too", "one of the two")
    return Header(said["header"], said["no_header"])


@contextmanager
def as_options(*paths: str | Path, recipe: bool = False) -> Iterator[None]:
    """Advice of ``cotherm.io``, which names arguments, with the options that stand for them.

    ``paths`` are the tables read meanwhile; an error about one of them begins with it. ``recipe`` says whether the
    options of graphs from tables concern them.
    """
    try:
        yield
    except CothermError as error:
        path = next((path for path in paths if error.argument.startswith(str(path))), paths[0])
        words = {
            **_WORDS,
            **(_RECIPE if recipe else _NO_RECIPE),
            TITLED: f"--header {path}",
            UNTITLED: f"--no-header {path}",
        }
        pattern = "|".join(map(re.escape, words))
        advice = re.sub(pattern, lambda found: words[found.group()], error.advice)
        raise CothermError(error.argument, error.given, error.needed, advice) from None


def _paths(options: argparse.Namespace, without: set[str]) -> set[str]:
    values = [value for name, value in vars(options).items() if name not in without]
    flat = [entry for value in values for entry in (value if isinstance(value, list) else [value])]
    return {os.path.realpath(entry) for entry in flat if isinstance(entry, str) and "\0" not in entry}
