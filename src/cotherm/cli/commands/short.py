"""``cotherm graph``, ``functions``, ``distances``, ``changes`` and ``info``: short commands."""

from __future__ import annotations

import argparse

import numpy as np

import cotherm as ct
from cotherm.cli import inputs, outputs
from cotherm.cli import options as declare
from cotherm.cli.advice import as_options
from cotherm.cli.correspondence import read_functions
from cotherm.cli.outputs import ID
from cotherm.cli.summary import about_file, about_graph
from cotherm.errors import CothermError, visible
from cotherm.io.text import csv_bytes

_GRAPH = """\
Joins every point to its nearest neighbors, with Gaussian weights, and writes the graph. The graph of
a mesh has the edges of the mesh.

Points are rows of a table: .csv, .tsv, .txt (also .gz), .npy, .xlsx, .parquet, .h5ad or .h5mu. A header
row, a first column of names and decimal commas are recognized.
"""
_GRAPH_EXAMPLES = """\
  cotherm graph images.csv --out images.npz
  cotherm graph words.csv --neighbors 25 --metric cosine --out words.npz
  cotherm graph images.csv --out edges.csv
  cotherm graph images.csv --drop-columns "color 1,color 2" --standardize --out fewer.npz
"""
_GRAPH_OPTIONS = (
    {"points": {"metavar": "FILE", "help": "a table of points, or a mesh (.off, .obj, .ply)"}},
    declare.out("the graph: .npz and .graphml store everything, .csv (edge list) and .mtx only edges and weights"),
    *declare.POINTS,
)


def _graph(options: argparse.Namespace) -> None:
    place = outputs.free_place(options.out, (".npz", ".csv", ".mtx", ".graphml"), force=options.force)
    view = inputs.read_view(options.points, options)
    outputs.deliver(options, {place: outputs.graph_file(place, view.graph)}, *about_graph(view.graph), [view.reading])


_FUNCTIONS = """\
Writes corresponding functions, one table for each view. Column c is the same function in every
table. Labels give the indicator of each class. Landmarks give a smooth bump around each. Features
are smoothed and scaled.

`cotherm couple` computes them by itself. Use this command to look at them or change them first.
"""
_FUNCTIONS_EXAMPLES = """\
  cotherm functions images.csv words.csv --labels labels.csv --out images-f.csv words-f.csv
  cotherm functions joined.csv apart.csv --landmarks hands.csv --out joined-f.csv apart-f.csv
"""
_FUNCTIONS_OPTIONS = (
    {"views": declare.files("graphs, or points to make graphs from", "VIEW")},
    declare.out(".csv or .npy, one for each view", several=True),
    declare.sources,
    *declare.POINTS,
)


def _functions(options: argparse.Namespace) -> None:
    count = inputs.view_count(options.views, options)
    places = outputs.free_places(options.out, count, (".csv", ".npy"), force=options.force)
    views = inputs.read_views(options.views, options)
    known = read_functions(views, options)
    outputs.announce(known.reading, as_json=options.json)
    titles = [f"function {c + 1}" for c in range(known.functions[0].shape[1])]
    contents = [
        outputs.matrix_bytes(place, F, titles, view.names)
        for place, F, view in zip(places, known.functions, views, strict=True)
    ]
    outputs.write_all(places, contents, force=options.force)
    reading = [*(view.reading for view in views), *known.reading]
    report = {"functions": len(titles), "read": reading, "out": [str(place) for place in places]}
    lines = [
        visible(
            f"{inputs.name_of(view.graph, k)}: {len(titles)} functions on {view.graph.n} vertices, written: {place}"
        )
        for k, (view, place) in enumerate(zip(views, places, strict=True))
    ]
    outputs.say(report, "\n".join(lines), as_json=options.json)


_DISTANCES = """\
The diffusion distance of two vertices is the difference of the heat at time t that starts at each of
them. Writes all pairs, the rows of some vertices (--sources), or the nearest neighbors of every
vertex (--nearest). The last two work on large graphs.
"""
_DISTANCES_EXAMPLES = """\
  cotherm couple images.csv words.csv --labels labels.csv --out coupled.npz --force
  cotherm distances coupled.npz --view words --time 1 --out distances.csv
  cotherm distances coupled.npz --view words --sources photo-003,photo-012 --out two-rows.csv
  cotherm distances coupled.npz --view 1 --nearest 10 --out nearest.csv
"""
_DISTANCES_OPTIONS = (
    declare.file("a graph, or a coupling with --view"),
    declare.out("the distances: .csv, or .npy for a matrix"),
    declare.VIEW,
    {"--time -t": declare.value(declare.number, "T", "diffusion time (auto)")},
    declare.one_of(
        {
            "--sources": declare.value(
                declare.words, "V,V,...", "only distances from these items, by name or counted from 0"
            ),
            "--nearest": declare.value(declare.integer, "K", "a list of the K nearest neighbors of every item"),
        }
    ),
    declare.ENGINE,
)


