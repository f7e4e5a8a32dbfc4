"""A coupling in one picture: its graphs, its heat, how far the views agree, or the way there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.draw import draw_convergence, draw_coupling, draw_heat, draw_views, widest
from cotherm.graphs.graph import Graph
from cotherm.heat.flow import heat_flow
from cotherm.heat.layout import layout
from cotherm.methods.coupling.result import Coupling

KINDS = ("graphs", "heat", "coupling", "convergence")


def draw_result(
    result: Coupling, kind: str = "graphs", *, labels: Sequence[ArrayLike] | None = None, function: int = 0
) -> Figure:
    """Draw a coupling: one of ``KINDS``."""
    kind = validation.choice("kind", kind, KINDS)
    if kind == "coupling":
        return draw_coupling(result.times, result.coupling_before, result.coupling)
    if kind == "convergence":
        return draw_convergence(result.history)
    return _heat(result, function) if kind == "heat" else _graphs(result, labels)


def _graphs(result: Coupling, labels: Sequence[ArrayLike] | None) -> Figure:
    stored: list[Any] = [graph.labels for graph in result.originals]
    t, states = result.times[-1], list(zip(result.originals, result.graphs, strict=True))
    return draw_views(
        [list(both) for both in states],
        [[_places(graph, t) for graph in both] for both in states],
        rows=_names(result),
        columns=["before", "coupled"],
        labels=labels if labels is not None or any(one is None for one in stored) else stored,
        # Where the places are our own, cut edges would only cover what they no longer hold together.
        marked=[
            [None, change.kind == "cut" if _has_places(old) else None]
            for old, change in zip(result.originals, result.changes(), strict=True)
        ],
    )


def _heat(result: Coupling, function: int) -> Figure:
    column = validation.integer("function", function, least=0, most=result.functions[0].shape[1] - 1)
    times = [0.0, *result.times]
    graphs, flows, names = [], [], []
    for state, members in (("", result.originals), (", coupled", result.graphs)):
        for k, (graph, F) in enumerate(zip(members, result.functions, strict=True)):
            graphs.append(graph.replace(coordinates=_places(result.originals[k], times[-1])))
            flows.append(heat_flow(graph, F[:, column], times)[:, :, 0])
            names.append(_names(result)[k] + state)
    return draw_heat(graphs, flows, times, names=names)


def _places(graph: Graph, t: float) -> Floats:
    """Where the vertices are, or where their diffusion distances would have them."""
    places = graph.coordinates
    if places is None or not _has_places(graph):
        return layout(graph, t)
    return widest(places) if places.shape[1] > 2 else places


def _has_places(graph: Graph) -> bool:
    return graph.coordinates is not None and graph.coordinates.shape[1] >= 2


def _names(result: Coupling) -> list[str]:
    return [graph.name or f"view {k + 1}" for k, graph in enumerate(result.originals)]
