"""Systems that are iterated, with factors and without, and curved metrics, against slow, obvious ways."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose

from cotherm.arrays import Floats
from cotherm.engines import default_engine
from cotherm.solve import iterated_system, nearest_point
from cotherm.solve.curved_metric import Curvature, CurvedMetric
from cotherm.solve.implicit_matrix import ImplicitMatrix, Solve
from cotherm.solve.iterated_system import IteratedSystem, Preconditioner
from cotherm.solve.metric import Metric
from cotherm.solve.multipliers import Known, Start
from cotherm.solve.nearest_point import Closest, NearestPoint
from tests.solve.test_nearest_point import KINDS, dense, make, reference


class Dense(ImplicitMatrix):
    """A matrix at hand, in double or single precision; its factors cost as much as so many products."""

    def __init__(self, E: np.ndarray, cost: float = np.inf) -> None:
        self.E, self.cost, self.shape, self.engine = E, cost, E.shape, default_engine()
        self.made = 0

    def matvec(self, x: Floats) -> np.ndarray:
        return (self.E @ x.astype(self.E.dtype)).astype(np.float64)

    def rmatvec(self, y: np.ndarray) -> Floats:
        return (self.E.T @ y.astype(self.E.dtype)).astype(np.float64)

    @property
    def rough(self) -> Dense:
        return Dense(self.E.astype(np.float32))

    work = 1.0

    def factoring_work(self, active: np.ndarray) -> float:
        return self.cost

    def solving_work(self, active: np.ndarray) -> float:
        return 0.0

    def factored(self, metric: Metric, active: np.ndarray, shift: float) -> Solve | None:
        self.made += 1
        part = metric.restricted(active)
        Z = np.column_stack([part.inverse(e) for e in self.E.T])
        inverse = np.linalg.inv(shift * np.eye(self.shape[1]) + self.E.T @ Z).astype(np.float32)
        return lambda r: (inverse @ r.astype(np.float32)).astype(np.float64)


def nearest(metric: Metric, E: Dense, c: np.ndarray, b: np.ndarray, weight: float) -> Closest | None:
    system = IteratedSystem(metric, metric, E, Preconditioner())
    weights, m = np.full(E.shape[1], weight), len(c)
    return NearestPoint(metric, E, system).solve(c, Start(np.zeros(m), -b), weights, np.zeros(m, dtype=bool))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cost", [np.inf, 1.0])
@pytest.mark.parametrize("seed", range(5))
def test_to_the_end_it_is_nonnegative_least_squares(
    kind: str, cost: float, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(iterated_system, "_GAP", 1e-14)
    monkeypatch.setattr(nearest_point, "_SUFFICIENT", np.inf)
    metric, m, rng = make(seed, kind)
    matrix = Dense(rng.standard_normal((m, 30)), cost)
    c, b = rng.standard_normal(m), rng.standard_normal(30)
    found = nearest(metric, matrix, c, b, 100.0)
    assert found is not None
    expected = reference(dense(metric, m), c, matrix.E, b, np.full(30, 100.0))
    assert_allclose(found.v, expected, atol=1e-6 * max(1.0, np.abs(expected).max()))
    assert_allclose(found.residuals, matrix.E.T @ found.v - b, atol=1e-9)
    assert (matrix.made > 0) == (cost == 1.0)


@pytest.mark.parametrize("seed", range(5))
def test_as_it_is_it_brings_most_of_what_is_possible(seed: int) -> None:
    metric, m, rng = make(seed, "gram")
    matrix = Dense(rng.standard_normal((m, 30)))
    c, b, A = rng.standard_normal(m), 3.0 * rng.standard_normal(30), dense(metric, m)

    def objective(v: np.ndarray) -> float:
        return float((v - c) @ A @ (v - c) + 100.0 * np.sum((matrix.E.T @ v - b) ** 2))

    found = nearest(metric, matrix, c, b, 100.0)
    assert found is not None
    assert (found.v >= 0.0).all()
    best = objective(reference(A, c, matrix.E, b, np.full(30, 100.0)))
    start = objective(np.zeros(m))
    assert start - objective(found.v) >= 0.45 * (start - best)


def test_factors_that_cannot_be_made_are_tried_once_a_solve() -> None:
    class Unfactored(Dense):
        def factored(self, metric: Metric, active: np.ndarray, shift: float) -> Solve | None:
            self.made += 1
            return None

    metric, m, rng = make(0, "gram")
    matrix = Unfactored(rng.standard_normal((m, 30)), cost=1.0)
    system = IteratedSystem(metric, metric, matrix, Preconditioner())
    active, zeros, b = np.zeros(m, dtype=bool), np.zeros(m), rng.standard_normal(30)
    part, known = system.restricted(active), Known(float(100.0 * b @ b), -100.0 * b, matrix.matvec(-100.0 * b))
    found = system.solve(part, zeros, Start(zeros, -b), np.full(30, 100.0), known)
    assert matrix.made == 1
    assert 100.0 * found.residuals @ found.residuals < 100.0 * b @ b


def test_curvature_is_kept_positive_definite() -> None:
    metric, m, rng = make(2, "gram")
    A, directions, weights = dense(metric, m), rng.standard_normal((m, 4)), np.array([3.0, -1.0, -50.0, 0.2])
    directions[:, 3] = directions[:, 0]  # not independent
    mild = Curvature(metric, directions, 1e-3 * weights).added(0.5)
    assert_allclose(curved(mild, m), A + 5e-4 * directions @ np.diag(weights) @ directions.T, atol=1e-10)
    strong = Curvature(metric, directions, weights).added(1.0)
    values = scipy.linalg.eigh(curved(strong, m), A, eigvals_only=True)
    assert_allclose(values[0], 0.1)
    assert values[-1] > 2.0


def test_a_curved_metric_on_some_unknowns() -> None:
    metric, m, rng = make(4, "gram")
    form = Curvature(metric, rng.standard_normal((m, 3)), np.array([3.0, -1.0, -5.0])).added(1.0)
    A, active = curved(form, m), np.arange(m) % 3 == 0
    F, P = ~active, active
    part, (y, c) = form.restricted(active), rng.standard_normal((2, m))
    inverse = np.linalg.inv(A[np.ix_(F, F)])
    assert_allclose(part.inverse(np.where(active, 0.0, y))[F], inverse @ y[F], rtol=1e-8)
    assert_allclose(part.nearest(c)[F], c[F] + inverse @ A[np.ix_(F, P)] @ c[P], rtol=1e-8)
    assert not part.nearest(c)[P].any()


def curved(form: CurvedMetric, m: int) -> np.ndarray:
    return np.column_stack([form.apply(e) for e in np.eye(m)])
