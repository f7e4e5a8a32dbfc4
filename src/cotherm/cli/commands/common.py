"""``cotherm common``: one answer for all items of a coupling by pairs, whichever views they are in."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cotherm.cli import parser as options_of

if TYPE_CHECKING:
    from cotherm.arrays import Ints
    from cotherm.methods.coupling.result import Coupling
    from cotherm.methods.pairs.clusters import Clustering
    from cotherm.methods.pairs.common import CommonGraph

HELP = "one graph, embedding and clustering for all items of a coupling by pairs"
ABOUT = """\
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
EXAMPLES = """\
examples, on the tables that `cotherm demo --tables .` writes:
  cotherm couple images.csv words.csv --labels labels.csv --out coupled.npz --force
  cotherm common coupled.npz --clusters auto --out items.csv --graph common.npz
  cotherm common coupled.npz --out all-items.csv --neighbors neighbors.csv --view words --top 10 --all
"""
_TOP = 5


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a coupling by pairs, from `cotherm couple` of tables with ids")
    options_of.add_out(parser, "the items, a row for each: .csv")
    parser.add_argument("--graph", metavar="FILE", help="also write the common graph, for other commands: .npz")
    parser.add_argument(
        "--components", type=options_of.integer, default=2, metavar="N", help="number of coordinates (2)"
    )
    parser.add_argument(
        "--time",
        "-t",
        type=options_of.number,
        metavar="T",
        help="diffusion time of coordinates and neighbors (0 for coordinates, eight moves along edges for neighbors)",
    )
    parser.add_argument(
        "--include-unrelated",
        action="store_true",
        help="merge all views, also those that are hardly related to the others, which are left out otherwise",
    )
    parser.add_argument(
        "--clusters", "-c", type=options_of.integer_or_auto, metavar="K", help="number of clusters, or auto (none)"
    )
    parser.add_argument(
        "--method",
        choices=["auto", "heat", "spectral", "leiden"],
        help="how to find clusters: by heat, modes, or Leiden's method; auto takes heat or modes by the cut (auto)",
    )
    parser.add_argument("--seed", type=options_of.integer, metavar="N", help="random seed of clusters (0)")
    group = parser.add_argument_group("neighbors in a view that items are missing from")
    group.add_argument("--neighbors", metavar="FILE", help="write a list of neighbors: .csv")
    group.add_argument("--view", metavar="VIEW", help="the view, by name or counted from 1")
    group.add_argument("--top", type=options_of.integer, metavar="K", help=f"number of neighbors of each item ({_TOP})")
    group.add_argument("--all", action="store_true", help="of all items, not only of those missing from the view")
    options_of.add_json(parser)
    parser.set_defaults(outputs=("out", "graph", "neighbors"))


def run(options: argparse.Namespace) -> None:
    from cotherm.cli import outputs
    from cotherm.cli.common_scores import scored
    from cotherm.cli.inputs import name_of
    from cotherm.errors import known_as

    _refuse_options_without_use(options)
    places = _places(options)
    result = _read(options.file)
    common = result.common_graph(include_unrelated=options.include_unrelated)
    names = [name_of(graph, k) for k, graph in enumerate(result.graphs)]
    with known_as("k", "--components"), known_as("t", "--time"):
        coordinates = common.embedding(options.components, t=0.0 if options.time is None else options.time)
    found, seed = None, 0 if options.seed is None else options.seed
    if options.clusters is not None:
        with known_as("k", "--clusters"), known_as("seed", "--seed"), known_as("method", "--method"):
            found = common.clustering(options.clusters, method=options.method or "auto", seed=seed)
    clusters = None if found is None else found.labels
    contents = {"out": _items_bytes(names, common, coordinates, clusters)}
    if "graph" in places:
        from cotherm.graphs.files import graph_bytes

        contents["graph"] = graph_bytes(common.graph, places["graph"])
    if "neighbors" in places:
        contents["neighbors"] = _neighbors_bytes(names, common, options)
    report, text = _described(names, common, found)
    scores, table = scored(names, result, common, clusters, seed)
    outputs.write_all(list(places.values()), [contents[name] for name in places], force=options.force)
    report = {**{name: str(place) for name, place in places.items()}, **report, "scores": scores}
    lines = "\n".join(filter(None, [text, table]))
    outputs.say_written(report, lines, list(places.values()), as_json=options.json)


def _refuse_options_without_use(options: argparse.Namespace) -> None:
    from cotherm.errors import CothermError

    given = {"--view": options.view, "--top": options.top, "--all": options.all or None}
    for name, value in given.items():
        if options.neighbors is None and value is not None:
            raise CothermError(name, str(value), "--neighbors FILE beside it")
    if options.neighbors is not None and options.view is None:
        raise CothermError(
            "--view", "none, with --neighbors", "the view to find neighbors in, by name or counted from 1"
        )
    for name, value in {"--seed": options.seed, "--method": options.method}.items():
        if value is not None and options.clusters is None:
            raise CothermError(name, str(value), "--clusters K beside it")


