"""Graphs in the plane: values on vertices in color, weights as width and gray of edges, changes of edges in color."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike, NDArray

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.draw.parts import COLORS, checked_graph
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph

# The most plain edges in a panel, and the most of each marked kind: more would be a gray cloud, and slow.
MOST_EDGES, MOST_MARKED = 8_000, 2_000
# Above this many lines and dots a panel is a picture within a .pdf or .svg.
MOST_VECTORS = 4_000
_WIDEST, _THINNEST = 2.2, 0.3
# The width of a panel, in inches, in which dots and lines have their usual size.
PANEL = 4.8
# Edges with less than this part of the largest weight do not show.
_FAINT = 1e-3
_HEAVY = 0.95
# From this fraction of marked edges on, the others are pale.
_MANY = 0.1
# Dots from this size on have a white rim.
_RIMMED = 9.0


class _Style(NamedTuple):
    color: str
    line: Any
    fixed: bool  # one width for all, or by weight
    least: float = 0.5  # opacity of the lightest; new edges are often many and light


# Red for less and blue for more, dashed for what is gone; and green for what was not there. Told apart with every kind
# of color blindness by lightness or dashes.
_DASHES = (0, (3.0, 1.5))
STYLES: dict[str, _Style] = {
    "weakened": _Style("#f4a582", "-", False, 0.35),
    "switched on": _Style("#1b7837", "-", False, 0.08),
    "strengthened": _Style("#0571b0", "-", False),
    "cut": _Style("#ca0020", _DASHES, True),
    "marked": _Style("#ca0020", _DASHES, True),
}
KINDS = ("cut", "weakened", "kept", "strengthened", "switched on")


def draw_graph(
    graph: Graph,
    values: ArrayLike | None = None,
    *,
    ax: Axes,
    limits: tuple[float, float] | None = None,
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
    draw_result : The views of a coupling before and after.

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
    low, high = (None, None)
    if limits is not None:
        low, high = (validation.number("limits", one) for one in validation.items("limits", limits, 2))
        if low > high:
            raise CothermError("limits", f"{low} and {high}", "the smaller number first")
    colors: dict[str, Any] = {"c": "0.3"}
    if values is not None:
        shown = validation.functions("values", values, graph.n, graph.vertex_names)[:, 0]
        colors = {"c": shown, "cmap": COLORS, "vmin": low, "vmax": high}
    return put_graph(ax, graph, points, marks=marks, **colors)


def checked_places(argument: str, value: Graph) -> Floats:
    """The positions of a graph that can be drawn."""
    graph = checked_graph(argument, value)
    if graph.coordinates is None or graph.coordinates.shape[1] < 2:
        raise CothermError(argument, "no coordinates", "a graph with coordinates in two dimensions or more")
    return graph.coordinates[:, :2]


def put_graph(
    ax: Any,
    graph: Graph,
    points: Floats,
    *,
    inches: float = PANEL,
    marks: NDArray[np.str_] | None = None,
    top: float | None = None,
    **colors: Any,
) -> Any:
    """Draw a graph at points in the plane, in a panel of the given width in inches.

    Edges are as wide as their weights are beside ``top``, by default the heaviest.
    """
    x, y = points[:, :2].T
    add_edges(ax, graph, points[:, :2], marks, top=heaviest(graph) if top is None else top, inches=inches)
    # Small enough that all dots leave room for edges in a panel.
    area = float(np.clip(5_000.0 / graph.n, 0.8, 36.0)) * inches / PANEL
    rim = 0.4 if area >= _RIMMED else 0.0
    dots = ax.scatter(x, y, **colors, s=area, zorder=2, edgecolors="white" if rim else "none", linewidths=rim)
    dots.set_rasterized(graph.n + graph.m > MOST_VECTORS)
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.05)
    ax.axis("off")
    return dots


def panel_height(places: Sequence[Floats], width: float) -> float:
    """The height at which points fill a panel, so that there is no empty half."""
    across, up = np.max([np.ptp(one[:, :2], axis=0) for one in places], axis=0)
    return width * float(np.clip(up / across if across > 0.0 else 1.0, 0.3, 1.25))


def checked_marks(argument: str, value: ArrayLike, m: int) -> NDArray[np.str_]:
    """The mark of each edge; truth values mean marked or not."""
    marks = validation.as_array(argument, value)
    if marks.shape == (m,) and marks.dtype == np.bool_:
        return np.where(marks, "marked", "plain")
    if marks.shape == (m,) and marks.dtype.kind == "U" and bool(np.isin(marks, KINDS).all()):
        return marks
    needed = f"one truth value for each of {m} edges, or one of {', '.join(KINDS)}"
    raise CothermError(argument, validation.describe(value), needed)


def marks_of(argument: str, value: Any, graphs: Sequence[Graph]) -> list[NDArray[np.str_] | None]:
    """The marks of each graph, None for graphs without; all None if nothing is given."""
    if value is None:
        return [None] * len(graphs)
    listed = enumerate(validation.items(argument, value, len(graphs), each="graphs"))
    return [None if one is None else checked_marks(f"{argument}[{k}]", one, graphs[k].m) for k, one in listed]


def heaviest(graph: Graph) -> float:
    """The weight drawn widest and darkest. A few heavier ones look the same, so that the others stay visible."""
    live = graph.w[graph.w > 0.0]
    return float(np.quantile(live, _HEAVY)) if len(live) else 1.0


def add_edges(
    ax: Any, graph: Graph, points: Floats, marks: NDArray[np.str_] | None, *, top: float, inches: float
) -> None:
    """The edges of a graph, as wide as their weights are beside ``top``; marked kinds are above the others."""
    shade = np.minimum(graph.w / top, 1.0)
    plain = np.ones(graph.m, dtype=bool) if marks is None else np.isin(marks, ("kept", "plain"))
    drawn = _thinned(np.arange(graph.m), MOST_EDGES)
    widest = float(np.clip(_WIDEST * np.sqrt(400.0 / max(len(drawn), 1)), 0.5, _WIDEST)) * np.sqrt(inches / PANEL)
    drawn = drawn[plain[drawn] & (shade[drawn] > _FAINT)]
    # If many edges changed, the others are pale.
    pale = float(np.mean(plain)) < 1.0 - _MANY if graph.m else False
    ink = (0.3 if pale else 0.75) * float(np.clip(np.sqrt(2_000.0 / max(len(drawn), 1)), 0.4, 1.0))
    grays = np.repeat((0.94 if pale else 1.0) - ink * shade[drawn, np.newaxis], 3, axis=1)
    _add(ax, graph, points, drawn, colors=grays, linewidths=widest * shade[drawn], zorder=1.0)
    if marks is None:
        return
    for order, (kind, style) in enumerate(STYLES.items()):
        chosen = _thinned(np.flatnonzero(marks == kind), MOST_MARKED)
        if len(chosen):
            heavy = np.full(len(chosen), 0.5) if style.fixed else shade[chosen]
            width = np.maximum((1.0 if style.fixed else 0.6) * widest * heavy, _THINNEST)
            colors = [to_rgba(style.color, style.least + (0.85 - style.least) * part) for part in heavy]
            options = {"colors": colors, "linestyles": style.line, "linewidths": width}
            _add(ax, graph, points, chosen, **options, zorder=1.1 + 0.1 * order)


def _add(ax: Any, graph: Graph, points: Floats, chosen: NDArray[Any], **options: Any) -> None:
    segments = np.stack([points[graph.i[chosen]], points[graph.j[chosen]]], axis=1)
    lines = LineCollection(segments, **options)  # type: ignore[arg-type]
    lines.set_rasterized(graph.n + graph.m > MOST_VECTORS)
    ax.add_collection(lines)


def _thinned(chosen: NDArray[Any], most: int) -> NDArray[Any]:
    """Thin out edges evenly, choosing the same edges before and after a change of weights."""
    return chosen[:: -(-len(chosen) // most)] if len(chosen) > most else chosen


def legend_entries(marks: NDArray[np.str_], words: Mapping[str, str] | None) -> list[tuple[Any, str]]:
    """A line and a text with a count for every kind of edge drawn, and what is left out."""
    entries = []
    for kind in (*KINDS, "marked"):
        count = int(np.sum(marks == kind))
        if kind in STYLES and count:
            style = STYLES[kind]
            drawn = len(_thinned(np.flatnonzero(marks == kind), MOST_MARKED))
            text = f"{(words or {}).get(kind, word(kind))}: {count:,}"
            text += f" ({drawn:,} drawn)" if drawn < count else ""
            entries.append((Line2D([], [], color=style.color, linestyle=style.line, linewidth=1.5), text))
    for kind, text in (("kept", "about as before"), ("plain", "other edges")):
        count = int(np.sum(marks == kind))
        if count:
            entries.append((Line2D([], [], color="0.75", linewidth=1.5), f"{text}: {count:,}{left_out(len(marks))}"))
    return entries


def word(kind: str) -> str:
    """The name of a kind of edges in a legend."""
    return "new" if kind == "switched on" else kind


def left_out(m: int) -> str:
    """Say which part of the edges is drawn, if not all."""
    return f" (1 in {-(-m // MOST_EDGES)} drawn)" if m > MOST_EDGES else ""
