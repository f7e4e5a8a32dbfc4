"""scikit-learn's own checks, and its machinery around the estimator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

import cotherm as ct

# These fit ten samples, none of which has ten neighbors. docs/scikit-learn.md names them.
_TEN_SAMPLES = {"check_estimators_nan_inf", "check_fit2d_1feature"}
_QUICK: dict[str, Any] = {"kept_back": 0, "n_modes": 4, "borrow": 0.0, "max_iterations": 3}
_LANDMARKS: dict[str, Any] = {"n_landmarks": 2, "continuation": "direct", "max_iterations": 3}
_ESTIMATORS = [
    ct.HeatKernelCoupling(n_neighbors=5, options={"max_iterations": 3}),
    ct.HeatKernelCoupling(n_neighbors=5, output="common"),
    ct.HeatKernelCoupling(n_neighbors=5, correspondence="landmarks", options=_LANDMARKS),
]
_WITH_CLUSTERS = [clone(one).set_params(n_clusters=2) for one in _ESTIMATORS]
_GUIDE = (Path(__file__).parents[2] / "docs" / "scikit-learn.md").read_text(encoding="utf-8")


@pytest.fixture
def few_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """How often k-means begins anew is no matter of interfaces."""
    monkeypatch.setattr("cotherm.methods.result._MANY_STARTS", 2)


# They know nothing of views.
@pytest.mark.filterwarnings("ignore:X is one table:cotherm.CothermWarning")
@pytest.mark.usefixtures("few_starts")
@parametrize_with_checks([*_ESTIMATORS, *_WITH_CLUSTERS])  # type: ignore[untyped-decorator]
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.filterwarnings("ignore:X is one table:cotherm.CothermWarning")
def test_checks_that_fail_with_ten_neighbors() -> None:
    """With all parameters as they are by default, those that the page names fail, and no others."""
    results = check_estimator(ct.HeatKernelCoupling(), on_skip=None, on_fail=None)
    assert {one["check_name"] for one in results if one["status"] == "failed"} == _TEN_SAMPLES
    assert all(f"`{name}`" in _GUIDE for name in _TEN_SAMPLES)


def test_parameters_come_and_go() -> None:
    estimator = _ESTIMATORS[0]
    assert len(estimator.get_params()) == 13
    fresh = clone(estimator).set_params(view_columns=[[0, 2], slice(2, 4)], t=0.5)
    assert fresh.get_params() == estimator.get_params() | {"view_columns": [[0, 2], slice(2, 4)], "t": 0.5}
    assert "n_neighbors=5" in repr(fresh)


@pytest.fixture(scope="module")
def digits() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(n_class=4, return_X_y=True)
    return X[:160], y[:160]


def test_a_pipeline_learns_from_views_and_is_searched(digits: tuple[np.ndarray, np.ndarray]) -> None:
    """Scaled, coupled, embedded, classified; α and k chosen by cross-validation on samples never seen by fit."""
    X, y = digits
    model = make_pipeline(
        StandardScaler(),
        ct.HeatKernelCoupling(
            view_columns=[32, 32],
            n_components=3,
            n_neighbors=6,
            correspondence="labels",
            options={"continuation": "direct", "max_iterations": 15},
            times=[0.2, 0.5],
        ),
        KNeighborsClassifier(5),
    )
    grid = {"heatkernelcoupling__alpha": ["auto", 1.0], "heatkernelcoupling__n_neighbors": [6, 8]}
    search = GridSearchCV(model, grid, cv=2, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.75
    assert search.cv_results_["mean_test_score"].shape == (4,)
    assert search.best_estimator_[:-1].get_feature_names_out().tolist() == [f"heatkernelcoupling{k}" for k in range(6)]


def _common(**parameters: Any) -> Any:
    return ct.HeatKernelCoupling(
        view_columns=[32, 32], n_components=4, n_neighbors=6, output="common", options=_QUICK, **parameters
    )


def test_a_pipeline_goes_on_from_the_common_space(digits: tuple[np.ndarray, np.ndarray]) -> None:
    """Without labels in the coupling, and digits that lack a half are read by the other."""
    X, y = digits
    X = X.copy()
    X[100:130, :32], X[:20, 32:] = np.nan, np.nan
    model = make_pipeline(_common(), KNeighborsClassifier(5))
    grid = {"heatkernelcoupling__options": [_QUICK, _QUICK | {"scale": "median"}]}
    search = GridSearchCV(model, grid, cv=2, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.75
    coupling = search.best_estimator_[0]
    assert search.best_estimator_[:-1].get_feature_names_out().tolist() == [f"heatkernelcoupling{k}" for k in range(4)]
    np.testing.assert_allclose(coupling.transform(X), coupling.common_embedding_, atol=1e-12)
    frame = clone(coupling).set_output(transform="pandas").fit_transform([X[:, :32], X[:, 32:]])
    assert frame.columns.tolist() == [f"heatkernelcoupling{k}" for k in range(4)]
    np.testing.assert_array_equal(frame.to_numpy(), clone(coupling).fit_transform([X[:, :32], X[:, 32:]]))


def test_metadata_are_routed_to_fit(digits: tuple[np.ndarray, np.ndarray]) -> None:
    """Functions go through as they are."""
    X, y = digits
    with config_context(enable_metadata_routing=True):
        coupling = _common().set_fit_request(functions=True)
        beside = make_pipeline(clone(coupling).set_params(correspondence="pairs"), KNeighborsClassifier(5))
        beside.fit(X, y, functions=[np.eye(4)[y]] * 2)
        alone = clone(coupling).fit(X)
        assert beside[0].result_.functions[0].shape[1] == alone.result_.functions[0].shape[1] + 4


def test_clusterings_are_searched() -> None:
    X, y = load_digits(n_class=3, return_X_y=True)
    X, y = X[:200], y[:200]
    grid = {"n_neighbors": [5, 10]}
    model = ct.HeatKernelCoupling(view_columns=[32, 32], n_clusters=3, options=_QUICK)
    search = GridSearchCV(model, grid, cv=2, scoring="adjusted_rand_score", error_score="raise")
    assert search.fit(X, y).best_score_ > 0.6
    assert len(np.unique(search.best_estimator_.labels_)) == 3


def test_one_table_is_said_to_be_one_view() -> None:
    X = np.random.default_rng(0).normal(size=(30, 4))
    with pytest.warns(ct.CothermWarning, match="one table of 4 columns.*view_columns="):
        clone(_ESTIMATORS[0]).fit(X)
