"""The paper's Man: one human body in two poses (TOSCA), hands apart and hands joined."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import cKDTree

from cotherm import checks
from cotherm.arrays import Floats
from cotherm.datasets.directory import locate
from cotherm.datasets.views import Views
from cotherm.errors import CothermError, known_as
from cotherm.functions import landmark_functions
from cotherm.graphs.build import knn_graph
from cotherm.graphs.files import read_mesh
from cotherm.graphs.graph import Graph

_JOINED, _APART = "tosca/michael13.off", "tosca/michael7.off"
# A vertex in each hand: the meshes number the same body alike in all poses.
_HANDS = (37809, 28945)
_REMESHED_HANDS = (2728, 1990)
# Samples that a function is carried from.
_NEAREST = 4
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


def man_remeshed(n: int = 500, *, data: str | os.PathLike[str] | None = None) -> Views:
    """The same two poses meshed anew, each by itself: n samples each, of which none is a sample of the other.

    Which points of the body correspond is known from lists of vertices. They carry the bumps on the hands from the
    second graph to the first, and, for judging, functions from the first graph to the second: ``correspondence``.

    Parameters
    ----------
    n : samples of each mesh.
    data : the directory with tosca5k/; else the environment variable COTHERM_DATA.
    """
    (joined, of_joined), (apart, of_apart) = (_read_remeshed(pose, data) for pose in ("michael13", "michael7"))
    n = checks.integer("n", n, least=50, most=min(len(joined), len(apart)))
    first, second = joined[farthest_points(joined, n)], apart[farthest_points(apart, n)]
    graphs = (
        knn_graph(first, 5, neighbour=5, name="hands joined"),
        knn_graph(second, 5, neighbour=5, name="hands apart"),
    )
    # Where the samples of the first are on the second body, on which nothing touches that is not joined.
    places = apart[of_apart[cKDTree(joined[of_joined]).query(first)[1]]]
    there, back = _carrier(places, second), _carrier(second, places)
    hands = [int(np.argmin(np.linalg.norm(second - apart[v], axis=1))) for v in _REMESHED_HANDS]
    bumps = landmark_functions(graphs[1], hands)
    carried = back @ bumps
    wrong = (_far_along(graphs[1], graphs[0], places=back.argmax(axis=1)), np.zeros(graphs[1].m, dtype=bool))
    return Views(
        "man remeshed",
        graphs,
        (carried / np.linalg.norm(carried, axis=0), bumps),
        times=(5.0, 10.0, 20.0),
        wrong=wrong,
        correspondence=there,
    )


def _read_remeshed(pose: str, data: str | os.PathLike[str] | None) -> tuple[Floats, NDArray[np.int64]]:
    """The vertices of a mesh and a list of some: entry k of both lists is the same point of the body."""
    vertices = read_mesh(locate(f"tosca5k/{pose}.off", data)).vertices
    path = locate(f"tosca5k/{pose}.vts", data)
    try:
        numbers = np.loadtxt(path, dtype=np.int64, ndmin=1) - 1
    except ValueError as error:
        raise CothermError(str(path), f"unreadable ({error})", "a vertex number on every line") from None
    with known_as("numbers", str(path)):
        return vertices, checks.indices("numbers", numbers, below=len(vertices))


def _carrier(source: Floats, target: Floats) -> Floats:
    """The matrix that carries functions from points to others nearby: at each the mean of the nearest few."""
    found: Any = cKDTree(source).query(target, k=_NEAREST)
    distance, near = found
    share = np.exp(-3.0 * (distance / distance[:, -1:]) ** 2)
    T = np.zeros((len(target), len(source)))
    np.put_along_axis(T, near, share / share.sum(axis=1, keepdims=True), axis=1)
    return T


def farthest_points(points: Floats, n: int) -> NDArray[np.intp]:
    """n of the points, each the farthest from those before it, from the first on."""
    chosen = np.zeros(n, dtype=np.intp)
    gap = np.full(len(points), np.inf)
    for k in range(1, n):
        gap = np.minimum(gap, np.sum((points - points[chosen[k - 1]]) ** 2, axis=1))
        chosen[k] = int(np.argmax(gap))
    return chosen


def _far_along(body: Graph, graph: Graph, *, places: NDArray[np.intp] | None = None) -> NDArray[np.bool_]:
    """The edges of a graph whose ends are far apart along the body, as another graph knows it.

    ``places`` are the vertices of that other graph at which this one's are; by default the same numbers.
    """
    X = body.coordinates
    assert X is not None
    lengths = np.linalg.norm(X[body.i] - X[body.j], axis=1)
    along = dijkstra(sp.coo_array((lengths, (body.i, body.j)), shape=(body.n, body.n)), directed=False)
    at = np.arange(graph.n) if places is None else places
    return np.asarray(along[at[graph.i], at[graph.j]] > _FAR)
