"""What commands take: options declared once, the types of their values, help with its own line breaks."""

from __future__ import annotations

import argparse
import csv
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, NoReturn

from cotherm.errors import CothermError, visible
from cotherm.io.cells import is_numeral
from cotherm.ranks import is_first

# Options by their flags, with what argparse is to know of them.
Options = Mapping[str, Mapping[str, Any]]
# What adds options to a parser in groups.
Groups = Callable[[argparse.ArgumentParser], None]


class Command(NamedTuple):
    """A command: what its help says, what it takes beside --json, and what it does."""

    about: str
    examples: str
    options: Sequence[Options | Groups]
    run: Callable[[argparse.Namespace], None]


def refuse_given(
    options: argparse.Namespace, names: Sequence[str], needed: str, advice: str = "", default: str | None = None
) -> None:
    """Refuse options that have no meaning here, and were given as something else than the default."""
    for name in names:
        said = getattr(options, name.replace("-", "_"))
        if said is not None and said is not False and said != default:
            raise CothermError(f"--{name}", "given" if said is True else str(said), needed, advice)


class Parser(argparse.ArgumentParser):
    """Reports an error in one line and exits with 2; keeps the line breaks of descriptions and examples."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("formatter_class", _Help)
        super().__init__(**options, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        if is_first():  # only one rank reports it, since all find the same mistake
            print(f"{self.prog}: error: {visible(' '.join(message.split()))}. See: {self.prog} --help", file=sys.stderr)
        sys.exit(2)


class _Help(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30, width=110)


def integer(text: str) -> int:
    """A whole number in the digits 0 to 9: int() also takes 1_000 and the digits of every script."""
    if not re.fullmatch("[+-]?[0-9]{1,18}", text):
        raise argparse.ArgumentTypeError(f"{text!r}; needed: a whole number")
    return int(text)


def number(text: str) -> float:
    """A number in the same digits; nan and inf are read, and refused where they make no sense."""
    if not is_numeral(text):
        raise argparse.ArgumentTypeError(f"{text!r}; needed: a number")
    return float(text)


def numbers(text: str) -> list[float]:
    """1,2,5"""
    parts = [part.strip() for part in text.split(",")]
    if not all(map(is_numeral, parts)):
        raise argparse.ArgumentTypeError(f"{text!r}; needed: numbers separated by commas, such as 1,2,5")
    return list(map(float, parts))


def words(text: str) -> list[str]:
    """Names or titles separated by commas, as in a table: a,b,"c, d" is three."""
    parts = [part.strip() for part in next(csv.reader([text], skipinitialspace=True), [])]
    if not parts or not all(parts):
        raise argparse.ArgumentTypeError(f"{text!r}; needed: names separated by commas, such as age,height")
    return parts


def either(convert: Callable[[str], Any], *others: str) -> Callable[[str], Any]:
    """A value of some type, or one of some words."""

    def converted(text: str) -> Any:
        if text in others:
            return text
        try:
            return convert(text)
        except argparse.ArgumentTypeError as error:
            raise argparse.ArgumentTypeError(f"{error} or {' or '.join(others)}") from None

    return converted


def value(convert: Callable[[str], Any], metavar: str, text: str, **more: Any) -> dict[str, Any]:
    """An option with a value of some type."""
    return {"type": convert, "metavar": metavar, "help": text, **more}


def choice(words: list[str], text: str, **more: Any) -> dict[str, Any]:
    """An option that is one of some words."""
    return {"choices": words, "help": text, **more}


def flag(text: str) -> dict[str, Any]:
    """An option without a value."""
    return {"action": "store_true", "help": text}


def file(text: str, metavar: str = "FILE") -> Options:
    """The file that a command is about."""
    return {"file": {"metavar": metavar, "help": text}}


def files(text: str, metavar: str = "FILE", **more: Any) -> dict[str, Any]:
    """One file or several."""
    return {"nargs": "+", "metavar": metavar, "help": text, **more}


def out(text: str, metavar: str = "FILE", *, required: bool = True, several: bool = False) -> Options:
    """Where the result goes; ``several`` takes a file for each view."""
    return {
        "--out -o": {"metavar": metavar, "required": required, "help": text, **({"nargs": "+"} if several else {})},
        "--force": flag("replace the output if it exists"),
    }


def add(group: argparse._ActionsContainer, *options: Options) -> None:
    """Give a command some options."""
    for flags, declared in ((flags, said) for some in options for flags, said in some.items()):
        group.add_argument(*flags.split(), **declared)


def group(title: str, *options: Options) -> Groups:
    """Options under a title."""
    return lambda parser: add(parser.add_argument_group(title), *options)


def one_of(options: Options) -> Groups:
    """Options of which one may be given."""
    return lambda parser: add(parser.add_mutually_exclusive_group(), options)


ENGINE: Options = {
    "--engine": choice(
        ["cpu", "gpu"],
        "what computes: the processor (the default), or an NVIDIA GPU, with the extra gpu",
        default="cpu",
    )
}
JSON: Options = {"--json": flag("print JSON instead of text")}
VIEW: Options = {"--view": value(str, "VIEW", "for a coupling: only this view, by name or counted from 1")}
SEED: Options = {"--seed": value(integer, "N", "random seed (0)", default=0)}
GRAPH_WEIGHTS: Options = {"--graph-weights": value(numbers, "P,P,...", "weight of each view (1,1,...)")}
SAME_ITEMS: Options = {"views": files("two or more views of the same items, in the same order", "VIEW")}
LABELS: Options = {
    "--labels": files("classes of the items, a table for all views or one for each (default: those stored in FILE)"),
    "--column": value(str, "NAME", "column of --labels to use"),
}
# What the user says about the first rows of tables.
HEADERS = group(
    "tables whose first row could be a header or data",
    {
        "--header": value(str, "FILE", "the first row of this table is a header", action="append"),
        "--no-header": value(str, "FILE", "the first row of this table is data", action="append"),
    },
)
_POINTS: Options = {
    "--neighbors -k": value(integer, "K", "number of neighbors of each point (10)", default=10),
    "--scale": value(
        either(number, "self-tuning", "median", "none"),
        "S",
        "scale of the Gaussian weights: self-tuning (one for each point, the default), median, none, or a number",
        default="self-tuning",
    ),
    "--metric": choice(["euclidean", "cosine"], "distance between points (euclidean)", default="euclidean"),
    "--symmetrize": choice(
        ["max", "mean", "min"], "weight of pairs that are not mutual neighbors (max)", default="max"
    ),
    "--standardize": flag("scale every feature to mean 0 and standard deviation 1 first"),
}
_TABLES: Options = {
    "--columns": value(
        words,
        "A,B,...",
        "compare items by these columns only; of several tables each must have some of them",
        action="extend",
    ),
    "--drop-columns": value(words, "A,B,...", "leave out these columns", action="extend"),
    "--label-column": value(
        str,
        "TITLE",
        "this column holds classes: the labels of the graph, not compared by; of .h5ad and .h5mu a column of obs",
    ),
    "--id-column": value(
        words,
        "TITLE",
        "this column holds ids, which pair rows (the first column, if its title or its cells tell); titles separated "
        "by commas for tables that differ; none if no column does",
        action="extend",
    ),
    "--missing": choice(
        ["drop", "median"],
        "missing values: drop their rows, or fill in the median of the column (by default they are refused)",
    ),
    "--decimal": choice(
        [".", ","],
        "decimal mark of text, point or comma (by default recognized, unless commas separate cells)",
        metavar="MARK",
    ),
    "--sheet": value(str, "NAME", "sheet of an .xlsx file (the first)"),
    "--rep": value(str, "KEY", "representation in .h5ad and .h5mu: a key of obsm, or X (X)"),
    "--modality": value(str, "NAME", "one modality of an .h5mu file (all, each a view)"),
}
# How tables are read and points become graphs.
POINTS = (
    group("graphs from points (graph files are used as they are)", _POINTS),
    group("tables of points", _TABLES),
    HEADERS,
)
SOURCES: Options = {
    "--labels": files(
        "class labels: a table with one column for all views (row k is item k of each), one column for each view, "
        "or names and labels; or one file for each view. Empty cells and NA mean unknown"
    ),
    "--landmarks": value(
        str,
        "FILE",
        "items known to correspond: a row for each, a column for each view, with names or row numbers from 0",
    ),
    "--features": files("features measured in every view, one table for each view"),
    "--functions": files("functions as columns, one table for each view"),
}
BY = ("pairs", *(name.removeprefix("--") for name in SOURCES))
_PAIRS: Options = {
    "--by": {
        "choices": BY,
        "metavar": "|".join(BY),
        "help": "couple by this; by default by pairs, or by the landmarks, features or functions that are given; by "
        "labels where --known says how many of them to use, or where views have no ids in common",
    },
    "--paired": flag(
        "the same as --by pairs: rows with the same id are the same item, or row k of every view where tables have no "
        "ids. --labels, given beside, are only stored, to judge by"
    ),
}
_LABELS_USED: Options = {
    "--column": LABELS["--column"],
    "--known": value(number, "SHARE", "fraction of the labels of every class to use (all)"),
    "--seed": value(integer, "N", "random seed for --known (0)", default=0),
}


def sources(parser: argparse.ArgumentParser, *, pairs: bool = False) -> None:
    """What corresponds, one of several; with ``pairs``, rows may be paired instead."""
    title = "what corresponds (by default rows with the same id)"
    group = parser.add_argument_group(title if pairs else "what corresponds (give one of the first three)")
    one = group.add_mutually_exclusive_group(required=not pairs)
    add(one, SOURCES if pairs else {name: said for name, said in SOURCES.items() if name != "--functions"})
    add(group, *([_PAIRS] if pairs else []), _LABELS_USED)


sources_or_pairs = partial(sources, pairs=True)
