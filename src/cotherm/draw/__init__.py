"""Results -> matplotlib figures; no computation."""

from cotherm.draw.graph import draw_graph, draw_heat

__all__ = ["draw_graph", "draw_heat"]
