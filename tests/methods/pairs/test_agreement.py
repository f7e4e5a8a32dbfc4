"""Agreement of two views, against its definition written out."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from cotherm.arrays import Floats
from cotherm.methods.pairs.agreement import chance_precision, compared, precision, related

RNG = np.random.default_rng(2)


def kernel(n: int, rank: int, seed: int) -> Floats:
    X = np.random.default_rng(seed).standard_normal((n, rank))
    return X @ X.T


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


def test_views_with_something_in_common_are_told_from_permuted_ones() -> None:
    first = kernel(80, 4, 0)
    second = first + 2.0 * kernel(80, 80, 1) / 9.0
    order = RNG.permutation(80)
    size, beyond = compared(first, second, 0)
    off = ~np.eye(80, dtype=bool)
    assert_allclose(size, np.corrcoef(first[off], second[off])[0, 1])
    assert related(size, beyond)
    assert not related(*compared(first, second[np.ix_(order, order)], 0))
    assert not related(0.01, 50.0)
