"""``cotherm common``: one answer for all items of a coupling by pairs, whichever views they are in."""

from __future__ import annotations

import argparse
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cotherm as ct
from cotherm import limits
from cotherm.arrays import Floats, Ints
from cotherm.cli import options as declare
from cotherm.cli import outputs
from cotherm.cli.advice import as_options
from cotherm.cli.inputs import items_of, read_coupling, view_names, view_number
from cotherm.cli.outputs import ID, table_text
from cotherm.errors import CothermError
from cotherm.evaluate import clustering_scores, retrieval
from cotherm.graphs.files import graph_bytes
from cotherm.heat.times import diffusion_time
from cotherm.io.labels import UNKNOWN
from cotherm.io.text import csv_bytes
from cotherm.methods.pairs.clusters import AUTO, clustering
from cotherm.methods.pairs.rules import MOVES

_ABOUT = """\
Merges the views of a coupling by pairs into one graph over all items, whether an item is in every
view or in one. Views that are hardly related to the others are left out, with the items that only
they have, and the report says so.

Writes a row for each item: its id, its row in each view, counted from 0 and empty where it is missing,
its label if labels are stored, how far each view is believed about it (weights that sum to 1), its
coordinates and, with --clusters, its cluster.

--neighbors imputes a missing view: for each item that is not in a view, the items of that view that
are nearest to it on the common graph.

Where labels are stored, clusters and retrieval (mAP) on the common graph are scored beside each view.
Labels only judge.
"""
_EXAMPLES = """\
  cotherm couple images.csv words.csv --labels labels.csv --out coupled.npz --force
  cotherm common coupled.npz --clusters auto --out items.csv --graph common.npz
  cotherm common coupled.npz --out all-items.csv --neighbors neighbors.csv --view words --top 10 --all
"""
_TOP = 5
_TITLE = "Clusters, and retrieval by diffusion distance in percent; labels only judge"

_OPTIONS = (
    declare.file("a coupling by pairs, from `cotherm couple` of tables with ids"),
    declare.out("the items, a row for each: .csv"),
    {
        "--graph": declare.value(str, "FILE", "also write the common graph, for other commands: .npz"),
        "--components": declare.value(declare.integer, "N", "number of coordinates (2)", default=2),
        "--time -t": declare.value(
            declare.number,
            "T",
            "diffusion time of coordinates and neighbors (0 for coordinates, eight moves along edges for neighbors)",
        ),
        "--include-unrelated": declare.flag(
            "merge all views, also those that are hardly related to the others, which are left out otherwise"
        ),
        "--clusters -c": declare.value(
            declare.either(declare.integer, "auto"), "K", "number of clusters, or auto (none)"
        ),
        "--method": declare.choice(
            ["auto", "heat", "spectral", "leiden"],
            "how to find clusters: by heat, modes, or Leiden's method; auto takes heat or modes by the cut (auto)",
        ),
        "--seed": declare.value(declare.integer, "N", "random seed of clusters (0)"),
    },
    declare.group(
        "neighbors in a view that items are missing from",
        {
            "--neighbors": declare.value(str, "FILE", "write a list of neighbors: .csv"),
            "--view": declare.value(str, "VIEW", "the view, by name or counted from 1"),
            "--top": declare.value(declare.integer, "K", f"number of neighbors of each item ({_TOP})"),
            "--all": declare.flag("of all items, not only of those missing from the view"),
        },
    ),
)


def _run(options: argparse.Namespace) -> None:
    _refuse_options_without_use(options)
    places = _places(options)
    result = _read(options.file)
    common = result.common_graph(include_unrelated=options.include_unrelated)
    names = view_names(result.graphs)
    with as_options(k="--components", t="--time"):
        coordinates = common.embedding(options.components, t=options.time or 0.0)
    found, seed = None, options.seed or 0
    if options.clusters is not None:
        with as_options("method", random_state="--seed", k="--clusters"):
            found = common.clustering(options.clusters, method=options.method or "auto", random_state=seed)
    clusters = None if found is None else found.labels
    contents = {"out": _items_bytes(names, common, coordinates, clusters)}
    if "graph" in places:
        contents["graph"] = graph_bytes(common.graph, places["graph"])
    if "neighbors" in places:
        contents["neighbors"] = _neighbors_bytes(names, common, options)
    report, text = _described(names, common, found)
    scores, table = _scored(names, result, common, clusters, seed)
    outputs.write_all(list(places.values()), [contents[name] for name in places], force=options.force)
    report = {**{name: str(place) for name, place in places.items()}, **report, "scores": scores}
    lines = "\n".join(filter(None, [text, table]))
    outputs.say_written(report, lines, list(places.values()), as_json=options.json)


