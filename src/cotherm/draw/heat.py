"""Heat on graphs in the plane: a row for each graph, a column for each time, one color scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike, NDArray

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.draw.graph import STYLES, checked_places, marks_of, panel_height, put_graph, word
from cotherm.draw.parts import (
    add_color_bar,
    beside,
    checked_graphs,
    checked_texts,
    distinct,
    scale_of,
    title,
    write_legend,
)
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph

# The width of panels; flat graphs get wider ones, so that panels are not too low.
_WIDTH, _WIDEST, _LOWEST = 2.1, 3.4, 1.1


def draw_heat(
    graphs: Sequence[Graph],
    flows: Sequence[Floats],
    times: Sequence[float],
    *,
    names: Sequence[str] | None = None,
    marked: Sequence[ArrayLike | None] | None = None,
) -> Figure:
    """Draw heat on several graphs at several times: a row for each graph, a column for each time.

    All panels have one color scale, with one color bar. If the heat at some time is everywhere below a quarter of the
    largest, small values get more of the colors, and the color bar says so.

    Parameters
    ----------
    graphs : sequence of Graph
        Graphs with coordinates in two dimensions or more.
    flows : sequence of ndarray of shape (len(times), n)
        Heat on each graph at each time.
    times : sequence of float
        The times.
    names : sequence of str, optional
        Names beside the rows. By default the names of the graphs.
    marked : sequence of array_like of bool or str or None, optional
        For each graph edges to mark, as in :func:`draw_graph`.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Raises
    ------
    CothermError
        If an argument cannot be drawn, or lengths and shapes do not fit together.

    See Also
    --------
    cotherm.heat_flow : Compute the heat.
    draw_bodies : Graphs in space.

    Examples
    --------
    >>> import cotherm as ct
    >>> views = ct.datasets.ring()
    >>> flows = [ct.heat_flow(g, F[:, 0], views.times)[:, :, 0] for g, F in zip(views.graphs, views.functions)]
    >>> figure = ct.draw.draw_heat(views.graphs, flows, views.times)
    """
    graphs = checked_graphs("graphs", graphs)
    at = validation.times("times", times).tolist()
    heats = _heats(graphs, flows, len(at))
    places = [checked_places(f"graphs[{k}]", graph) for k, graph in enumerate(graphs)]
    shown = [graph.name or "" for graph in graphs]
    if names is not None:
        shown = checked_texts("names", names, len(graphs), each="graphs")
    marks = marks_of("marked", marked, graphs)
    scale = scale_of([heat for flow in heats for heat in flow])
    ratios = np.array([panel_height([points], 1.0) for points in places])
    width = float(np.clip(_LOWEST / ratios.min(), _WIDTH, _WIDEST))
    heights = (width * ratios).tolist()
    size = (width * len(at) + 1.3, sum(heights) + 0.15 * len(graphs) + 0.6)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(len(graphs), len(at), squeeze=False, height_ratios=heights)
    for row, graph in enumerate(graphs):
        for ax, heat in zip(axes[row], heats[row], strict=True):
            options = {"c": heat, "cmap": scale.colors, "norm": scale.norm}
            put_graph(ax, graph, places[row], inches=width, marks=marks[row], **options)
    for column, text in enumerate(distinct(at)):
        title(axes[0, column], f"t = {text}", inches=width)
    beside(axes[:, 0], shown, heights)
    add_color_bar(figure, axes, scale, "heat")
    _add_legend(figure, [one for one in marks if one is not None])
    return figure


def _heats(graphs: list[Graph], flows: Any, count: int) -> list[Floats]:
    found = []
    for k, flow in enumerate(validation.items("flows", flows, len(graphs), each="graphs")):
        heat = validation.numeric(f"flows[{k}]", flow, ndim=(2,))
        if heat.shape != (count, graphs[k].n):
            raise CothermError(f"flows[{k}]", f"shape {heat.shape}", f"shape {(count, graphs[k].n)}, (times, n)")
        found.append(heat)
    return found


def _add_legend(figure: Figure, found: list[NDArray[np.str_]]) -> None:
    kinds = [kind for kind in STYLES if any((marks == kind).any() for marks in found)]
    lines = [Line2D([], [], color=STYLES[kind].color, linestyle=STYLES[kind].line) for kind in kinds]
    if kinds:
        texts = [f"{word(kind)} edges" for kind in kinds]
        write_legend(figure, lines, texts, loc="outside lower center", ncols=len(kinds), frameon=False, fontsize=9)
