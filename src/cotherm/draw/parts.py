"""What all figures share: checked input, names that are drawn literally, and colors of values and classes.

Names come from files, and a $ in them does not begin a formula.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize, PowerNorm
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.errors import CothermError, shortened, visible
from cotherm.graphs.graph import Graph

# Longer lines would leave no room for what they name.
_LONGEST = 60
# Width of a character of the default font, in units of its size.
_WIDTH = 0.6
SIZE, _SMALLER, _MOST_LINES = 11.0, 9.0, 3

# Perceptually uniform, and distinct for color-blind readers; red and blue on both sides of white where signs matter;
# and one that begins bright, which shading needs.
COLORS, SIGNED, ON_SURFACES = "viridis", "RdBu_r", "OrRd"
# Values below minus this fraction of the largest count as negative, not as rounding.
_ROUNDING = 1e-6
# If the smallest of the panels' maxima is below this part of the largest, small values get more of the colors.
_FAR_APART = 0.25
_FAR_FROM_ZERO = 0.3

# Okabe and Ito's first, told apart with every kind of color blindness; those beyond are as far from these as can be.
CLASS_COLORS = (
    *("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442"),
    *("#6a3d9a", "#8c510a", "#1a1a1a", "#b2df8a", "#b2182b", "#80cdc1", "#fb9a99", "#cab2d6", "#01665e"),
)
_NUMBER = re.compile(r"([0-9]{1,18})")
UNKNOWN_COLOR, OTHER_COLOR = "#d9d9d9", "#8a8a8a"


def checked_text(argument: str, value: object) -> str:
    if not isinstance(value, str):
        raise CothermError(argument, validation.describe(value), "a string")
    return value


def checked_texts(argument: str, value: Any, count: int | None = None, *, each: str = "") -> list[str]:
    listed = enumerate(validation.items(argument, value, count, each=each))
    return [checked_text(f"{argument}[{k}]", one) for k, one in listed]


def checked_graph(argument: str, value: object) -> Graph:
    if not isinstance(value, Graph):
        raise CothermError(argument, validation.describe(value), "a cotherm.Graph")
    return value


def checked_graphs(argument: str, value: Any, count: int | None = None, *, each: str = "") -> list[Graph]:
    listed = enumerate(validation.items(argument, value, count, each=each))
    return [checked_graph(f"{argument}[{k}]", one) for k, one in listed]


def checked_curve(argument: str, value: Any, length: int | None = None) -> Floats:
    """A vector of numbers, or a single number; values that are not finite leave a gap in the curve."""
    array = np.atleast_1d(validation.as_array(argument, value))
    if array.ndim > 1 or (length is not None and len(array) != length):
        needed = "a vector of numbers" if length is None else f"a vector of {length} numbers"
        raise CothermError(argument, f"an array of shape {np.shape(value)}", needed)
    return validation.as_float64(argument, array)


def shown(name: str, most: int = _LONGEST) -> str:
    """A name with control characters escaped and long lines shortened."""
    return "\n".join(shortened(line, most) for line in name.split("\n"))


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


class Scale(NamedTuple):
    """One color scale, and whether it stretches small values."""

    norm: Normalize
    colors: str
    stretched: bool


def scale_of(panels: Sequence[ArrayLike], colors: str = COLORS) -> Scale:
    """A scale for all panels: from 0 up, or symmetric around 0 if there are negative values.

    Values that are all far from 0 have a scale from the smallest on.
    """
    arrays = [np.asarray(panel, dtype=np.float64) for panel in panels]
    tops = [float(np.abs(array).max(initial=0.0)) for array in arrays]
    top = max(tops, default=0.0) or 1.0
    if min((float(array.min(initial=0.0)) for array in arrays), default=0.0) < -_ROUNDING * top:
        return Scale(Normalize(-top, top), SIGNED, False)
    if min(tops, default=top) < _FAR_APART * top:
        return Scale(PowerNorm(0.5, 0.0, top, clip=True), colors, True)
    least = min((float(array.min()) for array in arrays if array.size), default=0.0)
    return Scale(Normalize(least if least > _FAR_FROM_ZERO * top else 0.0, top), colors, False)


def add_color_bar(figure: Figure, axes: Any, scale: Scale, quantity: str) -> None:
    """The one color bar of a figure."""
    source, shrink = ScalarMappable(scale.norm, scale.colors), min(1.0, 3.0 / figure.get_figheight())
    bar = figure.colorbar(source, ax=axes, shrink=shrink, aspect=24, pad=0.02)
    low, top = float(scale.norm.vmin or 0.0), float(scale.norm.vmax or 1.0)
    between = [0.04 * top, 0.25 * top] if scale.stretched else [0.5 * (low + top)]
    bar.set_ticks([low, *between, top], labels=[f"{tick:.2g}" for tick in (low, *between, top)])
    bar.ax.minorticks_off()
    bar.set_label(f"{quantity} (colors by its square root)" if scale.stretched else quantity)


class Classes:
    """The classes of all views, each with a color. If there are too many, the rarest share a gray."""

    def __init__(self, labels: Sequence[ArrayLike]) -> None:
        self._names = [validation.labels(f"labels[{k}]", one).astype(np.str_) for k, one in enumerate(labels)]
        found, counts = np.unique(np.concatenate([one.ravel() for one in self._names]), return_counts=True)
        known = found != ""
        self._any_unknown = bool((~known).any())
        found, counts = found[known], counts[known]
        most = len(CLASS_COLORS)
        frequent = np.argsort(-counts, kind="stable")[:most] if len(found) > most else np.arange(len(found))
        self.names = _sorted(found[frequent].tolist())
        self.others = len(found) - len(self.names)

    def colors(self, view: int, n: int) -> list[Any]:
        """The color of every vertex of a view."""
        names = self._names[view]
        if names.shape != (n,):
            raise CothermError(f"labels[{view}]", f"shape {names.shape}", f"one for each of {n} vertices")
        color: dict[str, str] = {"": UNKNOWN_COLOR} | dict(zip(self.names, CLASS_COLORS, strict=False))
        return [color.get(name, OTHER_COLOR) for name in names.tolist()]

    def legend(self) -> list[tuple[str, str]]:
        """Colors and names; classes without a color of their own and the unknown come last."""
        entries = list(zip(CLASS_COLORS, self.names, strict=False))
        if self.others:
            entries.append((OTHER_COLOR, f"and {self.others:,} more classes"))
        if self._any_unknown:
            entries.append((UNKNOWN_COLOR, "class not known"))
        return entries


def _sorted(names: list[str]) -> list[str]:
    """Sort numbers in names as numbers, so that 10 comes after 9."""

    def key(name: str) -> list[tuple[int, str]]:
        return [(int(part), "") if part.isascii() and part.isdecimal() else (-1, part) for part in _NUMBER.split(name)]

    return sorted(names, key=key)
