"""One body in two poses, hands joined and hands apart: what the modeled man and the scanned one of the paper share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import cKDTree

from cotherm.arrays import Floats
from cotherm.datasets.views import Views
from cotherm.functions import landmark_functions
from cotherm.graphs.build import knn_graph
from cotherm.graphs.graph import Graph
from cotherm.progress import track

# Points further apart than this along the body (it is some 165 units tall) should not be neighbors.
_FAR = 40.0
# A bump covers ``_BUMP`` times the number of points beyond ``_FEW``.
_FEW, _BUMP = 500, 0.04
# Most ends are close to each other, which a search up to this distance finds out.
_CLOSE = 3.0
# Numbers in memory at once while distances along the body are computed: 64 MiB.
_AT_ONCE = 2**23


def two_poses(name: str, joined: Floats, apart: Floats, hands: Sequence[int]) -> Views:
    """Five nearest neighbors of the same points in both poses, a bump on each hand, and the edges that are wrong.

    ``hands`` are a point in each hand. Only with the hands apart can the graph tell one from the other: the bumps and
    the distances along the body come from that pose.
    """
    graphs = tuple(
        knn_graph(points, 5, scale_neighbor=5, name=pose)
        for points, pose in ((joined, "hands joined"), (apart, "hands apart"))
    )
    bumps = landmark_functions(graphs[1], hands, cover=_cover(graphs[1].n))
    wrong = (far_along(graphs[1], graphs[0]), np.zeros(graphs[1].m, dtype=bool))
    return Views(name, graphs, (bumps, bumps), times=(5.0, 10.0, 20.0), wrong=wrong, aligned=True)


def _cover(n: int) -> float | None:
    """The cover of bumps that reach the other hand: None (two moves) for few points, a part of them for more."""
    return _BUMP * (n - _FEW) / n if n > _FEW else None


def farthest_points(points: Floats, n: int) -> NDArray[np.intp]:
    """n of the points, each the farthest from those before it, from the first on; all in their order if n is all."""
    if n == len(points):
        return np.arange(n)
    tree = cKDTree(points)
    chosen = np.zeros(n, dtype=np.intp)
    gap = np.sum((points - points[0]) ** 2, axis=1)
    for k in track(range(1, n), total=n - 1, label="farthest points"):
        v = chosen[k] = int(np.argmax(gap))
        # Only points closer to it than the largest gap can get a smaller gap.
        near = tree.query_ball_point(points[v], np.sqrt(gap[v]) * (1.0 + 1e-9))
        gap[near] = np.minimum(gap[near], np.sum((points[near] - points[v]) ** 2, axis=1))
    return chosen


def nearest(points: Floats, place: Floats) -> int:
    """The point nearest to a place."""
    return int(np.argmin(np.linalg.norm(points - place, axis=1)))


def far_along(body: Graph, graph: Graph, *, places: NDArray[np.intp] | None = None) -> NDArray[np.bool_]:
    """The edges of a graph whose ends are far apart along the body, whose surface another graph describes.

    ``places`` are the vertices of that other graph at which this one's are; by default the same numbers.
    """
    X = body.coordinates
    assert X is not None
    lengths = np.linalg.norm(X[body.i] - X[body.j], axis=1)
    network = sp.csr_array((lengths, (body.i, body.j)), shape=(body.n, body.n))
    at = np.arange(graph.n) if places is None else places
    ends = np.sort(np.stack([at[graph.i], at[graph.j]]).astype(np.int64), axis=0)
    # The straight line is a lower bound of the distance along the body; an edge of the body is an upper bound.
    straight = np.linalg.norm(X[ends[0]] - X[ends[1]], axis=1)
    own = np.isin(ends[0] * body.n + ends[1], body.i.astype(np.int64) * body.n + body.j)
    unsure = np.flatnonzero((straight <= _FAR) & ~own)
    for limit in (_CLOSE, _FAR):
        unsure = unsure[_beyond(network, ends[:, unsure], limit)]
    far = np.asarray(straight > _FAR)
    far[unsure] = True
    return far


def _beyond(network: sp.csr_array, ends: NDArray[np.int64], limit: float) -> NDArray[np.bool_]:
    """Which pairs of vertices are further than a limit from each other along a network."""
    sources, row = np.unique(ends[0], return_inverse=True)
    beyond = np.zeros(len(row), dtype=np.bool_)
    width = max(1, _AT_ONCE // network.shape[0])
    starts = range(0, len(sources), width)
    for start in track(starts, total=len(starts), label="distances along the body"):
        block = sources[start : start + width]
        along = dijkstra(network, directed=False, indices=block, limit=limit)
        here = np.flatnonzero((row >= start) & (row < start + width))
        beyond[here] = along[row[here] - start, ends[1, here]] > limit
    return beyond
