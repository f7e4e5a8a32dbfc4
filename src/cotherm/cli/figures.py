"""Pictures of what files hold."""

from __future__ import annotations

import argparse
from typing import Any

from cotherm.cli.inputs import name_of
from cotherm.cli.labels import labels_of_items
from cotherm.draw import draw_result, draw_views
from cotherm.draw.result import places
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.methods.coupling.result import Coupling


def graph_picture(graph: Graph, options: argparse.Namespace) -> Any:
    labels = labels_of_items([graph], options)
    if labels is None and graph.labels is not None:
        labels = [graph.labels]
    return draw_views([[graph]], [[places(graph)]], rows=[name_of(graph, 0)], labels=labels)


def coupling_picture(result: Coupling, options: argparse.Namespace) -> Any:
    q = result.functions[0].shape[1]
    if options.kind == "heat" and not 1 <= options.function <= q:
        raise CothermError("--function", str(options.function), f"a function from 1 to {q}")
    labels = labels_of_items(result.originals, options)
    return draw_result(result, options.kind, labels=labels, function=max(options.function - 1, 0))
