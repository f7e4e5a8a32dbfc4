"""``cotherm average``, ``diagonalize``, ``commute`` and ``match``: the neighbors of coupling."""

from __future__ import annotations

import argparse

import cotherm as ct
from cotherm import validation
from cotherm.cli import options as declare
from cotherm.cli import outputs
from cotherm.cli.advice import as_options
from cotherm.cli.inputs import names_of, read_coupling, read_same_items, view_count, view_names, view_number
from cotherm.cli.summary import about_graph
from cotherm.graphs.files import graph_bytes
from cotherm.methods.matching import file as match_file

_AVERAGE = """\
Averages the weights of graphs on the same vertices, edge by edge. This is the baseline that every
other method should beat.
"""
_AVERAGE_EXAMPLES = """\
  cotherm average images.csv words.csv --normalized --out mean.npz
  cotherm average images.csv words.csv --power harmonic --out mean.csv
"""
_AVERAGE_OPTIONS = (
    declare.SAME_ITEMS,
    declare.out("the graph: .npz, .csv (edge list) or .mtx"),
    {
        "--power": declare.value(
            declare.either(declare.number, "arithmetic", "geometric", "harmonic"),
            "P",
            "which mean: arithmetic (the default), geometric, harmonic, or the power as a number",
            default="arithmetic",
        )
    },
    declare.GRAPH_WEIGHTS,
    {"--normalized": declare.flag("normalize the weights by the degrees first")},
    *declare.POINTS,
)


def _average(options: argparse.Namespace) -> None:
    place = outputs.free_place(options.out, (".npz", ".csv", ".mtx", ".graphml"), force=options.force)
    views = read_same_items(options.views, options)
    graphs = [view.graph for view in views]
    with as_options("power", "graph_weights"):
        mean = ct.average(graphs, options.graph_weights, power=options.power, normalized=options.normalized).graph
    reading = [view.reading for view in views]
    outputs.deliver(options, {place: outputs.graph_file(place, mean)}, *about_graph(mean), reading)


_DIAGONALIZE = """\
Joint diagonalization: finds the orthonormal basis in which the Laplacians of all graphs are as
diagonal as possible. The first modes after the constant one are coordinates for plots and clustering.
"""
_DIAGONALIZE_EXAMPLES = """\
  cotherm diagonalize images.csv words.csv --normalized --modes 7 --out modes.csv
"""
_DIAGONALIZE_OPTIONS = (
    declare.SAME_ITEMS,
    declare.out("the modes, a row for every item: .csv or .npy"),
    {"--modes": declare.value(declare.integer, "K", "number of modes to write (all)")},
    declare.GRAPH_WEIGHTS,
    {"--normalized": declare.flag("use normalized Laplacians")},
    *declare.POINTS,
)


def _diagonalize(options: argparse.Namespace) -> None:
    place = outputs.free_place(options.out, (".csv", ".npy"), force=options.force)
    views = read_same_items(options.views, options)
    n = min(view.graph.n for view in views)
    k = n if options.modes is None else validation.integer("--modes", options.modes, least=1, most=n)
    outputs.require_room_for_matrix(place, n, k)
    graphs = [view.graph for view in views]
    with as_options("graph_weights"):
        result = ct.joint_diagonalize(graphs, options.graph_weights, normalized=options.normalized)
    titles = [f"mode {c}" for c in range(k)]
    content = outputs.matrix_bytes(place, result.basis[:, :k], titles, views[0].names)
    report = {name: getattr(result, name) for name in ("status", "off", "off_before", "versions")}
    report["values"] = result.values[:, :k]
    outputs.deliver(options, {place: content}, report, str(result), [view.reading for view in views])


