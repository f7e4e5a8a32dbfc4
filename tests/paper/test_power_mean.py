"""Means of Laplacians as matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import cotherm as ct
from cotherm.heat.spectrum import normalized_laplacian
from paper.data import nus
from paper.rivals.power_mean import power_mean
from tests import problems


def pair() -> list[ct.Graph]:
    return [problems.random_graph(20, 60, seed) for seed in (1, 2)]


def test_against_matrix_functions() -> None:
    g = pair()
    shifted = [normalized_laplacian(x).toarray() + 0.1 * np.eye(20) for x in g]
    for power in (-1.0, 2.0, 0.5):
        powers = [scipy.linalg.fractional_matrix_power(A, power) for A in shifted]
        expected = scipy.linalg.fractional_matrix_power(0.5 * (powers[0] + powers[1]), 1 / power)
        assert np.allclose(power_mean(g, power=power).matrix, expected, atol=1e-10)


def test_power_one_is_the_mean() -> None:
    g = pair()
    mean = power_mean(g, power=1.0, shift=0.0, normalized=False).matrix
    assert np.allclose(mean, ct.average(g).graph.laplacian().toarray(), atol=1e-14)


def test_large_negative_powers_keep_the_smooth_modes() -> None:
    g = problems.ring(16)
    result = power_mean([g, g], power=-20.0)
    assert np.allclose(result.bases[0].values[:4], np.linalg.eigvalsh(result.matrix)[:4])
    expected = np.sort(np.linalg.eigvalsh(normalized_laplacian(g).toarray()))[:4] + 0.1
    assert np.allclose(result.bases[0].values[:4], expected, rtol=1e-5)


def test_answers() -> None:
    result = power_mean(ct.datasets.circles().graphs)
    assert [x.shape for x in result.embedding(2)] == [(64, 2)] * 2
    clusters = result.clusters(2)
    assert clusters[0] is clusters[1]
    assert "Power mean" in str(result)


RING, SMALLER = problems.ring(6), problems.ring(5)
BAD: dict[str, tuple[Callable[[], Any], str]] = {
    "sizes": (lambda: power_mean([RING, SMALLER]), "graphs"),
    "power": (lambda: power_mean([RING, RING], power=0.0), "power"),
    "deep power": (lambda: power_mean([RING, RING], power=-1000.0), "power"),
    "one row": (lambda: power_mean([ct.Graph(1, [], [], [])] * 2, power=0.0), "power"),
    "large power": (lambda: power_mean([RING, problems.path(6)], power=60.0, shift=0.0), "power"),
    "shift": (lambda: power_mean([RING, RING], shift=0.0), "shift"),
    "negative shift": (lambda: power_mean([RING, RING], shift=-1.0), "shift"),
    "normalized": (lambda: power_mean([RING, RING], normalized=None), "normalized"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named(case: str) -> None:
    call, argument = BAD[case]
    assert problems.refused(call) == argument


def test_clusters_of_real_images(data_file: Callable[[str], Any]) -> None:
    """NUS on the graphs stored with it: stored are .952 for the mean of Laplacians, .890 for the harmonic."""
    views = nus(stored=True, data=data_file("nus/NUS_results.mat").parents[1])
    labels = views.labels
    assert labels is not None

    def accuracy(result: Any) -> float:
        return ct.evaluate.clustering_accuracy(labels, result.clusters(7)[0])

    assert accuracy(power_mean(views.graphs, power=1.0)) >= 0.952 - 0.02
    assert accuracy(power_mean(views.graphs)) >= 0.890 - 0.02
