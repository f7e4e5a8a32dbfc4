"""``python -m benchmarks NAME``: runs a benchmark and prints its table."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.pairs import sets
from benchmarks.suite import families
from cotherm.cli import options as options_of
from cotherm.cli.main import run_program
from cotherm.errors import known_as
from cotherm.memory import amount

PROGRAM = "python -m benchmarks"
DESCRIPTION = """\
Benchmarks of cotherm. Contestants solve the same problems side by side in one run; a judge that is
none of them measures what they return. Most contestants are in the extra `bench`.
"""
EXAMPLES = f"""\
examples:
  {PROGRAM} heat
  {PROGRAM} couple --data DIR --json
  {PROGRAM} suite --family heat --family neighbors --out results
  {PROGRAM} all --quick

Every benchmark has options of its own: {PROGRAM} suite --help
"""
# A module for each name, in the order in which `all` runs them.
ABOUT = {
    "heat": "e^(-tL)F on 200,000 vertices, against SciPy",
    "couple": "the paper's four problems, against other optimizers",
    "scale": "planted short cuts on up to a million vertices, and a body in two poses",
    "many": "many functions and many views, against the solver that formed all derivatives; growth of time and memory",
    "few": "few functions: the problems that were fast before, beside the version of that time",
    "checkpoints": "what a checkpoint costs: processor time with and without one",
    "scaling": "coupling by several processes with PETSc: time, memory and traffic, and a model of larger machines",
    "scaling_pairs": "coupling by pairs through shards: memory of ranks beside the forecast, and one process's answer",
    "largest": "the largest graphs that couple: one process beside ranks through shards, with as much memory each",
    "profile": "where a coupling of a million vertices spends its time",
    "gpu": "the GPU engine: right first, then beside what the chip can do and beside CuPy and PyTorch",
    "routes": "how often each continuation of couple finds the best minimum known",
    "tables": "reading a million rows of fifty columns, against pandas",
    "points": "from a table of up to a million points to a graph, against pandas and scikit-learn",
    "shards": "graphs and points into shards, in a stream and by ranks of MPI, beside the same in memory",
    "threads": "the Ring in threads and processes: results and times",
    "diagonalize": "joint bases, against pyRiemann and qndiag",
    "match": "correspondences, against pyFM and POT",
    "agreement": "how far halves of the functions tell how right a match is",
    "landmarks": "landmarks on noisy networks: matches as given, coupled as strongly as before, and by default",
    "pairs": "coupling by pairs without labels: retrieval, missing views, one graph for all, against other libraries",
    "defaults": "coupling by pairs with its defaults on many small sets: what views gain, and whether any loses",
    "multiome": "single cells measured twice, of which all, half or a quarter are paired",
    "suite": "all problems, all contestants, each in a process of its own with limits",
}
NAMES = tuple(ABOUT)
_WITH_DATA = (
    "couple",
    "scale",
    "many",
    "gpu",
    "diagonalize",
    "match",
    "agreement",
    "landmarks",
    "pairs",
    "defaults",
    "multiome",
    "suite",
)
_WITH_PETSC = ("scaling", "scaling_pairs", "largest")
# Options of the suite, and what its function calls them.
_OF_SUITE = {
    "family": "families",
    "out": "out",
    "page": "page",
    "largest": "largest",
    "seconds": "seconds",
    "patience": "patience",
}
_OF_PAIRS = ("sets", "seeds", "parts", "methods", "experiments", "out", "into", "keep", "seconds")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one benchmark, or all; exit with 2 and one line on bad input."""
    run_program(PROGRAM, partial(_run, arguments))


def _run(arguments: Sequence[str] | None) -> None:
    options = _parser().parse_args(arguments)
    if options.name == "all":
        _run_all(options)
        return
    report, text = _measured(options.name, options)
    print(json.dumps(report, indent=2) if options.json else text)


def names_here() -> list[str]:
    """All that can run here: some need PETSc, which has an environment of its own (make .venv-mpi/.ready)."""
    return [name for name in NAMES if name not in _WITH_PETSC or find_spec("petsc4py") is not None]


def _run_all(options: argparse.Namespace) -> None:
    """One after the other; the tables as they come, or one object of all reports."""
    reports = {}
    for name in names_here():
        _log(f"{PROGRAM} {name} ...")
        reports[name], text = _measured(name, options)
        if not options.json:
            print(f"{text}\n", flush=True)
    if options.json:
        print(json.dumps(reports, indent=2))


