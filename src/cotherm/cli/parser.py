"""How options are read: errors in one line, help with its own line breaks, and the types of option values."""

from __future__ import annotations

import argparse
import re
import sys
from typing import Any, NoReturn

from cotherm.errors import visible
from cotherm.io.cells import is_numeral
from cotherm.ranks import is_first


class Parser(argparse.ArgumentParser):
    """Reports an error in one line and exits with 2; keeps the line breaks of descriptions and examples."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("formatter_class", _Help)
        super().__init__(**options, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        if "required: VIEW" in message:
            message += ". Name the views before options such as --labels, which take all names that follow"
        if is_first():  # only one rank reports it, since all find the same mistake
            print(f"{self.prog}: error: {visible(' '.join(message.split()))}. See: {self.prog} --help", file=sys.stderr)
        sys.exit(2)


class _Help(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30, width=110)


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def add_engine(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--engine",
        choices=["cpu", "gpu"],
        default="cpu",
        help="what computes: the processor (the default), or an NVIDIA GPU, with the extra gpu",
    )


def add_out(parser: argparse.ArgumentParser, what: str, *, required: bool = True) -> None:
    parser.add_argument("--out", "-o", metavar="FILE", required=required, help=what)
    parser.add_argument("--force", action="store_true", help="replace the output if it exists")


def add_view(parser: argparse.ArgumentParser) -> None:
    """Choose one graph of a file that holds several."""
    parser.add_argument("--view", metavar="VIEW", help="for a coupling: only this view, by name or counted from 1")


def integer(text: str) -> int:
    """A whole number in the digits 0 to 9: int() also takes 1_000 and the digits of every script."""
    if not re.fullmatch("[+-]?[0-9]{1,18}", text):
        raise argparse.ArgumentTypeError(f"{text!r}; needed: a whole number")
    return int(text)


def integer_or_auto(text: str) -> int | str:
    if text == "auto":
        return text
    try:
        return integer(text)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"{error} or auto") from None


def number(text: str) -> float:
    """A number in the same digits; nan and inf are read, and refused where they make no sense."""
    if not is_numeral(text):
        raise argparse.ArgumentTypeError(f"{text!r}; needed: a number")
    return float(text)


def number_or(*words: str) -> Any:
    """A converter for options that take a number or one of some words."""

    def convert(text: str) -> float | str:
        if text in words:
            return text
        if not is_numeral(text):
            raise argparse.ArgumentTypeError(f"{text!r}; needed: a number or {' or '.join(words)}")
        return float(text)

    return convert


def numbers(text: str) -> list[float]:
    """1,2,5"""
    parts = [part.strip() for part in text.split(",")]
    if not all(map(is_numeral, parts)):
        raise argparse.ArgumentTypeError(f"{text!r}; needed: numbers separated by commas, such as 1,2,5")
    return list(map(float, parts))


def numbers_or_auto(text: str) -> list[float] | str:
    return text if text == "auto" else numbers(text)


def words(text: str) -> list[str]:
    """photo-1,photo-2"""
    parts = [part.strip() for part in text.split(",")]
    if not all(parts):
        raise argparse.ArgumentTypeError(f"{text!r}; needed: names or numbers separated by commas")
    return parts