_COMMUTE = """\
Closest commuting operators: symmetric matrices with a common basis, as near the Laplacians of the
views as possible. With --valid they are Laplacians of graphs with the same edges, which takes far
longer: for some hundred vertices. Graphs that are equal on the edges they share always commute. The
report says how far away these are, and whether anything nearer was found.
"""
_COMMUTE_EXAMPLES = """\
  cotherm commute images.csv words.csv --out images-c.npy words-c.npy
  cotherm commute joined.csv apart.csv --neighbors 5 --valid --out joined-c.npz apart-c.npz
"""
_COMMUTE_OPTIONS = (
    declare.SAME_ITEMS,
    declare.out("one for each view: .npy, with --valid graphs .npz", several=True),
    {"--valid": declare.flag("graphs with the same edges instead of matrices")},
    *declare.POINTS,
)


def _commute(options: argparse.Namespace) -> None:
    suffix = ".npz" if options.valid else ".npy"
    places = outputs.free_places(options.out, view_count(options.views, options), (suffix,), force=options.force)
    views = read_same_items(options.views, options)
    result = ct.closest_commuting([view.graph for view in views], valid=options.valid)
    if result.graphs is None:
        contents = [outputs.matrix_bytes(place, L, ()) for place, L in zip(places, result.laplacians, strict=True)]
    else:
        contents = [graph_bytes(graph, place) for place, graph in zip(places, result.graphs, strict=True)]
    told = ("status", "distance", "commutator", "commutator_before", "relation", "origin", "distance_equal", "moved")
    report = {name: getattr(result, name) for name in (*told, "versions")}
    reading = [view.reading for view in views]
    outputs.deliver(options, dict(zip(places, contents, strict=True)), report, str(result), reading)


_MATCH = """\
Finds corresponding vertices. For every vertex of one view it finds the vertex of another view that
receives the most similar heat from the corresponding functions. The match is refined by a functional
map. Then the functions are divided into two halves, and each half is matched by itself: where the
halves agree the match is supported, and where they agree no more often than chance it is worthless.
"""
_MATCH_EXAMPLES = """\
  cotherm couple joined.csv apart.csv -k 5 --landmarks hands.csv --times 5,20 --alpha 1e3 --out hands.npz --force
  cotherm match hands.npz --source joined --target apart --out match.csv
"""
_MATCH_OPTIONS = (
    declare.file("a coupling written by `cotherm couple`"),
    declare.out("a table .csv (source, target, agreement, round_trip), or everything as .npz"),
    {
        "--source": declare.value(str, "VIEW", "view to match from, by name or counted from 1 (1)", default="1"),
        "--target": declare.value(str, "VIEW", "view to match to (2)", default="2"),
    },
)


def _match(options: argparse.Namespace) -> None:
    place = outputs.free_place(options.out, (".csv", ".npz"), force=options.force)
    result = read_coupling(options.file)
    names = view_names(result.graphs)
    source, target = view_number(options.source, names, "--source"), view_number(options.target, names, "--target")
    with as_options("target"):
        found = ct.match(result, source=source, target=target)
    by_name = [names_of(result.graphs[k]) for k in (source, target)]
    whole = place.suffix.lower() == ".npz"
    content = match_file.content(found, place) if whole else match_file.table(found, *by_name)
    report = {name: getattr(found, name) for name in ("status", "exact_agreement", "chance", "settings", "versions")}
    report |= {"vertices": len(found.hard), "agreement": found.agreement.mean(), "round_trip": found.round_trip.mean()}
    outputs.deliver(options, {place: content}, report, str(found))


COMMANDS = {
    "average": declare.Command(_AVERAGE, _AVERAGE_EXAMPLES, _AVERAGE_OPTIONS, _average),
    "diagonalize": declare.Command(_DIAGONALIZE, _DIAGONALIZE_EXAMPLES, _DIAGONALIZE_OPTIONS, _diagonalize),
    "commute": declare.Command(_COMMUTE, _COMMUTE_EXAMPLES, _COMMUTE_OPTIONS, _commute),
    "match": declare.Command(_MATCH, _MATCH_EXAMPLES, _MATCH_OPTIONS, _match),
}
