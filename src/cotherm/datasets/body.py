"""One body in two poses, hands joined and hands apart: what the scanned man and the modelled one share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra

from cotherm.arrays import Floats
from cotherm.datasets.views import Views
from cotherm.functions import landmark_functions
from cotherm.graphs.build import knn_graph
from cotherm.graphs.graph import Graph

# Points further apart than this along the body (it is some 165 units tall) have no business being neighbours.
_FAR = 40.0


def two_poses(name: str, joined: Floats, apart: Floats, hands: Sequence[int]) -> Views:
    """Five nearest neighbours of the same points in both poses, a bump on each hand, and the edges that are wrong.

    ``hands`` are a point in each hand. Only with the hands apart can the graph tell one from the other: the bumps and
    the distances along the body come from that pose.
    """
    graphs = tuple(
        knn_graph(points, 5, neighbour=5, name=pose)
        for points, pose in ((joined, "hands joined"), (apart, "hands apart"))
    )
    bumps = landmark_functions(graphs[1], hands)
    wrong = (far_along(graphs[1], graphs[0]), np.zeros(graphs[1].m, dtype=bool))
    return Views(name, graphs, (bumps, bumps), times=(5.0, 10.0, 20.0), wrong=wrong, aligned=True)


def farthest_points(points: Floats, n: int) -> NDArray[np.intp]:
    """n of the points, each the farthest from those before it, from the first on."""
    chosen = np.zeros(n, dtype=np.intp)
    gap = np.full(len(points), np.inf)
    for k in range(1, n):
        gap = np.minimum(gap, np.sum((points - points[chosen[k - 1]]) ** 2, axis=1))
        chosen[k] = int(np.argmax(gap))
    return chosen


def nearest(points: Floats, place: Floats) -> int:
    """The point nearest to a place."""
    return int(np.argmin(np.linalg.norm(points - place, axis=1)))


def far_along(body: Graph, graph: Graph, *, places: NDArray[np.intp] | None = None) -> NDArray[np.bool_]:
    """The edges of a graph whose ends are far apart along the body, as another graph knows it.

    ``places`` are the vertices of that other graph at which this one's are; by default the same numbers.
    """
    X = body.coordinates
    assert X is not None
    lengths = np.linalg.norm(X[body.i] - X[body.j], axis=1)
    along = dijkstra(sp.coo_array((lengths, (body.i, body.j)), shape=(body.n, body.n)), directed=False)
    at = np.arange(graph.n) if places is None else places
    return np.asarray(along[at[graph.i], at[graph.j]] > _FAR)
