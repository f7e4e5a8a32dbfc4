"""Figures in notebooks.

Figures are made without pyplot, which keeps all it makes. IPython shows only figures of pyplot, until it is told.
"""

from __future__ import annotations

import io
import sys
from contextlib import suppress
from typing import Any

from matplotlib.figure import Figure

_DOTS = 72


def show_figures() -> None:
    """Make IPython, if it runs, show figures as pictures; its other settings stay."""
    with suppress(Exception):  # IPython is not loaded, or is an unknown version
        formatter: Any = sys.modules["IPython"].get_ipython().display_formatter.formatters["image/png"]
        if Figure not in formatter.type_printers:
            formatter.for_type(Figure, _png)


def _png(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=_DOTS)
    return buffer.getvalue()
