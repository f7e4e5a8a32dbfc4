"""The paper's Man: one human body in two poses (TOSCA), hands apart and hands joined."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.datasets.views import Views
from cotherm.errors import CothermError, known_as
from cotherm.functions import landmark_functions
from cotherm.graphs.build import knn_graph
from cotherm.graphs.files import read_mesh
from cotherm.graphs.mesh import Mesh
from paper.data.directory import locate

_JOINED, _APART = "tosca/michael13.off", "tosca/michael7.off"
# A vertex in each hand. The meshes have the same vertex numbers in all poses.
_HANDS = (37809, 28945)
REMESHED_HANDS = (2728, 1990)
# Samples that a function is carried from.
_NEAREST = 4


def man(n: int = 500, *, data: str | os.PathLike[str] | None = None) -> Views:
    """Load a scanned human body in two poses, with joined and with separate hands.

    The experiment Man of the heat kernel coupling paper, from the TOSCA shapes [1]_: farthest-point samples of the
    body, five nearest neighbors, a bump on each hand. In the first graph the hands touch, and the edges that join
    them are marked in ``wrong``, 26 for n = 500. The bumps come from the second graph, where the hands do not touch.

    Parameters
    ----------
    n : int, default 500
        Number of samples, the same points of the body in both poses. At most 52,565, all vertices of the meshes.
    data : str or path-like, optional
        Directory that has tosca/michael7.off and tosca/michael13.off. By default the environment variable
        COTHERM_DATA.

    Returns
    -------
    Views
        The two graphs. Vertices correspond.

    Raises
    ------
    CothermError
        If the data are not there.

    References
    ----------
    .. [1] A. M. Bronstein, M. M. Bronstein and R. Kimmel, Numerical Geometry of Non-Rigid Shapes, Springer, 2008.
    """
    joined, apart = (read_mesh(locate(name, data)).vertices for name in (_JOINED, _APART))
    n = validation.integer("n", n, least=50, most=len(apart))
    # Here, not above: benchmarks load this module beside earlier versions of the package, which lack some of these.
    from cotherm.datasets.human import farthest_points, nearest, two_poses

    samples = farthest_points(apart, n)
    hands = [nearest(apart[samples], apart[v]) for v in _HANDS]
    return two_poses("man", joined[samples], apart[samples], hands)


def man_remeshed(n: int = 500, *, data: str | os.PathLike[str] | None = None) -> Views:
    """Load the two poses of man from meshes that share no vertices.

    Each pose was meshed by itself. Lists of vertices say which points of the body correspond. They carry the bumps on
    the hands from the second graph to the first, and give the matrix ``correspondence`` for evaluation.

    Parameters
    ----------
    n : int, default 500
        Number of samples of each mesh.
    data : str or path-like, optional
        Directory that has tosca5k/. By default the environment variable COTHERM_DATA.

    Returns
    -------
    Views
        The two graphs. Vertices do not correspond.

    Raises
    ------
    CothermError
        If the data are not there.
    """
    (first_mesh, of_joined), (second_mesh, of_apart) = (read_remeshed(pose, data) for pose in ("michael13", "michael7"))
    joined, apart = first_mesh.vertices, second_mesh.vertices
    n = validation.integer("n", n, least=50, most=min(len(joined), len(apart)))
    from cotherm.datasets.human import far_along, farthest_points, nearest

    first, second = joined[farthest_points(joined, n)], apart[farthest_points(apart, n)]
    graphs = (
        knn_graph(first, 5, scale_neighbor=5, name="hands joined"),
        knn_graph(second, 5, scale_neighbor=5, name="hands apart"),
    )
    # Where the samples of the first are on the second body, on which nothing touches that is not joined.
    places = apart[of_apart[cKDTree(joined[of_joined]).query(first)[1]]]
    there, back = carrier(places, second), carrier(second, places)
    hands = [nearest(second, apart[v]) for v in REMESHED_HANDS]
    bumps = landmark_functions(graphs[1], hands)
    carried = back @ bumps
    wrong = (far_along(graphs[1], graphs[0], places=back.argmax(axis=1)), np.zeros(graphs[1].m, dtype=bool))
    return Views(
        "man remeshed",
        graphs,
        (carried / np.linalg.norm(carried, axis=0), bumps),
        times=(5.0, 10.0, 20.0),
        wrong=wrong,
        correspondence=there,
    )


def read_remeshed(pose: str, data: str | os.PathLike[str] | None) -> tuple[Mesh, NDArray[np.int64]]:
    """A mesh and a list of some of its vertices: entry k of both lists is the same point of the body."""
    mesh = read_mesh(locate(f"tosca5k/{pose}.off", data))
    path = locate(f"tosca5k/{pose}.vts", data)
    try:
        numbers = np.loadtxt(path, dtype=np.int64, ndmin=1) - 1
    except ValueError as error:
        raise CothermError(str(path), f"unreadable ({error})", "a vertex number on every line") from None
    with known_as("numbers", str(path)):
        return mesh, validation.indices("numbers", numbers, below=len(mesh.vertices))


def carrier(source: Floats, target: Floats) -> Floats:
    """The matrix that carries functions from points to others nearby: at each the mean of the nearest few."""
    found: Any = cKDTree(source).query(target, k=_NEAREST)
    distance, near = found
    share = np.exp(-3.0 * (distance / distance[:, -1:]) ** 2)
    T = np.zeros((len(target), len(source)))
    np.put_along_axis(T, near, share / share.sum(axis=1, keepdims=True), axis=1)
    return T
