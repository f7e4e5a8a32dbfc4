"""What must not matter to a coupling by pairs: order, names, units, and views that have nothing to do with it.

Where nothing numerical differs, answers are the same to the last bit. Where sums are taken in another order, a search
amplifies rounding, and weights agree to a thousandth of the largest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

import cotherm as ct
from cotherm.arrays import Ints

SEEDS = range(5)
CLOSE = 1e-3


@dataclass(frozen=True)
class Case:
    """Views of items in groups, each with noise of its own, that overlap in part."""

    graphs: list[ct.Graph]
    table: Ints
    random: np.random.Generator


def case(seed: int) -> Case:
    random = np.random.default_rng(seed)
    views, items = int(random.integers(2, 4)), 90
    centers = 2.5 * random.standard_normal((5, 4))
    places = centers[np.arange(items) % 5]
    graphs, table = [], np.full((items, views), -1)
    for k in range(views):
        here = np.sort(random.choice(items, int(random.integers(70, items + 1)), replace=False))
        table[here, k] = random.permutation(len(here))
        points = np.empty((len(here), 4))
        points[table[here, k]] = places[here] + random.standard_normal((len(here), 4))
        graphs.append(ct.knn_graph(points, k=8).replace(coordinates=None))
    return Case(graphs, table, random)


def coupled(
    graphs: Sequence[ct.Graph], table: NDArray[np.integer], tolerance: float = 1e-5, kept_back: float = 0.25
) -> ct.Coupling:
    result = ct.couple_pairs(graphs, np.asarray(table), options={"tolerance": tolerance, "kept_back": kept_back})
    assert result.pairs is not None
    assert any(one.coupled for one in result.pairs.agreement)
    return result


def dense(graph: ct.Graph) -> NDArray[np.float64]:
    return graph.adjacency().toarray()


def assert_close(found: NDArray[np.float64], expected: NDArray[np.float64]) -> None:
    assert_allclose(found, expected, atol=CLOSE * expected.max())


def assert_same(found: ct.Graph, expected: ct.Graph) -> None:
    for field in ("i", "j", "w"):
        assert_array_equal(getattr(found, field), getattr(expected, field))


def unrelated(random: np.random.Generator, n: int) -> ct.Graph:
    return ct.knn_graph(random.standard_normal((n, 4)), k=8).replace(coordinates=None)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("order_of", ["vertices", "items"])
def test_order_of_vertices_and_of_items(seed: int, order_of: str) -> None:
    """Which items are kept back depends on their order, and with it perhaps the strength: no more than that."""
    kept_back = 0.25 if order_of == "vertices" else 0.0
    one = case(seed)
    orders = [one.random.permutation(graph.n) for graph in one.graphs]
    shuffled = [
        ct.Graph(graph.n, order[graph.i], order[graph.j], graph.w)
        for graph, order in zip(one.graphs, orders, strict=True)
    ]
    table = np.column_stack(
        [np.where(column >= 0, order[column], -1) for order, column in zip(orders, one.table.T, strict=True)]
    )
    expected = coupled(one.graphs, one.table, 1e-8, kept_back)
    rows = one.random.permutation(len(table)) if order_of == "items" else np.arange(len(table))
    found = coupled(shuffled, table[rows], 1e-8, kept_back)
    for graph, given, order in zip(found.graphs, expected.graphs, orders, strict=True):
        assert_close(dense(graph)[np.ix_(order, order)], dense(given))
    assert_close(np.sort(found.common_graph().graph.w), np.sort(expected.common_graph().graph.w))


@pytest.mark.parametrize("seed", SEEDS)
def test_names_labels_and_coordinates(seed: int) -> None:
    one = case(seed)
    names = np.array([f"item {number}" for number in one.random.permutation(500)])
    named = []
    for k, graph in enumerate(one.graphs):
        own = np.array([f"only in {k}: {v}" for v in range(graph.n)])
        here = np.flatnonzero(one.table[:, k] >= 0)
        own[one.table[here, k]] = names[here]
        labels = one.random.integers(0, 3, graph.n)
        named.append(graph.replace(vertex_names=own, labels=labels, coordinates=one.random.random((graph.n, 2))))
    by_name = ct.couple_pairs(named, "names")
    assert by_name.pairs is not None
    for found, expected in zip(by_name.graphs, coupled(one.graphs, by_name.pairs.table).graphs, strict=True):
        assert_same(found, expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_order_of_views(seed: int) -> None:
    one = case(seed)
    turn = one.random.permutation(len(one.graphs))
    expected = coupled(one.graphs, one.table, 1e-8)
    found = coupled([one.graphs[k] for k in turn], one.table[:, turn], 1e-8)
    for graph, k in zip(found.graphs, turn, strict=True):
        assert_close(dense(graph), dense(expected.graphs[k]))


@pytest.mark.parametrize("seed", SEEDS)
def test_units_of_weights(seed: int) -> None:
    one = case(seed)
    units = 10.0 ** one.random.uniform(-3, 3, len(one.graphs))
    scaled = [graph.with_weights(unit * graph.w) for graph, unit in zip(one.graphs, units, strict=True)]
    expected, found = coupled(one.graphs, one.table, 1e-8), coupled(scaled, one.table, 1e-8)
    for graph, given, unit in zip(found.graphs, expected.graphs, units, strict=True):
        assert_close(dense(graph) / unit, dense(given))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("shares_items", [True, False])
def test_a_view_that_has_nothing_to_do_with_the_others(seed: int, shares_items: bool) -> None:
    """One that shares items but no structure, or no items; small or large, wherever it stands."""
    one = case(seed)
    n = int(one.random.integers(25, 300))
    column = np.full(len(one.table), -1)
    if shares_items:
        some = one.random.choice(len(one.table), min(n, len(one.table)), replace=False)
        column[some] = one.random.permutation(n)[: len(some)]
    place = int(one.random.integers(0, len(one.graphs) + 1))
    graphs = [*one.graphs[:place], unrelated(one.random, n), *one.graphs[place:]]
    expected = coupled(one.graphs, one.table)
    found = coupled(graphs, np.insert(one.table, place, column, axis=1))
    assert_same(found.graphs[place], graphs[place])
    others = [k for k in range(len(graphs)) if k != place]
    for k, given in zip(others, expected.graphs, strict=True):
        assert_same(found.graphs[k], given)
    for figure in ("alpha", "times", "cost", "distance", "optimality"):
        assert getattr(found, figure) == getattr(expected, figure)
    assert_array_equal(found.coupling, expected.coupling)
    assert_array_equal(found.common_graph().graph.w, expected.common_graph().graph.w)


def test_five_vertices_that_share_no_item() -> None:
    """They once lowered the number of modes from 24 to 1."""
    one = case(0)
    table = np.column_stack([one.table, np.full(len(one.table), -1)])
    found = coupled([*one.graphs, ct.Graph(5, [0, 1, 2], [1, 2, 3], np.ones(3))], table)
    expected = coupled(one.graphs, one.table)
    assert found.pairs is not None
    assert expected.pairs is not None
    assert found.pairs.n_modes == expected.pairs.n_modes > 1
    assert_same(found.graphs[0], expected.graphs[0])
