"""Products of walks on several views, against small cases by hand."""

from __future__ import annotations

import numpy as np
import pytest

import cotherm as ct
from benchmarks.pairs.diffusions import alternating, entropies, integrated, knee, walk

PATH = ct.Graph(3, [0, 1], [1, 2], [1.0, 0.5])
OTHER = ct.Graph(3, [0, 0], [1, 2], [1.0, 1.0])


def test_a_step_may_stay() -> None:
    np.testing.assert_allclose(walk(PATH), [[0.5, 0.5, 0], [0.4, 0.4, 0.2], [0, 1 / 3, 2 / 3]])


def test_alternating_steps_go_through_all_views() -> None:
    A = walk(PATH) @ walk(OTHER)
    W = alternating([PATH, OTHER]).adjacency().toarray()
    off = ~np.eye(3, dtype=bool)
    np.testing.assert_allclose(W[off], (0.5 * (A + A.T))[off])
    assert np.all(np.diag(W) == 0.0)


def test_only_what_all_views_know_of_is_left() -> None:
    pairs = ct.Graph(4, [0, 2], [1, 3], [1.0, 1.0])
    square = ct.Graph(4, [0, 1, 2, 0], [1, 2, 3, 3], [1.0, 1.0, 1.0, 1.0])
    W = alternating([pairs, square]).adjacency().toarray()
    assert W[0, 1] > W[0, 2]
    assert alternating([pairs, pairs]).adjacency().toarray()[0, 2] == 0.0


def test_the_knee_of_a_curve() -> None:
    assert knee(np.array([10.0, 5.0, 1.0, 0.9, 0.8, 0.7])) == 3
    assert knee(np.array([2.0, 1.0, 0.0])) == 1


def test_entropy_falls_to_the_number_of_parts() -> None:
    two = ct.Graph(6, [0, 1, 3, 4], [1, 2, 4, 5], [1.0] * 4)
    curve = entropies(two)
    assert np.all(np.diff(curve) < 1e-12)
    assert curve[-1] == pytest.approx(np.log(2.0), abs=1e-6)


def test_views_with_more_noise_get_more_steps() -> None:
    same = [PATH, PATH]
    assert integrated(same) == alternating(same)
    n = 40
    i, j = np.triu_indices(n, 1)
    full = ct.Graph(n, i, j, np.ones(len(i)))  # one step removes all but the constant
    ring = ct.Graph(n, np.arange(n - 1), np.arange(1, n), np.ones(n - 1))
    slow, quick = knee(entropies(ring)), knee(entropies(full))
    assert slow > quick
    A = walk(full) @ np.linalg.matrix_power(walk(ring), int(np.ceil(slow / quick)))
    W = integrated([full, ring]).adjacency().toarray()
    np.testing.assert_allclose(W[i, j], (0.5 * (A + A.T))[i, j], atol=1e-12)
