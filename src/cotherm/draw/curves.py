"""Curves: precision against recall, coupling error against time, and the steps of a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.draw import parts
from cotherm.draw.parts import checked_curve, checked_text, distinct, shown, write_legend
from cotherm.errors import CothermError

# Okabe and Ito's colors, distinct for color-blind readers; line styles keep them distinct in print.
_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
_STYLES = ("-", "--", "-.", ":")
# Beyond these the limits of the axes would overflow.
_LEAST, _LARGEST = 1e-300, 1e300
# Curves of at most this many points show them: a single point has no line.
_FEW = 12


def draw_curves(
    curves: Mapping[str, tuple[ArrayLike, ArrayLike]],
    *,
    x: str,
    y: str,
    styles: Mapping[str, tuple[int, int]] | None = None,
    log: str = "",
    title: str | None = None,
) -> Figure:
    """Draw named curves in one frame.

    Parameters
    ----------
    curves : dict of str to tuple of array_like
        For each name the x values and the y values.
    x, y : str
        Labels of the axes.
    styles : dict of str to tuple of int, optional
        For a name the numbers of a color and of a line style, so that related curves look alike.
    log : {"", "x", "y", "xy"}, default ""
        Axes with a logarithmic scale.
    title : str, optional
        A title of one line.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    See Also
    --------
    draw_coupling : Coupling error against time.

    Examples
    --------
    >>> import cotherm as ct
    >>> figure = ct.draw.draw_curves({"tags": ([0, 1], [1, 0.2])}, x="recall", y="precision")
    """
    points = _points(curves)
    chosen = {} if styles is None else _styles(styles)
    log = validation.choice("log", log, ("", "x", "y", "xy"))
    x, y = checked_text("x", x), checked_text("y", y)
    figure = Figure(figsize=(6.0, 4.2), layout="constrained")
    ax: Any = figure.subplots()
    lines = []
    for k, (name, (horizontal, vertical)) in enumerate(points.items()):
        color, style = chosen.get(name, (k, k // len(_COLORS)))
        lines += ax.plot(
            _drawn(horizontal, log="x" in log),
            _drawn(vertical, log="y" in log),
            color=_COLORS[color % len(_COLORS)],
            linestyle=_STYLES[style % len(_STYLES)],
            linewidth=1.8,
            marker="o" if np.size(horizontal) <= _FEW else None,
            markersize=4,
        )
    # A logarithmic scale needs positive values: a coupling of equal graphs has no error above zero.
    if "x" in log and any(np.isfinite(line.get_xdata()).any() for line in lines):
        ax.set_xscale("log")
    if "y" in log and any(np.isfinite(line.get_ydata()).any() for line in lines):
        ax.set_yscale("log")
    ax.set_xlabel(shown(x), parse_math=False)
    ax.set_ylabel(shown(y), parse_math=False)
    _plain_frame(ax)
    write_legend(ax, lines, list(points), frameon=False, fontsize=9)
    if title is not None:
        parts.title(ax, checked_text("title", title), inches=6.0)
    return figure


def _points(curves: Any) -> dict[str, tuple[Floats, Floats]]:
    if not isinstance(curves, Mapping):
        raise CothermError("curves", validation.describe(curves), "a dict of names and pairs of vectors")
    found = {}
    for name, pair in curves.items():
        where = f"curves[{checked_text('a name in curves', name)!r}]"
        horizontal, vertical = validation.items(where, pair, 2)
        across = checked_curve(where, horizontal)
        found[name] = (across, checked_curve(where, vertical, len(across)))
    return found


def _styles(styles: Any) -> dict[str, list[int]]:
    if not isinstance(styles, Mapping):
        raise CothermError("styles", validation.describe(styles), "a dict of names and pairs of numbers")
    return {
        name: [validation.integer(f"styles[{name!r}]", one, least=0) for one in validation.items("styles", pair, 2)]
        for name, pair in styles.items()
    }


def _plain_frame(ax: Any) -> None:
    """A pale grid, and axes on two sides only."""
    ax.grid(color="0.9")
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def _drawn(values: ArrayLike, *, log: bool) -> Floats:
    """The values that can be shown on the scale; others become NaN."""
    array = np.asarray(values, dtype=np.float64)
    seen = (array > _LEAST if log else array > -_LARGEST) & (array < _LARGEST)
    return np.where(seen, array, np.nan)


def draw_coupling(times: ArrayLike, before: ArrayLike, after: ArrayLike) -> Figure:
    """Draw the coupling error against time, before and after.

    Parameters
    ----------
    times : array_like of float
        The times.
    before, after : array_like of float
        Coupling error at each time before and after coupling.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Raises
    ------
    CothermError
        If there are not as many errors as times, or an argument cannot be drawn.

    See Also
    --------
    cotherm.coupling_error : Compute the error.
    draw_result : Any picture of a coupling.

    Examples
    --------
    >>> import cotherm as ct
    >>> figure = ct.draw.draw_coupling([1, 10], before=[0.2, 0.5], after=[0.01, 0.02])
    """
    at = validation.times("times", times)
    errors = (("before", before), ("after", after))
    found = [at, *(checked_curve(name, one, len(at)) for name, one in errors)]
    about = "How much heat differs between the views"
    y = "difference in heat (coupling error)"
    if len(found[0]) == 1:
        return _draw_bars([float(one[0]) for one in found[1:]], y, f"{about} at t = {found[0][0]:.3g}")
    curves = {"before coupling": (found[0], found[1]), "after coupling": (found[0], found[2])}
    figure = draw_curves(curves, x="diffusion time", y=y, log="xy", title=f"{about} at each time")
    if len(found[0]) <= _FEW:
        ax: Any = figure.axes[0]
        ax.set_xticks(found[0], labels=distinct(found[0].tolist()))
        ax.minorticks_off()
    return figure


def _draw_bars(heights: list[float], y: str, title: str) -> Figure:
    """Before and after at one time, for which curves would be single dots."""
    figure = Figure(figsize=(6.0, 2.4), layout="constrained")
    ax: Any = figure.subplots()
    lengths = np.nan_to_num(_drawn(heights, log=False))
    bars = ax.barh(["before coupling", "after coupling"], lengths, color=_COLORS[:2], height=0.6)
    ax.bar_label(bars, labels=[f"{height:.3g}" for height in heights], padding=4)
    ax.invert_yaxis()
    ax.margins(x=0.12)
    ax.set_xlabel(y)
    _plain_frame(ax)
    parts.title(ax, title, inches=6.0)
    return figure


def draw_steps(rows: Sequence[Mapping[str, Any]], alpha: float | None, before: float | None) -> Figure:
    """How the views came to agree along a route, and, where α is known, how far their weights moved for it.

    Stages on the way, which solve easier problems, are shaded. ``before`` is how much heat differed as given.
    """
    errors = np.sqrt(_drawn([row["coupling"] for row in rows], log=True))
    last = np.array([str(row["stage"]) == str(rows[-1]["stage"]) for row in rows], dtype=bool)
    moved = np.full(len(rows), np.nan)
    if alpha is not None:
        # The distance is the cost without the coupling term.
        with np.errstate(all="ignore"):
            gaps = np.array([float(row["cost"]) - alpha * float(row["coupling"]) for row in rows])
        moved = np.sqrt(np.where(last & (gaps >= 0.0) & (gaps < _LARGEST), gaps, np.nan))
    both = bool(np.isfinite(moved).any())
    figure = Figure(figsize=(6.4, 5.0 if both else 3.4), layout="constrained")
    axes = figure.subplots(2 if both else 1, 1, sharex=True, squeeze=False)[:, 0]
    texts = ("difference in heat\nbetween the views", "distance of the graphs\nfrom those given")
    for ax, values, color, text in zip(axes, (errors, moved), _COLORS, texts, strict=False):
        ax.plot(np.arange(len(rows)), values, color=color, marker="o", markersize=3, linewidth=1.5)
        ax.set_ylabel(text)
        _plain_frame(ax)
    if (errors > 0.0).any():
        axes[0].set_yscale("log")
    if both:
        axes[1].set_ylim(bottom=0.0)
    if first := int(np.argmax(last)) if last.any() else 0:
        for ax in axes:
            ax.axvspan(-0.5, first - 0.5, color="0.93", zorder=0)
        # The last panel has nothing there, so the text goes into it.
        where = {"xycoords": axes[-1].get_xaxis_transform(), "ha": "center", "va": "center"}
        place = (0.5 * first - 0.5, 0.5)
        axes[-1].annotate("on the way,\neasier problems", place, fontsize=8, color="0.4", **where)
    axes[-1].set_xlabel("step of the search")
    axes[-1].xaxis.set_major_locator(MaxNLocator(integer=True))
    if before is not None and _LEAST < before < _LARGEST:
        axes[0].axhline(before, color="0.5", linestyle="--", linewidth=1.0)
        axes[0].margins(y=0.12)
        axes[0].annotate("as given", (1.0, before), xycoords=axes[0].get_yaxis_transform(), ha="right", va="bottom")
    seen = errors[np.isfinite(errors)]
    told = "How the views come to agree"
    if len(seen) and np.isfinite(first_seen := seen[0] if before is None else before):
        told = f"Heat on the views differed by {first_seen:.2g}; after {len(rows):,} steps it differs by {seen[-1]:.2g}"
    figure.suptitle(told, fontsize=11)
    return figure
