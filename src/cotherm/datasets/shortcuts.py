"""One surface seen twice, with wrong edges planted in the first view: how well is surgery done, at any size?"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.datasets.views import Views
from cotherm.errors import CothermError
from cotherm.graphs.build import knn_graph
from cotherm.graphs.graph import MOST_VERTICES, Graph
from cotherm.heat.times import diffusion_time

SURFACES = ("strip", "roll", "sphere")
# Times at which heat is compared, in moves along edges.
_MOVES = (2.0, 8.0)
# Width of bumps and least length of short cuts, in units of the surface's size.
_BUMP, _FAR = 0.5, 1.0
_TURNS = 1.5


class _Surface(NamedTuple):
    points: Floats  # in space, about one apart
    places: Floats  # on the surface, where distance is that along it, or nearly
    centers: Floats  # of the bumps, as places
    size: float


def shortcuts(
    n: int = 1_000,
    *,
    surface: str = "strip",
    k: int = 10,
    functions: int = 6,
    wrong: int = 20,
    noise: float = 0.3,
    seed: int = 0,
) -> Views:
    """Make a surface in two noisy views, with wrong edges planted in the first.

    Nearest-neighbor graphs of points on a surface. The planted edges run across the surface and are marked in
    ``wrong``, so that recall and precision of a method can be counted. The functions are wide bumps, the same in both
    views.

    Parameters
    ----------
    n : int, default 1000
        Number of points, on average one unit apart.
    surface : {"strip", "roll", "sphere"}, default "strip"
        Shape: a strip four times as long as wide, the same strip rolled up, or a sphere.
    k : int, default 10
        Number of neighbors of every point.
    functions : int, default 6
        Number of bumps.
    wrong : int, default 20
        Number of planted edges, each with the median weight of an edge.
    noise : float, default 0.3
        Standard deviation of the noise in each coordinate of each view.
    seed : int, default 0
        Seed of everything random.

    Returns
    -------
    Views
        The two graphs. Vertices correspond.

    See Also
    --------
    human : A body with wrong edges between its hands.

    Examples
    --------
    >>> import cotherm as ct
    >>> views = ct.datasets.shortcuts(200, wrong=5)
    >>> [int(edges.sum()) for edges in views.wrong]
    [5, 0]
    """
    n = validation.integer("n", n, least=100, most=MOST_VERTICES)
    surface = validation.choice("surface", surface, SURFACES)
    functions = validation.integer("functions", functions, least=1, most=n)
    wrong = validation.integer("wrong", wrong, least=0, most=n)
    noise = validation.real("noise", noise)
    rng = np.random.default_rng(validation.integer("seed", seed, least=0))
    made = _sphere(n, functions, rng) if surface == "sphere" else _strip(n, functions, rng, rolled=surface == "roll")
    gaps = np.array([np.sum((made.places - center) ** 2, axis=1) for center in made.centers]).T
    F = np.exp(-gaps / (2.0 * (_BUMP * made.size) ** 2))
    F /= np.linalg.norm(F, axis=0)
    clean, second = (
        knn_graph(made.points + noise * rng.standard_normal(made.points.shape), k, name=name)
        for name in ("with short cuts", "without")
    )
    first, planted = _planted(clean, made, wrong, rng)
    times = tuple(diffusion_time(moves, clean) for moves in _MOVES)
    marks = (planted, np.zeros(second.m, dtype=np.bool_))
    return Views(f"shortcuts, {surface}", (first, second), (F, F), times=times, wrong=marks, aligned=True)


def _strip(n: int, functions: int, rng: np.random.Generator, *, rolled: bool) -> _Surface:
    width = np.sqrt(n / 4.0)
    places = rng.random((n, 2)) * [4.0 * width, width]
    along = (np.arange(functions) + 0.5) / functions * 4.0 * width
    across = np.where(np.arange(functions) % 2, 0.75, 0.25) * width
    points = _rolled(places, 4.0 * width) if rolled else places
    return _Surface(points, places, np.column_stack([along, across]), float(width))


def _rolled(places: Floats, length: float) -> Floats:
    """A spiral whose turns are as far apart as it is wide at its core: r = a(1 + θ/2π), followed by its length."""
    turn = np.linspace(0.0, 2.0 * np.pi * _TURNS, 4_000)
    radius = 1.0 + turn / (2.0 * np.pi)
    steps = np.hypot(np.gradient(radius, turn), radius) * np.gradient(turn)
    run = np.concatenate([[0.0], np.cumsum(0.5 * (steps[1:] + steps[:-1]))])
    angle = np.interp(places[:, 0] / length * run[-1], run, turn)
    scale = length / run[-1]
    reach = scale * (1.0 + angle / (2.0 * np.pi))
    return np.column_stack([reach * np.cos(angle), reach * np.sin(angle), places[:, 1]])


def _sphere(n: int, functions: int, rng: np.random.Generator) -> _Surface:
    radius = np.sqrt(n / (4.0 * np.pi))
    points = rng.standard_normal((n, 3))
    points *= radius / np.linalg.norm(points, axis=1, keepdims=True)
    turn = np.pi * (1.0 + np.sqrt(5.0)) * np.arange(functions)
    height = 1.0 - 2.0 * (np.arange(functions) + 0.5) / functions
    ring = np.sqrt(1.0 - height**2)
    centers = radius * np.column_stack([ring * np.cos(turn), ring * np.sin(turn), height])
    return _Surface(points, points, centers, float(radius))


def _planted(graph: Graph, made: _Surface, count: int, rng: np.random.Generator) -> tuple[Graph, NDArray[np.bool_]]:
    """The graph with edges between random points that are far from each other along the surface, and which they are."""
    chosen: set[tuple[int, int]] = set()
    for _ in range(1_000):
        if len(chosen) == count:
            break
        ends: NDArray[np.int64] = rng.integers(0, graph.n, (2, 4 * count))
        far = np.linalg.norm(made.places[ends[0]] - made.places[ends[1]], axis=1) > _FAR * made.size
        pairs = np.sort(ends[:, far], axis=0).T[: count - len(chosen)]
        chosen |= {(int(a), int(b)) for a, b in pairs}
    else:
        raise CothermError("wrong", f"{count} short cuts", "fewer, for so few points")
    if not count:
        return graph, np.zeros(graph.m, dtype=np.bool_)
    low, high = np.array(sorted(chosen)).T
    i, j = np.append(graph.i, low), np.append(graph.j, high)
    order = np.lexsort((j, i))
    w = np.append(graph.w, np.full(count, np.median(graph.w)))
    planted = Graph(graph.n, i[order], j[order], w[order], coordinates=graph.coordinates, name=graph.name)
    return planted, order >= graph.m
