"""The command line, thin: ``cotherm demo``, ``cotherm reproduce`` and ``cotherm bench``."""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from cotherm.errors import CothermError

# As in cotherm.experiments.reproduce, which is loaded only when it is needed.
_EXPERIMENTS = ("circles", "ring", "man", "nus", "digits", "sources", "scnmt", "scgem")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command; exit with 2 and one line on bad input."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal or pipe that knows no mathematics gets question marks, not a traceback.
        if isinstance(stream, io.TextIOWrapper) and stream.errors in ("strict", "surrogateescape"):
            stream.reconfigure(errors="replace")
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
    except CothermError as error:
        print(f"cotherm: error: {error}", file=sys.stderr)
        sys.exit(2)


def _parser() -> argparse.ArgumentParser:
    import cotherm

    parser = argparse.ArgumentParser(
        prog="cotherm",
        description="Multimodal spectral geometry on graphs: heat flow, diffusion distances, heat kernel coupling.",
    )
    parser.add_argument("--version", action="version", version=f"cotherm {cotherm.__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    demo = commands.add_parser(
        "demo",
        help="couple two embedded graphs, a ring and a cracked ring",
        description="Couples a ring and the same ring with a crack: heat before and after, the edges that were cut.",
        epilog="example: cotherm demo --out pictures",
    )
    demo.add_argument("--out", type=Path, default=Path("out"), metavar="DIR", help="where the picture goes (out)")
    demo.set_defaults(run=_demo)

    reproduce = commands.add_parser(
        "reproduce",
        help="rerun the paper's experiments and print our figures beside the paper's",
        description="Reruns experiments of the paper from the data, judges them, draws them and writes a page. Exits "
        "with 1 when a claim does not hold.",
        epilog="examples: cotherm reproduce circles;  cotherm reproduce all --data DIR --out results",
    )
    reproduce.add_argument("experiment", choices=[*_EXPERIMENTS, "all"], help="which, or all")
    reproduce.add_argument(
        "--data", type=Path, metavar="DIR", help="the real data (default: COTHERM_DATA; without, embedded stand-ins)"
    )
    reproduce.add_argument(
        "--out", type=Path, default=Path("out/results"), metavar="DIR", help="where everything goes (out/results)"
    )
    reproduce.add_argument(
        "--page", type=Path, metavar="FILE", help="also write a page fit to be shared, such as docs/results.md"
    )
    reproduce.add_argument("--json", action="store_true", help="print JSON instead of text")
    reproduce.set_defaults(run=_reproduce)

    bench = commands.add_parser(
        "bench",
        help="measure against SciPy, side by side in one run",
        description="Benchmarks with one judge, as ratios measured side by side in one run.",
        epilog="examples: cotherm bench heat;  cotherm bench couple --data DIR --json",
    )
    bench.add_argument(
        "problem",
        choices=["heat", "couple", "routes", "diagonalize", "match"],
        help="heat: e^(-tL)F on 200,000 vertices; couple: the paper's four problems against other optimisers; "
        "routes: how often each route of couple finds the best minimum known; "
        "diagonalize: joint bases against pyRiemann and qndiag; "
        "match: correspondences of two poses against pyFM and POT",
    )
    bench.add_argument("--json", action="store_true", help="print JSON instead of a table")
    bench.add_argument("--quick", action="store_true", help="smaller, under a minute")
    bench.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        help="for couple, diagonalize and match: where tosca/, nus/ and the others are (default: COTHERM_DATA)",
    )
    bench.set_defaults(run=_bench)
    return parser


def _demo(options: argparse.Namespace) -> None:
    from cotherm.demo import run

    print(run(options.out))


def _reproduce(options: argparse.Namespace) -> None:
    from cotherm.experiments.reproduce import NAMES, reproduce

    names = NAMES if options.experiment == "all" else (options.experiment,)
    quiet = options.json
    found = reproduce(
        names, data=options.data, out=options.out, page=options.page, say=(lambda _: None) if quiet else _spaced
    )
    if options.json:
        print(json.dumps([experiment.figures() for experiment in found], indent=2))
    else:
        print(f"Page, numbers and pictures: {options.out}")
    failed = [claim for experiment in found for claim in experiment.claims if not claim.holds]
    for claim in failed:
        print(f"cotherm: {claim}", file=sys.stderr)
    if failed:
        sys.exit(1)


def _spaced(text: str) -> None:
    print(text, end="\n\n", flush=True)


def _bench(options: argparse.Namespace) -> None:
    benchmark = import_module(f"cotherm.benchmarks.{options.problem}")
    given = {"data": options.data} if options.problem in ("couple", "diagonalize", "match") else {}
    report = benchmark.run(quick=options.quick, **given)
    print(json.dumps(report, indent=2) if options.json else benchmark.table(report))
