"""Figures with matplotlib. Names are drawn as they are: a $ does not start a formula."""

from cotherm.draw import backend  # noqa: F401 (first)
from cotherm.draw.body import draw_bodies
from cotherm.draw.convergence import draw_convergence
from cotherm.draw.curves import draw_coupling, draw_curves
from cotherm.draw.graph import draw_graph
from cotherm.draw.heat import draw_heat
from cotherm.draw.notebook import show_figures
from cotherm.draw.result import draw_result
from cotherm.draw.views import draw_views

__all__ = [
    "draw_bodies",
    "draw_convergence",
    "draw_coupling",
    "draw_curves",
    "draw_graph",
    "draw_heat",
    "draw_result",
    "draw_views",
]

show_figures()
