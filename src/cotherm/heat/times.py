"""The time that heat takes for some moves along edges: it leaves a vertex of degree d at the rate d."""

from __future__ import annotations

import numpy as np

from cotherm.graphs.graph import Graph


def median_degree(*graphs: Graph) -> float:
    """The median degree of the vertices of all graphs that have neighbors; 0 where none has."""
    degrees = np.concatenate([graph.degrees for graph in graphs])
    positive = degrees[degrees > 0.0]
    return float(np.median(positive)) if len(positive) else 0.0


def diffusion_time(moves: float, *graphs: Graph, without_edges: float = 0.0) -> float:
    """When heat has made about ``moves`` moves: moves / median degree; ``without_edges`` where it never moves."""
    degree = median_degree(*graphs)
    return moves / degree if degree > 0.0 else without_edges
