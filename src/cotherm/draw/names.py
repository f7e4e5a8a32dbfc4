"""Names in figures, drawn literally: they come from files, and a $ in them does not begin a formula."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from cotherm.errors import visible

# Longer lines would leave no room for what they name.
_LONGEST = 60
# Width of a character of the default font, in units of its size.
_WIDTH = 0.6
SIZE, _SMALLER, _MOST_LINES = 11.0, 9.0, 3


def shortened(text: str, most: int = _LONGEST) -> str:
    """Shorten a text to ``most`` characters: the middle is cut out, since names often differ in their ends."""
    if len(text) <= most:
        return text
    end = (most - 1) // 2
    return f"{text[: most - 1 - end]}…{text[len(text) - end :]}"


def shown(name: str, most: int = _LONGEST) -> str:
    """A name with control characters escaped and long lines shortened."""
    return "\n".join(shortened(visible(line), most) for line in name.split("\n"))


def room(inches: float, size: float = SIZE) -> int:
    """How many characters fit in a line."""
    return max(8, int(inches * 72.0 / (_WIDTH * size)))


def title(ax: Any, name: str, *, inches: float) -> None:
    """A title of one line above the axes, no wider than them."""
    ax.set_title(shown(name.replace("\n", " "), room(inches)), fontsize=SIZE, parse_math=False)


def beside(axes: Any, names: Sequence[str], inches: Sequence[float]) -> None:
    """Names to the left of the rows of a figure, written upwards in one size, broken into lines if too long."""
    fits = all(len(name) <= room(height) for name, height in zip(names, inches, strict=True))
    size = SIZE if fits else _SMALLER
    for ax, name, height in zip(axes, names, inches, strict=True):
        place = {"transform": ax.transAxes, "rotation": 90, "ha": "right", "va": "center", "multialignment": "center"}
        ax.text(-0.02, 0.5, "\n".join(_lines(name, room(height, size))), fontsize=size, parse_math=False, **place)


def _lines(name: str, most: int) -> list[str]:
    lines = [piece for line in name.split("\n") for piece in textwrap.wrap(visible(line), most) or [""]]
    if len(lines) <= _MOST_LINES:
        return lines
    # The middle of the whole name is cut out; lines that break at spaces are not full.
    return textwrap.wrap(shortened(" ".join(lines), (_MOST_LINES - 1) * most), most)[:_MOST_LINES]


def distinct(numbers: Sequence[float]) -> list[str]:
    """Numbers in the fewest digits that tell them apart, at least three."""
    for digits in range(3, 18):
        texts = [f"{number:.{digits}g}" for number in numbers]
        if len(set(texts)) == len(set(map(float, numbers))):
            break
    return texts


def write_legend(owner: Any, handles: list[Any], names: list[str], *, most: int = _LONGEST, **options: Any) -> Any:
    """A legend of a figure or of axes, with all names, also those with a leading _, which Matplotlib leaves out."""
    legend = owner.legend(handles, [shown(name, most) for name in names], **options)
    for text in legend.get_texts():
        text.set_parse_math(False)
    return legend
