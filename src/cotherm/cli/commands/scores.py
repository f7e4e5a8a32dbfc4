"""``cotherm cluster`` and ``cotherm retrieve``: groups of items, and what is near what, judged by labels."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

import cotherm as ct
from cotherm import validation
from cotherm.arrays import Floats
from cotherm.cli import inputs, outputs
from cotherm.cli import options as declare
from cotherm.cli.advice import as_options
from cotherm.cli.correspondence import labels_of_items
from cotherm.cli.outputs import ID, announce, table_text
from cotherm.errors import CothermError, visible
from cotherm.evaluate import clustering_scores, retrieval
from cotherm.io.atomic import as_path
from cotherm.io.labels import UNKNOWN
from cotherm.io.text import csv_bytes

_CLUSTER = """\
Spectral clustering. A coupling gives clusters for each of its views; for one answer for all items of
a coupling by pairs see `cotherm common`. Several graphs of the same items are first combined by a
joint basis or an average (--by). With labels, scores are printed: accuracy under the best assignment
of clusters to classes, normalized and adjusted mutual information, and adjusted Rand index.
"""
_CLUSTER_EXAMPLES = """\
  cotherm couple images.csv words.csv --labels labels.csv --out coupled.npz --force
  cotherm cluster coupled.npz --clusters 7 --out clusters.csv
  cotherm cluster images.csv words.csv --by diagonalize --clusters 7 --labels labels.csv --out joint-clusters.csv
"""
_CLUSTER_OPTIONS = (
    {"files": declare.files("a coupling, or one or more graphs or files of points")},
    {"--clusters -c": declare.value(declare.integer, "K", "number of clusters", required=True)},
    declare.out("the clusters, a row for each item: .csv", required=False),
    {"--by": declare.choice(["average", "diagonalize"], "how to combine several graphs")},
    declare.LABELS,
    declare.SEED,
    *declare.POINTS,
)


def _cluster(options: argparse.Namespace) -> None:
    place = None if options.out is None else outputs.free_place(options.out, (".csv",), force=options.force)
    names, result, views = _joined(options)
    labels, how = _labels([view.graph for view in views], options)
    announce(how, as_json=options.json)
    with as_options(k="--clusters", random_state="--seed"):
        found = result.clusters(options.clusters, random_state=options.seed)
    graphs = [view.graph for view in views][: len(names)]  # one answer for all views has one name
    same = _shared_items(result, graphs)
    clusters = [found[0], *(_renumbered(found[0], one, *pair) for one, pair in zip(found[1:], same, strict=False))]
    reading = [*(view.reading for view in views if view.reading), *how]
    report: dict[str, Any] = {"read": reading, "views": names, "clusters": clusters}
    lines = [
        visible(f"{name}: sizes {', '.join(map(str, np.sort(np.bincount(one))[::-1]))}")
        for name, one in zip(names, clusters, strict=True)
    ]
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


def _joined(options: argparse.Namespace) -> tuple[list[str], Any, list[inputs.View]]:
    """Names to print, an answer that has clusters, and the views."""
    if len(options.files) == 1 and inputs.is_coupling(as_path(options.files[0])):
        coupling: Any = inputs.read_result(options.files[0])
        return inputs.view_names(coupling.graphs), coupling, [inputs.View(graph) for graph in coupling.graphs]
    views = inputs.read_same_items(options.files, options)
    graphs = [view.graph for view in views]
    if len(graphs) == 1:
        return [inputs.name_of(graphs[0], 0)], ct.average(graphs * 2), views
    if options.by is None:
        advice = "Or couple them first: cotherm couple."
        raise CothermError("--by", "none, with several graphs", "average or diagonalize", advice)
    bring = ct.average if options.by == "average" else ct.joint_diagonalize
    return [options.by], bring(graphs, normalized=True), views  # as in spectral clustering of one graph


def _scored(names: list[str], clusters: Any, labels: Any, result: Any) -> tuple[list[dict[str, float]], str, str]:
    """Scores with the number of items that were judged, the same as a table, and what to say about the labels."""
    known, note = [truth != UNKNOWN for truth in labels], ""
    if isinstance(result, ct.Coupling):
        known, note = _kept_back(result, known)
    report = [
        {"items": int(has.sum()), **clustering_scores(truth[has], found[has])}
        for found, truth, has in zip(clusters, labels, known, strict=False)
    ]
    titles = list(report[0])[1:]
    rows = [
        [name, str(one["items"]), *(f"{one[title]:.3f}" for title in titles)]
        for name, one in zip(names, report, strict=True)
    ]
    return report, table_text(["", "items", *titles], rows), note


def _shared_items(result: Any, graphs: list[Any]) -> list[tuple[Any, Any]]:
    """For each view but the first: the vertices of the first and of it that are the same items, by pairs or by name."""
    pairs = getattr(result, "pairs", None)
    found = []
    for k, graph in enumerate(graphs[1:], 1):
        if pairs is not None:
            both = (pairs.table[:, 0] >= 0) & (pairs.table[:, k] >= 0)
            found.append((pairs.table[both, 0], pairs.table[both, k]))
            continue
        place = {name: v for v, name in enumerate(inputs.names_of(graph) or ())}
        shared = [(v, place[name]) for v, name in enumerate(inputs.names_of(graphs[0]) or ()) if name in place]
        first, second = np.array(shared, dtype=np.int64).reshape(-1, 2).T
        found.append((first, second))
    return found


def _renumbered(first: Any, clusters: Any, ours: Any, theirs: Any) -> Any:
    """Clusters with the numbers of the first view's that they share most items with, as far as each has one."""
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
    if len(names) == 1:
        return csv_bytes([ID, "cluster"], zip(inputs.items_of(graphs[0]), clusters[0].tolist(), strict=True))
    if any(inputs.names_of(graph) is None for graph in graphs):
        rows = (
            (name, *row)
            for name, graph, found in zip(names, graphs, clusters, strict=True)
            for row in zip(inputs.items_of(graph), found.tolist(), strict=True)
        )
        return csv_bytes(["view", ID, "cluster"], rows)
    of = [
        dict(zip(inputs.items_of(graph), found.tolist(), strict=True))
        for graph, found in zip(graphs, clusters, strict=True)
    ]
    every = dict.fromkeys(item for one in of for item in one)
    return csv_bytes([ID, *names], ((item, *(one.get(item, "") for one in of)) for item in every))


