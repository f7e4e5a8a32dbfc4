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
examples, on the tables that `cotherm demo --tables .` writes:
  cotherm couple images.csv words.csv --labels labels.csv --out coupled.npz --force
  cotherm cluster coupled.npz --clusters 7 --out clusters.csv
  cotherm cluster images.csv words.csv --by diagonalize --clusters 7 --labels labels.csv --out joint-clusters.csv
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    from cotherm.cli.inputs import add_recipe

    parser.add_argument("files", nargs="+", metavar="FILE", help="a coupling, or one or more graphs or files of points")
    parser.add_argument(
        "--clusters", "-c", type=options_of.integer, required=True, metavar="K", help="number of clusters"
    )
    options_of.add_out(parser, "the clusters, a row for each item: .csv", required=False)
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
    names, result, labels, reading, graphs = _joined(options)
    with known_as("k", "--clusters"), known_as("seed", "--seed"):
        clusters = result.clusters(options.clusters, seed=options.seed)
    graphs, clusters = graphs[: len(names)], clusters[: len(names)]  # one answer for all views has one name
    same = _shared_items(result, graphs)
    clusters = [
        clusters[0],
        *(_renumbered(clusters[0], found, *pair) for found, pair in zip(clusters[1:], same, strict=True)),
    ]
    report: dict[str, Any] = {"read": reading, "views": names, "clusters": [found.tolist() for found in clusters]}
    sizes = [f"{visible(name)}: sizes {_sizes(found)}" for name, found in zip(names, clusters, strict=True)]
    lines = sizes
    if len(names) > 1:
        lines.append(_about_numbers(names[0], same))
    if labels is not None:
        report["scores"], text, note = _scored(names, clusters, labels, result)
        report["note"] = note
        lines += ["", text, *([note] if note else [])]
    if place is not None:
        outputs.write(place, _table_bytes(names, graphs, clusters), force=options.force)
        report["out"] = str(place)
        lines.append(visible(f"Written: {place}"))
    outputs.say(report, "\n".join(lines), as_json=options.json)


def _joined(options: argparse.Namespace) -> tuple[list[str], Any, Any, list[str], list[Any]]:
    """Names to print, an answer that has clusters, the labels to judge them by or None, how files were read, graphs."""
    from pathlib import Path

    from cotherm.cli.header import header_of
    from cotherm.cli.inputs import View, is_coupling, name_of, read_result, read_same_items
    from cotherm.cli.labels import read_labels
    from cotherm.cli.notices import announce
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
        announce(read.reading, as_json=options.json)
    elif all(view.graph.labels is not None for view in views):
        labels = [view.graph.labels.astype(str) for view in views if view.graph.labels is not None]
    return names, result, labels, reading, [view.graph for view in views]


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


def _shared_items(result: Any, graphs: list[Any]) -> list[tuple[Any, Any]]:
    """For each view but the first: the vertices of the first and of it that are the same items, by pairs or by name."""
    import numpy as np

    from cotherm.cli.names import names_of

    pairs = getattr(result, "pairs", None)
    found = []
    for k, graph in enumerate(graphs[1:], 1):
        if pairs is not None:
            both = (pairs.table[:, 0] >= 0) & (pairs.table[:, k] >= 0)
            found.append((pairs.table[both, 0], pairs.table[both, k]))
            continue
        place = {name: v for v, name in enumerate(names_of(graph) or ())}
        shared = [(v, place[name]) for v, name in enumerate(names_of(graphs[0]) or ()) if name in place]
        first, second = np.array(shared, dtype=np.int64).reshape(-1, 2).T
        found.append((first, second))
    return found


def _renumbered(first: Any, clusters: Any, ours: Any, theirs: Any) -> Any:
    """Clusters with the numbers of the first view's that they share most items with, as far as each has one."""
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    if not len(ours):
        return clusters
    count = 1 + max(int(first.max()), int(clusters.max()))
    common = np.zeros((count, count))
    np.add.at(common, (first[ours], clusters[theirs]), 1.0)
    target, source = linear_sum_assignment(-common)
    number = np.empty(count, dtype=np.int64)
    number[source] = target
    return number[clusters]


def _about_numbers(first: str, same: list[tuple[Any, Any]]) -> str:
    if all(len(ours) for ours, _ in same):
        return f"Clusters have the numbers of those of {first} that they share most items with."
    return "Clusters are numbered in each view by itself: the same number in two views means nothing."


def _table_bytes(names: list[str], graphs: list[Any], clusters: Any) -> bytes:
    """A row for every item: a column for each view where items have names, else the views one below the other."""
    from cotherm.cli.names import ID, items_of, names_of
    from cotherm.cli.outputs import csv_bytes

    if len(names) == 1:
        return csv_bytes([ID, "cluster"], zip(items_of(graphs[0]), clusters[0].tolist(), strict=True))
    if any(names_of(graph) is None for graph in graphs):
        rows = (
            (name, *row)
            for name, graph, found in zip(names, graphs, clusters, strict=True)
            for row in zip(items_of(graph), found.tolist(), strict=True)
        )
        return csv_bytes(["view", ID, "cluster"], rows)
    of = [
        dict(zip(items_of(graph), found.tolist(), strict=True)) for graph, found in zip(graphs, clusters, strict=True)
    ]
    every = dict.fromkeys(item for one in of for item in one)
    return csv_bytes([ID, *names], ((item, *(one.get(item, "") for one in of)) for item in every))