def _measured(name: str, options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    benchmark = import_module(f"benchmarks.{name}")
    given: dict[str, Any] = {"data": options.data} if name in _WITH_DATA else {}
    if name == "suite":
        given |= {argument: getattr(options, option) for option, argument in _OF_SUITE.items()}
    elif options.name == "pairs":
        given |= {option: getattr(options, option) for option in _OF_PAIRS}
    elif name == "many" and options.name == "many":
        given |= {"out": options.out}
    if options.name == "largest":
        limit = None if options.memory is None else amount("--memory", options.memory)
        given |= {"limit": 0 if options.machine else limit, "ranks": options.ranks, "seconds": options.seconds}
    if name in ("suite", "pairs"):
        given |= {"memory": None if options.memory is None else amount("--memory", options.memory), "log": _log}
    with known_as("families", "--family"):
        report = benchmark.run(quick=options.quick, **given)
    return report, benchmark.table(report)


def _log(line: str) -> None:
    """Progress goes where results do not."""
    print(line, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    about = {**ABOUT, "all": "every one of these"}
    lines = "\n".join(f"  {name:<14}{text}" for name, text in about.items())
    description = f"{DESCRIPTION}\nbenchmarks:\n{lines}"
    parser = options_of.Parser(prog=PROGRAM, usage=f"{PROGRAM} NAME ...", description=description, epilog=EXAMPLES)
    names = parser.add_subparsers(
        required=True, dest="name", prog=PROGRAM, metavar="NAME", parser_class=options_of.Parser, help=argparse.SUPPRESS
    )
    for name, text in about.items():
        _add_options(names.add_parser(name, description=f"{text[0].upper()}{text[1:]}."), name)
    return parser


def _add_options(parser: argparse.ArgumentParser, name: str) -> None:
    options_of.add(parser, options_of.JSON)
    quick = {"all": "all in eight minutes", "pairs": "two seeds, some five minutes"}.get(name, "at most two minutes")
    parser.add_argument("--quick", action="store_true", help=f"smaller problems, {quick}")
    if name in (*_WITH_DATA, "all"):
        where = "the directory of tosca/, nus/ and the other real data (default: COTHERM_DATA)"
        parser.add_argument("--data", type=Path, metavar="DIR", help=where)
    if name in ("suite", "all"):
        _add_options_of_suite(parser.add_argument_group("options of the suite"))
    if name == "pairs":
        _add_options_of_pairs(parser)
    if name == "largest":
        _add_options_of_largest(parser)
    if name == "many":
        parser.add_argument("--out", type=Path, metavar="DIR", help="draw the growth there")


def _add_options_of_largest(parser: argparse.ArgumentParser) -> None:
    limit = parser.add_mutually_exclusive_group()
    limit.add_argument("--memory", metavar="AMOUNT", help="memory for every process (1GB)")
    limit.add_argument("--machine", action="store_true", help="no limit but the memory of this machine")
    parser.add_argument("--ranks", type=options_of.integer, default=4, metavar="N", help="number of ranks (4)")
    parser.add_argument(
        "--seconds", type=options_of.number, default=600.0, metavar="S", help="a coupling stops after so many (600)"
    )


def _add_options_of_suite(suite: argparse._ArgumentGroup) -> None:
    some = f"only this family, one of {', '.join(families.NAMES)}; may be repeated"
    suite.add_argument("--family", action="append", metavar="NAME", help=some)
    suite.add_argument("--out", type=Path, metavar="DIR", help="write suite.json and plots of time and memory there")
    suite.add_argument("--page", type=Path, metavar="FILE", help="write a Markdown page of tables and plots")
    suite.add_argument("--largest", type=options_of.integer, metavar="N", help="leave out problems larger than N")
    suite.add_argument(
        "--seconds", type=options_of.number, metavar="S", help="time limit of every contestant on every problem"
    )
    suite.add_argument(
        "--patience", type=options_of.number, metavar="X", help="multiply the problems' own time limits by X"
    )
    suite.add_argument(
        "--memory", metavar="SIZE", help="memory limit of every contestant, such as 8GiB (default: 3/4 of all)"
    )


def _add_options_of_pairs(parser: argparse.ArgumentParser) -> None:
    names = ", ".join(sets.NAMES)
    some_sets = f"some of {names} (default: these), mop, planted-N; with -N a sample, with +permuted a view of no use"
    parser.add_argument("--sets", type=_words, metavar="NAMES", help=some_sets)
    parser.add_argument("--seeds", type=options_of.integer, metavar="N", help="how many (default: 10)")
    parts = "percent of the items that are paired (default: 100,75,50,25,10) or in all views (default: 100,50,30)"
    parser.add_argument("--parts", type=options_of.numbers, metavar="P", help=parts)
    some = "names of some contestants, as in the tables, separated by semicolons"
    parser.add_argument("--methods", type=lambda text: _words(text, ";"), metavar="NAMES", help=some)
    parser.add_argument("--experiments", type=_words, metavar="NAMES", help="retrieval, missing, joint (default: all)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the tables there, a Markdown file")
    into = "write the section on coupling by pairs of this Markdown page anew, such as docs/results.md"
    parser.add_argument("--into", type=Path, metavar="FILE", help=into)
    keep = "JSON lines: rows are added as they come, and a run goes on from them (default: pairs.jsonl beside --out)"
    parser.add_argument("--keep", type=Path, metavar="FILE", help=keep)
    limit = "time limit of every contestant on every case (default: 600, on digits 3600)"
    parser.add_argument("--seconds", type=options_of.number, metavar="S", help=limit)
    parser.add_argument(
        "--memory", metavar="SIZE", help="memory limit of every contestant, such as 8GiB (default: 3/4 of all)"
    )


def _words(text: str, separator: str = ",") -> list[str]:
    return [word.strip() for word in text.split(separator) if word.strip()]