def _places(options: argparse.Namespace) -> dict[str, Path]:
    """The files to write, by the option that names them."""
    from cotherm.cli import outputs

    suffixes = {"out": ".csv", "graph": ".npz", "neighbors": ".csv"}
    given = {name: getattr(options, name) for name in suffixes if getattr(options, name) is not None}
    return {name: outputs.free_place(path, (suffixes[name],), force=options.force) for name, path in given.items()}


def _read(path: str) -> Coupling:
    from cotherm.cli.inputs import read_result
    from cotherm.errors import CothermError
    from cotherm.graphs.graph import Graph

    result = read_result(path)
    advice = "Couple tables with ids: cotherm couple --by pairs."
    if isinstance(result, Graph):
        raise CothermError(path, "a graph", "a coupling by pairs", advice)
    if result.pairs is None:
        raise CothermError(path, "a coupling by functions: no pairs are known", "a coupling by pairs", advice)
    return result


def _items_bytes(names: list[str], common: CommonGraph, coordinates: Any, clusters: Ints | None) -> bytes:
    import numpy as np

    from cotherm.cli.names import ID, items_of
    from cotherm.cli.outputs import csv_bytes

    labels = common.graph.labels
    titles = [ID, *names, *(["label"] if labels is not None else [])]
    titles += [f"weight of {name}" for name in names]
    titles += [*(f"x{c}" for c in range(1, coordinates.shape[1] + 1)), *(["cluster"] if clusters is not None else [])]
    columns = [items_of(common.graph), *_rows_in_views(common)]
    columns += [labels.tolist()] if labels is not None else []
    columns += [column.tolist() for column in np.hstack([common.view_weights, coordinates]).T]
    columns += [clusters.tolist()] if clusters is not None else []
    return csv_bytes(titles, zip(*columns, strict=True))


def _rows_in_views(common: CommonGraph) -> list[list[Any]]:
    """For each view the row of every item there, empty where it is missing."""
    return [[v if v >= 0 else "" for v in column] for column in common.items.T.tolist()]


def _neighbors_bytes(names: list[str], common: CommonGraph, options: argparse.Namespace) -> bytes:
    import numpy as np

    from cotherm.cli.names import ID, items_of, view_number
    from cotherm.cli.outputs import csv_bytes
    from cotherm.errors import CothermError, known_as

    view = view_number(options.view, names)
    wanted = np.arange(len(common.items)) if options.all else np.flatnonzero(common.items[:, view] < 0)
    if not len(wanted):
        given = f"{options.view}, which no item is missing from"
        raise CothermError("--view", given, "a view that lacks some items", "Pass --all for neighbors of all items.")
    others_here = int(np.sum(common.items[:, view] >= 0)) - 1
    top = max(1, min(_TOP, others_here)) if options.top is None else options.top
    with known_as("k", "--top"), known_as("t", "--time"):
        near = common.neighbors(view, top, items=wanted, t="auto" if options.time is None else options.time)
    items, here = items_of(common.graph), common.of_view(view)
    found = zip(wanted.tolist(), near.indices.tolist(), near.distances.tolist(), strict=True)
    rows = (
        (items[item], place, items[here[vertex]], vertex, distance)
        for item, vertices, distances in found
        for place, (vertex, distance) in enumerate(zip(vertices, distances, strict=True), 1)
    )
    return csv_bytes([ID, "place", "neighbor", f"row in {names[view]}", "distance"], rows)


def _described(names: list[str], common: CommonGraph, found: Clustering | None) -> tuple[dict[str, Any], str]:
    """How many items there are, where they are, and how large clusters are."""
    import numpy as np

    from cotherm.cli.outputs import table_text

    here = common.items >= 0
    count = here.sum(axis=1)
    views = [
        {
            "name": name,
            "items": int(column.sum()),
            "only": int(np.sum(column & (count == 1))),
            "merged": k in common.views,
        }
        for k, (name, column) in enumerate(zip(names, here.T, strict=True))
    ]
    several = int(np.sum(count > 1))
    text = f"{len(count):,} items, {several:,} of them in several views\n"
    rows = [[str(one["name"]), f"{one['items']:,}", f"{one['only']:,}"] for one in views]
    text += "\n".join([table_text(["view", "items", "here only"], rows), *common.notes])
    report: dict[str, Any] = {"items": len(count), "several": several, "views": views, "notes": list(common.notes)}
    if found is not None:
        sizes = np.sort(np.bincount(found.labels))[::-1].tolist()
        report |= {"sizes": sizes, "method": found.method, "normalized cut": found.normalized_cut}
        text += f"\n{len(sizes)} clusters by {found.method}: sizes {', '.join(map(str, sizes))}"
    return report, text
