"""Names in figures, drawn literally: they come from files, and a $ in them is no mathematics."""

from __future__ import annotations

from typing import Any

from cotherm.errors import visible

# Longer lines would leave no room for what they name.
_LONGEST = 60


def shown(name: str) -> str:
    """A name with control characters escaped and long lines truncated."""
    lines = map(visible, name.split("\n"))
    return "\n".join(line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…" for line in lines)


def write(ax: Any, x: float, y: float, name: str, **options: Any) -> None:
    """A name at a place of the axes."""
    ax.text(x, y, shown(name), parse_math=False, **options)


def write_legend(owner: Any, handles: list[Any], names: list[str], **options: Any) -> None:
    """A legend of a figure or of axes, with all names, also those with a leading _, which Matplotlib leaves out."""
    legend = owner.legend(handles, list(map(shown, names)), **options)
    for text in legend.get_texts():
        text.set_parse_math(False)
