"""Nearest neighbors as cards in rows: the query, and what was found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from cotherm import validation
from cotherm.draw import given
from cotherm.draw.names import write

# Blue for right and orange for wrong, distinct for color-blind readers; a mark repeats it.
_RIGHT, _WRONG, _QUERY = "#a6cee3", "#fdbf6f", "0.92"


def draw_neighbors(rows: Sequence[tuple[str, str, Sequence[tuple[str, bool]]]]) -> Figure:
    """Draw nearest neighbors as rows of cards: the query, and what was found.

    Parameters
    ----------
    rows : sequence of tuple
        For each ranking what it is by, the query, and a sequence of the names found in order with whether each is
        right: ``(by, query, [(name, right), ...])``.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Raises
    ------
    CothermError
        If there are no rows, or one is not such a tuple.

    See Also
    --------
    cotherm.evaluate.retrieval : Rank items by distances.

    Examples
    --------
    >>> import cotherm as ct
    >>> figure = ct.draw.draw_neighbors([("tags", "tiger", [("lion", False), ("tiger", True)])])
    """
    rankings = [_ranking(f"rows[{r}]", row) for r, row in enumerate(validation.items("rows", rows))]
    width = 2 + max(len(found) for _, _, found in rankings)
    figure = Figure(figsize=(1.55 * width, 0.75 * len(rankings) + 0.2), layout="constrained")
    ax = figure.subplots()
    for r, (by, query, found) in enumerate(rankings):
        y = len(rankings) - 1 - r
        write(ax, 0.92, y + 0.5, by, ha="right", va="center", fontsize=10)
        _card(ax, 1, y, query, _QUERY)
        for c, (name, right) in enumerate(found):
            _card(ax, c + 2, y, f"{name}\n{'✓' if right else '✗'}", _RIGHT if right else _WRONG)
    ax.set_xlim(0.0, width)
    ax.set_ylim(0.0, len(rankings))
    ax.axis("off")
    return figure


def _ranking(argument: str, row: Any) -> tuple[str, str, list[tuple[str, bool]]]:
    by, query, found = validation.items(argument, row, 3)
    pairs = [validation.items(argument, pair, 2) for pair in validation.items(argument, found, least=0)]
    cards = [(given.text(argument, name), validation.boolean(argument, right)) for name, right in pairs]
    return given.text(argument, by), given.text(argument, query), cards


def _card(ax: Any, x: float, y: float, text: str, color: str) -> None:
    shape = "round,pad=0,rounding_size=0.08"
    ax.add_patch(FancyBboxPatch((x + 0.06, y + 0.08), 0.88, 0.84, boxstyle=shape, fc=color, ec="none"))
    write(ax, x + 0.5, y + 0.5, text.replace(", ", ",\n"), ha="center", va="center", fontsize=8)
