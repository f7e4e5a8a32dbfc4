"""Figures with matplotlib. Names are drawn as they are: a $ does not start a formula."""

import io
import sys
from contextlib import suppress
from typing import Any

from cotherm.optional import import_matplotlib

import_matplotlib()  # first

from matplotlib.figure import Figure  # noqa: E402

from cotherm.draw.body import draw_bodies  # noqa: E402
from cotherm.draw.curves import draw_coupling, draw_curves  # noqa: E402
from cotherm.draw.graph import draw_graph  # noqa: E402
from cotherm.draw.panels import draw_heat  # noqa: E402
from cotherm.draw.result import draw_result  # noqa: E402

__all__ = [
    "draw_bodies",
    "draw_coupling",
    "draw_curves",
    "draw_graph",
    "draw_heat",
    "draw_result",
]

_NOTEBOOK_DOTS = 72


def _png(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=_NOTEBOOK_DOTS)
    return buffer.getvalue()


def show_figures() -> None:
    """Make IPython, if it runs, show figures as pictures; its other settings stay.

    Figures are made without pyplot, which keeps all it makes. IPython shows only figures of pyplot, until it is told.
    """
    with suppress(Exception):  # IPython is not loaded, or is an unknown version
        formatter: Any = sys.modules["IPython"].get_ipython().display_formatter.formatters["image/png"]
        if Figure not in formatter.type_printers:
            formatter.for_type(Figure, _png)


show_figures()
