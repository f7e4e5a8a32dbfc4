"""A coupling in one picture: its graphs, its heat, how far the views agree, or the search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.draw.body import draw_bodies
from cotherm.draw.curves import draw_coupling, draw_steps
from cotherm.draw.panels import draw_heat, views_figure
from cotherm.draw.parts import distinct
from cotherm.errors import CothermError
from cotherm.graphs.faces import is_mesh
from cotherm.graphs.graph import Graph
from cotherm.heat.flow import heat_flow
from cotherm.heat.layout import layout
from cotherm.methods.coupling.result import Coupling, best_route

KINDS = ("graphs", "heat", "coupling", "convergence")
# An edge below or above these parts of its weight is marked; the legend says so.
_CUT, _WEAK, _STRONG = 0.02, 0.5, 2.0
_MARK_NAMES = {
    "cut": f"cut (below {_CUT:.0%} of its weight)",
    "weakened": "weakened (below half)",
    "strengthened": "strengthened (above twice)",
    "switched on": "new (no weight before)",
}
# The most times that are drawn, and the least ratio between two of them.
_MOST_TIMES, _NEARLY = 5, 1.05
# Cut edges are marked in pictures of heat only if they are at most this fraction of all edges; more would hide it.
_FEW_CUT = 0.1
_TOLERANCE = 0.02


def draw_result(
    result: Coupling, kind: str = "graphs", *, labels: Sequence[ArrayLike] | None = None, function: int = 0
) -> Figure:
    """Draw a coupling.

    Every view is laid out once, as it was given, and keeps its positions: what is seen to change has changed. Graphs
    without coordinates are laid out by their diffusion distances.

    Parameters
    ----------
    result : Coupling
        What :func:`cotherm.couple` or :func:`cotherm.couple_pairs` returned.
    kind : {"graphs", "heat", "coupling", "convergence"}, default "graphs"
        What to draw:

        - "graphs": each view before and after, with edges marked that were cut (below 2% of their weight), weakened
          (below half), strengthened (above twice) or are new, and how many there are of each.
        - "heat": heat from one function on each view, before and after, at the times of the coupling.
        - "coupling": how much heat differs between the views at each time, before and after.
        - "convergence": how the views came to agree, step by step, and how far they moved for it.
    labels : sequence of array_like of str, optional
        For "graphs", the class of every vertex of each view, shown in color; "" is unknown. By default the labels
        stored in the graphs.
    function : int, default 0
        For "heat", which function heat starts from.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    See Also
    --------
    draw_graph : Any graph.
    draw_heat : Heat on any graphs.

    Examples
    --------
    >>> import cotherm as ct
    >>> views = ct.datasets.ring()
    >>> result = ct.couple(views.graphs, views.functions)
    >>> figure = ct.draw.draw_result(result)
    >>> figure = ct.draw.draw_result(result, "heat", function=1)
    """
    if not isinstance(result, Coupling):
        raise CothermError("result", validation.describe(result), "a Coupling, as couple and couple_pairs return")
    kind = validation.choice("kind", kind, KINDS)
    if kind == "coupling":
        return draw_coupling(result.times, result.coupling_before, result.coupling)
    if kind == "convergence":
        return _convergence(result)
    if kind == "heat":
        return _heat(result, function)
    return _graphs(result, labels)


def _convergence(result: Coupling) -> Figure:
    """The search; leaves out what disagrees with its last step, if view weights or a stop changed it."""
    with np.errstate(over="ignore"):
        before, after = (float(np.linalg.norm(errors)) for errors in (result.coupling_before, result.coupling))
    rows = best_route(result.history)
    if not rows:
        return draw_steps(rows, None, None)
    error = max(float(rows[-1]["coupling"]), 0.0)
    distance = float(rows[-1]["cost"]) - result.alpha * error
    alpha = result.alpha if _near(distance, result.distance) else None
    return draw_steps(rows, alpha, before if np.isfinite(before) and _near(np.sqrt(error), after) else None)


def _near(found: float, expected: float) -> bool:
    return bool(abs(found - expected) <= _TOLERANCE * abs(expected))


def _graphs(result: Coupling, labels: Sequence[ArrayLike] | None) -> Figure:
    originals = result.originals
    if labels is None and all(graph.labels is not None for graph in originals):
        labels = [graph.labels for graph in originals if graph.labels is not None]
    if labels is not None:
        given = zip(validation.items("labels", labels, len(originals), each="rows of graphs"), originals, strict=True)
        labels = [validation.labels(f"labels[{k}]", own, graph.vertex_names) for k, (own, graph) in enumerate(given)]
    return views_figure(
        [[old, new] for old, new in zip(originals, result.graphs, strict=True)],
        [[places(graph)] * 2 for graph in originals],
        [[None, change.kind] for change in result.changes(cut=_CUT, weak=_WEAK, strong=_STRONG)],
        rows=_names(result),
        columns=["before", "coupled"],
        labels=labels,
        words=_MARK_NAMES,
    )


def _heat(result: Coupling, function: int) -> Figure:
    q = result.functions[0].shape[1]
    column = validation.integer("function", function, least=0, most=q - 1)
    times = _few(result.times)
    graphs, flows, names = [], [], []
    for state, members in (("", result.originals), (", coupled", result.graphs)):
        for name, graph, F in zip(_names(result), members, result.functions, strict=True):
            graphs.append(graph)
            flows.append(heat_flow(graph, F[:, column], times)[:, :, 0])
            names.append(name + state)
    marks = [None] * len(result.graphs) + _cut(result)
    if all(is_mesh(graph) for graph in result.originals):
        return draw_bodies(
            [[graph] * len(times) for graph in graphs],
            [list(flow) for flow in flows],
            titles=[f"t = {text}" for text in distinct(times)],
            names=names,
            marked=[[mask] * len(times) for mask in marks],
            common_scale=True,
        )
    at = [places(graph) for graph in result.originals] * 2
    placed = [graph.replace(coordinates=points) for graph, points in zip(graphs, at, strict=True)]
    return draw_heat(placed, flows, times, names=names, marked=marks)


def _cut(result: Coupling) -> list[Any]:
    """For each view, which edges were cut, if they are few; otherwise None for all views."""
    cut = [change.kind == "cut" for change in result.changes(cut=_CUT, weak=_WEAK, strong=_STRONG)]
    if any(mask.mean() > _FEW_CUT for mask in cut if mask.size):
        return [None] * len(cut)
    return [np.where(mask, "cut", "kept") for mask in cut]


def places(graph: Graph) -> Floats:
    """Positions of the vertices, (n, 2), as given or from their diffusion distances."""
    given = graph.coordinates
    if given is None or given.shape[1] < 2:
        return layout(graph)
    if given.shape[1] == 2:
        return given
    # Projected on their two widest axes, the longest one vertical.
    long, broad = np.argsort(-np.ptp(given, axis=0), kind="stable")[:2]
    return given[:, [broad, long]]


def _few(times: Sequence[float]) -> list[float]:
    """The start and some of the times, without near duplicates."""
    chosen: list[float] = []
    for t in sorted(t for t in times if t > 0.0):
        if not chosen or t > _NEARLY * chosen[-1]:
            chosen.append(t)
    picked = np.unique(np.round(np.linspace(0, len(chosen) - 1, min(len(chosen), _MOST_TIMES - 1))).astype(int))
    return [0.0, *(chosen[k] for k in picked)]


def _names(result: Coupling) -> list[str]:
    return [graph.name or f"view {k + 1}" for k, graph in enumerate(result.originals)]
