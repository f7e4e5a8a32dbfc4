"""``cotherm demo``: the main job on embedded data, and tables to try the other commands on."""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "couple two built-in graphs, or write example tables"
ABOUT = """\
Couples a ring and the same ring with a crack. Prints heat before and after, and the edges that were
cut.

With --tables, writes images.csv, words.csv and labels.csv instead: 145 made-up photographs of seven
classes. Some classes have similar colors, others have similar words.
"""
EXAMPLES = """\
examples:
  cotherm demo --out pictures
  cotherm demo --tables .
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    one = parser.add_mutually_exclusive_group()
    one.add_argument("--out", type=Path, default=Path("out"), metavar="DIR", help="directory for the picture (out)")
    one.add_argument("--tables", metavar="DIR", help="write example tables into this directory, which must exist")
    parser.add_argument("--force", action="store_true", help="replace tables that exist")


def run(options: argparse.Namespace) -> None:
    from cotherm.demo import run as demo

    print(demo(options.out) if options.tables is None else _write_tables(options.tables, options.force))


def _write_tables(directory: str, force: bool) -> str:
    import numpy as np

    from cotherm.cli import outputs
    from cotherm.datasets.ambiguous import ambiguous_points
    from cotherm.errors import visible

    tags, colors, labels = ambiguous_points()
    order = np.random.default_rng(0).permutation(len(labels))  # else classes would follow each other
    words = tags.toarray()[order].astype(int)
    words = words[:, words.sum(axis=0) > 1]
    names = [f"photo-{k:03}" for k in range(len(order))]
    tables = {
        "images.csv": (_titles("color", colors.shape[1]), colors[order].round(4).tolist()),
        "words.csv": (_titles("word", words.shape[1]), words.tolist()),
        "labels.csv": (["class"], [["ABCDEFG"[c]] for c in labels[order]]),
    }
    places = [outputs.free_place(str(Path(directory) / name), (".csv",), force=force) for name in tables]
    contents = [
        outputs.csv_bytes(["id", *titles], ([name, *row] for name, row in zip(names, rows, strict=True)))
        for titles, rows in tables.values()
    ]
    outputs.write_all(places, contents, force=force)
    return visible("Written: " + ", ".join(map(str, places)))


def _titles(word: str, count: int) -> list[str]:
    return [f"{word} {k}" for k in range(1, count + 1)]
