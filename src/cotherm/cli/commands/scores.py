"""``cotherm cluster`` and ``cotherm retrieve``: groups of items, and what is near what, judged by labels."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
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
from cotherm.cli.correspondence import labels_of_items, read_labels
from cotherm.cli.outputs import ID, announce, csv_bytes, table_text
from cotherm.errors import CothermError, visible
from cotherm.evaluate import clustering_scores, retrieval
from cotherm.io.atomic import as_path
from cotherm.io.labels import UNKNOWN

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
    names, result, labels, reading, graphs = _joined(options)
    with as_options(k="--clusters", random_state="--seed"):
        clusters = result.clusters(options.clusters, random_state=options.seed)
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
    first = as_path(options.files[0])
    if len(options.files) == 1 and inputs.is_coupling(first):
        result: Any = inputs.read_result(options.files[0])
        views = [inputs.View(g) for g in result.graphs]
        names = inputs.view_names(result.graphs)
    else:
        views = inputs.read_same_items(options.files, options)
        graphs = [view.graph for view in views]
        if len(graphs) == 1:
            names, result = [inputs.name_of(graphs[0], 0)], ct.average([graphs[0], graphs[0]])
        elif options.by is None:
            raise CothermError(
                "--by", "none, with several graphs", "average or diagonalize", "Or couple them first: cotherm couple."
            )
        else:
            normalized = True  # as in spectral clustering of one graph
            bring = ct.average if options.by == "average" else ct.joint_diagonalize
            names, result = [options.by], bring(graphs, normalized=normalized)
    labels = None
    reading = [view.reading for view in views if view.reading]
    if options.labels:
        read = read_labels(views, options.labels, options.column, inputs.read_headers(options))
        labels, reading = read.of, reading + read.reading
        announce(read.reading, as_json=options.json)
    elif all(view.graph.labels is not None for view in views):
        labels = [view.graph.labels.astype(str) for view in views if view.graph.labels is not None]
    return names, result, labels, reading, [view.graph for view in views]


def _sizes(found: Any) -> str:
    return ", ".join(str(size) for size in np.sort(np.bincount(found))[::-1])


def _scored(names: list[str], clusters: Any, labels: Any, result: Any) -> tuple[list[dict[str, float]], str, str]:
    """Scores with the number of items that were judged, the same as a table, and what to say about the labels."""
    known, note = [truth != UNKNOWN for truth in labels], ""
    if isinstance(result, ct.Coupling):
        known, note = _kept_back(result, known)
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
        _scores(_judged(result, options), times, options)


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


def _scores(judged: Judged, times: list[float], options: argparse.Namespace) -> None:
    announce(judged.reading, as_json=options.json)
    top = validation.integer("--top", options.top, least=1)
    header = ["", "items", *(f"mAP, t = {t:.3g}" for t in times), *(f"P@{top}, t = {t:.3g}" for t in times)]
    rows, report = [], []
    for name, graph, known in judged.states:
        found = [
            retrieval(
                ct.diffusion_distance(graph, t)[known][:, known], np.asarray(graph.labels)[known], seed=options.seed
            )
            for t in times
        ]
        with as_options(k="--top"):
            scores = [100 * r.mean_average_precision for r in found] + [100 * r.precision_at(top) for r in found]
        rows.append([name, str(int(known.sum())), *(f"{score:.1f}" for score in scores)])
        report.append(
            {"row": name, "items": int(known.sum()), "mAP": scores[: len(times)], f"P@{top}": scores[len(times) :]}
        )
    table = "Retrieval by diffusion distance, percent\n" + table_text(header, rows)
    text = "\n".join(filter(None, [table, judged.note]))
    answer = {"read": judged.reading, "times": times, "scores": report, "note": judged.note}
    outputs.say(answer, text, as_json=options.json)


@dataclass(frozen=True)
class Judged:
    """Graphs to judge by their labels: name, graph and the vertices that count; and how labels were read."""

    states: list[tuple[str, ct.Graph, NDArray[np.bool_]]]
    note: str
    reading: list[str]


def _judged(result: ct.Coupling | ct.Graph, options: argparse.Namespace) -> Judged:
    """Before and after, for every view asked for; if labels were kept back from coupling, only those count."""
    before = [result] if isinstance(result, ct.Graph) else list(result.originals)
    after = [] if isinstance(result, ct.Graph) else list(result.graphs)
    labels, reading = _labels(before, options)
    numbers = (
        range(len(before)) if options.view is None else [inputs.view_number(options.view, inputs.view_names(before))]
    )
    known = [one.astype(str) != UNKNOWN for one in labels]
    note = ""
    if not isinstance(result, ct.Graph):
        known, note = _kept_back(result, known)
    states = []
    for k in numbers:
        name = inputs.name_of(before[k], k)
        if known[k].sum() < 2:
            raise CothermError("--labels", f"{known[k].sum()} labels for {name}", "at least two")
        states.append((name + (", before" if after else ""), before[k].replace(labels=labels[k]), known[k]))
        if after:
            states.append((name + ", coupled", after[k].replace(labels=labels[k]), known[k]))
    return Judged(states, note, reading)


def _kept_back(result: ct.Coupling, known: list[NDArray[np.bool_]]) -> tuple[list[NDArray[np.bool_]], str]:
    """Labeled items whose labels the coupling did not use, if there are enough, and a note about it."""
    used = [_indicated(F) for F in result.functions]
    back = [has & ~one for has, one in zip(known, used, strict=True) if one is not None]
    if len(back) < len(used):
        return known, ""
    if all(one.sum() > 1 for one in back):
        return back, "Judged on the items whose labels were kept back from coupling."
    return known, "Labels used for the coupling raise the scores: couple with --known 0.5 to keep half back."


def _labels(graphs: list[ct.Graph], options: argparse.Namespace) -> tuple[list[Any], list[str]]:
    """The labels of every graph, and how they were read."""
    found = labels_of_items(graphs, options)
    if found is not None:
        return list(found.of), found.reading
    labels = [g.labels for g in graphs]
    if any(one is None for one in labels):
        raise CothermError("--labels", f"none, and none in {options.file}", "a file with the class of each item")
    return labels, []


def _indicated(F: Floats) -> NDArray[np.bool_] | None:
    """The vertices in some class, if the functions are indicators of classes; else None."""
    counts = np.count_nonzero(F, axis=1)
    return np.asarray(counts == 1) if counts.max(initial=0) == 1 and F.min(initial=0.0) >= 0.0 else None


COMMANDS = {
    "cluster": declare.Command(_CLUSTER, _CLUSTER_EXAMPLES, _CLUSTER_OPTIONS, _cluster),
    "retrieve": declare.Command(_RETRIEVE, _RETRIEVE_EXAMPLES, _RETRIEVE_OPTIONS, _retrieve),
}
