"""Second neighbors: the strongest paths of two edges, against a dense product, and what hubs and ties do to them."""

from __future__ import annotations

import numpy as np
import pytest

from cotherm.graphs.build import knn_graph
from cotherm.graphs.graph import Graph
from cotherm.methods.pairs.rules import SECOND_SHARE
from cotherm.methods.pairs.second import with_second_neighbors


def _dense(graph: Graph, share: float, most: int) -> np.ndarray:
    """The same by dense matrices, where no two strengths are equal."""
    W = graph.adjacency().toarray()
    paths = W @ (W / graph.degrees[:, np.newaxis])
    paths = 0.5 * (paths + paths.T)  # the same but for rounding
    np.fill_diagonal(paths, 0.0)
    least = -np.sort(-paths, axis=1)[:, most - 1]
    kept = np.where((paths >= least[:, np.newaxis]) | (paths >= least), paths, 0.0)
    return np.asarray((1.0 - share) * W + share * kept * (W.sum() / kept.sum()))


@pytest.mark.parametrize(("share", "most"), [(SECOND_SHARE, 20), (0.8, 35)])
def test_second_neighbors_are_those_of_the_strongest_paths(share: float, most: int) -> None:
    graph = knn_graph(np.random.default_rng(0).standard_normal((80, 5)), 8)
    grown = with_second_neighbors(graph, share=share, most=most)
    assert np.array_equal(grown.edges[: graph.m], graph.edges)
    np.testing.assert_allclose(grown.adjacency().toarray(), _dense(graph, share, most), atol=1e-12)
    assert np.isclose(grown.w.sum(), graph.w.sum())


def test_a_path_gets_its_second_neighbors() -> None:
    path = Graph(4, [0, 1, 2], [1, 2, 3], [1.0, 1.0, 1.0])
    assert with_second_neighbors(path).edges.tolist() == [[0, 1], [1, 2], [2, 3], [0, 2], [1, 3]]


def test_a_hub_whose_edges_are_alike_makes_nobody_neighbors() -> None:
    star = Graph(200, np.zeros(199, dtype=int), np.arange(1, 200), np.ones(199))
    assert with_second_neighbors(star).m == star.m


def test_the_order_of_vertices_does_not_matter() -> None:
    """Also where weights are alike and strengths are equal."""
    graph = knn_graph(np.random.default_rng(1).integers(0, 6, (90, 2)).astype(float), 9, scale=None)
    order = np.random.default_rng(2).permutation(graph.n)
    i, j = order[graph.i], order[graph.j]
    moved = Graph(graph.n, np.minimum(i, j), np.maximum(i, j), graph.w)
    expected = with_second_neighbors(graph).adjacency().toarray()
    found = with_second_neighbors(moved).adjacency().toarray()[np.ix_(order, order)]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_without_weight_nothing_is_added() -> None:
    empty = Graph(3, [0], [1], [0.0])
    assert with_second_neighbors(empty) is empty
