"""Corresponding functions from landmarks and labels."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import cotherm as ct
from cotherm import functions
from tests import problems, references
from tests.problems import refused


def test_landmarks_are_smoothed_deltas() -> None:
    graph = problems.cloud(200)
    F = ct.landmark_functions(graph, [3, 77])
    time = 2.0 / np.median(graph.degrees)
    expected = references.heat_kernel(graph, time)[:, [3, 77]]
    assert_allclose(F, expected / np.linalg.norm(expected, axis=0), atol=1e-9)
    assert np.all((F > 0.01).sum(axis=0) > 3)


@pytest.mark.parametrize("landmarks", [[17], [5, 900]])
def test_bumps_cover_the_part_that_is_asked_for(landmarks: list[int]) -> None:
    graph = ct.knn_graph(np.random.default_rng(0).random((2_500, 2)), 8)
    F = ct.landmark_functions(graph, landmarks, cover=0.03)
    assert_allclose(np.linalg.norm(F, axis=0), 1.0)
    assert_allclose(np.mean(1.0 / np.sum(F**4, axis=0)), 75.0, rtol=0.1)
    assert_array_equal(ct.landmark_functions(graph, landmarks, cover=1e-6), ct.landmark_functions(graph, landmarks))


def test_bumps_end_growing_where_there_is_nothing_left_to_cover() -> None:
    pieces = np.arange(0, 3_000, 3)
    graph = ct.Graph(3_000, [*pieces, *pieces + 1], [*pieces + 1, *pieces + 2], np.ones(2_000))
    F = ct.landmark_functions(graph, [4], cover=0.04)
    assert_allclose(F[3:6, 0], np.full(3, 3**-0.5), atol=1e-9)
    assert_allclose(np.linalg.norm(F), 1.0)


def test_bad_covers() -> None:
    graph = problems.ring(6)
    covers: list[Any] = [0.0, 1.0, -0.1, np.nan, "much"]
    for cover in covers:
        assert refused(partial(ct.landmark_functions, graph, [4], cover=cover)) == "cover"
    assert refused(lambda: ct.landmark_functions(graph, [4], cover=0.1, time=1.0)) == "cover"


def test_landmarks_without_smoothing_are_deltas() -> None:
    F = ct.landmark_functions(problems.ring(6), [4, 0], time=0.0)
    assert_array_equal(F, np.eye(6)[:, [4, 0]])
    assert_array_equal(ct.landmark_functions(ct.Graph(3, [], [], []), [1]), [[0.0], [1.0], [0.0]])


def test_landmarks_do_not_depend_on_the_scale_of_the_weights() -> None:
    graph = problems.cloud(150)
    assert_allclose(
        ct.landmark_functions(graph.with_weights(100 * graph.w), [5]), ct.landmark_functions(graph, [5]), atol=1e-9
    )


def test_labels_are_indicators() -> None:
    assert_array_equal(ct.label_functions([2, 0, 2], unit_norm=False), [[0, 1], [1, 0], [0, 1]])
    assert_array_equal(ct.label_functions(["b", "a"], classes=["b", "c", "a"]), [[1, 0, 0], [0, 0, 1]])
    assert_array_equal(ct.label_functions([1, -1, 3], unlabeled=-1), [[1, 0], [0, 0], [0, 1]])
    assert_array_equal(ct.label_functions(["b", "a", "b", "b", "b"]), [[0, 0.5], [1, 0], [0, 0.5], [0, 0.5], [0, 0.5]])


def test_the_classes_of_every_view_are_shared() -> None:
    labels = [["c", "a", "b", "?"], ["b", "b", "d", "a"], ["a", "b", "b", "b", "b", "c"]]
    with pytest.warns(ct.CothermWarning) as caught:
        functions, classes = ct.shared_label_functions(labels, unlabeled="?")
    assert [str(one.message) for one in caught] == [
        "classes that some view lacks are left out: 'c' (not in labels[1]), 'd' (not in labels[0], labels[2])"
    ]
    assert classes == ["a", "b"]
    assert_array_equal(functions[0], [[0, 0], [1, 0], [0, 1], [0, 0]])
    assert_allclose(functions[1], [[0, 0.5**0.5], [0, 0.5**0.5], [0, 0], [1, 0]])
    assert_array_equal(functions[2], [[1, 0], [0, 0.5], [0, 0.5], [0, 0.5], [0, 0.5], [0, 0]])
    for F in functions:
        assert_allclose(F.T @ F, np.eye(2), atol=1e-15)  # they agree at t = 0


def test_shared_labels_without_scaling_and_of_other_kinds() -> None:
    functions, classes = ct.shared_label_functions([[2, 5, 2], np.array([5, 2], dtype=np.uint64)], unit_norm=False)
    assert classes == [2, 5]
    assert_array_equal(functions[0], [[1, 0], [0, 1], [1, 0]])
    assert_array_equal(functions[1], [[0, 1], [1, 0]])
    large = 2**63 - 1  # as floats this and its neighbor would be one class
    exact = ct.shared_label_functions([[large, large - 1], np.array([large - 1, large], dtype=np.uint64)])
    assert exact.classes == [large - 1, large]
    assert ct.shared_label_functions([[True, False], [False, True]]).classes == [False, True]


@pytest.mark.parametrize(
    ("labels", "argument"),
    [
        ("abc", "labels"),
        (None, "labels"),
        ([], "labels"),
        ([[1, 2], [3, 4]], "labels"),
        ([[1, 2], ["1", "2"]], "labels"),
        ([[-1, -1], [1, -1]], "labels"),
        ([[1, 2], [0.5]], "labels[1]"),
        ([[1, 2], []], "labels[1]"),
        ([[1, 2], [[1, 2]]], "labels[1]"),
        ([["a"], ["a"]], "unlabeled"),
    ],
)
def test_labels_that_share_nothing_are_refused(labels: Any, argument: str) -> None:
    assert problems.refused(lambda: ct.shared_label_functions(labels, unlabeled=-1)) == argument


@pytest.mark.parametrize("vertices", [[], [9], [-1], [0.5], ["a"], [[1]]])
def test_bad_landmarks(vertices: Any) -> None:
    with pytest.raises(ct.CothermError, match="vertices"):
        ct.landmark_functions(problems.ring(9), vertices)


def test_bad_landmark_time() -> None:
    with pytest.raises(ct.CothermError, match="time"):
        ct.landmark_functions(problems.ring(9), [0], time=-1.0)


@pytest.mark.parametrize(
    ("labels", "classes", "argument"),
    [
        ([], None, "labels"),
        ([0.5, 1.0], None, "labels"),
        ([[1, 2]], None, "labels"),
        ([1, 2], [1], "labels"),
        ([1, 2], [1, 1, 2], "classes"),
        ([1, 2], [], "classes"),
    ],
)
def test_bad_labels(labels: Any, classes: Any, argument: str) -> None:
    with pytest.raises(ct.CothermError) as caught:
        ct.label_functions(labels, classes=classes)
    assert caught.value.argument == argument


@pytest.mark.parametrize(
    ("labels", "unlabeled"),
    [
        ([1, 2], [1]),
        ([1, 2], "a"),
        ([1, 2], 1.0),
        ([1, 2], True),
        (["a", "b"], 0),
        (["a"], ["a"]),
        (["a"], {}),
        ([True], 1),
        ([1, 2, 3], np.array([1, 2])),
    ],
)
def test_unlabeled_is_one_label_of_the_same_kind(labels: Any, unlabeled: Any) -> None:
    assert problems.refused(lambda: ct.label_functions(labels, unlabeled=unlabeled)) == "unlabeled"


def test_classes_of_another_kind_are_refused() -> None:
    assert problems.refused(lambda: ct.label_functions([1, 2], classes=["1", "2"])) == "classes"
    assert_array_equal(ct.label_functions(np.array([1, 2], dtype=np.uint8), classes=[2, 1]), [[0, 1], [1, 0]])


@pytest.mark.parametrize("bad", [None, "a", 3, {}, [], [[1]], object()])
def test_arguments_of_wrong_types_are_named(bad: Any) -> None:
    ring = problems.ring(9)
    assert problems.refused(lambda: ct.landmark_functions(bad, [0])) == "graph"
    assert problems.refused(lambda: ct.feature_functions(bad, np.arange(9.0))) == "graph"
    assert problems.refused(lambda: ct.landmark_functions(ring, bad)) == "vertices"
    assert problems.refused(lambda: ct.feature_functions(ring, bad)) == "features"
    assert problems.refused(lambda: ct.label_functions(bad)) == "labels"
    if not isinstance(bad, int | None):
        assert problems.refused(lambda: ct.landmark_functions(ring, [0], time=bad)) == "time"
        assert problems.refused(lambda: ct.landmark_functions(ring, [0], cover=bad)) == "cover"
        assert problems.refused(lambda: ct.feature_functions(ring, np.arange(9.0), time=bad)) == "time"
        assert problems.refused(lambda: ct.label_functions([1, 2], classes=bad)) == "classes"


@pytest.mark.parametrize("labels", [[1, "a"], ["a", 1, "b"], [True, 2], ["a", None], [1, 2.0]])
def test_mixed_labels_are_refused(labels: Any) -> None:
    for call in (ct.label_functions, lambda mixed: ct.Graph(len(mixed), [], [], [], labels=mixed)):
        with pytest.raises(ct.CothermError, match="labels: labels of several kinds"):
            call(labels)
    with pytest.raises(ct.CothermError, match="classes: labels of several kinds"):
        ct.label_functions(["a", "b"], classes=labels)


def test_features_are_smooth_centered_and_of_unit_norm() -> None:
    graph = problems.random_graph(30, 90, seed=1)
    features = np.random.default_rng(0).random((30, 3)) * [1.0, 1e6, 1e-6] + [0.0, 1e9, 5.0]
    F = ct.feature_functions(graph, features)
    assert_allclose(F.mean(axis=0), 0.0, atol=1e-12)
    assert_allclose(np.linalg.norm(F, axis=0), 1.0)
    rough = ct.feature_functions(graph, features, time=0.0)
    L = graph.laplacian()
    assert (np.sum(F * (L @ F), axis=0) < np.sum(rough * (L @ rough), axis=0)).all()
    centered = features - features.mean(axis=0)
    assert_allclose(rough, centered / np.linalg.norm(centered, axis=0), atol=1e-6)


@pytest.mark.parametrize(
    ("features", "time", "argument"),
    [
        (np.ones((9, 2)), None, "features"),
        (np.zeros((8, 1)), None, "features"),
        (np.zeros((9, 0)), None, "features"),
        (np.arange(9.0), -1.0, "time"),
        (np.arange(9.0), 1e6, "time"),
    ],
)
def test_bad_features(features: Any, time: float | None, argument: str) -> None:
    with pytest.raises(ct.CothermError) as caught:
        ct.feature_functions(problems.ring(9), features, time=time)
    assert caught.value.argument == argument


@pytest.mark.parametrize("seed", range(3))
def test_smooth_modes_of_a_graph_in_more_pieces_than_modes(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are constant on pieces, whose numbers say so: nothing is iterated for, however many pieces there are."""
    random, n, k = np.random.default_rng(seed), 2_500, 9
    ends = np.flatnonzero(random.random(n - 1) < (0.0, 0.3, 0.98)[seed])
    graph = ct.Graph(n, ends, ends + 1, random.random(len(ends)) + 0.1)
    assert graph.component_count > k
    monkeypatch.setattr(functions, "smallest_pairs", lambda *_: pytest.fail("iterates"))
    modes = functions.smooth_modes(graph, k)
    assert_allclose(modes.T @ modes, np.eye(k), atol=1e-12)
    assert_allclose(modes.sum(axis=0), 0.0, atol=1e-10)
    assert_allclose(graph.laplacian() @ modes, 0.0, atol=1e-13)
    assert np.count_nonzero(np.abs(modes).max(axis=1)) == n  # no piece is left out
