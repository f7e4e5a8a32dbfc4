"""Values on surfaces in space, such as heat on a body: shaded faces, the nearest drawn last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from cotherm import validation
from cotherm.arrays import Floats, Ints
from cotherm.draw import parts
from cotherm.draw.graph import STYLES, marks_of
from cotherm.errors import CothermError
from cotherm.graphs.faces import faces_of
from cotherm.graphs.graph import Graph

# Edges below this fraction of the largest weight look cut.
_FAINT = 1e-3
_ELEVATION = 8.0
# The direction of light, seen from the front: right, up, towards the reader; and the brightness in shade.
_LIGHT = np.array([0.4, 0.5, 0.77])
_SHADE = 0.45
# The color of marked edges: not red, which is heat.
_MARK = "#0571b0"
# Height of a body in inches.
_TALL = 3.4


class _Drawn(NamedTuple):
    """A graph's positions as seen: across, up, and towards the reader."""

    graph: Graph
    places: Floats
    faces: Ints
    values: Floats
    marks: NDArray[np.bool_]


def draw_bodies(
    graphs: Sequence[Sequence[Graph]],
    values: Sequence[Sequence[ArrayLike]],
    *,
    titles: Sequence[str],
    names: Sequence[str],
    marked: Sequence[Sequence[ArrayLike | None]] | None = None,
    common_scale: bool = False,
    up: int | None = None,
    azimuth: float | None = None,
) -> Figure:
    """Draw values on surfaces in space: a row for each view, a column for each quantity.

    Faces are colored by the values and shaded by how they are turned to the light: of a mesh all triangles of its
    edges, of sampled points, such as a graph of nearest neighbors, a surface through them. Vertices without a face are
    dots, and where there are few faces, edges are drawn too.

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
    marked : sequence of sequence of array_like of bool or None, optional
        For each graph edges to draw as dashed lines, such as those that a coupling cut.
    common_scale : bool, default False
        One color scale for the whole figure, with a color bar, instead of one for each column.
    up : int, optional
        Axis of the coordinates that points up. By default the one along which the first graph is longest.
    azimuth : float, optional
        Viewing angle around that axis, in degrees. By default the broadest side is seen.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Raises
    ------
    CothermError
        If an argument cannot be drawn: rows have different lengths, or a graph has no coordinates in space.

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
    above = parts.checked_texts("titles", titles)
    common_scale = validation.boolean("common_scale", common_scale)
    drawn = _checked(graphs, values, len(above), marked, up, azimuth)
    left = parts.checked_texts("names", names, len(drawn), each="rows of graphs")
    extents = [np.ptp(row[0].places[:, :2], axis=0) for row in drawn]
    inches = [_TALL * extent / max(float(extent[1]), 0.6 * float(extent[0]), 1e-300) for extent in extents]
    wide = max(1.7, *(float(size[0]) + 0.3 for size in inches))
    tall = [float(size[1]) + 0.2 for size in inches]
    figure = Figure(figsize=(wide * len(above) + 0.4 + 0.8 * common_scale, sum(tall) + 0.4), layout="constrained")
    axes = figure.subplots(len(drawn), len(above), squeeze=False, height_ratios=tall)
    every = [one.values for row in drawn for one in row]
    for c, text in enumerate(above):
        scale = parts.scale_of(every if common_scale else [row[c].values for row in drawn], parts.ON_SURFACES)
        for r, row in enumerate(drawn):
            _draw(axes[r, c], row[c], scale.norm, scale.colors)
        parts.title(axes[0, c], text, inches=wide)
    parts.beside(axes[:, 0], left, tall)
    if common_scale:
        parts.add_color_bar(figure, axes, scale, "heat")
    return figure


def _checked(
    graphs: Sequence[Sequence[Graph]],
    values: Sequence[Sequence[ArrayLike]],
    columns: int,
    marked: Sequence[Sequence[ArrayLike | None]] | None,
    up: int | None,
    azimuth: float | None,
) -> list[list[_Drawn]]:
    rows = [_bodies(f"graphs[{r}]", row, columns) for r, row in enumerate(validation.items("graphs", graphs))]
    count = len(rows)
    shown = [
        validation.items(f"values[{r}]", row, columns, each="graphs")
        for r, row in enumerate(validation.items("values", values, count, each="rows of graphs"))
    ]
    given = [None] * count if marked is None else validation.items("marked", marked, count, each="rows of graphs")
    marks = [marks_of(f"marked[{r}]", own, rows[r]) for r, own in enumerate(given)]
    view = _view(np.asarray(rows[0][0].coordinates), up, azimuth)
    drawn = []
    for r, row in enumerate(rows):
        surface = faces_of(row[0])
        bodies = []
        for c, graph in enumerate(row):
            vector = validation.functions(f"values[{r}][{c}]", shown[r][c], graph.n, graph.vertex_names)[:, 0]
            kinds = marks[r][c]
            dashed = np.zeros(graph.m, dtype=bool) if kinds is None else np.isin(kinds, ("marked", "cut"))
            bodies.append(_Drawn(graph, np.asarray(graph.coordinates) @ view, surface, vector, dashed))
        drawn.append(bodies)
    return drawn


def _bodies(argument: str, value: Any, count: int) -> list[Graph]:
    """The graphs of a row: in space, and on the same vertices, since they have the same faces."""
    row = parts.checked_graphs(argument, value, count, each="titles")
    for c, graph in enumerate(row):
        if graph.coordinates is None or graph.coordinates.shape[1] != 3:
            raise CothermError(f"{argument}[{c}]", "no coordinates in space", "a graph with (n, 3) coordinates")
        if graph.n != row[0].n:
            raise CothermError(f"{argument}[{c}]", f"{graph.n} vertices", f"{row[0].n}, as in {argument}[0]")
    return row


def _view(points: Floats, up: int | None, azimuth: float | None) -> Floats:
    """The directions across, up and towards the reader, (3, 3), to be multiplied from the right."""
    extent = np.ptp(points, axis=0)
    top = int(np.argmax(extent)) if up is None else validation.integer("up", up, least=0, most=2)
    one, other = (top + 1) % 3, (top + 2) % 3
    usual = 0.0 if extent[other] >= extent[one] else -90.0
    angle = np.deg2rad(usual if azimuth is None else validation.number("azimuth", azimuth))
    tilt = np.deg2rad(_ELEVATION)
    turned = np.array(
        [
            [-np.sin(angle), np.cos(angle), 0.0],
            [-np.sin(tilt) * np.cos(angle), -np.sin(tilt) * np.sin(angle), np.cos(tilt)],
            [np.cos(tilt) * np.cos(angle), np.cos(tilt) * np.sin(angle), np.sin(tilt)],
        ]
    )
    view = np.empty((3, 3))
    view[[one, other, top]] = turned.T
    return view


def _draw(ax: Any, body: _Drawn, norm: Normalize, colors: str) -> None:
    shown = body.faces
    ends = np.column_stack([body.graph.i, body.graph.j])
    palette = matplotlib.colormaps[colors]
    places = body.places
    if 2 * len(np.unique(shown)) < body.graph.n:  # without a surface, edges make the shape visible
        live = body.graph.w > _FAINT * body.graph.w.max(initial=0.0)
        ax.add_collection(LineCollection(list(places[ends[live]][:, :, :2]), colors="0.7", linewidths=0.4, zorder=1))
    corners = places[shown]
    order = np.argsort(corners[:, :, 2].mean(axis=1), kind="stable")
    shaded = palette(norm(body.values[shown].mean(axis=1)))
    shaded[:, :3] *= _light(corners)[:, np.newaxis]
    # Edges of the same color close the seams between faces.
    faces = list(corners[order][:, :, :2])
    colored = {"facecolors": shaded[order], "edgecolors": shaded[order], "linewidths": 0.3}
    ax.add_collection(PolyCollection(faces, zorder=2, **colored))
    alone = np.setdiff1d(np.arange(body.graph.n), shown)
    ax.scatter(*places[alone, :2].T, c=body.values[alone], cmap=palette, norm=norm, s=5, linewidths=0, zorder=3)
    dashes = {"colors": _MARK, "linestyles": STYLES["marked"].line, "linewidths": 0.9, "zorder": 4}
    ax.add_collection(LineCollection(list(places[ends[body.marks]][:, :, :2]), **dashes))
    low, high = places[:, :2].min(axis=0), places[:, :2].max(axis=0)
    ax.update_datalim([low, high])
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.02)
    ax.axis("off")


def _light(corners: Floats) -> Floats:
    """The brightness of each face. Its outside is unknown, but only the side towards the reader is seen."""
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normals, axis=1)
    unit = normals / np.where(length > 0.0, length, 1.0)[:, np.newaxis]
    unit *= np.where(unit[:, 2:] < 0.0, -1.0, 1.0)
    return _SHADE + (1.0 - _SHADE) * np.clip(unit @ _LIGHT, 0.0, 1.0)
