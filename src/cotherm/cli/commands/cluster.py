"""``cotherm cluster``: groups of vertices, by one graph or by several together."""

from __future__ import annotations

import argparse
from typing import Any

from cotherm.cli import parser as options_of

HELP = "spectral clustering of a graph, a coupling, or several graphs together"
ABOUT = """\
Spectral clustering. A coupling gives clusters for each of its views; for one answer for all items of
a coupling by pairs see `cotherm common`. Several graphs of the same items are first combined by a
joint basis or an average (--by). With labels, scores are printed: accuracy under the best assignment
of clusters to classes, normalized and adjusted mutual information, and adjusted Rand index.
"""
EXAMPLES = """\
examples:
  cotherm cluster coupled.npz --clusters 7 --out clusters.csv
  cotherm cluster images.npz words.npz --by diagonalize --clusters 7 --labels labels.csv --out clusters.csv
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    from cotherm.cli.inputs import add_recipe

    parser.add_argument("files", nargs="+", metavar="FILE", help="a coupling, or one or more graphs or files of points")
    parser.add_argument(
        "--clusters", "-c", type=options_of.integer, required=True, metavar="K", help="number of clusters"
    )
    options_of.add_out(parser, "the clusters, a column for each view: .csv", required=False)
    parser.add_argument("--by", choices=["average", "diagonalize"], help="how to combine several graphs")
    parser.add_argument("--labels", nargs="+", metavar="FILE", help="the true classes, for scores")
    parser.add_argument("--column", metavar="NAME", help="column of --labels to use")
    parser.add_argument("--seed", type=options_of.integer, default=0, metavar="N", help="random seed of k-means (0)")
    add_recipe(parser)
    options_of.add_json(parser)


def run(options: argparse.Namespace) -> None:
    from cotherm.cli import outputs
    from cotherm.errors import known_as, visible

    place = None if options.out is None else outputs.free_place(options.out, (".csv",), force=options.force)
    names, result, labels, reading = _joined(options)
    with known_as("k", "--clusters"), known_as("seed", "--seed"):
        clusters = result.clusters(options.clusters, seed=options.seed)
    if len(names) == 1:  # a basis or a graph in common: one answer for all views
        clusters = clusters[:1]
    report: dict[str, Any] = {"read": reading, "views": names, "clusters": [found.tolist() for found in clusters]}
    sizes = [f"{visible(name)}: sizes {_sizes(found)}" for name, found in zip(names, clusters, strict=True)]
    lines = [*map(visible, reading), *sizes]
    if labels is not None:
        report["scores"], text, note = _scored(names, clusters, labels, result)
        report["note"] = note
        lines += ["", text, *([note] if note else [])]
    if place is not None:
        outputs.write(place, _column_bytes(names, clusters), force=options.force)
        report["out"] = str(place)
        lines.append(visible(f"Written: {place}"))
    outputs.say(report, "\n".join(lines), as_json=options.json)


def _joined(options: argparse.Namespace) -> tuple[list[str], Any, Any, list[str]]:
    """Names to print, an answer that has clusters, the labels to judge them by or None, and how files were read."""
    from pathlib import Path

    from cotherm.cli.header import header_of
    from cotherm.cli.inputs import View, is_coupling, name_of, read_result, read_same_items
    from cotherm.cli.labels import read_labels
    from cotherm.errors import CothermError
    from cotherm.io.atomic import as_path
    from cotherm.methods.average import average
    from cotherm.methods.joint_diagonalization import joint_diagonalize

    first: Path = as_path(options.files[0])
    if len(options.files) == 1 and is_coupling(first):
        result: Any = read_result(options.files[0])
        views = [View(g) for g in result.graphs]
        names = [name_of(g, k) for k, g in enumerate(result.graphs)]
    else:
        views = read_same_items(options.files, options)
        graphs = [view.graph for view in views]
        if len(graphs) == 1:
            names, result = [name_of(graphs[0], 0)], average([graphs[0], graphs[0]])
        elif options.by is None:
            raise CothermError(
                "--by", "none, with several graphs", "average or diagonalize", "Or couple them first: cotherm couple."
            )
        else:
            normalized = True  # as in spectral clustering of one graph
            bring = average if options.by == "average" else joint_diagonalize
            names, result = [options.by], bring(graphs, normalized=normalized)
    labels = None
    reading = [view.reading for view in views if view.reading]
    if options.labels:
        read = read_labels(views, options.labels, options.column, header_of(options))
        labels, reading = read.of, reading + read.reading
    elif all(view.graph.labels is not None for view in views):
        labels = [view.graph.labels.astype(str) for view in views if view.graph.labels is not None]
    return names, result, labels, reading


def _sizes(found: Any) -> str:
    import numpy as np

    return ", ".join(str(size) for size in np.sort(np.bincount(found))[::-1])


def _scored(names: list[str], clusters: Any, labels: Any, result: Any) -> tuple[list[dict[str, float]], str, str]:
    """Scores with the number of items that were judged, the same as a table, and what to say about the labels."""
    from cotherm.cli.labels import kept_back
    from cotherm.cli.outputs import table_text
    from cotherm.evaluate.clustering import clustering_scores
    from cotherm.methods.coupling.result import Coupling

    known, note = [truth != "" for truth in labels], ""
    if isinstance(result, Coupling):
        known, note = kept_back(result, known)
    judged = list(zip(clusters, labels, known, strict=False))
    scores = [clustering_scores(truth[has], found[has]) for found, truth, has in judged]
    titles = list(scores[0])
    counts = [int(has.sum()) for _, _, has in judged]
    rows = [
        [name, str(count), *(f"{one[title]:.3f}" for title in titles)]
        for name, count, one in zip(names, counts, scores, strict=True)
    ]
    report = [{"items": count, **one} for count, one in zip(counts, scores, strict=True)]
    return report, table_text(["", "items", *titles], rows), note


def _column_bytes(names: list[str], clusters: Any) -> bytes:
    from itertools import zip_longest

    from cotherm.cli.outputs import csv_bytes

    return csv_bytes(names, zip_longest(*(found.tolist() for found in clusters), fillvalue=""))
