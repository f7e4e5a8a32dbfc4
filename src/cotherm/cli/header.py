"""The options ``--header FILE`` and ``--no-header FILE``: what the user says about the first rows of tables."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from pathlib import Path

from cotherm.errors import CothermError


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


def _paths(options: argparse.Namespace, without: set[str]) -> set[str]:
    values = [value for name, value in vars(options).items() if name not in without]
    flat = [entry for value in values for entry in (value if isinstance(value, list) else [value])]
    return {os.path.realpath(entry) for entry in flat if isinstance(entry, str) and "\0" not in entry}