_RETRIEVE = """\
Ranks the items of each view by diffusion distance. With labels (stored by `couple --labels`, or
from a file) it prints scores before and after coupling, in percent: mean average precision (mAP) and
precision among the first few (P@5). Each item is the query once, and is left out of its own ranking.

Labels that were used for the coupling make the scores look better. Couple with --known 0.5 to keep
half of the labels back; then only those are scored here.
"""
_RETRIEVE_EXAMPLES = """\
  cotherm couple images.csv words.csv --labels labels.csv --out coupled.npz --force
  cotherm retrieve coupled.npz
  cotherm retrieve coupled.npz --labels labels.csv --times 0.75,1,1.25
  cotherm retrieve coupled.npz --query photo-012 --view words --top 5
"""


_TOP = "number of nearest items for precision and lists (5)"
_RETRIEVE_OPTIONS = (
    declare.file("a coupling or a graph"),
    declare.VIEW,
    {"--times --time -t": declare.value(declare.numbers, "T,T,...", "when heat is compared")},
    declare.LABELS,
    {
        "--query": declare.value(str, "ITEM", "list the items nearest to this one instead, by name or counted from 0"),
        "--top": declare.value(declare.integer, "K", _TOP, default=5),
    },
    declare.SEED,
    declare.HEADERS,
)


