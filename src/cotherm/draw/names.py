"""Names in figures, drawn as they are: they come from files, where $ is no mathematics and anything may occur."""

from __future__ import annotations

from typing import Any

from cotherm.errors import visible_lines


def write(ax: Any, x: float, y: float, name: str, **options: Any) -> None:
    """A name at a place of the axes."""
    ax.text(x, y, visible_lines(name), parse_math=False, **options)


def write_legend(owner: Any, handles: list[Any], names: list[str], **options: Any) -> None:
    """A legend of a figure or of axes; all names are in it, also those with a leading _, which it would leave out."""
    legend = owner.legend(handles, list(map(visible_lines, names)), **options)
    for text in legend.get_texts():
        text.set_parse_math(False)
