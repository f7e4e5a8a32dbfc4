"""``cotherm changes``: the edges that a coupling changed, with the names of their ends."""

from __future__ import annotations

import argparse

from cotherm.cli import parser as options_of

HELP = "list the edges that a coupling cut, weakened or strengthened"
ABOUT = """\
Writes a row for each edge that a coupling changed: the view, both ends, the weights before and after,
and what happened. Those with the largest change come first, view by view.

  cut           almost nothing is left of the weight (below 2 %)
  weakened      less than half
  strengthened  more than twice
  switched on   the edge had no weight before
"""
EXAMPLES = """\
examples, on the tables that `cotherm demo --tables .` writes:
  cotherm couple images.csv words.csv --out changed.npz --force
  cotherm changes changed.npz --out changes.csv
  cotherm changes changed.npz --view words --kind weakened --out weakened.csv
"""
_KINDS = ("cut", "weakened", "strengthened", "switched on")


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a coupling written by `cotherm couple`")
    options_of.add_out(parser, "the edges: .csv")
    options_of.add_view(parser)
    parser.add_argument("--kind", choices=_KINDS, help="only these edges (all that changed)")
    options_of.add_json(parser)


def run(options: argparse.Namespace) -> None:
    import numpy as np

    from cotherm.cli import outputs
    from cotherm.cli.inputs import read_result, views_of
    from cotherm.cli.names import items_of, view_number
    from cotherm.errors import CothermError
    from cotherm.graphs.graph import Graph

    place = outputs.free_place(options.out, (".csv",), force=options.force)
    result = read_result(options.file)
    if isinstance(result, Graph):
        raise CothermError(options.file, "a graph", "a coupling, from `cotherm couple`")
    names = views_of(result)
    wanted = range(len(names)) if options.view is None else [view_number(options.view, names)]
    kinds = _KINDS if options.kind is None else (options.kind,)
    rows, counts, found = [], [], result.changes()
    for k in wanted:
        changes, items = found[k], items_of(result.originals[k])
        chosen = np.flatnonzero(np.isin(changes.kind, kinds))
        chosen = chosen[np.argsort(-np.abs(changes.after - changes.before)[chosen], kind="stable")]
        for e in chosen.tolist():
            weights = (float(changes.before[e]), float(changes.after[e]))
            rows.append((names[k], items[changes.i[e]], items[changes.j[e]], *weights, str(changes.kind[e])))
        counts.append({"view": names[k], **{kind: int(np.sum(changes.kind == kind)) for kind in kinds}})
    titles = ("view", "source", "target", "before", "after", "change")
    outputs.write(place, outputs.csv_bytes(titles, rows), force=options.force)
    table = outputs.table_text(
        ["view", *kinds], [[str(one["view"]), *(str(one[kind]) for kind in kinds)] for one in counts]
    )
    outputs.say_written({"out": str(place), "changes": counts}, table, [place], as_json=options.json)
