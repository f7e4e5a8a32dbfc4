"""scikit-learn's own checks, and its machinery around the estimators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
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
_DEFAULTS = [
    ct.HeatKernelCoupling(),
    ct.LaplacianAverage(),
    ct.JointDiagonalization(),
    ct.ClosestCommuting(),
    ct.CoupledBases(),
]
_ESTIMATORS = [
    ct.HeatKernelCoupling(n_neighbors=5, n_landmarks=2, continuation="direct", max_iterations=3),
    ct.LaplacianAverage(n_neighbors=5),
    ct.JointDiagonalization(n_neighbors=5, max_iterations=1, tolerance=0.1),
    ct.ClosestCommuting(n_neighbors=5, max_iterations=1, tolerance=0.1),
    ct.CoupledBases(n_neighbors=5, n_landmarks=2, restarts=0, tolerance=0.1),
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
@pytest.mark.parametrize("estimator", _DEFAULTS, ids=lambda e: type(e).__name__)
def test_checks_that_fail_with_ten_neighbors(estimator: Any) -> None:
    """With all parameters as they are by default, those that the page names fail, and no others."""
    results = check_estimator(clone(estimator), on_skip=None, on_fail=None)
    assert {one["check_name"] for one in results if one["status"] == "failed"} == _TEN_SAMPLES
    assert all(f"`{name}`" in _GUIDE for name in _TEN_SAMPLES)


@pytest.mark.parametrize("estimator", _ESTIMATORS, ids=lambda e: type(e).__name__)
def test_parameters_come_and_go(estimator: Any) -> None:
    fresh = clone(estimator).set_params(view_columns=[[0, 2], slice(2, 4)], t=0.5)
    assert fresh.get_params() == estimator.get_params() | {"view_columns": [[0, 2], slice(2, 4)], "t": 0.5}
    assert "n_neighbors=5" in repr(fresh)


def test_a_pipeline_learns_from_views_and_is_searched() -> None:
    """Scaled, coupled, embedded, classified; α and k chosen by cross-validation on samples never seen by fit."""
    X, y = load_digits(n_class=4, return_X_y=True)
    X, y = X[:160], y[:160]
    model = make_pipeline(
        StandardScaler(),
        ct.HeatKernelCoupling(
            view_columns=[32, 32],
            n_components=3,
            n_neighbors=6,
            continuation="direct",
            max_iterations=15,
            times=[0.2, 0.5],
        ),
        KNeighborsClassifier(5),
    )
    grid = {"heatkernelcoupling__alpha": ["auto", 1.0], "heatkernelcoupling__n_neighbors": [6, 8]}
    search = GridSearchCV(model, grid, cv=2, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.75
    assert search.cv_results_["mean_test_score"].shape == (4,)
    assert search.best_estimator_[:-1].get_feature_names_out().tolist() == [f"heatkernelcoupling{k}" for k in range(6)]


def test_clusterings_are_searched() -> None:
    X, y = load_digits(n_class=3, return_X_y=True)
    X, y = X[:200], y[:200]
    grid = {"n_neighbors": [5, 10]}
    search = GridSearchCV(
        ct.LaplacianAverage(view_columns=[32, 32], n_clusters=3), grid, cv=2, scoring="adjusted_rand_score"
    )
    assert search.fit(X, y).best_score_ > 0.6
    assert len(np.unique(search.best_estimator_.labels_)) == 3


@pytest.mark.parametrize("estimator", _ESTIMATORS, ids=lambda e: type(e).__name__)
def test_one_table_is_said_to_be_one_view(estimator: Any) -> None:
    X = np.random.default_rng(0).normal(size=(30, 4))
    with pytest.warns(ct.CothermWarning, match="one table of 4 columns.*view_columns="):
        clone(estimator).fit(X)
