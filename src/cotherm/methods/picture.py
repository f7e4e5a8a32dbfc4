"""Pictures and pages of results, for their methods ``plot`` and ``view`` and for notebooks.

The one place where a method looks at what shows it, and only once that is asked for: ``pyproject.toml`` names it as the
exception to the order of packages.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from cotherm.errors import CothermError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cotherm.viewer.page import Page

# The picture in a notebook has at most this many bytes, 60,000 characters of HTML. The first of these resolutions
# that fits is taken.
_MOST_BYTES = 45_000
_RESOLUTIONS = (60, 45, 30)
_COLORS = 128


def figure_of(
    result: Any, kind: str = "graphs", *, labels: Sequence[ArrayLike] | None = None, function: int = 0
) -> Figure:
    """What ``cotherm show`` draws."""
    try:
        from cotherm.draw.result import draw_result
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
        raise CothermError(
            "plot", "matplotlib is not installed", "it, to draw", "Run: pip install matplotlib"
        ) from None
    return draw_result(result, kind, labels=labels, function=function)


def page_of(result: Any, **given: Any) -> Page:
    """What ``cotherm view`` shows."""
    from cotherm.viewer.page import make_page

    return make_page(result, **given)


def small_png(result: Any) -> bytes | None:
    """The result as a small PNG; None if it cannot be drawn, since showing a result must never fail."""
    try:
        figure = figure_of(result)
        for dots in _RESOLUTIONS:
            png = _png(figure, dots)
            if len(png) < _MOST_BYTES:
                return png
    except Exception:  # any error of matplotlib, of its settings, or of a graph without a layout
        return None
    return None


def _png(figure: Figure, dots: int) -> bytes:
    """Draw the figure as a PNG of few colors, which takes a third of the bytes."""
    from PIL import Image  # matplotlib needs it, too

    drawn, few = io.BytesIO(), io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph ")  # characters that the font lacks are drawn as boxes
        figure.savefig(drawn, format="png", dpi=dots)
    Image.open(drawn).convert("RGB").quantize(_COLORS).save(few, format="png", optimize=True)
    return few.getvalue()
