"""Curves: precision against recall, coupling against time, cost against steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from cotherm.arrays import Floats
from cotherm.draw.names import write_legend

# Okabe and Ito's colors, distinct for color-blind readers; line styles keep them distinct in print.
_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
_STYLES = ("-", "--", "-.", ":")
# Beyond these the limits of the axes would overflow.
_LEAST, _LARGEST = 1e-300, 1e300


def draw_curves(
    curves: Mapping[str, tuple[ArrayLike, ArrayLike]],
    *,
    x: str,
    y: str,
    styles: Mapping[str, tuple[int, int]] | None = None,
    log: str = "",
) -> Figure:
    """Named curves (x values, y values) in one frame.

    ``styles`` gives the numbers of a color and of a line style for a name, so that curves that belong together look
    it; ``log`` names axes with a logarithmic scale, "x", "y" or "xy".
    """
    figure = Figure(figsize=(6.0, 4.2), layout="constrained")
    ax: Any = figure.subplots()
    lines = []
    for k, (name, (horizontal, vertical)) in enumerate(curves.items()):
        color, style = (styles or {}).get(name, (k, k // len(_COLORS)))
        lines += ax.plot(
            _drawn(horizontal, log="x" in log),
            _drawn(vertical, log="y" in log),
            color=_COLORS[color % len(_COLORS)],
            linestyle=_STYLES[style % len(_STYLES)],
            linewidth=1.8,
        )
    # A logarithmic scale needs something to show: a coupling of equal graphs has no error above zero.
    if "x" in log and any(np.isfinite(line.get_xdata()).any() for line in lines):
        ax.set_xscale("log")
    if "y" in log and any(np.isfinite(line.get_ydata()).any() for line in lines):
        ax.set_yscale("log")
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.grid(color="0.9")
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    write_legend(ax, lines, list(curves), frameon=False, fontsize=9)
    return figure


def _drawn(values: ArrayLike, *, log: bool) -> Floats:
    """The values that can be shown on the scale; others become NaN."""
    array = np.asarray(values, dtype=np.float64)
    size = np.abs(array)
    shown = (array > _LEAST) & (size < _LARGEST) if log else size < _LARGEST
    return np.where(shown, array, np.nan)


def draw_convergence(history: Sequence[Mapping[str, Any]]) -> Figure:
    """The cost after every step of a coupling, one curve a route: ``result.history``."""
    routes: dict[str, tuple[list[float], list[float]]] = {}
    for number, row in enumerate(history):
        steps, costs = routes.setdefault(str(row["route"]), ([], []))
        steps.append(float(number))
        costs.append(float(row["cost"]))
    return draw_curves(routes, x="step", y="cost of the stage", log="y")


def draw_coupling(times: ArrayLike, before: ArrayLike, after: ArrayLike) -> Figure:
    """The coupling error against time, before and after."""
    return draw_curves({"before": (times, before), "after": (times, after)}, x="time", y="coupling error", log="xy")
