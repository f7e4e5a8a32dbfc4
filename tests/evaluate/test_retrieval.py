"""Leave-one-out retrieval, against scikit-learn and by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics import average_precision_score

import cotherm as ct
from tests import problems


def case(seed: int = 0, n: int = 40) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, 2))
    return cdist(X, X), random.integers(0, 3, n)


def test_average_precision_is_scikit_learns() -> None:
    D, labels = case()
    found = ct.evaluate.retrieval(D, labels)
    for q, score in zip(found.queries, found.average_precisions, strict=True):
        others = np.delete(np.arange(len(D)), q)
        expected = average_precision_score(labels[others] == labels[q], -D[q, others])
        assert score == pytest.approx(expected)
    assert found.mean_average_precision == pytest.approx(found.average_precisions.mean())


def test_by_hand() -> None:
    D = np.array([[0.0, 1, 2, 3], [1, 0, 2, 3], [2, 2, 0, 1], [3, 3, 1, 0]])
    found = ct.evaluate.retrieval(D, ["a", "b", "a", "b"])
    # From item 0: b, a, b. From 1: a, a or the other way, then b. From 2: b, then a and b. From 3: a, then a and b.
    assert found.average_precisions[0] == pytest.approx(1 / 2)
    assert found.average_precisions[1] == pytest.approx(1 / 3)
    assert found.precision_at(1) == 0.0
    assert found.precision_at(3) == pytest.approx(1 / 3)


def test_perfect_and_worst() -> None:
    labels = np.repeat([0, 1], 5)
    apart = (labels[:, np.newaxis] != labels).astype(float)
    assert ct.evaluate.retrieval(apart, labels).mean_average_precision == 1.0
    levels, precision = ct.evaluate.retrieval(apart, labels).curve()
    assert np.all(precision == 1.0)
    assert levels[0] == 0.0
    assert levels[-1] == 1.0
    assert ct.evaluate.retrieval(1.0 - apart, labels).precision_at(5) == 0.0


def test_the_curve_by_hand() -> None:
    D = np.array([[0.0, 1, 2, 3, 4]] * 5)
    found = ct.evaluate.retrieval(D, [0, 1, 0, 1, 0])
    q = int(np.flatnonzero(found.queries == 0)[0])
    assert found.relevant[q].tolist() == [False, True, False, True]
    one = ct.evaluate.Retrieval(found.queries[[q]], found.ranked[[q]], found.relevant[[q]])
    levels, precision = one.curve([0.0, 0.5, 0.51, 1.0])
    assert precision.tolist() == [0.5, 0.5, 0.5, 0.5]
    assert levels.tolist() == [0.0, 0.5, 0.51, 1.0]


def test_ties_do_not_know_the_classes() -> None:
    """Items sorted by class, all at one distance: a score no better than chance."""
    labels = np.repeat(np.arange(4), 50)
    scores = [ct.evaluate.retrieval(np.ones((200, 200)), labels, seed=s).mean_average_precision for s in range(5)]
    assert np.mean(scores) == pytest.approx(0.25, abs=0.03)


def test_relabelling_does_not_matter_without_ties() -> None:
    D, labels = case(3)
    order = np.random.default_rng(1).permutation(len(D))
    first = ct.evaluate.retrieval(D, labels)
    second = ct.evaluate.retrieval(D[np.ix_(order, order)], labels[order])
    assert first.mean_average_precision == pytest.approx(second.mean_average_precision)
    assert np.allclose(first.curve()[1], second.curve()[1])


def test_an_item_alone_in_its_class_is_no_query() -> None:
    D, _ = case(n=5)
    assert ct.evaluate.retrieval(D, [0, 0, 1, 1, 2]).queries.tolist() == [0, 1, 2, 3]


D, LABELS = case(n=6)
BAD: dict[str, tuple[Callable[[], Any], str]] = {
    "not square": (lambda: ct.evaluate.retrieval(D[:4], LABELS), "distances"),
    "NaN": (lambda: ct.evaluate.retrieval(D * np.nan, LABELS), "distances"),
    "labels": (lambda: ct.evaluate.retrieval(D, LABELS[:4]), "labels"),
    "all alone": (lambda: ct.evaluate.retrieval(D, np.arange(6)), "labels"),
    "seed": (lambda: ct.evaluate.retrieval(D, LABELS, seed=-1), "seed"),
    "k": (lambda: ct.evaluate.retrieval(D, np.zeros(6, dtype=int)).precision_at(6), "k"),
    "levels": (lambda: ct.evaluate.retrieval(D, np.zeros(6, dtype=int)).curve([1.5]), "levels"),
    "shapes": (lambda: ct.evaluate.foscttm(np.ones((3, 2)), np.ones((4, 2))), "Y"),
    "one sample": (lambda: ct.evaluate.foscttm(np.ones((1, 2)), np.ones((1, 2))), "X"),
    "vector": (lambda: ct.evaluate.foscttm(np.ones(3), np.ones(3)), "X"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named(case: str) -> None:
    call, argument = BAD[case]
    assert problems.refused(call) == argument


def test_foscttm_by_hand() -> None:
    X = np.arange(4.0)[:, np.newaxis]
    assert ct.evaluate.foscttm(X, X) == 0.0
    # Sample 0 lies at 0 and its match at 3, farther than all three others. Sample 1 lies at 1 and its match at 2: the
    # one at 1 is closer, that at 0 as close, that at 3 farther.
    assert ct.evaluate.foscttm(X, X[::-1]) == pytest.approx((3 + 1.5) / 6)
    assert ct.evaluate.foscttm(np.zeros((5, 1)), np.zeros((5, 1))) == 0.5
    random = np.random.default_rng(0)
    assert ct.evaluate.foscttm(random.standard_normal((300, 3)), random.standard_normal((300, 3))) == pytest.approx(
        0.5, abs=0.03
    )