def _refuse_options_without_use(options: argparse.Namespace) -> None:
    if options.neighbors is None:
        declare.refuse_given(options, ("view", "top", "all"), "--neighbors FILE beside it")
    if options.clusters is None:
        declare.refuse_given(options, ("seed", "method"), "--clusters K beside it")
    if options.neighbors is not None and options.view is None:
        needed = "the view to find neighbors in, by name or counted from 1"
        raise CothermError("--view", "none, with --neighbors", needed)


def _places(options: argparse.Namespace) -> dict[str, Path]:
    """The files to write, by the option that names them."""
    suffixes = {"out": ".csv", "graph": ".npz", "neighbors": ".csv"}
    given = {name: getattr(options, name) for name in suffixes if getattr(options, name) is not None}
    return {name: outputs.free_place(path, (suffixes[name],), force=options.force) for name, path in given.items()}


def _read(path: str) -> ct.Coupling:
    advice = "Couple tables with ids: cotherm couple --by pairs."
    result = read_coupling(path, "a coupling by pairs", advice)
    if result.pairs is None:
        raise CothermError(path, "a coupling by functions: no pairs are known", "a coupling by pairs", advice)
    return result


def _items_bytes(names: list[str], common: ct.CommonGraph, coordinates: Any, clusters: Ints | None) -> bytes:
    rows = [[v if v >= 0 else "" for v in column] for column in common.items.T.tolist()]  # empty where it is missing
    columns = [(ID, items_of(common.graph)), *zip(names, rows, strict=True)]
    if common.graph.labels is not None:
        columns.append(("label", common.graph.labels.tolist()))
    titles = [*(f"weight of {name}" for name in names), *(f"x{c}" for c in range(1, coordinates.shape[1] + 1))]
    columns += zip(titles, np.hstack([common.view_weights, coordinates]).T.tolist(), strict=True)
    if clusters is not None:
        columns.append(("cluster", clusters.tolist()))
    return csv_bytes([title for title, _ in columns], zip(*(column for _, column in columns), strict=True))


def _neighbors_bytes(names: list[str], common: ct.CommonGraph, options: argparse.Namespace) -> bytes:
    view = view_number(options.view, names)
    wanted = np.arange(len(common.items)) if options.all else np.flatnonzero(common.items[:, view] < 0)
    if not len(wanted):
        given = f"{options.view}, which no item is missing from"
        raise CothermError("--view", given, "a view that lacks some items", "Pass --all for neighbors of all items.")
    others_here = int(np.sum(common.items[:, view] >= 0)) - 1
    top = max(1, min(_TOP, others_here)) if options.top is None else options.top
    with as_options(k="--top", t="--time"):
        near = common.neighbors(view, top, items=wanted, t="auto" if options.time is None else options.time)
    items, here = items_of(common.graph), common.of_view(view)
    found = zip(wanted.tolist(), near.indices.tolist(), near.distances.tolist(), strict=True)
    rows = (
        (items[item], place, items[here[vertex]], vertex, distance)
        for item, vertices, distances in found
        for place, (vertex, distance) in enumerate(zip(vertices, distances, strict=True), 1)
    )
    return csv_bytes([ID, "place", "neighbor", f"row in {names[view]}", "distance"], rows)


def _described(names: list[str], common: ct.CommonGraph, found: ct.Clustering | None) -> tuple[dict[str, Any], str]:
    """How many items there are, where they are, and how large clusters are."""
    here = common.items >= 0
    count = here.sum(axis=1)
    views = [
        {"name": name, "items": int(own.sum()), "only": int(np.sum(own & (count == 1))), "merged": k in common.views}
        for k, (name, own) in enumerate(zip(names, here.T, strict=True))
    ]
    several = int(np.sum(count > 1))
    rows = [[str(one["name"]), f"{one['items']:,}", f"{one['only']:,}"] for one in views]
    lines = [f"{len(count):,} items, {several:,} of them in several views"]
    lines += [table_text(["view", "items", "here only"], rows), *common.notes]
    report: dict[str, Any] = {"items": len(count), "several": several, "views": views, "notes": list(common.notes)}
    if found is not None:
        sizes = np.sort(np.bincount(found.labels))[::-1].tolist()
        report |= {"sizes": sizes, "method": found.method, "normalized cut": found.normalized_cut}
        lines.append(f"{len(sizes)} clusters by {found.method}: sizes {', '.join(map(str, sizes))}")
    return report, "\n".join(lines)


