"""The bounded least-squares solver on problems whose answers are known."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from cotherm.solve import gauss_newton, phases
from cotherm.solve.descent import Descent, Status
from cotherm.solve.implicit_matrix import ImplicitMatrix
from cotherm.solve.least_squares import Iterate
from cotherm.solve.metric import Diagonal, Metric
from cotherm.solve.nearest_point import NearestPoint
from cotherm.solve.phases import descend
from cotherm.solve.secant import Secant
from cotherm.solve.tall_matrix import InMemory
from tests.solve.test_iterated_system import Dense


class Point:
    noise = 1e-15

    def __init__(self, residuals: np.ndarray, jacobian: Callable[[], np.ndarray]) -> None:
        self.residuals, self._jacobian = residuals, jacobian

    @cached_property
    def jacobian(self) -> InMemory | ImplicitMatrix:
        return InMemory(self._jacobian())


class AppliedPoint(Point):
    @cached_property
    def jacobian(self) -> InMemory | ImplicitMatrix:
        return Dense(self._jacobian(), cost=10.0)


class Curved:
    """|u − w|² + strength · Σ (sin(Mu) − target)²: residuals that bend."""

    point = Point

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
        return Diagonal(np.ones(len(u)))

    def at(self, u: np.ndarray) -> Point:
        self.calls += 1
        angle = self._M @ u
        return self.point(
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
    """The same with a Jacobian that is only applied."""

    point = AppliedPoint


@pytest.mark.parametrize("seed", range(8))
def test_a_jacobian_that_is_only_applied_leads_to_a_minimum_too(seed: int) -> None:
    problem = Applied(m=60, k=25, strength=1e3, seed=seed)
    seen: list[Iterate] = []
    end = descend(problem, problem.center, tolerance=1e-6, iterations=200, watch=seen.append)
    assert end.status is Status.CONVERGED
    again = minimize(problem.cost, end.u, bounds=[(0, None)] * len(end.u), method="L-BFGS-B")
    assert end.cost <= again.fun * (1 + 1e-9)
    assert all(later.cost < earlier.cost for earlier, later in pairwise(seen))
    assert [iterate.iteration for iterate in seen] == list(range(len(seen)))
    assert len(seen) > end.iterations + 1  # simpler steps came before


def test_from_its_minimum_no_simpler_steps_are_taken() -> None:
    problem = Applied(m=60, k=25, strength=1e3)
    end = descend(problem, problem.center, tolerance=1e-6, iterations=200)
    seen: list[Iterate] = []
    again = descend(problem, end.u, tolerance=1e-6, iterations=200, watch=seen.append)
    assert (len(seen), again.iterations) == (1, 0)


def test_a_step_that_goes_too_far_is_shortened_not_solved_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    solved = 0
    solve = NearestPoint.solve

    def counted(self: NearestPoint, *arguments: object) -> object:
        nonlocal solved
        solved += 1
        return solve(self, *arguments)  # type: ignore[arg-type]

    def solves() -> int:
        """Until a first step is taken, next to undamped, towards what no sine reaches."""
        nonlocal solved
        problem, solved = Applied(m=30, k=25, strength=1e4), 0
        problem._target = problem._target + 2.0
        end = descend(problem, problem.center, tolerance=1e-9, iterations=1, damping=1e-9)
        assert end.cost < problem.cost(problem.center)
        assert end.damping > 1e-3  # with which steps would be about as long
        return solved

    monkeypatch.setattr(NearestPoint, "solve", counted)
    assert solves() <= 2
    monkeypatch.setattr(gauss_newton, "_SHORTEN", -np.inf)
    assert solves() > 4


class Roots(Applied):
    """Residuals whose squares are linear: Gauss–Newton sees curvature where there is none."""

    def __init__(self) -> None:
        super().__init__(m=20, k=1, strength=1e3)
        self.minimum = 1.0 + self.center
        self.center = self.minimum + 0.5 * self._scale**2 * np.abs(self._M).sum(axis=0)

    def at(self, u: np.ndarray) -> Point:
        M = np.abs(self._M)
        r = self._scale * np.sqrt(10.0 + M @ (u - self.minimum))
        return AppliedPoint(r, lambda: (0.5 * self._scale**2 / r[:, np.newaxis] * M).T)


def test_steps_along_flat_valleys_are_lengthened(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Roots()

    def descended() -> Descent:
        return descend(problem, problem.minimum + 0.5, tolerance=1e-7, iterations=200, damping=1.0)

    monkeypatch.setattr(Secant, "learn", lambda self, step, change: None)
    monkeypatch.setattr(phases, "_SETTLED", 0.0)
    end = descended()
    assert end.status is Status.CONVERGED
    assert_allclose(end.u, problem.minimum, atol=1e-3)
    monkeypatch.setattr(gauss_newton, "_LENGTHEN", np.inf)
    assert descended().status is Status.OUT_OF_BUDGET


def test_the_last_digits_are_left_to_quasi_newton_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Along a flat valley Gauss–Newton crawls if it neither learns nor lengthens."""
    problem = Roots()
    monkeypatch.setattr(Secant, "learn", lambda self, step, change: None)
    monkeypatch.setattr(gauss_newton, "_LENGTHEN", np.inf)

    def descended(settled: float) -> Descent:
        monkeypatch.setattr(phases, "_SETTLED", settled)
        return descend(problem, problem.minimum + 0.5, tolerance=1e-8, iterations=200, damping=1.0)

    assert descended(0.0).status is Status.OUT_OF_BUDGET
    end = descended(1e-2)
    assert end.status is Status.CONVERGED
    assert end.iterations < 100
    assert_allclose(end.u, problem.minimum, atol=1e-3)


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
    secant = Secant()
    for step in rng.standard_normal((3, 8)):
        secant.learn(step, S @ step)
    directions, weights = secant.terms(8)
    assert_allclose(directions @ np.diag(weights) @ directions.T, S, atol=1e-10)
