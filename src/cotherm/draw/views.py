"""Several views side by side, before and after: classes in color, weights as width and gray of edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.draw.graph import COLORS, draw_graph
from cotherm.draw.names import shown, write, write_legend
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph

# Okabe and Ito's colors, distinct for color-blind readers; black is left to text.
_CLASSES = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442")
_UNLABELED = "0.8"
# More classes than this have no legend: their colors are too similar.
_MOST_NAMED = 10


def draw_views(
    graphs: Sequence[Sequence[Graph]],
    points: Sequence[Sequence[ArrayLike]],
    *,
    rows: Sequence[str],
    columns: Sequence[str] | None = None,
    labels: Sequence[ArrayLike] | None = None,
    marked: Sequence[Sequence[ArrayLike | None]] | None = None,
) -> Figure:
    """A grid of graphs: one row a view, one column a state of it.

    Parameters
    ----------
    graphs : for each row its graphs.
    points : for each of them where its vertices are, (n, 2).
    rows, columns : names beside the rows and above the columns.
    labels : for each row the class of every vertex; an empty one is unknown and gray.
    marked : for each graph edges to draw dotted, such as those that were cut.
    """
    count = len(graphs)
    for argument, given in (("points", points), ("rows", rows), ("labels", labels), ("marked", marked)):
        if given is not None and len(given) != count:
            raise CothermError(argument, f"{len(given)}", f"one for each of {count} rows")
    width = max(len(row) for row in graphs)
    classes = _classes(labels)
    legend = 0.0 if not classes or len(classes) > _MOST_NAMED else 0.35
    figure = Figure(figsize=(4.4 * width + 0.5, 4.1 * count + 0.4 + legend), layout="constrained")
    axes = figure.subplots(count, width, squeeze=False)
    for r, row in enumerate(graphs):
        colors = None if labels is None else _colors(labels[r], row[0].n, classes)
        for c, graph in enumerate(row):
            mask = None if marked is None else marked[r][c]
            _draw_one(axes[r, c], graph, points[r][c], colors, mask)
            if r == 0 and columns is not None:
                axes[r, c].set_title(shown(columns[c]), fontsize=12, parse_math=False)
        beside = {"transform": axes[r, 0].transAxes, "rotation": 90, "ha": "right", "va": "center", "fontsize": 12}
        write(axes[r, 0], -0.02, 0.5, rows[r], **beside)
    if legend:
        _add_legend(figure, classes)
    return figure


def _draw_one(ax: Any, graph: Graph, points: ArrayLike, colors: list[Any] | None, mask: Any) -> None:
    places = validation.functions("points", points, graph.n)
    placed = graph.replace(coordinates=places)
    dots = draw_graph(placed, ax=ax, size=float(np.clip(6_000.0 / graph.n, 3.0, 40.0)), marked=mask)
    if colors is not None:
        dots.set_facecolor(colors)


def _classes(labels: Sequence[ArrayLike] | None) -> list[str]:
    if labels is None:
        return []
    found = np.unique(np.concatenate([np.asarray(one).astype(str) for one in labels]))
    return [name for name in found.tolist() if name]


def _palette(count: int) -> list[Any]:
    if count <= len(_CLASSES):
        return list(_CLASSES[:count])
    return [matplotlib.colormaps[COLORS](x) for x in np.linspace(0.0, 1.0, count)]


def _colors(labels: ArrayLike, n: int, classes: list[str]) -> list[Any]:
    names: NDArray[Any] = np.asarray(labels).astype(str)
    if names.shape != (n,):
        raise CothermError("labels", f"shape {names.shape}", f"one for each of {n} vertices")
    color = dict(zip(classes, _palette(len(classes)), strict=True))
    return [color.get(name, _UNLABELED) for name in names.tolist()]


def _add_legend(figure: Figure, classes: list[str]) -> None:
    from matplotlib.lines import Line2D

    dots = [Line2D([], [], marker="o", linestyle="", color=color) for color in _palette(len(classes))]
    write_legend(figure, dots, classes, loc="outside lower center", ncols=len(classes), frameon=False)


def widest(coordinates: Floats) -> Floats:
    """The two coordinates of largest extent, the longer one vertical."""
    extent = np.ptp(coordinates, axis=0)
    long, broad = np.argsort(-extent, kind="stable")[:2]
    return coordinates[:, [broad, long]]