def _scored(
    names: list[str], result: ct.Coupling, common: ct.CommonGraph, clusters: Ints | None, seed: int
) -> tuple[list[dict[str, Any]], str]:
    """Scores of every view as given, coupled, and on the common graph; nothing if labels are not stored.

    Beside all items of the common graph stand those of the views as given, merged in the same way but not coupled.
    """
    if common.graph.labels is None:
        return [], ""
    labels = np.asarray(common.graph.labels).astype(str)
    known = labels != UNKNOWN
    count = None if clusters is None else int(clusters.max()) + 1
    distances = _distances(common.graph, common)
    rows: list[dict[str, Any]] = []

    def score(name: str, judged: Ints, truth: Ints, clusters: Ints | None, distances: Floats | None) -> None:
        if len(judged) > 1:
            found = {"row": name, "items": len(judged)}
            rows.append(found | _scores(labels[truth], judged, clusters, distances))

    for k, name in enumerate(names):
        items = common.of_view(k)
        judged = np.flatnonzero((items >= 0) & known[items])
        for state, graph in (("before", result.originals[k]), ("coupled", result.graphs[k])):
            score(f"{name}, {state}", judged, items[judged], _clusters(graph, count, seed), _distances(graph))
        score(f"{name}, common graph", items[judged], items[judged], clusters, distances)
    every = np.flatnonzero(known)
    # The common graph of the same views as given.
    merged = replace(result, graphs=result.originals).common_graph(
        second_neighbors=common.first_neighbors is not None, include_unrelated=not common.left_out
    )
    own = None if count is None else merged.clusters(count, random_state=seed)
    score("all items, merged, not coupled", every, every, own, _distances(merged.graph, merged))
    score("all items, common graph", every, every, clusters, distances)
    columns = [title for title in ("mAP", "ACC", "NMI", "AMI", "ARI") if any(title in row for row in rows)]
    if not columns:
        return [], ""
    cells = [[row["row"], f"{row['items']:,}", *(_shown(row, title) for title in columns)] for row in rows]
    return rows, f"\n{_TITLE}\n{table_text(['', 'items', *columns], cells)}"


def _clusters(graph: ct.Graph, count: int | None, seed: int) -> Ints | None:
    """Clusters of a view by itself, of the same number and method as the common graph's; None if impossible."""
    if count is None or count > graph.n:
        return None
    with suppress(CothermError):  # a view without weight, or with fewer vertices that differ: the others are judged
        return clustering(graph, count, AUTO, seed).labels
    return None


def _distances(graph: ct.Graph, common: ct.CommonGraph | None = None) -> Floats | None:
    """Distances between all vertices, after equally many moves on every graph; None for graphs that are too large."""
    if graph.n > limits.ALL_DISTANCES:
        return None
    time = diffusion_time(MOVES, graph, without_edges=MOVES)
    return ct.diffusion_distance(graph, time) if common is None else common.distances(time)


def _scores(
    labels: NDArray[np.str_], judged: Ints, clusters: Ints | None, distances: Floats | None
) -> dict[str, float]:
    found: dict[str, float] = {}
    repeated = len(np.unique(labels)) < len(labels)  # otherwise no item has another one to find
    if distances is not None and repeated:
        found["mAP"] = 100.0 * retrieval(distances[np.ix_(judged, judged)], labels).mean_average_precision
    if clusters is not None:
        found.update(clustering_scores(labels, clusters[judged]))
    return found


def _shown(row: dict[str, Any], title: str) -> str:
    if title not in row:
        return "-"
    return f"{row[title]:.1f}" if title == "mAP" else f"{row[title]:.3f}"


COMMANDS = {"common": declare.Command(_ABOUT, _EXAMPLES, _OPTIONS, _run)}
