"""``cotherm distances``: diffusion distances on a graph or on coupled graphs."""

from __future__ import annotations

import argparse

from cotherm.cli import parser as options_of

HELP = "diffusion distances: all pairs, from some vertices, or nearest neighbors"
ABOUT = """\
The diffusion distance of two vertices is the difference of the heat at time t that starts at each of
them. Writes all pairs, the rows of some vertices (--sources), or the nearest neighbors of every
vertex (--nearest). The last two work on large graphs.
"""
EXAMPLES = """\
examples, on the tables that `cotherm demo --tables .` writes:
  cotherm couple images.csv words.csv --labels labels.csv --out coupled.npz --force
  cotherm distances coupled.npz --view words --time 1 --out distances.csv
  cotherm distances coupled.npz --view words --sources photo-003,photo-012 --out two-rows.csv
  cotherm distances coupled.npz --view 1 --nearest 10 --out nearest.csv
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a graph, or a coupling with --view")
    options_of.add_out(parser, "the distances: .csv, or .npy for a matrix")
    options_of.add_view(parser)
    parser.add_argument("--time", "-t", type=options_of.number, metavar="T", help="diffusion time (auto)")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--sources",
        type=options_of.words,
        metavar="V,V,...",
        help="only distances from these items, by name or counted from 0",
    )
    which.add_argument(
        "--nearest", type=options_of.integer, metavar="K", help="a list of the K nearest neighbors of every item"
    )
    options_of.add_engine(parser)
    options_of.add_json(parser)


def run(options: argparse.Namespace) -> None:
    from cotherm.cli import outputs
    from cotherm.cli.inputs import graphs_of, read_result, views_of
    from cotherm.cli.names import ID, Lookup, items_of
    from cotherm.cli.times import comparison_time
    from cotherm.errors import CothermError, known_as, visible
    from cotherm.heat.distance import diffusion_distance

    suffixes = (".csv",) if options.nearest is not None else (".csv", ".npy")
    place = outputs.free_place(options.out, suffixes, force=options.force)
    result = read_result(options.file)
    found = graphs_of(result, options.view)
    if len(found) > 1:
        raise CothermError("--view", "none", f"one of the views of {options.file}: {', '.join(views_of(result))}")
    name, graph = found[0]
    t = comparison_time(options.time, result)
    items = items_of(graph)
    if options.nearest is not None:
        with known_as("nearest", "--nearest"), known_as("engine", "--engine"):
            near = diffusion_distance(graph, t, nearest=options.nearest, engine=options.engine)
        rows = (
            (items[v], items[u], float(d))
            for v in range(graph.n)
            for u, d in zip(near.indices[v], near.distances[v], strict=True)
        )
        content = outputs.csv_bytes((ID, "neighbor", "distance"), rows)
    else:
        known = Lookup(graph, name)
        sources = None if options.sources is None else [known.require(one, "--sources") for one in options.sources]
        count = graph.n if sources is None else len(sources)
        outputs.require_room(place, outputs.least_matrix_size(place, count, graph.n))
        with known_as("engine", "--engine"):
            matrix = diffusion_distance(graph, t, sources=sources, engine=options.engine)
        of_rows = items if sources is None else [items[v] for v in sources]
        content = outputs.matrix_bytes(place, matrix, items, of_rows)
    outputs.write(place, content, force=options.force)
    report = {"out": str(place), "graph": name, "vertices": graph.n, "time": t}
    outputs.say(report, visible(f"{name}: diffusion distances at t = {t:g}. Written: {place}"), as_json=options.json)
