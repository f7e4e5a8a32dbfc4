"""The time that heat takes for some moves along edges.

Heat leaves a vertex of degree d at the rate d, so at the time m/d it has made about m moves. What is typical of a graph
is the median degree of the vertices that have neighbors.
"""

from __future__ import annotations

import numpy as np

from cotherm.graphs.graph import Graph


def median_degree(*graphs: Graph) -> float:
    """The median degree of the vertices of all graphs that have neighbors; 0 where none has."""
    degrees = np.concatenate([graph.degrees for graph in graphs])
    positive = degrees[degrees > 0.0]
    return float(np.median(positive)) if len(positive) else 0.0


def diffusion_time(moves: float, *graphs: Graph, without_edges: float = 0.0) -> float:
    """The time in which heat makes about ``moves`` moves along edges: moves / median degree.

    Where no vertex has neighbors, heat never moves and it is ``without_edges``.
    """
    degree = median_degree(*graphs)
    return moves / degree if degree > 0.0 else without_edges
