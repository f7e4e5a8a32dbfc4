"""Whether two views are related: moments of chance against permutations, and verdicts on views that are known."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

import cotherm as ct
from cotherm.arrays import Floats
from cotherm.engines import default_engine
from cotherm.methods.pairs.relation import Relation, compared, compared_all, relations
from cotherm.methods.pairs.rules import FEWEST
from cotherm.pairs import Pairs

RNG = np.random.default_rng(2)


def kernel(n: int, rank: int, seed: int) -> Floats:
    X = np.random.default_rng(seed).standard_normal((n, rank))
    return np.exp(X @ X.T / rank)


def relation(first: ct.Graph, second: ct.Graph, seed: int = 0) -> Relation:
    same = np.tile(np.arange(first.n)[:, np.newaxis], 2)
    (found,) = relations([first, second], Pairs(same, (first.n, second.n)), seed, default_engine())
    return found


def families(n: int, size: int, order: NDArray[np.integer]) -> ct.Graph:
    """Cliques of a size; which items are together says the order."""
    members = order.reshape(n // size, size)
    i, j = np.triu_indices(size, 1)
    return ct.Graph(n, members[:, i].ravel(), members[:, j].ravel(), np.ones(len(members) * len(i)))


def test_correlation_is_that_of_the_entries_off_the_diagonal() -> None:
    first, second = kernel(80, 4, 0), kernel(80, 80, 1)
    off = ~np.eye(80, dtype=bool)
    assert_allclose(compared_all(first, second)[0], np.corrcoef(first[off], second[off])[0, 1])
    assert_allclose(compared(first, second)[0], np.corrcoef(first.ravel(), second.ravel())[0, 1])


def test_deviations_are_in_units_of_what_permuted_views_have() -> None:
    """The standard deviation over many permutations, of all items at once and of sources and others."""
    first = kernel(30, 3, 0)
    second = first + 0.5 * kernel(30, 3, 1)
    orders = [RNG.permutation(30) for _ in range(4_000)]
    sums = [compared_all(first, second[np.ix_(order, order)])[0] for order in orders]
    found = compared_all(first, second)
    assert_allclose(found[0] / found[1], np.std(sums), rtol=0.05)
    rows, columns = first[:12], second[:12]
    sums = [compared(rows, columns[RNG.permutation(12)][:, RNG.permutation(30)])[0] for _ in range(4_000)]
    found = compared(rows, columns)
    assert_allclose(found[0] / found[1], np.std(sums), rtol=0.05)


@pytest.mark.parametrize("all_items", [True, False])
def test_p_values_are_those_of_permuted_views(all_items: bool) -> None:
    """Of permuted views a tenth has a p-value below a tenth, and a hundredth one below a hundredth, about."""
    first = kernel(60, 5, 0)
    values = []
    for _ in range(2_000):
        order = RNG.permutation(60)
        second = first[np.ix_(order, order)]
        values.append((compared_all(first, second) if all_items else compared(first[:25, 25:], second[:25, 25:]))[2])
    assert_allclose(np.mean(np.array(values) < 0.1), 0.1, atol=0.03)
    assert np.mean(np.array(values) < 0.01) < 0.03


def test_related_views_are_told_from_permuted_ones() -> None:
    points = RNG.standard_normal((120, 5))
    first, second = (ct.knn_graph(points + 0.7 * RNG.standard_normal(points.shape)) for _ in range(2))
    order = RNG.permutation(120)
    permuted = ct.Graph(120, order[second.i], order[second.j], second.w)
    assert relation(first, second).related
    assert not relation(first, permuted).related


@pytest.mark.parametrize("seed", range(12))
def test_power_does_not_fall_with_the_number_of_items(seed: int) -> None:
    """Small families, of which a sample of items would hold hardly any two of one."""
    n = 30_000
    first = families(n, 5, np.arange(n))
    half = np.arange(n)
    half[: n // 2] = np.random.default_rng(seed).permutation(n // 2)
    found = relation(first, families(n, 5, half), seed)
    assert found.related
    assert_allclose(found.correlation, 0.5, atol=0.15)


@pytest.mark.parametrize("n", [500, 5_000])
def test_a_few_coincidences_are_not_a_relation(n: int) -> None:
    random = np.random.default_rng(n)
    first, second = (families(n, 5, random.permutation(n)) for _ in range(2))
    assert not relation(first, second).related


def test_graphs_on_which_heat_stays_or_is_even_are_not_related() -> None:
    empty, star = ct.Graph(40, [], [], []), ct.Graph(40, np.zeros(39, dtype=int), np.arange(1, 40), np.ones(39))
    for views in ((empty, empty), (empty, star)):
        found = relation(*views)
        assert not found.related
        assert found.p_value == 1.0


def test_too_few_items_are_not_compared() -> None:
    graph = ct.knn_graph(RNG.standard_normal((FEWEST - 1, 2)), k=3)
    found = relation(graph, graph)
    assert np.isnan(found.correlation)
    assert np.isnan(found.p_value)
    assert not found.related
