"""Nearest neighbors as cards in rows: the query, and what was found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

# What it is by, the query, and the names found in order with whether each is right.
Ranking = tuple[str, str, list[tuple[str, bool]]]

# Blue for right and orange for wrong, distinct for color-blind readers; a mark repeats it.
_RIGHT, _WRONG, _QUERY = "#a6cee3", "#fdbf6f", "0.92"


def draw_neighbors(rankings: Sequence[Ranking]) -> Figure:
    """A row of cards for each ranking: the query, and what was found."""
    width = 2 + max(len(found) for _, _, found in rankings)
    figure = Figure(figsize=(1.55 * width, 0.75 * len(rankings) + 0.2), layout="constrained")
    ax = figure.subplots()
    for r, (by, query, found) in enumerate(rankings):
        y = len(rankings) - 1 - r
        ax.text(0.92, y + 0.5, by, parse_math=False, ha="right", va="center", fontsize=10)
        _card(ax, 1, y, query, _QUERY)
        for c, (name, right) in enumerate(found):
            _card(ax, c + 2, y, f"{name}\n{'✓' if right else '✗'}", _RIGHT if right else _WRONG)
    ax.set_xlim(0.0, width)
    ax.set_ylim(0.0, len(rankings))
    ax.axis("off")
    return figure


def _card(ax: Any, x: float, y: float, text: str, color: str) -> None:
    shape = "round,pad=0,rounding_size=0.08"
    ax.add_patch(FancyBboxPatch((x + 0.06, y + 0.08), 0.88, 0.84, boxstyle=shape, fc=color, ec="none"))
    ax.text(x + 0.5, y + 0.5, text.replace(", ", ",\n"), parse_math=False, ha="center", va="center", fontsize=8)
