"""Heat on graphs in the plane: a row for each graph, a column for each time, one color scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from cotherm.arrays import Floats
from cotherm.draw.color import add_color_bar, scale_of
from cotherm.draw.edges import STYLES, checked_marks, word
from cotherm.draw.graph import checked_places, panel_height, put_graph
from cotherm.draw.names import beside, distinct, title, write_legend
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph

# Panels are so wide, or wider where graphs are flat, so that they are not too low.
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
        If the lengths or shapes do not fit together.

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
    _require_fitting(graphs, flows, times, names, marked)
    shown = [graph.name or "" for graph in graphs] if names is None else names
    scale = scale_of([flow[k] for flow in flows for k in range(len(times))])
    places = [checked_places(graph) for graph in graphs]
    ratios = np.array([panel_height([points], 1.0) for points in places])
    width = float(np.clip(_LOWEST / ratios.min(), _WIDTH, _WIDEST))
    heights = (width * ratios).tolist()
    size = (width * len(times) + 1.3, sum(heights) + 0.15 * len(graphs) + 0.6)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(len(graphs), len(times), squeeze=False, height_ratios=heights)
    for row, graph in enumerate(graphs):
        given = None if marked is None else marked[row]
        marks = None if given is None else checked_marks("marked", given, graph.m)
        for ax, heat in zip(axes[row], flows[row], strict=True):
            options = {"c": heat, "cmap": scale.colors, "norm": scale.norm}
            put_graph(ax, graph, places[row], inches=width, marks=marks, **options)
    for column, text in enumerate(distinct(times)):
        title(axes[0, column], f"t = {text}", inches=width)
    beside(axes[:, 0], shown, heights)
    add_color_bar(figure, axes, scale, "heat")
    if marked is not None:
        _add_legend(figure, graphs, marked)
    return figure


def _require_fitting(graphs: Any, flows: Any, times: Any, names: Any, marked: Any) -> None:
    if isinstance(graphs, Graph) or not len(graphs) or len(flows) != len(graphs):
        raise CothermError("flows", f"{len(flows)} flows", "one for each of one or more graphs, in lists")
    if not len(times):
        raise CothermError("times", "none", "at least one time")
    for k, (graph, flow) in enumerate(zip(graphs, flows, strict=True)):
        if np.shape(flow) != (len(times), graph.n):
            raise CothermError(f"flows[{k}]", f"shape {np.shape(flow)}", f"shape {(len(times), graph.n)}, (times, n)")
    for argument, given in (("names", names), ("marked", marked)):
        if given is not None and len(given) != len(graphs):
            raise CothermError(argument, f"{len(given)}", f"one for each of {len(graphs)} graphs")


def _add_legend(figure: Figure, graphs: Sequence[Graph], marked: Sequence[ArrayLike | None]) -> None:
    found = [checked_marks("marked", m, g.m) for g, m in zip(graphs, marked, strict=True) if m is not None]
    kinds = [kind for kind in STYLES if any((marks == kind).any() for marks in found)]
    lines = [Line2D([], [], color=STYLES[kind].color, linestyle=STYLES[kind].line) for kind in kinds]
    if kinds:
        texts = [f"{word(kind)} edges" for kind in kinds]
        write_legend(figure, lines, texts, loc="outside lower center", ncols=len(kinds), frameon=False, fontsize=9)
