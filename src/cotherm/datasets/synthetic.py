"""The paper's two synthetic pairs of graphs, Circles and Ring, made from points on curves."""

from __future__ import annotations

import numpy as np

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.datasets.views import Views
from cotherm.errors import CothermError
from cotherm.graphs.build import knn_graph
from cotherm.graphs.graph import MOST_VERTICES


def ring(n: int = 70, gap: float = 0.5) -> Views:
    """Make a ring and the same ring with a crack.

    Points on a circle, four nearest neighbors, three bumps. Vertex v is at the same place along both rings. The crack
    is between the last vertex and the first. Edges across it are marked in ``wrong``.

    Parameters
    ----------
    n : int, default 70
        Number of points.
    gap : float, default 0.5
        Width of the crack in radians.

    Returns
    -------
    Views
        The two graphs. Vertices correspond.

    See Also
    --------
    circles : Two circles that touch in different places.

    Examples
    --------
    >>> import cotherm as ct
    >>> views = ct.datasets.ring()
    >>> [graph.n for graph in views.graphs], [int(edges.sum()) for edges in views.wrong]
    ([70, 70], [3, 0])
    """
    n = validation.integer("n", n, least=10, most=MOST_VERTICES)
    gap = validation.real("gap", gap, positive=True)
    if gap >= 2 * np.pi:
        raise CothermError("gap", f"{gap:g}", "less than the whole ring, 2π radians")
    closed = 2 * np.pi * np.arange(n) / n
    cracked = 0.5 * gap + (2 * np.pi - gap) * np.arange(n) / (n - 1)
    graphs = tuple(
        # One scale in units of the spacing: weights along both rings are equal, except at the seam.
        knn_graph(_on_circle(angles), 4, scale=4.0 * np.sin(0.5 * (angles[1] - angles[0])), name=name)
        for angles, name in ((closed, "ring"), (cracked, "cracked ring"))
    )
    centers = np.array([0.06, 0.38, 0.7]) * n
    bumps = np.exp(-(((np.arange(n)[:, np.newaxis] - centers) / (0.08 * n)) ** 2))
    seam = tuple(np.abs(g.i - g.j) > n // 2 for g in graphs)
    return Views("ring", graphs, (bumps, bumps), times=(1.0, 2.0, 5.0, 10.0), wrong=seam, aligned=True)


def circles(n: int = 64) -> Views:
    """Make two circles, one inside the other, that touch in different places in the two views.

    Four nearest neighbors, four bumps, two on each circle. In both graphs the first half of the vertices is the outer
    circle. Edges between the circles are marked in ``wrong``.

    Parameters
    ----------
    n : int, default 64
        Number of points, half of them on each circle.

    Returns
    -------
    Views
        The two graphs. Vertices correspond.

    See Also
    --------
    ring : A ring with a crack.

    Examples
    --------
    >>> import cotherm as ct
    >>> [graph.name for graph in ct.datasets.circles().graphs]
    ['touching right', 'touching left']
    """
    n = validation.integer("n", n, least=16, most=MOST_VERTICES)
    half = n // 2
    outer = _on_circle(2 * np.pi * np.arange(half) / half)
    inner = 0.6 * _on_circle(2 * np.pi * np.arange(n - half) / (n - half))
    graphs = tuple(
        knn_graph(np.vstack([outer, inner + shift]), 4, scale="median", symmetrize="max", name=name)
        for shift, name in (
            (np.array([0.3, 0.0]), "touching right"),
            (np.array([-0.3, 0.0]), "touching left"),
        )
    )
    places = np.arange(half)
    bump = [np.exp(-((((places - c + half / 2) % half - half / 2) / (0.06 * half)) ** 2)) for c in (0, half // 2)]
    functions = np.zeros((n, 4))
    for c, column in enumerate(bump):
        functions[:half, c] = column
        functions[half:, 2 + c] = column[: n - half] if n - half <= half else np.append(column, 0.0)
    bridges = tuple((g.i < half) != (g.j < half) for g in graphs)
    return Views("circles", graphs, (functions, functions), times=(1.0, 3.0, 5.0, 10.0), wrong=bridges, aligned=True)


def _on_circle(angles: Floats) -> Floats:
    return np.column_stack([np.cos(angles), np.sin(angles)])
