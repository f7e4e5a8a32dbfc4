"""Grids of graphs in the plane: views before and after with classes in color, and heat at several times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike, NDArray

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.draw import parts
from cotherm.draw.graph import (
    PANEL,
    STYLES,
    checked_places,
    heaviest,
    left_out,
    legend_entries,
    marks_of,
    panel_height,
    put_graph,
    word,
)
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph

# Font size of legends, and the longest class name in them.
_LEGEND, _LONGEST_CLASS = 8.5, 28
# The width of panels; flat graphs get wider ones, so that panels are not too low.
_WIDTH, _WIDEST, _LOWEST = 2.1, 3.4, 1.1


def views_figure(
    graphs: Sequence[Sequence[Graph]],
    places: Sequence[Sequence[Floats]],
    kinds: Sequence[Sequence[NDArray[np.str_] | None]],
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    labels: Sequence[ArrayLike] | None,
    words: Mapping[str, str] | None = None,
) -> Figure:
    """A row for each view, a column for each state of it, with classes in color.

    Below each graph stands how many edges it has, or of marked ones how many of each kind; ``words`` are what legends
    call these. Of more than 8,000 edges a part is drawn, which is said there too.
    """
    count, width = len(graphs), max(len(row) for row in graphs)
    heights = [panel_height(row, PANEL) for row in places]
    classes = None if labels is None else parts.Classes(labels)
    across = PANEL * width + 0.5
    legend = [] if classes is None else classes.legend()
    longest = min(max((len(name) for _, name in legend), default=1), _LONGEST_CLASS)
    ncols = max(1, min(len(legend), parts.room(across, _LEGEND) // (longest + 5)))
    below = 0.2 * -(-len(legend) // ncols)
    figure = Figure(figsize=(across, sum(heights) + 0.7 * count + 0.3 + below), layout="constrained")
    axes = figure.subplots(count, width, squeeze=False, height_ratios=heights)
    for ax in axes.flat:
        ax.axis("off")
    for r, row in enumerate(graphs):
        for c, graph in enumerate(row):
            colors = "0.3" if classes is None else classes.colors(r, graph.n)
            put_graph(axes[r, c], graph, places[r][c], marks=kinds[r][c], top=heaviest(row[0]), c=colors)
            _add_counts(axes[r, c], graph, kinds[r][c], words)
    parts.beside(axes[:, 0], rows, heights)
    for c, text in enumerate(columns):
        parts.title(axes[0, c], text, inches=PANEL)
    if legend:
        dots = [Line2D([], [], marker="o", markersize=5, linestyle="", color=color) for color, _ in legend]
        texts = [name for _, name in legend]
        where: dict[str, Any] = {"loc": "outside lower center", "ncols": ncols, "handletextpad": 0.2}
        parts.write_legend(figure, dots, texts, most=_LONGEST_CLASS, frameon=False, fontsize=_LEGEND, **where)
    return figure


def _add_counts(ax: Any, graph: Graph, marks: NDArray[np.str_] | None, words: Mapping[str, str] | None) -> None:
    """Add a legend below the panel that counts the edges drawn."""
    if marks is None:
        live = int(np.sum(graph.w > 0.0))
        entries = [(Line2D([], [], color="0.6", linewidth=1.5), f"{live:,} edges{left_out(graph.m)}")]
    else:
        entries = legend_entries(marks, words)
    options: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "borderaxespad": 0.2}
    options |= {"columnspacing": 1.0, "handlelength": 1.6, "handletextpad": 0.5}
    lines, texts = [line for line, _ in entries], [text for _, text in entries]
    ncols = 2 if len(texts) > 1 and 2 * max(map(len, texts)) + 8 <= 1.2 * parts.room(PANEL, _LEGEND) else 1
    parts.write_legend(ax, lines, texts, ncols=ncols, frameon=False, fontsize=_LEGEND, **options)


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
    graphs = parts.checked_graphs("graphs", graphs)
    at = validation.times("times", times).tolist()
    heats = _heats(graphs, flows, len(at))
    places = [checked_places(f"graphs[{k}]", graph) for k, graph in enumerate(graphs)]
    shown = [graph.name or "" for graph in graphs]
    if names is not None:
        shown = parts.checked_texts("names", names, len(graphs), each="graphs")
    marks = marks_of("marked", marked, graphs)
    scale = parts.scale_of([heat for flow in heats for heat in flow])
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
    for column, text in enumerate(parts.distinct(at)):
        parts.title(axes[0, column], f"t = {text}", inches=width)
    parts.beside(axes[:, 0], shown, heights)
    parts.add_color_bar(figure, axes, scale, "heat")
    kinds = [kind for kind in STYLES if any(one is not None and (one == kind).any() for one in marks)]
    lines = [Line2D([], [], color=STYLES[kind].color, linestyle=STYLES[kind].line) for kind in kinds]
    if kinds:
        texts = [f"{word(kind)} edges" for kind in kinds]
        parts.write_legend(
            figure, lines, texts, loc="outside lower center", ncols=len(kinds), frameon=False, fontsize=9
        )
    return figure


def _heats(graphs: list[Graph], flows: Any, count: int) -> list[Floats]:
    found = []
    for k, flow in enumerate(validation.items("flows", flows, len(graphs), each="graphs")):
        heat = validation.numeric(f"flows[{k}]", flow, ndim=(2,))
        if heat.shape != (count, graphs[k].n):
            raise CothermError(f"flows[{k}]", f"shape {heat.shape}", f"shape {(count, graphs[k].n)}, (times, n)")
        found.append(heat)
    return found
