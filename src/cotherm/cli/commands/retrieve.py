"""``cotherm retrieve``: what is near what, and how much of it is of the same class."""

from __future__ import annotations

import argparse
from typing import Any

from cotherm.cli import parser as options_of

HELP = "find the items nearest to a query; score retrieval against labels"
ABOUT = """\
Ranks the items of each view by diffusion distance. With labels (stored by `couple --labels`, or
from a file) it prints scores before and after coupling, in percent: mean average precision (mAP) and
precision among the first few (P@5). Each item is the query once, and is left out of its own ranking.

Labels that were used for the coupling make the scores look better. Couple with --known 0.5 to keep
half of the labels back; then only those are scored here.
"""
EXAMPLES = """\
examples, on the tables that `cotherm demo --tables .` writes:
  cotherm couple images.csv words.csv --labels labels.csv --out coupled.npz --force
  cotherm retrieve coupled.npz
  cotherm retrieve coupled.npz --labels labels.csv --times 0.75,1,1.25
  cotherm retrieve coupled.npz --query photo-012 --view words --top 5
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    from cotherm.cli.header import add_header

    parser.add_argument("file", metavar="FILE", help="a coupling or a graph")
    options_of.add_view(parser)
    parser.add_argument(
        "--times", "--time", "-t", type=options_of.numbers, metavar="T,T,...", help="when heat is compared"
    )
    parser.add_argument(
        "--labels", nargs="+", metavar="FILE", help="labels, as for couple (default: those stored in FILE)"
    )
    parser.add_argument("--column", metavar="NAME", help="column of --labels to use")
    parser.add_argument(
        "--query", metavar="ITEM", help="list the items nearest to this one instead, by name or counted from 0"
    )
    parser.add_argument(
        "--top",
        type=options_of.integer,
        default=5,
        metavar="K",
        help="number of nearest items for precision and lists (5)",
    )
    parser.add_argument(
        "--seed",
        type=options_of.integer,
        default=0,
        metavar="N",
        help="random seed for the order of equal distances (0)",
    )
    add_header(parser)
    options_of.add_json(parser)


def run(options: argparse.Namespace) -> None:
    from cotherm import validation
    from cotherm.cli.inputs import read_result
    from cotherm.cli.labels import with_labels
    from cotherm.cli.times import comparison_times

    result = read_result(options.file)
    times = comparison_times(options.times, result)
    validation.integer("--top", options.top, least=1)
    if options.query is not None:
        _nearest(result, times[len(times) // 2], options)
    else:
        _scores(with_labels(result, options), times, options)


def _nearest(result: Any, t: float, options: argparse.Namespace) -> None:
    from cotherm.cli import outputs
    from cotherm.cli.inputs import graphs_of
    from cotherm.cli.names import ID, Lookup, items_of
    from cotherm.heat.distance import diffusion_distance

    rows, report = [], []
    views = graphs_of(result, options.view)
    sought = [Lookup(graph, name).find(options.query) for name, graph in views]
    if all(v is None for v in sought):
        Lookup(views[0][1], views[0][0]).require(options.query, "--query")
    for (name, graph), query in zip(views, sought, strict=True):
        if query is None:  # the item is in other views only
            rows.append([name, "", "not in this view", "", ""])
            continue
        d = diffusion_distance(graph, t, sources=[query])[0]
        order = [int(v) for v in d.argsort(kind="stable") if v != query][: options.top]
        items = items_of(graph)
        for place, v in enumerate(order, 1):
            label = "" if graph.labels is None else str(graph.labels[v])
            rows.append([name, str(place), items[v], f"{d[v]:.4g}", label])
            report.append({"view": name, "id": items[v], "vertex": v, "distance": float(d[v]), "label": label or None})
    text = outputs.table_text(["view", "place", ID, "distance", "label"], rows)
    outputs.say(
        {"query": options.query, "time": t, "nearest": report},
        f"Nearest of {options.query} at t = {t:g}\n{text}",
        as_json=options.json,
    )


def _scores(judged: Any, times: list[float], options: argparse.Namespace) -> None:
    from cotherm import validation
    from cotherm.cli import outputs
    from cotherm.cli.notices import announce
    from cotherm.errors import known_as
    from cotherm.evaluate.retrieval import retrieval
    from cotherm.heat.distance import diffusion_distance

    announce(judged.reading, as_json=options.json)
    top = validation.integer("--top", options.top, least=1)
    header = ["", "items", *(f"mAP, t = {t:.3g}" for t in times), *(f"P@{top}, t = {t:.3g}" for t in times)]
    rows, report = [], []
    for name, graph, known in judged.states:
        found = [
            retrieval(diffusion_distance(graph, t)[known][:, known], graph.labels[known], seed=options.seed)
            for t in times
        ]
        with known_as("k", "--top"):
            scores = [100 * r.mean_average_precision for r in found] + [100 * r.precision_at(top) for r in found]
        rows.append([name, str(int(known.sum())), *(f"{score:.1f}" for score in scores)])
        report.append(
            {"row": name, "items": int(known.sum()), "mAP": scores[: len(times)], f"P@{top}": scores[len(times) :]}
        )
    table = "Retrieval by diffusion distance, percent\n" + outputs.table_text(header, rows)
    text = "\n".join(filter(None, [table, judged.note]))
    answer = {"read": judged.reading, "times": times, "scores": report, "note": judged.note}
    outputs.say(answer, text, as_json=options.json)
