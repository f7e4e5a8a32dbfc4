"""Places in the plane for the vertices of a graph that has no coordinates."""

from __future__ import annotations

import numpy as np

from cotherm import limits
from cotherm.arrays import Floats
from cotherm.engines.threads import one_thread
from cotherm.graphs.graph import Graph
from cotherm.heat.distance import diffusion_distance, diffusion_map
from cotherm.heat.times import diffusion_time

# Neighbors each vertex should keep: a share of all, within limits, so that small groups stay apart.
_SHARE, _FEWEST, _MOST = 1 / 15, 5.0, 30.0
# By default heat makes about this many moves along edges.
_MOVES = 4.0


def layout(graph: Graph, t: float | None = None, *, seed: int = 0) -> Floats:
    """(n, 2): t-SNE of roots of diffusion distances at time t on up to 1,500 vertices, the diffusion map on more."""
    if graph.n < 4:
        angles = 2.0 * np.pi * np.arange(graph.n) / max(graph.n, 1)
        return np.column_stack([np.cos(angles), np.sin(angles)])
    if t is None:
        t = diffusion_time(_MOVES, graph)
    if graph.n > limits.LAYOUT:
        return diffusion_map(graph, t, k=2)
    from sklearn.manifold import TSNE

    # The square root enlarges small distances, so that groups do not collapse to dots.
    D = np.sqrt(diffusion_distance(graph, t))
    perplexity = min(float(np.clip(_SHARE * graph.n, _FEWEST, _MOST)), (graph.n - 1) / 3)
    with one_thread():
        places = TSNE(metric="precomputed", init="random", perplexity=perplexity, random_state=seed).fit_transform(D)
    return np.asarray(places, dtype=np.float64)
