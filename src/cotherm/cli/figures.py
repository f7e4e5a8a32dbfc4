"""Pictures of what files hold."""

from __future__ import annotations

import argparse
from typing import Any

from cotherm.arrays import Floats
from cotherm.cli.header import header_of
from cotherm.cli.inputs import View, name_of
from cotherm.cli.labels import read_labels
from cotherm.draw import draw_convergence, draw_coupling, draw_heat, draw_views, widest
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.heat.flow import heat_flow
from cotherm.heat.layout import layout
from cotherm.methods.coupling.result import Coupling


def graph_picture(graph: Graph, options: argparse.Namespace) -> Any:
    labels = _labels([graph], options)
    return draw_views([[graph]], [[_points(graph, None)]], rows=[name_of(graph, 0)], labels=labels)


def coupling_picture(result: Coupling, options: argparse.Namespace) -> Any:
    if options.kind == "coupling":
        return draw_coupling(result.times, result.coupling_before, result.coupling)
    if options.kind == "convergence":
        return draw_convergence(result.history)
    if options.kind == "heat":
        return _heat(result, options.function)
    # Where the places are our own, cut edges would only cover what they no longer hold together.
    cut = [
        change.kind == "cut" if _has_places(g) else None
        for change, g in zip(result.changes(), result.graphs, strict=True)
    ]
    t = result.times[-1]
    return draw_views(
        [[old, new] for old, new in zip(result.originals, result.graphs, strict=True)],
        [[_points(old, t), _points(new, t)] for old, new in zip(result.originals, result.graphs, strict=True)],
        rows=[name_of(g, k) for k, g in enumerate(result.graphs)],
        columns=["before", "coupled"],
        labels=_labels(list(result.originals), options),
        marked=[[None, mask] for mask in cut],
    )


def _heat(result: Coupling, function: int) -> Any:
    q = result.functions[0].shape[1]
    if not 1 <= function <= q:
        raise CothermError("--function", str(function), f"a function from 1 to {q}")
    times = [0.0, *result.times]
    graphs, flows, names = [], [], []
    for state, members in (("", result.originals), (", coupled", result.graphs)):
        for k, (graph, F) in enumerate(zip(members, result.functions, strict=True)):
            graphs.append(graph.replace(coordinates=_points(result.originals[k], times[-1])))
            flows.append(heat_flow(graph, F[:, function - 1], times)[:, :, 0])
            names.append(name_of(graph, k) + state)
    return draw_heat(graphs, flows, times, names=names)


def _points(graph: Graph, t: float | None) -> Floats:
    """Where the vertices are, or where their diffusion distances would have them."""
    places = graph.coordinates
    if places is None or not _has_places(graph):
        return layout(graph, t)
    return widest(places) if places.shape[1] > 2 else places


def _has_places(graph: Graph) -> bool:
    return graph.coordinates is not None and graph.coordinates.shape[1] >= 2


def _labels(graphs: list[Graph], options: argparse.Namespace) -> list[Any] | None:
    if options.labels:
        return list(read_labels([View(g) for g in graphs], options.labels, options.column, header_of(options)).of)
    labels = [g.labels for g in graphs]
    return None if any(one is None for one in labels) else labels
