"""What estimators are given: rows and columns by name, parameters before the work, and a fit that fails."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import cotherm as ct
from tests.problems import refused

N = 40
CLASS = np.arange(N) % 3
A = np.eye(3)[CLASS] @ np.random.default_rng(0).normal(0.0, 4.0, (3, 5)) + np.random.default_rng(1).normal(size=(N, 5))
B = A[:, ::-1] + np.random.default_rng(2).normal(0.0, 0.5, (N, 5))
IDS = [f"s{v}" for v in range(N)]
FRAMES = [pd.DataFrame(A, IDS, list("abcde")), pd.DataFrame(B, IDS, list("uvwxy"))]
STEPS: dict[str, Any] = {"max_iterations": 2}
LABELS: dict[str, Any] = {"n_neighbors": 5, "correspondence": "labels", "options": STEPS}
PAIRS: dict[str, Any] = {"n_neighbors": 5, "options": {**STEPS, "kept_back": 0, "n_modes": 5, "borrow": 0.0}}
LANDMARKS: dict[str, Any] = {
    "n_neighbors": 5,
    "correspondence": "landmarks",
    "options": {**STEPS, "n_landmarks": 3, "continuation": "direct"},
}
EVERY = [ct.HeatKernelCoupling(**PAIRS), ct.HeatKernelCoupling(**LANDMARKS)]
every = pytest.mark.parametrize("estimator", EVERY, ids=["pairs", "landmarks"])


@pytest.mark.parametrize("seed", range(3))
def test_labels_are_matched_with_the_rows_of_each_view(seed: int) -> None:
    kind = ct.HeatKernelCoupling
    views = [frame.sample(frac=1.0, random_state=seed + k) for k, frame in enumerate(FRAMES)]
    y = pd.Series(CLASS, IDS)
    right = kind(**LABELS).fit(views, [y[view.index].to_numpy() for view in views])
    for given in (y, y.sample(frac=1.0, random_state=seed), [y, y.iloc[::-1]]):
        found = kind(**LABELS).fit(views, given)
        np.testing.assert_array_equal(found.functions_[0], right.functions_[0])
        np.testing.assert_array_equal(found.functions_[1], right.functions_[1])
    functions = [pd.DataFrame(F, view.index) for F, view in zip(right.functions_, views, strict=True)]
    again = kind(n_neighbors=5, options=STEPS).fit(
        views, functions=[F.sample(frac=1.0, random_state=seed) for F in functions]
    )
    np.testing.assert_array_equal(again.embedding_[0], right.embedding_[0])
    assert refused(lambda: kind(**LABELS).fit([A, B], y)) == "y"
    assert refused(lambda: kind(**LABELS).fit(views, y.rename({"s0": "t0"}))) == "y"
    assert refused(lambda: kind(n_neighbors=5).fit([A, B], functions=functions)) == "functions[0]"


def test_one_array_beside_a_series_is_what_pipelines_hand_over() -> None:
    X = pd.DataFrame(np.hstack([A, B]), IDS)
    y = pd.Series(CLASS, IDS)
    model = ct.HeatKernelCoupling(view_columns=[5, 5], **LABELS)
    right = clone(model).fit(X, CLASS).functions_[0]
    np.testing.assert_array_equal(clone(model).fit(X, y.iloc[::-1]).functions_[0], right)
    scaled = make_pipeline(StandardScaler(), clone(model)).fit(X, y)
    np.testing.assert_array_equal(scaled[-1].functions_[0], right)


@every
def test_a_shuffled_frame_beside_an_array_is_refused(estimator: Any) -> None:
    shuffled = FRAMES[0].sample(frac=1.0, random_state=0)
    by_number = shuffled.set_axis(np.random.default_rng(0).permutation(N))
    for frame in (shuffled, by_number):
        assert refused(partial(clone(estimator).fit, [frame, B])) == "X[1]"
        assert refused(partial(clone(estimator).fit, [B, frame])) == "X[0]"
    counted = FRAMES[0].reset_index(drop=True)
    found = clone(estimator).fit([counted, B]).embedding_[0]
    np.testing.assert_array_equal(found, clone(estimator).fit([A, B]).embedding_[0])


@every
def test_frames_in_different_orders_are_matched_or_refused(estimator: Any) -> None:
    other = FRAMES[1].iloc[::-1]
    fresh = clone(estimator)
    if estimator.correspondence == "auto":
        items = fresh.fit([FRAMES[0], other]).items_
        np.testing.assert_array_equal(items[:, 1], N - 1 - items[:, 0])
        named = [ct.knn_graph(view, 5) for view in (FRAMES[0], other)]
        np.testing.assert_array_equal(clone(estimator).fit(named).items_, items)
    else:
        assert refused(lambda: fresh.fit([FRAMES[0], other])) == "X[1]"


@every
def test_columns_of_new_samples_are_those_of_training(estimator: Any) -> None:
    model = clone(estimator).set_params(n_clusters=3).fit(FRAMES)
    assert [names.tolist() for names in model.feature_names_in_] == [list("abcde"), list("uvwxy")]
    first, second = FRAMES
    wrong = [
        [first[list("edcba")], second],
        [first.rename(columns={"a": "q"}), second],
        [first, second[list("yvwxu")]],
        [second, first],
    ]
    for views in wrong:
        place = "X[0]" if views[0] is not first else "X[1]"
        assert refused(partial(model.transform, views)) == place
        assert refused(partial(model.predict, views)) == place
    with pytest.warns(ct.CothermWarning, match=r"X\[\d\] does not have names of columns, but training had"):
        by_array = model.transform([A, B])
    np.testing.assert_array_equal(by_array[0], model.transform(FRAMES)[0])
    with pytest.warns(ct.CothermWarning, match=r"X\[1\] has names of columns, training had not"):
        clone(estimator).fit([A, B]).transform([A, second.reset_index(drop=True)])


def test_columns_that_are_numbers_and_columns_of_one_frame() -> None:
    numbered = [pd.DataFrame(A, IDS), pd.DataFrame(B, IDS)]
    model = ct.HeatKernelCoupling(**LANDMARKS).fit(numbered)
    assert not hasattr(model, "feature_names_in_")
    assert refused(lambda: model.transform([numbered[0][[4, 1, 2, 3, 0]], numbered[1]])) == "X[0]"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.transform([A, B])
    one = pd.DataFrame(np.hstack([A, B]))
    stacked = ct.HeatKernelCoupling(**LANDMARKS, view_columns=[5, 5]).fit(one)
    assert refused(lambda: stacked.transform(one[one.columns[::-1]])) == "X"
    common = ct.HeatKernelCoupling(**PAIRS, output="common").fit(FRAMES)
    assert refused(lambda: common.transform([None, FRAMES[1][list("yvwxu")]])) == "X[1]"


def test_weights_of_new_samples_are_in_the_order_of_training() -> None:
    graph = ct.knn_graph(FRAMES[0], 5)
    W = pd.DataFrame(graph.adjacency().toarray(), IDS, IDS)
    by_graph = ct.HeatKernelCoupling(**LANDMARKS).fit([graph, graph])
    assert refused(partial(by_graph.transform, [W.iloc[:, ::-1], W])) == "X[0]"
    np.testing.assert_array_equal(by_graph.transform([W.to_numpy()] * 2)[0], by_graph.transform([W, W])[0])


BAD: list[tuple[str, Any]] = [
    ("n_clusters", 0), ("n_clusters", 2.0), ("n_clusters", N + 1), ("n_components", 0), ("n_components", N),
    ("t", -1.0), ("t", "long"), ("random_state", "x"), ("output", "both"), ("options", "few"),
]  # fmt: skip


@every
def test_parameters_are_refused_before_the_method_runs(estimator: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    for method in ("_couple", "_couple_pairs"):
        monkeypatch.setattr(type(estimator), method, lambda *_: ran.append("ran"))
    for name, value in BAD:
        assert refused(partial(clone(estimator).set_params(**{name: value}).fit, [A, B])) == name
    assert not ran


@every
@pytest.mark.parametrize("step", ["_split", "_seed", "_require_answers", "_embed", "_clustered"])
def test_a_fit_that_fails_leaves_the_one_before(estimator: Any, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = clone(estimator).set_params(n_clusters=3).fit([A, B])
    before, answer = dict(vars(model)), model.transform([A[:4], B[:4]])

    def fail(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(type(model), step, fail)
        with pytest.raises(KeyboardInterrupt):
            model.fit([A[:30, :2], B[:30, :3]])
    assert vars(model) == before
    model.set_params(n_clusters=5, n_components=3, view_columns=[1, 1])
    with pytest.raises(ct.CothermError):
        model.fit([A[:, :2], np.full((N, 2), np.nan)])
    np.testing.assert_array_equal(model.transform([A[:4], B[:4]])[0], answer[0])
    assert len(model.predict([A, B])) > 0


def test_a_fit_forgets_the_one_before() -> None:
    model = ct.HeatKernelCoupling(**PAIRS, n_clusters=3).fit(FRAMES)
    assert {"items_", "index_", "common_graph_", "feature_names_in_", "labels_"} <= set(vars(model))
    model.set_params(n_clusters=None, **LABELS).fit([A, B], CLASS)
    assert not {"items_", "index_", "common_graph_", "feature_names_in_", "labels_"} & set(vars(model))
    with pytest.raises(NotFittedError):
        model.set_params(n_clusters=3).predict([A, B])
