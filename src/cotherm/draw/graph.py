"""Graphs in the plane, in the paper's manner: values on vertices in color, weights as width and gray of edges."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.draw import given
from cotherm.draw.color import COLORS
from cotherm.draw.edges import MOST_VECTORS, PANEL, add_edges, checked_marks, heaviest
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph

# Dots from this size on have a white rim.
_RIMMED = 9.0


def draw_graph(
    graph: Graph,
    values: ArrayLike | None = None,
    *,
    ax: Axes,
    limits: tuple[float, float] | None = None,
    size: float | None = None,
    marked: ArrayLike | None = None,
) -> Any:
    """Draw a graph in the plane, by the first two of its coordinates.

    Values on vertices are shown in color, weights as width and gray of edges. Of more than 8,000 edges a part is drawn,
    evenly chosen.

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
    size : float, optional
        Size of the vertices, in points squared. By default the smaller the more there are.
    marked : array_like of bool or str of shape (m,), optional
        Edges to mark: truth values for dashed lines whatever the weight, or what became of each edge, as in
        ``Changes.kind``: "cut", "weakened", "kept", "strengthened" or "switched on".

    Returns
    -------
    matplotlib.collections.PathCollection
        The vertices, for a color bar.

    Raises
    ------
    CothermError
        If the graph has no coordinates, or another argument cannot be drawn.

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
    points = checked_places("graph", graph)
    if not isinstance(ax, Axes):
        raise CothermError("ax", validation.describe(ax), "axes of matplotlib", "figure.subplots() makes some.")
    marks = None if marked is None else checked_marks("marked", marked, graph.m)
    low, high = (None, None) if limits is None else _limits(limits)
    colors: dict[str, Any] = {"c": "0.3"}
    if values is not None:
        shown = validation.functions("values", values, graph.n, graph.vertex_names)[:, 0]
        colors = {"c": shown, "cmap": COLORS, "vmin": low, "vmax": high}
    area = None if size is None else validation.real("size", size, positive=True)
    return put_graph(ax, graph, points, size=area, marks=marks, **colors)


def _limits(value: Any) -> tuple[float, float]:
    low, high = (validation.number("limits", one) for one in validation.items("limits", value, 2))
    if low > high:
        raise CothermError("limits", f"{low} and {high}", "the smaller number first")
    return low, high


def checked_places(argument: str, value: Graph) -> Floats:
    """The positions of a graph that can be drawn."""
    graph = given.graph(argument, value)
    if graph.coordinates is None or graph.coordinates.shape[1] < 2:
        raise CothermError(argument, "no coordinates", "a graph with coordinates in two dimensions or more")
    return graph.coordinates[:, :2]


def put_graph(
    ax: Any,
    graph: Graph,
    points: Floats,
    *,
    inches: float = PANEL,
    size: float | None = None,
    marks: NDArray[np.str_] | None = None,
    top: float | None = None,
    **colors: Any,
) -> Any:
    """Draw a graph at points in the plane, in a panel of the given width in inches.

    Edges are as wide as their weights are beside ``top``, by default the heaviest.
    """
    x, y = points[:, :2].T
    add_edges(ax, graph, points[:, :2], marks, top=heaviest(graph) if top is None else top, inches=inches)
    area = dot_size(graph.n, inches) if size is None else size
    rim = 0.4 if area >= _RIMMED else 0.0
    dots = ax.scatter(x, y, **colors, s=area, zorder=2, edgecolors="white" if rim else "none", linewidths=rim)
    dots.set_rasterized(graph.n + graph.m > MOST_VECTORS)
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.05)
    ax.axis("off")
    return dots


def dot_size(n: int, inches: float = PANEL) -> float:
    """Area of a dot in points squared, small enough that ``n`` of them leave room for edges in a panel."""
    return float(np.clip(5_000.0 / n, 0.8, 36.0)) * inches / PANEL


def panel_height(places: list[Floats], width: float) -> float:
    """The height at which points fill a panel, so that there is no empty half."""
    across, up = np.max([np.ptp(one[:, :2], axis=0) for one in places], axis=0)
    return width * float(np.clip(up / across if across > 0.0 else 1.0, 0.3, 1.25))