def _retrieve(options: argparse.Namespace) -> None:
    result = inputs.read_result(options.file)
    times = inputs.comparison_times(options.times, result)
    validation.integer("--top", options.top, least=1)
    if options.query is not None:
        _nearest(result, times[len(times) // 2], options)
    else:
        _scores(result, times, options)


def _nearest(result: Any, t: float, options: argparse.Namespace) -> None:
    rows, report = [], []
    views = inputs.graphs_of(result, options.view)
    sought = [inputs.Lookup(graph, name).find(options.query) for name, graph in views]
    if all(v is None for v in sought):
        inputs.Lookup(views[0][1], views[0][0]).require(options.query, "--query")
    for (name, graph), query in zip(views, sought, strict=True):
        if query is None:  # the item is in other views only
            rows.append([name, "", "not in this view", "", ""])
            continue
        d = ct.diffusion_distance(graph, t, sources=[query])[0]
        order = [int(v) for v in d.argsort(kind="stable") if v != query][: options.top]
        items = inputs.items_of(graph)
        for place, v in enumerate(order, 1):
            label = "" if graph.labels is None else str(graph.labels[v])
            rows.append([name, str(place), items[v], f"{d[v]:.4g}", label])
            report.append({"view": name, "id": items[v], "vertex": v, "distance": float(d[v]), "label": label or None})
    text = table_text(["view", "place", ID, "distance", "label"], rows)
    outputs.say(
        {"query": options.query, "time": t, "nearest": report},
        f"Nearest of {options.query} at t = {t:g}\n{text}",
        as_json=options.json,
    )


def _scores(result: ct.Coupling | ct.Graph, times: list[float], options: argparse.Namespace) -> None:
    states, note, reading = _judged(result, options)
    announce(reading, as_json=options.json)
    top = options.top
    header = ["", "items", *(f"mAP, t = {t:.3g}" for t in times), *(f"P@{top}, t = {t:.3g}" for t in times)]
    rows, report = [], []
    for name, graph, known in states:
        labels = np.asarray(graph.labels)[known]
        distances = (ct.diffusion_distance(graph, t)[known][:, known] for t in times)
        found = [retrieval(one, labels, seed=options.seed) for one in distances]
        with as_options(k="--top"):
            first = [100 * one.precision_at(options.top) for one in found]
        mean = [100 * one.mean_average_precision for one in found]
        rows.append([name, str(len(labels)), *(f"{score:.1f}" for score in (*mean, *first))])
        report.append({"row": name, "items": len(labels), "mAP": mean, f"P@{top}": first})
    table = "Retrieval by diffusion distance, percent\n" + table_text(header, rows)
    answer = {"read": reading, "times": times, "scores": report, "note": note}
    outputs.say(answer, "\n".join(filter(None, [table, note])), as_json=options.json)


def _judged(
    result: ct.Coupling | ct.Graph, options: argparse.Namespace
) -> tuple[list[tuple[str, ct.Graph, NDArray[np.bool_]]], str, list[str]]:
    """Names, graphs before and after and vertices that count, of every view asked for; a note; how labels were read.

    If labels were kept back from coupling, only those count.
    """
    before = [result] if isinstance(result, ct.Graph) else list(result.originals)
    labels, reading = _labels(before, options)
    if labels is None:
        raise CothermError("--labels", f"none, and none in {options.file}", "a file with the class of each item")
    names = inputs.view_names(before)
    known, note = [one != UNKNOWN for one in labels], ""
    if not isinstance(result, ct.Graph):
        known, note = _kept_back(result, known)
    states = []
    for k in range(len(before)) if options.view is None else [inputs.view_number(options.view, names)]:
        if known[k].sum() < 2:
            raise CothermError("--labels", f"{known[k].sum()} labels for {names[k]}", "at least two")
        if isinstance(result, ct.Graph):
            stages = {names[k]: result}
        else:
            stages = {f"{names[k]}, before": before[k], f"{names[k]}, coupled": result.graphs[k]}
        states += [(name, graph.replace(labels=labels[k]), known[k]) for name, graph in stages.items()]
    return states, note, reading


def _kept_back(result: ct.Coupling, known: list[NDArray[np.bool_]]) -> tuple[list[NDArray[np.bool_]], str]:
    """Labeled items whose labels the coupling did not use, if there are enough, and a note about it."""
    used = [_indicated(F) for F in result.functions]
    back = [has & ~one for has, one in zip(known, used, strict=True) if one is not None]
    if len(back) < len(used):
        return known, ""
    if all(one.sum() > 1 for one in back):
        return back, "Judged on the items whose labels were kept back from coupling."
    return known, "Labels used for the coupling raise the scores: couple with --known 0.5 to keep half back."


def _labels(graphs: list[ct.Graph], options: argparse.Namespace) -> tuple[list[Any] | None, list[str]]:
    """The labels of every graph, by --labels or as stored, and how they were read; None if some have none."""
    labels, reading = labels_of_items(graphs, options)
    stored = [graph.labels.astype(str) for graph in graphs if graph.labels is not None]
    if labels is None and len(stored) == len(graphs):
        return stored, []
    return labels, reading


def _indicated(F: Floats) -> NDArray[np.bool_] | None:
    """The vertices in some class, if the functions are indicators of classes; else None."""
    counts = np.count_nonzero(F, axis=1)
    return np.asarray(counts == 1) if counts.max(initial=0) == 1 and F.min(initial=0.0) >= 0.0 else None


COMMANDS = {
    "cluster": declare.Command(_CLUSTER, _CLUSTER_EXAMPLES, _CLUSTER_OPTIONS, _cluster),
    "retrieve": declare.Command(_RETRIEVE, _RETRIEVE_EXAMPLES, _RETRIEVE_OPTIONS, _retrieve),
}