def _distances(options: argparse.Namespace) -> None:
    suffixes = (".csv",) if options.nearest is not None else (".csv", ".npy")
    place = outputs.free_place(options.out, suffixes, force=options.force)
    result = inputs.read_result(options.file)
    found = inputs.graphs_of(result, options.view)
    if len(found) > 1:
        names = ", ".join(name for name, _ in found)
        raise CothermError("--view", "none", f"one of the views of {options.file}: {names}")
    name, graph = found[0]
    t = (
        inputs.comparison_times(None, result)[1]
        if options.time is None
        else inputs.comparison_times([options.time], result, "--time")[0]
    )
    items = inputs.items_of(graph)
    if options.nearest is not None:
        with as_options("nearest", "engine"):
            near = ct.diffusion_distance(graph, t, nearest=options.nearest, engine=options.engine)
        rows = (
            (items[v], items[u], float(d))
            for v in range(graph.n)
            for u, d in zip(near.indices[v], near.distances[v], strict=True)
        )
        content = csv_bytes((ID, "neighbor", "distance"), rows)
    else:
        known = inputs.Lookup(graph, name)
        sources = None if options.sources is None else [known.require(one, "--sources") for one in options.sources]
        count = graph.n if sources is None else len(sources)
        outputs.require_room_for_matrix(place, count, graph.n)
        with as_options("engine"):
            matrix = ct.diffusion_distance(graph, t, sources=sources, engine=options.engine)
        of_rows = items if sources is None else [items[v] for v in sources]
        content = outputs.matrix_bytes(place, matrix, items, of_rows)
    outputs.write(place, content, force=options.force)
    report = {"out": str(place), "graph": name, "vertices": graph.n, "time": t}
    outputs.say(report, visible(f"{name}: diffusion distances at t = {t:g}. Written: {place}"), as_json=options.json)


_CHANGES = """\
Writes a row for each edge that a coupling changed: the view, both ends, the weights before and after,
and what happened. Those with the largest change come first, view by view.

  cut           almost nothing is left of the weight (below 2 %)
  weakened      less than half
  strengthened  more than twice
  switched on   the edge had no weight before
"""
_CHANGES_EXAMPLES = """\
  cotherm couple images.csv words.csv --out changed.npz --force
  cotherm changes changed.npz --out changes.csv
  cotherm changes changed.npz --view words --kind weakened --out weakened.csv
"""
_KINDS = ["cut", "weakened", "strengthened", "switched on"]

_CHANGES_OPTIONS = (
    declare.file("a coupling written by `cotherm couple`"),
    declare.out("the edges: .csv"),
    declare.VIEW,
    {"--kind": declare.choice(_KINDS, "only these edges (all that changed)")},
)


def _changes(options: argparse.Namespace) -> None:
    place = outputs.free_place(options.out, (".csv",), force=options.force)
    result = inputs.read_coupling(options.file)
    names = inputs.view_names(result.graphs)
    wanted = range(len(names)) if options.view is None else [inputs.view_number(options.view, names)]
    kinds = _KINDS if options.kind is None else [options.kind]
    rows, counts, found = [], [], result.changes()
    for k in wanted:
        changes, items = found[k], inputs.items_of(result.originals[k])
        chosen = np.flatnonzero(np.isin(changes.kind, kinds))
        chosen = chosen[np.argsort(-np.abs(changes.after - changes.before)[chosen], kind="stable")]
        for e in chosen.tolist():
            weights = (float(changes.before[e]), float(changes.after[e]))
            rows.append((names[k], items[changes.i[e]], items[changes.j[e]], *weights, str(changes.kind[e])))
        counts.append({"view": names[k], **{kind: int(np.sum(changes.kind == kind)) for kind in kinds}})
    titles = ("view", "source", "target", "before", "after", "change")
    cells = [[str(one["view"]), *(str(one[kind]) for kind in kinds)] for one in counts]
    table = outputs.table_text(["view", *kinds], cells)
    outputs.deliver(options, {place: csv_bytes(titles, rows)}, {"changes": counts}, table)


_INFO = """\
Describes the content of a file: sizes, weights, connected components. For a coupling it prints all
settings, as needed for a methods section.
"""
_INFO_EXAMPLES = """\
  cotherm couple images.csv words.csv --labels labels.csv --out coupled.npz --force
  cotherm info coupled.npz
  cotherm info images.csv --json
"""
_INFO_OPTIONS = (declare.file("any file that cotherm reads or writes, or a directory of shards"), declare.HEADERS)


def _info(options: argparse.Namespace) -> None:
    report, text = about_file(options.file, inputs.read_headers(options))
    outputs.say(report, text, as_json=options.json)


COMMANDS = {
    "graph": declare.Command(_GRAPH, _GRAPH_EXAMPLES, _GRAPH_OPTIONS, _graph),
    "functions": declare.Command(_FUNCTIONS, _FUNCTIONS_EXAMPLES, _FUNCTIONS_OPTIONS, _functions),
    "distances": declare.Command(_DISTANCES, _DISTANCES_EXAMPLES, _DISTANCES_OPTIONS, _distances),
    "changes": declare.Command(_CHANGES, _CHANGES_EXAMPLES, _CHANGES_OPTIONS, _changes),
    "info": declare.Command(_INFO, _INFO_EXAMPLES, _INFO_OPTIONS, _info),
}
