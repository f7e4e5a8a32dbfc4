"""scikit-learn's own checks, and its machinery around the estimators."""

from __future__ import annotations

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

import cotherm as ct

_QUICK = {"n_neighbors": 5, "n_clusters": 3}


@parametrize_with_checks(
    [
        ct.HeatKernelCoupling(n_landmarks=3, path="straight", max_iterations=20, **_QUICK),
        ct.LaplacianAverage(**_QUICK),
        ct.JointDiagonalization(**_QUICK),
        ct.ClosestCommuting(**_QUICK),
        ct.CoupledBases(n_landmarks=3, restarts=0, **_QUICK),
    ],
)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)
