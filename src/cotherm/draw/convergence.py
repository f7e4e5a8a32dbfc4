"""How a coupling was found: step by step, the views come to agree while their weights move."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.draw.curves import LARGEST, LEAST, plain_frame
from cotherm.errors import CothermError
from cotherm.methods.coupling.routes import best_route

_AGREE, _MOVE = "#0072b2", "#d55e00"


def draw_convergence(
    history: Sequence[Mapping[str, Any]], *, alpha: float | None = None, before: float | None = None
) -> Figure:
    """Draw how the views came to agree, step by step, and how far their weights moved for it.

    Of several routes that were tried the best is shown. Stages on the way, which solve easier problems, are shaded: in
    them heat is compared at fewer times, or changes of weights are measured otherwise.

    Parameters
    ----------
    history : sequence of dict
        The steps, ``result.history`` of a :class:`cotherm.Coupling`.
    alpha : float, optional
        The weight α of the coupling, ``result.alpha``. Without it, how far the weights moved is not drawn.
    before : float, optional
        How much heat differed on the graphs as given, at all times: the root of the sum of the squares of
        ``result.coupling_before``.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Raises
    ------
    CothermError
        If an argument cannot be drawn, such as steps without a cost.

    See Also
    --------
    cotherm.couple : Has the history in its result.
    draw_result : Any picture of a result.
    draw_coupling : Coupling error against time.

    Examples
    --------
    >>> import cotherm as ct
    >>> views = ct.datasets.ring(30)
    >>> result = ct.couple(views.graphs, views.functions)
    >>> figure = ct.draw.draw_convergence(result.history, alpha=result.alpha)
    """
    rows = best_route(_steps(history))
    alpha = None if alpha is None else validation.real("alpha", alpha)
    before = None if before is None else validation.real("before", before)
    errors = _root([row["coupling"] for row in rows])
    last = np.array([str(row["stage"]) == str(rows[-1]["stage"]) for row in rows], dtype=bool)
    moved = np.full(len(rows), np.nan) if alpha is None else np.where(last, _moved(rows, alpha), np.nan)
    both = bool(np.isfinite(moved).any())
    figure = Figure(figsize=(6.4, 5.0 if both else 3.4), layout="constrained")
    axes = figure.subplots(2 if both else 1, 1, sharex=True, squeeze=False)[:, 0]
    steps = np.arange(len(rows))
    for ax, values, color, text in (
        (axes[0], errors, _AGREE, "difference in heat\nbetween the views"),
        (axes[-1], moved, _MOVE, "distance of the graphs\nfrom those given"),
    )[: len(axes)]:
        ax.plot(steps, values, color=color, marker="o", markersize=3, linewidth=1.5)
        ax.set_ylabel(text)
        plain_frame(ax)
    if (errors > 0.0).any():
        axes[0].set_yscale("log")
    if both:
        axes[1].set_ylim(bottom=0.0)
    _shade(axes, last)
    axes[-1].set_xlabel("step of the search")
    axes[-1].xaxis.set_major_locator(MaxNLocator(integer=True))
    if before is not None and LEAST < before < LARGEST:
        axes[0].axhline(before, color="0.5", linestyle="--", linewidth=1.0)
        axes[0].margins(y=0.12)
        axes[0].annotate("as given", (1.0, before), xycoords=axes[0].get_yaxis_transform(), ha="right", va="bottom")
    figure.suptitle(_sentence(errors, before), fontsize=11)
    return figure


def _steps(history: Any) -> Sequence[Mapping[str, Any]]:
    """The steps with all that is drawn of them; empty if the search had nothing to do."""
    steps = validation.items("history", history, least=0)
    for k, row in enumerate(steps):
        if not isinstance(row, Mapping) or not {"route", "stage", "cost", "coupling"} <= set(row):
            needed = "a dict with route, stage, cost and coupling, as in result.history"
            raise CothermError(f"history[{k}]", validation.describe(row), needed)
        for name in ("cost", "coupling"):
            if not isinstance(row[name], numbers.Real):
                raise CothermError(f"history[{k}][{name!r}]", validation.describe(row[name]), "a number")
    return steps


def _root(values: Sequence[float]) -> Floats:
    """Square roots of the values that can be drawn; others are left out."""
    array = np.asarray(values, dtype=np.float64)
    return np.sqrt(np.where((array > LEAST) & (array < LARGEST), array, np.nan))


def _moved(rows: Sequence[Mapping[str, Any]], alpha: float) -> Floats:
    """The distance: the cost without the coupling term."""
    with np.errstate(all="ignore"):
        gaps = np.array([float(row["cost"]) - alpha * float(row["coupling"]) for row in rows])
    return np.sqrt(np.where((gaps >= 0.0) & (gaps < LARGEST), gaps, np.nan))


def _shade(axes: Any, last: Any) -> None:
    first = int(np.argmax(last)) if last.any() else 0
    if not first:
        return
    for ax in axes:
        ax.axvspan(-0.5, first - 0.5, color="0.93", zorder=0)
    # The last panel has nothing there, so the text goes into it.
    where = {"xycoords": axes[-1].get_xaxis_transform(), "fontsize": 8, "color": "0.4", "ha": "center", "va": "center"}
    axes[-1].annotate("on the way,\neasier problems", (0.5 * first - 0.5, 0.5), **where)


def _sentence(errors: Floats, before: float | None) -> str:
    seen = errors[np.isfinite(errors)]
    first = before if before is not None else seen[0] if len(seen) else np.nan
    if not len(seen) or not np.isfinite(first):
        return "How the views come to agree"
    return f"Heat on the views differed by {first:.2g}; after {len(errors):,} steps it differs by {seen[-1]:.2g}"
