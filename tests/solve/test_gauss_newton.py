"""The bounded least-squares solver on problems whose answers are known."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from cotherm.engines.cpu.engine import CPU
from cotherm.solve.descent import Status
from cotherm.solve.gauss_newton import Secant, descend
from cotherm.solve.least_squares import Iterate
from cotherm.solve.metric import Diagonal, Metric
from cotherm.solve.tall_matrix import TallMatrix


class Point:
    noise = 1e-15

    def __init__(self, residuals: np.ndarray, jacobian: Callable[[], np.ndarray]) -> None:
        self.residuals, self._jacobian = residuals, jacobian

    @cached_property
    def jacobian(self) -> TallMatrix:
        return TallMatrix(self._jacobian(), CPU)

    @property
    def pull(self) -> np.ndarray:
        return self._jacobian() @ self.residuals


class Curved:
    """|u − w|² + strength · Σ (sin(Mu) − target)²: residuals that bend."""

    is_formed = True

    def __init__(self, m: int = 15, k: int = 4, strength: float = 1e4, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.center = rng.random(m)
        self._M = 0.5 * rng.standard_normal((k, m))
        self._target = np.sin(self._M @ rng.random(m))
        self._scale = np.sqrt(strength)
        self.calls = 0

    def distance(self, u: np.ndarray) -> float:
        return float(np.sum((u - self.center) ** 2))

    def metric(self, u: np.ndarray) -> Metric:
        return Diagonal(np.ones(len(u)), CPU)

    def at(self, u: np.ndarray) -> Point:
        self.calls += 1
        angle = self._M @ u
        return Point(
            self._scale * (np.sin(angle) - self._target),
            lambda: (self._scale * np.cos(angle)[:, np.newaxis] * self._M).T,
        )

    def cost(self, u: np.ndarray) -> float:
        return self.distance(u) + float(np.sum(self.at(u).residuals ** 2))


@pytest.mark.parametrize("seed", range(5))
def test_a_minimum_that_no_other_optimizer_improves(seed: int) -> None:
    problem = Curved(seed=seed)
    end = descend(problem, problem.center, tolerance=1e-6, iterations=100)
    assert end.status is Status.CONVERGED
    assert end.optimality <= 1e-6
    assert (end.u >= 0).all()
    again = minimize(problem.cost, end.u, bounds=[(0, None)] * len(end.u), method="L-BFGS-B")
    assert end.cost <= again.fun * (1 + 1e-9)
    assert_allclose(problem.cost(end.u), end.cost)


class Applied(Curved):
    """The same by gradients alone."""

    is_formed = False


@pytest.mark.parametrize("seed", range(8))
def test_gradients_alone_lead_to_a_minimum_too(seed: int) -> None:
    problem = Applied(m=60, k=25, strength=1e3, seed=seed)
    seen: list[Iterate] = []
    end = descend(problem, problem.center, tolerance=1e-6, iterations=200, watch=seen.append)
    assert end.status is Status.CONVERGED
    again = minimize(problem.cost, end.u, bounds=[(0, None)] * len(end.u), method="L-BFGS-B")
    assert end.cost <= again.fun * (1 + 1e-9)
    assert all(later.cost < earlier.cost for earlier, later in pairwise(seen))
    assert [iterate.iteration for iterate in seen] == list(range(len(seen)))
    assert len(seen) == end.iterations + 1


def test_from_its_minimum_no_steps_are_taken() -> None:
    problem = Applied(m=60, k=25, strength=1e3)
    end = descend(problem, problem.center, tolerance=1e-6, iterations=200)
    seen: list[Iterate] = []
    again = descend(problem, end.u, tolerance=1e-6, iterations=200, watch=seen.append)
    assert (len(seen), again.iterations) == (1, 0)


def test_more_residuals_than_unknowns() -> None:
    problem = Curved(m=5, k=40, strength=1.0)
    end = descend(problem, problem.center, tolerance=1e-6, iterations=100)
    again = minimize(problem.cost, end.u, bounds=[(0, None)] * 5, method="L-BFGS-B")
    assert end.status is Status.CONVERGED
    assert end.cost <= again.fun * (1 + 1e-9)


def test_every_step_lowers_the_cost_and_is_watched() -> None:
    problem = Curved()
    seen: list[Iterate] = []
    end = descend(problem, problem.center, tolerance=1e-9, iterations=100, watch=seen.append)
    costs = [iterate.cost for iterate in seen]
    assert len(costs) == end.iterations + 1
    assert all(later < earlier for earlier, later in pairwise(costs))


def test_where_the_cost_is_rounding_the_gradient_leads_on() -> None:
    """A cost of 10⁸ hides gains below 10⁻⁷, when the gradient is still far from zero."""

    class Offset(Curved):
        def distance(self, u: np.ndarray) -> float:
            return super().distance(u) + 1e8

    problem = Offset()
    end = descend(problem, problem.center, tolerance=1e-9, iterations=100)
    assert end.status is Status.CONVERGED
    plain = descend(Curved(), problem.center, tolerance=1e-9, iterations=100)
    assert_allclose(end.u, plain.u, atol=1e-7)


def test_a_budget_is_kept_and_said() -> None:
    problem = Curved()
    end = descend(problem, problem.center, tolerance=1e-12, iterations=2)
    assert (end.status, end.iterations) == (Status.OUT_OF_BUDGET, 2)


def test_learned_curvature_spares_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it Gauss–Newton crawls where the residuals at the minimum are not small."""

    def steps() -> int:
        problem = Curved(m=20, k=10, strength=3.0, seed=3)
        problem._target = problem._target + 2.0  # out of reach of any sine
        end = descend(problem, problem.center, tolerance=1e-6, iterations=500)
        assert end.status is Status.CONVERGED
        return end.iterations

    learned = steps()
    monkeypatch.setattr(Secant, "learn", lambda self, step, change: None)
    assert learned < steps()


def test_secant_recovers_a_quadratic() -> None:
    rng = np.random.default_rng(2)
    vectors = np.linalg.qr(rng.standard_normal((8, 3)))[0]
    S = vectors @ np.diag([3.0, -2.0, 1.0]) @ vectors.T
    secant = Secant(CPU)
    for step in rng.standard_normal((3, 8)):
        secant.learn(step, S @ step)
    directions, weights = secant.terms(8)
    assert_allclose(directions @ np.diag(weights) @ directions.T, S, atol=1e-10)
