"""Agreement of two views, against its definition written out."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from cotherm.arrays import Floats
from cotherm.methods.pairs.agreement import chance_precision, precision, wanted

RNG = np.random.default_rng(2)


def slow_precision(ranking: Floats, truth: Floats, itself: int, count: int) -> float:
    others = [item for item in range(len(truth)) if item != itself]
    wanted = set(sorted(others, key=lambda item: -truth[item])[:count])
    found, total = 0, 0.0
    for place, item in enumerate(sorted(others, key=lambda item: -ranking[item]), start=1):
        if item in wanted:
            found += 1
            total += found / place
    return total / count


def test_precision_is_the_average_precision() -> None:
    ranking, truth = RNG.standard_normal((7, 60)), RNG.standard_normal((7, 60))
    itself = RNG.integers(0, 60, 7)
    expected = [slow_precision(ranking[k], truth[k], int(itself[k]), 10) for k in range(7)]
    assert_allclose(precision(ranking, truth, itself), expected)
    assert_allclose(precision(truth, truth, itself), 1.0)


@pytest.mark.parametrize("n", [9, 30, 200])
def test_chance_is_the_precision_of_random_rankings(n: int) -> None:
    truth = np.tile(RNG.standard_normal(n), (4_000, 1))
    found = precision(RNG.standard_normal((4_000, n)), truth, np.zeros(4_000, dtype=np.int64))
    assert_allclose(found.mean(), chance_precision(n), atol=5.0 * found.std() / np.sqrt(4_000))


def orders(values: Floats) -> list[list[int]]:
    """All orders of items by falling values, one for every way to break ties."""
    found: list[list[int]] = [[]]
    for value in np.unique(values)[::-1]:
        tied = np.flatnonzero(values == value).tolist()
        found = [[*one, *more] for one in found for more in permutations(tied)]
    return found


@pytest.mark.parametrize("seed", range(6))
def test_ties_count_by_their_expectation(seed: int) -> None:
    """The mean over all ways to break ties in the ranking and in the truth, written out."""
    random = np.random.default_rng(seed)
    ranking, truth = (random.integers(0, levels, 6).astype(float) for levels in (3, 4))
    count = wanted(6 + 1)
    scores = []
    for by_truth in orders(truth):
        for by_ranking in orders(ranking):
            hits = np.isin(by_ranking, by_truth[:count])
            scores.append(np.sum(hits * np.cumsum(hits) / np.arange(1, 7)) / count)
    by_heat, by_other = (np.concatenate([[9.0], values])[np.newaxis] for values in (ranking, truth))
    found = precision(by_heat, by_other, np.zeros(1, dtype=np.int64))
    assert_allclose(found, np.full(1, np.mean(scores)))


def test_the_order_of_rows_does_not_matter() -> None:
    """Also where nearly everything is tied: few values, rounded differently."""
    ranking, truth = (RNG.integers(0, 3, (5, 40)).astype(np.float64) / 3.0 for _ in range(2))
    order = RNG.permutation(40)
    itself = np.zeros(5, dtype=np.int64)
    there = np.full(5, np.flatnonzero(order == 0)[0], dtype=np.int64)
    noise = 1e-15 * RNG.standard_normal((5, 40))
    found = precision((ranking + noise)[:, order], truth[:, order], there)
    assert_allclose(found, precision(ranking, truth, itself), rtol=1e-12)


def test_heat_that_reaches_nothing_agrees_by_chance() -> None:
    nothing = np.zeros((3, 50))
    assert_allclose(precision(nothing, nothing, np.zeros(3, dtype=np.int64)), chance_precision(50))
