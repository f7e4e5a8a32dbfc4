"""``cotherm demo``: the main job on embedded data, tables to try; ``cotherm reproduce``: the paper's experiments."""

from __future__ import annotations

import argparse
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import cotherm as ct
from cotherm.arrays import Floats
from cotherm.cli import options as declare
from cotherm.cli import outputs
from cotherm.datasets.ambiguous import ambiguous_points
from cotherm.errors import CothermError, visible
from cotherm.io.text import csv_bytes

_DEMO = """\
Couples a ring and the same ring with a crack. Prints heat before and after, and the edges that were
cut.

With --tables, writes tables to try the examples of every command on:
  images.csv, words.csv, labels.csv  145 made-up photographs of seven classes; some classes have
                                     similar colors, others have similar words
  joined.csv, apart.csv, hands.csv   200 points of a body in two poses, with joined and with separate
                                     hands, and a point on each hand
"""
_DEMO_EXAMPLES = """\
  cotherm demo --out pictures
  cotherm demo --tables . --force
"""
_BODY_POINTS = 200
Table = tuple[list[str], list[list[Any]]]  # titles, rows

_DEMO_OPTIONS = (
    declare.one_of(
        {
            "--out": declare.value(Path, "DIR", "directory for the picture (out)", default=Path("out")),
            "--tables": declare.value(str, "DIR", "write example tables into this directory, which must exist"),
        }
    ),
    {"--force": declare.flag("replace tables that exist")},
)


def _demo(options: argparse.Namespace) -> None:
    print(_cracked_ring(options.out) if options.tables is None else _write_tables(options.tables, options.force))


def _cracked_ring(out: Path) -> str:
    """Couple a ring and a cracked one, draw them into ``out``, and give the readable result."""
    views = ct.datasets.ring()
    result = ct.couple(views.graphs, views.functions, views.times, alpha=1e6)
    bump = views.functions[0][:, 0]
    times = [0.0, *views.times]
    before, after = (
        [ct.heat_flow(g, bump, times)[:, :, 0] for g in graphs] for graphs in (views.graphs, result.graphs)
    )
    picture, page = out / "demo.png", out / "demo.html"
    try:
        out.mkdir(parents=True, exist_ok=True)
        result.plot("heat").savefig(picture, dpi=130)
    except OSError as error:
        raise CothermError("out", f"{out}: {error.strerror}", "a directory that can be written to") from None
    result.save_page(page, overwrite=True, pairs="same", title="A ring and the same ring with a crack, coupled")
    cut = ", ".join(f"{i}-{j}" for i, j in result.changes()[0].edges("cut"))
    about = "A ring of 70 points and the same ring with a crack; three functions that correspond, nothing else known."
    lines = [about, "", *_heat_table(times, before, after), "", str(result), ""]
    lines += [f"Cut in the whole ring: the edges across the seam, {cut}.", ""]
    return "\n".join([*lines, f"Picture: {picture}", f"Page, to look at in a browser: {page}"])


def _heat_table(times: list[float], before: Sequence[Floats], after: Sequence[Floats]) -> list[str]:
    """How much of the heat started beside the seam is on the far side of it, and how far the two flows differ."""
    lines = [
        f"{'':>6}{'heat across the seam, before':>36}{'after coupling':>36}",
        f"{'time':>6}" + 2 * f"{'ring':>10}{'cracked':>10}{'‖H₁f − H₂f‖':>16}",
    ]
    far = np.arange(before[0].shape[1]) >= before[0].shape[1] // 2
    for k, t in enumerate(times):
        row = f"{t:6g}"
        for whole, cracked in (before, after):
            # Rounding may leave −1e-17.
            across = [max(0.0, float(flow[k, far].sum() / flow[k].sum())) for flow in (whole, cracked)]
            row += f"{across[0]:>10.1%}{across[1]:>10.1%}{np.linalg.norm(whole[k] - cracked[k]):>16.4f}"
        lines.append(row)
    return lines


def _write_tables(directory: str, force: bool) -> str:
    tables = _photographs() | _bodies()
    places = [outputs.free_place(str(Path(directory) / name), (".csv",), force=force) for name in tables]
    outputs.write_all(places, [csv_bytes(*table) for table in tables.values()], force=force)
    return visible("Written: " + ", ".join(map(str, places)))


def _photographs() -> dict[str, Table]:
    tags, colors, labels = ambiguous_points()
    order = np.random.default_rng(0).permutation(len(labels))  # else classes would follow each other
    words = tags.toarray()[order].astype(int)
    words = words[:, words.sum(axis=0) > 1]
    names = [f"photo-{k:03}" for k in range(len(order))]
    return {
        "images.csv": _named(names, _titles("color", colors.shape[1]), colors[order].round(4).tolist()),
        "words.csv": _named(names, _titles("word", words.shape[1]), words.tolist()),
        "labels.csv": _named(names, ["class"], [["ABCDEFG"[c]] for c in labels[order]]),
    }


def _bodies() -> dict[str, Table]:
    views = ct.datasets.human(_BODY_POINTS)
    names = [f"point-{k:03}" for k in range(_BODY_POINTS)]
    joined, apart = (np.asarray(graph.coordinates).round(3).tolist() for graph in views.graphs)
    hands = [[names[int(np.argmax(f))]] * 2 for f in views.functions[1].T]
    return {
        "joined.csv": _named(names, ["x", "y", "z"], joined),
        "apart.csv": _named(names, ["x", "y", "z"], apart),
        "hands.csv": (["joined", "apart"], hands),
    }


def _named(names: list[str], titles: list[str], rows: list[list[Any]]) -> Table:
    return ["id", *titles], [[name, *row] for name, row in zip(names, rows, strict=True)]


def _titles(word: str, count: int) -> list[str]:
    return [f"{word} {k}" for k in range(1, count + 1)]


_REPRODUCE = """\
Reruns experiments of the paper, checks their claims, draws the figures and writes a page. Exits with
code 1 if a claim does not hold. The experiments are not installed: this command finds them in a clone
of the repository that cotherm was installed from by `pip install -e .` or by make.
"""
_REPRODUCE_EXAMPLES = """\
  cotherm reproduce circles
  cotherm reproduce ring --out results
"""
_REPRODUCE_OPTIONS = (
    {
        "experiment": {"metavar": "EXPERIMENT", "help": "circles, ring, man, nus, digits, ..., or all"},
        "options": {"nargs": argparse.REMAINDER, "metavar": "...", "help": "further options, as of python -m paper"},
    },
)


def _reproduce(options: argparse.Namespace) -> None:
    root = Path(ct.__file__).parents[2]
    if not (root / "paper" / "__main__.py").is_file():
        raise CothermError(
            "reproduce",
            "an installation without the experiments",
            "a clone of the repository",
            "In the clone, make reproduce runs them.",
        )
    sys.path.insert(0, str(root))
    sys.argv = ["paper", options.experiment, *options.options]
    runpy.run_module("paper", run_name="__main__", alter_sys=True)


COMMANDS = {
    "demo": declare.Command(_DEMO, _DEMO_EXAMPLES, _DEMO_OPTIONS, _demo),
    "reproduce": declare.Command(_REPRODUCE, _REPRODUCE_EXAMPLES, _REPRODUCE_OPTIONS, _reproduce),
}
