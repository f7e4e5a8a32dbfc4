"""What is done to a view before coupling that takes no other view."""

from __future__ import annotations

import numpy as np

from cotherm.graphs.graph import Graph
from cotherm.heat.times import median_degree
from cotherm.methods.pairs.second import with_degrees, with_second_neighbors


def alone(graph: Graph) -> Graph:
    """The graph with second neighbors and equal degrees."""
    return with_degrees(with_second_neighbors(graph), np.full(graph.n, median_degree(graph)))
