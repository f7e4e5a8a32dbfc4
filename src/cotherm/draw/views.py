"""Several views side by side, before and after: classes in color, weights as width and gray of edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike, NDArray

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.draw.color import Classes
from cotherm.draw.edges import PANEL, checked_marks, heaviest, left_out, legend_entries
from cotherm.draw.graph import panel_height, put_graph
from cotherm.draw.names import beside, room, title, write_legend
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph

# Size of the letters of legends, and the longest name of a class in them.
_LEGEND, _LONGEST_CLASS = 8.5, 28


def draw_views(
    graphs: Sequence[Sequence[Graph]],
    points: Sequence[Sequence[ArrayLike]],
    *,
    rows: Sequence[str],
    columns: Sequence[str] | None = None,
    labels: Sequence[ArrayLike] | None = None,
    marked: Sequence[Sequence[ArrayLike | None]] | None = None,
    mark_names: Mapping[str, str] | None = None,
) -> Figure:
    """Draw a grid of graphs: a row for each view, a column for each state of it.

    Classes are shown in color, weights as width and gray of edges. Below each graph stands how many edges it has, or
    of marked ones how many of each kind. Of more than 8,000 edges a part is drawn, which is said there too.

    Parameters
    ----------
    graphs : sequence of sequence of Graph
        The graphs of each row.
    points : sequence of sequence of array_like of shape (n, 2)
        Positions of the vertices of each graph.
    rows : sequence of str
        Names beside the rows.
    columns : sequence of str, optional
        Names above the columns.
    labels : sequence of array_like of str, optional
        For each row the class of every vertex. An empty class is unknown and drawn in gray. Of more than 16 classes
        the most frequent have colors of their own.
    marked : sequence of sequence of array_like of bool or str or None, optional
        For each graph edges to mark, as in :func:`draw_graph`.
    mark_names : dict of str to str, optional
        What the legend calls the kinds of marked edges, such as ``{"weakened": "below half the weight"}``.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Raises
    ------
    CothermError
        If the lengths do not fit together.

    See Also
    --------
    draw_graph : One graph.
    draw_result : The views of a coupling before and after.

    Examples
    --------
    >>> import cotherm as ct
    >>> graphs = ct.datasets.ring().graphs
    >>> points = [[graph.coordinates] for graph in graphs]
    >>> figure = ct.draw.draw_views([[graph] for graph in graphs], points, rows=["ring", "cracked"])
    """
    count = len(graphs)
    for argument, given in (("points", points), ("rows", rows), ("labels", labels), ("marked", marked)):
        if given is not None and len(given) != count:
            raise CothermError(argument, f"{len(given)}", f"one for each of {count} rows")
    width = max(len(row) for row in graphs)
    places = [
        [validation.functions("points", p, g.n) for g, p in zip(row, at, strict=True)]
        for row, at in zip(graphs, points, strict=True)
    ]
    heights = [panel_height(row, PANEL) for row in places]
    classes = None if labels is None else Classes(labels)
    across = PANEL * width + 0.5
    legend, ncols = _fitted([] if classes is None else classes.legend(), across)
    below = 0.2 * -(-len(legend) // ncols)
    figure = Figure(figsize=(across, sum(heights) + 0.7 * count + 0.3 + below), layout="constrained")
    axes = figure.subplots(count, width, squeeze=False, height_ratios=heights)
    for ax in axes.flat:
        ax.axis("off")
    for r, row in enumerate(graphs):
        colors = None if classes is None else classes.colors(r, row[0].n)
        for c, graph in enumerate(row):
            mask = None if marked is None else marked[r][c]
            marks = None if mask is None else checked_marks("marked", mask, graph.m)
            dots: dict[str, Any] = {"c": "0.3" if colors is None else colors}
            put_graph(axes[r, c], graph, places[r][c], marks=marks, top=heaviest(row[0]), **dots)
            _add_counts(axes[r, c], graph, marks, mark_names)
    beside(axes[:, 0], rows, heights)
    for c, text in enumerate(columns or ()):
        title(axes[0, c], text, inches=PANEL)
    if legend:
        _add_classes(figure, legend, ncols)
    return figure


def _add_counts(ax: Any, graph: Graph, marks: NDArray[np.str_] | None, words: Mapping[str, str] | None) -> None:
    """What is drawn, in words below it."""
    if marks is None:
        live = int(np.sum(graph.w > 0.0))
        entries = [(Line2D([], [], color="0.6", linewidth=1.5), f"{live:,} edges{left_out(graph.m)}")]
    else:
        entries = legend_entries(marks, words)
    options: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "borderaxespad": 0.2}
    options |= {"columnspacing": 1.0, "handlelength": 1.6, "handletextpad": 0.5}
    lines, texts = [line for line, _ in entries], [text for _, text in entries]
    ncols = 2 if len(texts) > 1 and 2 * max(map(len, texts)) + 8 <= 1.2 * room(PANEL, _LEGEND) else 1
    write_legend(ax, lines, texts, ncols=ncols, frameon=False, fontsize=_LEGEND, **options)


def _fitted(entries: list[tuple[str, str]], inches: float) -> tuple[list[tuple[str, str]], int]:
    """The entries of a legend, and in how many columns they fit."""
    longest = min(max((len(name) for _, name in entries), default=1), _LONGEST_CLASS)
    return entries, max(1, min(len(entries), room(inches, _LEGEND) // (longest + 5)))


def _add_classes(figure: Figure, entries: list[tuple[str, str]], ncols: int) -> None:
    dots = [Line2D([], [], marker="o", markersize=5, linestyle="", color=color) for color, _ in entries]
    options: dict[str, Any] = {"loc": "outside lower center", "ncols": ncols, "frameon": False, "fontsize": _LEGEND}
    write_legend(figure, dots, [name for _, name in entries], most=_LONGEST_CLASS, handletextpad=0.2, **options)


def widest(coordinates: Floats) -> Floats:
    """Project points in three dimensions onto their two widest axes, the longest one vertical.

    Parameters
    ----------
    coordinates : ndarray of shape (n, 3)
        The points.

    Returns
    -------
    ndarray of shape (n, 2)
        Horizontal and vertical coordinates.

    See Also
    --------
    draw_views : Draw graphs at such points.

    Examples
    --------
    >>> import cotherm as ct
    >>> import numpy as np
    >>> ct.draw.widest(np.array([[0.0, 0.0, 0.0], [1.0, 9.0, 2.0]])).tolist()
    [[0.0, 0.0], [2.0, 9.0]]
    """
    extent = np.ptp(coordinates, axis=0)
    long, broad = np.argsort(-extent, kind="stable")[:2]
    return coordinates[:, [broad, long]]
