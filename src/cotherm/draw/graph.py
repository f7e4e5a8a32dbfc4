"""Graphs in the plane, in the paper's manner: values on vertices in color, weights as width and gray of edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.draw.names import write
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph

# Perceptually uniform, and distinct for color-blind readers.
COLORS = "viridis"
_WIDEST_EDGE = 2.2
# Vermilion, which no kind of color blindness confuses with the grays and greens around it.
_MARK = "#d55e00"


def draw_graph(
    graph: Graph,
    values: ArrayLike | None = None,
    *,
    ax: Axes,
    limits: tuple[float, float] | None = None,
    size: float = 18.0,
    marked: ArrayLike | None = None,
) -> Any:
    """Draw a graph in the plane, by the first two of its coordinates.

    Values on vertices are shown in color, weights as width and gray of edges.

    Parameters
    ----------
    graph : Graph
        A graph with coordinates in two dimensions or more.
    values : array_like of shape (n,), optional
        Values on the vertices.
    ax : matplotlib.axes.Axes
        Where to draw.
    limits : tuple of float, optional
        Smallest and largest value of the color scale. By default those of `values`.
    size : float, default 18.0
        Size of the vertices, in points squared.
    marked : array_like of bool of shape (m,), optional
        Edges to draw as dotted lines whatever their weight, such as those that a coupling cut.

    Returns
    -------
    matplotlib.collections.PathCollection
        The vertices, for a color bar.

    Raises
    ------
    CothermError
        If the graph has no coordinates.

    See Also
    --------
    draw_heat : A grid of graphs and times.
    draw_views : A grid of views before and after.

    Examples
    --------
    >>> import cotherm as ct
    >>> from matplotlib.figure import Figure
    >>> graph = ct.datasets.ring().graphs[0]
    >>> figure = Figure()
    >>> dots = ct.draw.draw_graph(graph, range(70), ax=figure.subplots())
    """
    if not isinstance(graph, Graph):
        raise CothermError("graph", validation.describe(graph), "a cotherm.Graph")
    if graph.coordinates is None or graph.coordinates.shape[1] < 2:
        raise CothermError("graph", "no coordinates", "a graph with coordinates in two dimensions or more")
    points = graph.coordinates[:, :2]
    shade = graph.w / graph.w.max() if graph.m and graph.w.max() > 0 else np.zeros(graph.m)
    grays = np.repeat(1.0 - 0.75 * shade[:, np.newaxis], 3, axis=1)
    segments = np.stack([points[graph.i], points[graph.j]], axis=1)
    ax.add_collection(LineCollection(list(segments), colors=grays, linewidths=_WIDEST_EDGE * shade, zorder=1))
    if marked is not None:
        chosen = _mask("marked", marked, graph.m)
        ax.add_collection(
            LineCollection(list(segments[chosen]), colors=_MARK, linestyles=":", linewidths=1.3, zorder=1)
        )
    colors: dict[str, Any] = {"c": "0.3"}
    if values is not None:
        low, high = limits if limits is not None else (None, None)
        shown = validation.functions("values", values, graph.n)[:, 0]
        colors = {"c": shown, "cmap": COLORS, "vmin": low, "vmax": high}
    x, y = points.T
    dots = ax.scatter(x, y, **colors, s=size, zorder=2, edgecolors="white", linewidths=0.4)
    ax.set_aspect("equal")
    ax.margins(0.08)
    ax.axis("off")
    return dots


def draw_heat(
    graphs: Sequence[Graph],
    flows: Sequence[Floats],
    times: Sequence[float],
    *,
    names: Sequence[str] | None = None,
    marked: Sequence[ArrayLike | None] | None = None,
) -> Figure:
    """Draw heat on several graphs at several times: a row for each graph, a column for each time.

    Each time has a color scale of its own, shared by all graphs.

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
    marked : sequence of array_like of bool or None, optional
        For each graph edges to draw as dotted lines, as in :func:`draw_graph`.

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
    if isinstance(graphs, Graph) or not len(graphs) or len(flows) != len(graphs):
        raise CothermError("flows", f"{len(flows)} flows", "one for each of one or more graphs, in lists")
    for k, (graph, flow) in enumerate(zip(graphs, flows, strict=True)):
        if np.shape(flow) != (len(times), graph.n):
            raise CothermError(f"flows[{k}]", f"shape {np.shape(flow)}", f"shape {(len(times), graph.n)}, (times, n)")
    for argument, given in (("names", names), ("marked", marked)):
        if given is not None and len(given) != len(graphs):
            raise CothermError(argument, f"{len(given)}", f"one for each of {len(graphs)} graphs")
    figure = Figure(figsize=(2.1 * len(times) + 1.6, 2.2 * len(graphs) + 0.3), layout="constrained")
    axes = figure.subplots(len(graphs), len(times), squeeze=False)
    for row, graph in enumerate(graphs):
        for column, t in enumerate(times):
            ax = axes[row, column]
            # One color scale per time, shared by all graphs: rows can be compared, and small late values are visible.
            top = max(float(flow[column].max()) for flow in flows)
            dots = draw_graph(
                graph, flows[row][column], ax=ax, limits=(0.0, top), marked=None if marked is None else marked[row]
            )
            if row == 0:
                ax.set_title(f"t = {t:g}", fontsize=11)
            if row == len(graphs) - 1:
                bar = figure.colorbar(dots, ax=axes[:, column], orientation="horizontal", shrink=0.8, pad=0.02)
                bar.set_ticks([0.0, top], labels=["0", f"{top:.2g}"])
        write(
            axes[row, 0],
            -0.02,
            0.5,
            (graph.name or "") if names is None else names[row],
            transform=axes[row, 0].transAxes,
            rotation=90,
            ha="right",
            va="center",
            fontsize=11,
        )
    return figure


def _mask(argument: str, value: ArrayLike, m: int) -> NDArray[np.bool_]:
    mask = np.asarray(value)
    if mask.dtype != np.bool_ or mask.shape != (m,):
        raise CothermError(argument, validation.describe(value), f"one truth value for each of {m} edges")
    return mask
