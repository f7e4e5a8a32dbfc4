"""Places in the plane for the vertices of a graph that has no coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import cKDTree

from cotherm import limits
from cotherm.arrays import Floats, Ints
from cotherm.engines.threads import one_thread
from cotherm.graphs.graph import Graph
from cotherm.heat.distance import diffusion_distance
from cotherm.heat.times import diffusion_time

# Neighbors each vertex should keep: a share of all, within limits, so that small groups stay apart.
_SHARE, _FEWEST, _MOST = 1 / 15, 5.0, 30.0
# Heat makes about this many moves along edges.
_MOVES = 4.0
# Large graphs: how many groups of vertices are laid out, how far vertices are drawn to that of their own beside their
# neighbors, and how often.
_GROUPS, _OWN, _ROUNDS = 800, 0.85, 2


def layout(graph: Graph) -> Floats:
    """(n, 2): t-SNE of roots of diffusion distances after some four moves along edges.

    Above 1,500 vertices groups of vertices are laid out, and the vertices around them.
    """
    if graph.n < 4:
        angles = 2.0 * np.pi * np.arange(graph.n) / max(graph.n, 1)
        return np.column_stack([np.cos(angles), np.sin(angles)])
    if graph.n > limits.LAYOUT:
        return _by_groups(graph, np.random.default_rng(0))
    from sklearn.manifold import TSNE

    # The square root enlarges small distances, so that groups do not collapse to dots.
    D = np.sqrt(diffusion_distance(graph, diffusion_time(_MOVES, graph)))
    perplexity = min(float(np.clip(_SHARE * graph.n, _FEWEST, _MOST)), (graph.n - 1) / 3)
    with one_thread():
        places = TSNE(metric="precomputed", init="random", perplexity=perplexity, random_state=0).fit_transform(D)
    return np.asarray(places, dtype=np.float64)


def _by_groups(graph: Graph, rng: np.random.Generator) -> Floats:
    """Groups of near vertices are laid out as a small graph; every vertex then goes between its group and neighbors."""
    live = graph.w > 0.0
    W = sp.coo_array((graph.w[live], (graph.i[live], graph.j[live])), shape=(graph.n, graph.n)).tocsr()
    W = sp.csr_array(W + W.T)
    group = _grouped(graph, W, rng)
    count = int(group.max()) + 1
    between = sp.coo_array((graph.w[live], (group[graph.i[live]], group[graph.j[live]])), shape=(count, count)).tocsr()
    upper = sp.triu(between + between.T, k=1).tocoo()
    centers = layout(Graph(count, upper.row, upper.col, upper.data))
    home = centers[group] + _spread(centers) * rng.standard_normal((graph.n, 2))
    degrees = graph.degrees[:, np.newaxis]
    alone = degrees <= 0.0
    places = home
    for _ in range(_ROUNDS):
        means = np.where(alone, home, (W @ places) / np.where(alone, 1.0, degrees))
        places = _OWN * home + (1.0 - _OWN) * means
    return places


def _grouped(graph: Graph, W: sp.csr_array, rng: np.random.Generator) -> Ints:
    """For every vertex the number of the nearest of some random ones; what none of them reaches is the last group."""
    chosen = np.sort(rng.choice(graph.n, _GROUPS, replace=False))
    # An edge is long where its weight is small; beyond a million times the shortest it makes no difference.
    long = 1.0 / np.maximum(W.data / W.data.max(initial=1e-300), 1e-6)
    steps = sp.csr_array((long, W.indices, W.indptr), shape=W.shape)
    _, _, source = dijkstra(steps, directed=False, indices=chosen, min_only=True, return_predecessors=True)
    found = np.searchsorted(chosen, source)
    return np.unique(np.where(source >= 0, found, _GROUPS), return_inverse=True)[1]


def _spread(centers: Floats) -> float:
    """Half the usual way from a center to the next."""
    gaps: Any = cKDTree(centers).query(centers, k=2)[0]
    return 0.5 * float(np.median(gaps[:, 1]))
