"""Values on points in space, such as heat on a body."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.art3d import Line3DCollection
from numpy.typing import ArrayLike

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.draw.graph import COLORS
from cotherm.draw.names import shown as in_figure
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph

# Edges below this part of the largest weight do not show.
_FAINT = 1e-3


def draw_bodies(
    graphs: Sequence[Sequence[Graph]],
    values: Sequence[Sequence[ArrayLike]],
    *,
    titles: Sequence[str],
    names: Sequence[str],
    up: int = 1,
    azimuth: float = -75.0,
) -> Figure:
    """Draw values on graphs in space: a row for each view, a column for each quantity.

    Each column has one color scale. Edges below a thousandth of the largest weight are not drawn.

    Parameters
    ----------
    graphs : sequence of sequence of Graph
        Graph ``graphs[row][column]``, with coordinates in three dimensions.
    values : sequence of sequence of array_like of shape (n,)
        Values on the vertices of each graph.
    titles : sequence of str
        Titles of the columns.
    names : sequence of str
        Names of the rows.
    up : int, default 1
        Axis of the coordinates that points up.
    azimuth : float, default -75.0
        Viewing angle around that axis, in degrees.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Raises
    ------
    CothermError
        If the rows have different lengths, or if a graph has no coordinates in space.

    See Also
    --------
    draw_heat : Graphs in the plane.

    Examples
    --------
    >>> import cotherm as ct
    >>> views = ct.datasets.human(200)
    >>> bumps = [[F[:, 0]] for F in views.functions]
    >>> bodies = [[graph] for graph in views.graphs]
    >>> figure = ct.draw.draw_bodies(bodies, bumps, titles=["bump"], names=["joined", "apart"], up=2)
    """
    rows, columns = len(graphs), len(titles)
    if rows != len(names) or any(len(row) != columns for row in (*graphs, *values)):
        raise CothermError("graphs", "rows of different lengths", f"{len(names)} rows of {columns} graphs and values")
    figure = Figure(figsize=(2.6 * columns, 3.8 * rows), layout="constrained")
    for r in range(rows):
        for c in range(columns):
            ax: Any = figure.add_subplot(rows, columns, r * columns + c + 1, projection="3d")
            shown = [validation.functions("values", values[k][c], graphs[k][c].n)[:, 0] for k in range(rows)]
            limits = (min(v.min() for v in shown), max(v.max() for v in shown))
            _draw(ax, graphs[r][c], shown[r], limits, up)
            ax.view_init(elev=8, azim=azimuth)
            if r == 0:
                ax.set_title(in_figure(titles[c]), fontsize=11, parse_math=False)
            if c == 0:
                beside = {"transform": ax.transAxes, "rotation": 90, "va": "center", "fontsize": 11}
                ax.text2D(-0.02, 0.5, in_figure(names[r]), parse_math=False, **beside)
    return figure


def _draw(ax: Any, graph: Graph, values: Floats, limits: tuple[float, float], up: int) -> None:
    if graph.coordinates is None or graph.coordinates.shape[1] != 3:
        raise CothermError("graphs", "no coordinates in space", "graphs with (n, 3) coordinates")
    # Matplotlib's third axis points up.
    X = graph.coordinates[:, [(up + 1) % 3, (up + 2) % 3, up]]
    # Edges that were cut are not drawn.
    live = graph.w > _FAINT * graph.w.max(initial=0.0)
    segments = np.stack([X[graph.i[live]], X[graph.j[live]]], axis=1)
    ax.add_collection3d(Line3DCollection(segments, colors="0.6", linewidths=0.4))
    ax.scatter(*X.T, c=values, cmap=COLORS, vmin=limits[0], vmax=limits[1], s=7, depthshade=False)
    ax.set_box_aspect(np.ptp(X, axis=0), zoom=1.25)
    ax.set_axis_off()
