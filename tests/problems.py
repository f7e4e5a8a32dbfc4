"""Shared cases: small graphs of every kind that matters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import cotherm as ct
from cotherm.methods.coupling import options
from cotherm.methods.pairs import arguments


def ring(n: int) -> ct.Graph:
    """n vertices in a cycle, unit weights; λ_k = 2 − 2cos(2πk/n)."""
    v = np.arange(n)
    return ct.Graph(n, v, (v + 1) % n, np.ones(n))


def path(n: int) -> ct.Graph:
    """n vertices in a row, unit weights; λ_k = 2 − 2cos(πk/n)."""
    v = np.arange(n - 1)
    return ct.Graph(n, v, v + 1, np.ones(n - 1))


def grid(rows: int, columns: int) -> ct.Graph:
    """A rectangular grid; its eigenvalues are all sums of those of two paths."""
    v = np.arange(rows * columns).reshape(rows, columns)
    i = np.concatenate([v[:, :-1].ravel(), v[:-1].ravel()])
    j = np.concatenate([v[:, 1:].ravel(), v[1:].ravel()])
    return ct.Graph(rows * columns, i, j, np.ones(len(i)))


def random_graph(n: int, edges: int, seed: int, *, spread: float = 1.0) -> ct.Graph:
    """Random edges with weights e^{spread·N(0, 1)}; often not connected when edges are few."""
    random = np.random.default_rng(seed)
    pairs = np.unique(np.sort(random.integers(0, n, size=(edges, 2)), axis=1), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    random.shuffle(pairs)
    return ct.Graph(n, pairs[:, 0], pairs[:, 1], np.exp(spread * random.standard_normal(len(pairs))))


def cloud(n: int, seed: int = 0, k: int = 8) -> ct.Graph:
    """A kNN graph of random points in a cube."""
    return ct.knn_graph(np.random.default_rng(seed).random((n, 3)), k, scale="median")


def star(n: int, *, spread: float = 0.0) -> ct.Graph:
    """A hub and n − 1 leaves, weights e^{spread·N(0, 1)}; of weight 1, λ = 0, 1 (n − 2 times) and n."""
    weights = np.exp(spread * np.random.default_rng(0).standard_normal(n - 1))
    return ct.Graph(n, np.zeros(n - 1, dtype=int), np.arange(1, n), weights)


def joined_stars(count: int, size: int) -> ct.Graph:
    """Stars whose hubs make a path of faint weights: heat is even in each long before it is in all."""
    hubs = size * np.arange(count)
    leaves = np.setdiff1d(np.arange(count * size), hubs)
    i, j = np.concatenate([leaves // size * size, hubs[:-1]]), np.concatenate([leaves, hubs[1:]])
    return ct.Graph(count * size, i, j, np.append(np.ones(len(leaves)), np.full(count - 1, 0.3)))


def wheel(n: int) -> ct.Graph:
    """A hub joined to every vertex of a ring of n − 1, weights 0.1 and 0.7."""
    rim = np.arange(1, n)
    i, j = np.concatenate([np.zeros(n - 1, dtype=int), rim]), np.concatenate([rim, np.roll(rim, -1)])
    return ct.Graph(n, i, j, np.append(np.full(n - 1, 0.1), np.full(n - 1, 0.7)))


def preferential(n: int, k: int, seed: int) -> ct.Graph:
    """Every vertex joins k earlier ones, those with many edges rather than others (Barabási and Albert)."""
    random = np.random.default_rng(seed)
    ends = list(range(k))
    edges = []
    for v in range(k, n):
        chosen = np.unique(random.choice(ends, k))
        edges += [(int(u), v) for u in chosen]
        ends += [*map(int, chosen), *[v] * len(chosen)]
    i, j = np.array(edges).T
    return ct.Graph(n, i, j, np.exp(random.standard_normal(len(edges))))


def planted_views(size: int = 20, seed: int = 0) -> tuple[list[ct.Graph], np.ndarray]:
    """Two graphs with three clusters of one size, of which each graph shows only two well; and the classes."""
    random = np.random.default_rng(seed)
    classes = np.repeat(np.arange(3), size)
    graphs = []
    for blurred in ((0, 1), (1, 2)):
        chance = np.full((3, 3), 0.05) + 0.55 * np.eye(3)
        chance[blurred] = chance[blurred[::-1]] = 0.35
        edges = np.triu(random.random((3 * size, 3 * size)) < chance[np.ix_(classes, classes)], 1)
        W = edges * random.uniform(0.5, 1.5, edges.shape)
        graphs.append(ct.Graph.from_adjacency(W + W.T))
    return graphs, classes


def relabeled(graph: ct.Graph, order: np.ndarray) -> ct.Graph:
    """The graph whose vertex v is the given one's order[v]."""
    return ct.Graph.from_adjacency(graph.adjacency().tocsr()[order][:, order])


CASES: dict[str, Callable[[], ct.Graph]] = {
    "ring": lambda: ring(30),
    "path": lambda: path(25),
    "grid": lambda: grid(7, 9),
    "random": lambda: random_graph(60, 200, seed=1),
    "several components": lambda: random_graph(80, 50, seed=2),
    "wide range of weights": lambda: random_graph(50, 150, seed=3, spread=4.0),
    "cloud": lambda: cloud(120),
    "one vertex": lambda: ct.Graph(1, [], [], []),
    "one edge": lambda: ct.Graph(2, [0], [1], [2.5]),
    "no edges": lambda: ct.Graph(5, [], [], []),
    "zero weights": lambda: ct.Graph(4, [0, 1, 2], [1, 2, 3], [1.0, 0.0, 2.0]),
}


@st.composite
def graphs(draw: st.DrawFn, most: int = 12) -> ct.Graph:
    """Any small graph: any edges in any order and direction, weights 0 or from 1e-200 to 100."""
    n = draw(st.integers(1, most))
    pairs = [(a, b) for a in range(n) for b in range(a + 1, n)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    turned = [(b, a) if draw(st.booleans()) else (a, b) for a, b in edges]
    weights = draw(st.lists(st.just(0.0) | st.floats(1e-200, 100.0), min_size=len(edges), max_size=len(edges)))
    ends = np.array(turned, dtype=np.int64).reshape(-1, 2)
    return ct.Graph(n, ends[:, 0], ends[:, 1], weights)


def refused(call: Callable[[], object]) -> str:
    """The argument that a call complains about."""
    with pytest.raises(ct.CothermError) as caught:
        call()
    return caught.value.argument


def nested(**given: Any) -> dict[str, Any]:
    """Arguments of couple or couple_pairs, those that few need under ``options``."""
    rare = {name: given.pop(name) for name in {**options.RARE, **arguments.RARE} if name in given}
    return {**given, "options": {**given.get("options", {}), **rare}} if rare else given
