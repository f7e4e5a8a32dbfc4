"""``cotherm demo``: the main job on embedded data, and tables to try the other commands on."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

HELP = "couple two built-in graphs, or write example tables"
ABOUT = """\
Couples a ring and the same ring with a crack. Prints heat before and after, and the edges that were
cut.

With --tables, writes tables to try the examples of every command on:
  images.csv, words.csv, labels.csv  145 made-up photographs of seven classes; some classes have
                                     similar colors, others have similar words
  joined.csv, apart.csv, hands.csv   200 points of a body in two poses, with joined and with separate
                                     hands, and a point on each hand
"""
EXAMPLES = """\
examples:
  cotherm demo --out pictures
  cotherm demo --tables . --force
"""
_BODY_POINTS = 200
Table = tuple[list[str], list[list[Any]]]  # titles, rows


def add_options(parser: argparse.ArgumentParser) -> None:
    one = parser.add_mutually_exclusive_group()
    one.add_argument("--out", type=Path, default=Path("out"), metavar="DIR", help="directory for the picture (out)")
    one.add_argument("--tables", metavar="DIR", help="write example tables into this directory, which must exist")
    parser.add_argument("--force", action="store_true", help="replace tables that exist")


def run(options: argparse.Namespace) -> None:
    from cotherm.demo import run as demo

    print(demo(options.out) if options.tables is None else _write_tables(options.tables, options.force))


def _write_tables(directory: str, force: bool) -> str:
    from cotherm.cli import outputs
    from cotherm.errors import visible

    tables = _photographs() | _bodies()
    places = [outputs.free_place(str(Path(directory) / name), (".csv",), force=force) for name in tables]
    outputs.write_all(places, [outputs.csv_bytes(*table) for table in tables.values()], force=force)
    return visible("Written: " + ", ".join(map(str, places)))


def _photographs() -> dict[str, Table]:
    import numpy as np

    from cotherm.datasets.ambiguous import ambiguous_points

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
    import numpy as np

    from cotherm.datasets.human import human

    views = human(_BODY_POINTS)
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
