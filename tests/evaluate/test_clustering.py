"""Judging clusters."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from sklearn import metrics

import cotherm as ct


@pytest.mark.parametrize("seed", range(5))
def test_accuracy_is_the_best_of_all_assignments(seed: int) -> None:
    random = np.random.default_rng(seed)
    truth, found = random.integers(0, 4, 40), random.integers(0, 4, 40)
    best = max(np.mean(np.array(order)[found] == truth) for order in permutations(range(4)))
    assert ct.evaluate.clustering_accuracy(truth, found) == pytest.approx(best)


def test_names_of_clusters_do_not_matter() -> None:
    truth = ["cat", "cat", "dog", "dog", "eel"]
    assert ct.evaluate.clustering_accuracy(truth, [7, 7, 1, 1, 3]) == 1.0
    assert ct.evaluate.clustering_accuracy(truth, [7, 7, 7, 7, 3]) == pytest.approx(0.6)
    assert ct.evaluate.clustering_accuracy([0, 0, 0, 0], [0, 1, 2, 3]) == 0.25


def test_scores_against_scikit_learn() -> None:
    random = np.random.default_rng(1)
    truth, found = random.integers(0, 3, 60), random.integers(0, 5, 60)
    scores = ct.evaluate.clustering_scores(truth, found)
    assert scores["NMI"] == pytest.approx(metrics.normalized_mutual_info_score(truth, found))
    assert scores["AMI"] == pytest.approx(metrics.adjusted_mutual_info_score(truth, found))
    assert scores["ARI"] == pytest.approx(metrics.adjusted_rand_score(truth, found))


@pytest.mark.parametrize(
    ("truth", "found", "argument"),
    [([0, 1], [0], "clusters"), ([], [], "classes"), ([[0, 1]], [0, 1], "classes"), ([0, 1], [0.5, 1.0], "clusters")],
)
def test_bad_input_is_named(truth: list[int], found: list[int], argument: str) -> None:
    with pytest.raises(ct.CothermError) as caught:
        ct.evaluate.clustering_accuracy(truth, found)
    assert caught.value.argument == argument
