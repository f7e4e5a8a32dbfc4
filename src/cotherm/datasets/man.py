"""The paper's Man: one human body in two poses (TOSCA), hands apart and hands joined."""

from __future__ import annotations

import os

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra

from cotherm import checks
from cotherm.arrays import Floats
from cotherm.datasets.directory import locate
from cotherm.datasets.views import Views
from cotherm.functions import landmark_functions
from cotherm.graphs.build import knn_graph
from cotherm.graphs.files import read_mesh
from cotherm.graphs.graph import Graph

_JOINED, _APART = "tosca/michael13.off", "tosca/michael7.off"
# A vertex in each hand: the meshes number the same body alike in all poses.
_HANDS = (37809, 28945)
# Points further apart than this along the body (it is 165 units tall) have no business being neighbours.
_FAR = 40.0


def man(n: int = 500, *, data: str | os.PathLike[str] | None = None) -> Views:
    """n farthest-point samples of the body in both poses, five nearest neighbours, a bump on each hand.

    In the first graph the hands touch and 26 of its edges (for n = 500) join them: ``wrong``. The bumps come from the
    second, where they do not.

    Parameters
    ----------
    n : samples, the same points of the body in both poses.
    data : the directory with tosca/michael7.off and tosca/michael13.off; else the environment variable COTHERM_DATA.
    """
    joined, apart = (read_mesh(locate(name, data)).vertices for name in (_JOINED, _APART))
    n = checks.integer("n", n, least=50, most=len(apart))
    samples = farthest_points(apart, n)
    graphs = tuple(
        knn_graph(points[samples], 5, neighbour=5, name=name)
        for points, name in ((joined, "hands joined"), (apart, "hands apart"))
    )
    hands = [int(np.argmin(np.linalg.norm(apart[samples] - apart[v], axis=1))) for v in _HANDS]
    bumps = landmark_functions(graphs[1], hands)
    wrong = (_far_along(graphs[1], graphs[0]), np.zeros(graphs[1].m, dtype=bool))
    return Views("man", graphs, (bumps, bumps), times=(5.0, 10.0, 20.0), wrong=wrong, aligned=True)


def farthest_points(points: Floats, n: int) -> NDArray[np.intp]:
    """n of the points, each the farthest from those before it, from the first on."""
    chosen = np.zeros(n, dtype=np.intp)
    gap = np.full(len(points), np.inf)
    for k in range(1, n):
        gap = np.minimum(gap, np.sum((points - points[chosen[k - 1]]) ** 2, axis=1))
        chosen[k] = int(np.argmax(gap))
    return chosen


def _far_along(body: Graph, graph: Graph) -> NDArray[np.bool_]:
    """The edges of a graph whose ends are far apart along the body, as another graph knows it."""
    X = body.coordinates
    assert X is not None
    lengths = np.linalg.norm(X[body.i] - X[body.j], axis=1)
    along = dijkstra(sp.coo_array((lengths, (body.i, body.j)), shape=(body.n, body.n)), directed=False)
    return np.asarray(along[graph.i, graph.j] > _FAR)
