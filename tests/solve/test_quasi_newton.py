"""Quasi-Newton steps over u ≥ 0 on quadratic and curved costs, beside SciPy's L-BFGS-B and dense updates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize, nnls

from cotherm.engines import default_engine
from cotherm.engines.interface import Engine
from cotherm.solve.quasi_newton import Pairs, QuasiNewton
from tests.engines.emulated.device import emulated_engine
from tests.engines.numpy_engine import NUMPY

CPU = default_engine()


@dataclass(frozen=True)
class Place:
    u: Any
    cost: float
    half: Any


class Cost:
    """1 + ‖H^½(u − b)‖² + bend Σu⁴ with a spectrum over four decades, so that some unknowns end at zero."""

    def __init__(self, seed: int, n: int, bend: float = 0.0, engine: Engine = CPU, units: float = 1.0) -> None:
        rng = np.random.default_rng(seed)
        Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
        self.H, self.b = Q @ np.diag(np.geomspace(1e-2, 1e2, n)) @ Q.T, rng.standard_normal(n)
        self.bend, self.engine, self.units, self.costs = bend, engine, units, list[float]()
        self.first = rng.random(n) * 10.0 ** rng.uniform(-1.0, 1.5)

    def on_host(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        d = x - self.b
        return 1.0 + float(d @ self.H @ d + self.bend * np.sum(x**4)), 2.0 * self.H @ d + 4.0 * self.bend * x**3

    def __call__(self, u: Any) -> Place:
        """With u in units of its own, and the cost in units of a million."""
        cost, gradient = self.on_host(self.engine.to_numpy(u) / self.units)
        self.costs.append(cost)
        return Place(u, 1e6 * cost, self.engine.asarray(0.5e6 / self.units * gradient))

    @property
    def start(self) -> Place:
        return self(self.engine.asarray(self.units * self.first))

    def solved(self, **options: Any) -> tuple[np.ndarray, list[float]]:
        """The end, and the costs after all steps."""
        seen: list[float] = []
        run = QuasiNewton(self.engine, options.pop("memory", 10))
        given = {"iterations": 2_000, "after_step": lambda here: seen.append(here.cost / 1e6), **options}
        end = run.minimize(self, self.start, **given)
        return np.asarray(self.engine.to_numpy(end.u)) / self.units, seen

    def by_scipy(self, tolerance: float) -> list[float]:
        """The costs at all evaluations."""
        costs = []

        def evaluate(x: np.ndarray) -> tuple[float, np.ndarray]:
            cost, gradient = self.on_host(x)
            costs.append(cost)
            return cost, gradient

        options = {"maxiter": 5_000, "maxfun": 10**6, "maxcor": 10, "ftol": tolerance, "gtol": 0.0}
        bounds = [(0.0, None)] * len(self.b)
        solve: Any = minimize
        self.minimum = solve(evaluate, self.first, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
        return costs


def test_the_minimum_is_that_of_nonnegative_least_squares() -> None:
    rng = np.random.default_rng(0)
    A, b = rng.standard_normal((40, 20)), rng.standard_normal(40)

    def evaluate(u: np.ndarray) -> Place:
        r = A @ u - b
        return Place(u, float(r @ r), A.T @ r)

    seen: list[float] = []
    run = QuasiNewton(CPU, 10)
    end = run.minimize(evaluate, evaluate(np.ones(20)), iterations=500, after_step=lambda here: seen.append(here.cost))
    expected = nnls(A, b)[0]
    assert_allclose(end.u, expected, atol=1e-6)
    assert np.array_equal(end.u == 0.0, expected == 0.0)
    assert seen == sorted(seen, reverse=True)
    assert len(seen) == run.steps


@pytest.mark.parametrize("n", [5, 40, 300])
@pytest.mark.parametrize("bend", [0.0, 0.1])
@pytest.mark.parametrize("seed", range(3))
def test_the_minimum_is_that_of_scipy(n: int, bend: float, seed: int) -> None:
    cost = Cost(seed, n, bend)
    expected = cost.by_scipy(1e-15)
    end, seen = cost.solved()
    assert_allclose(seen[-1], min(expected), rtol=1e-9)
    assert (end >= 0.0).all()
    assert np.any(end == 0.0)
    assert seen == sorted(seen, reverse=True)


def test_evaluations_are_as_few_as_those_of_scipy() -> None:
    """Until the cost is known to one part in a million, over many problems together."""
    ours = theirs = 0
    for n in (5, 40, 200):
        for seed in range(10):
            cost = Cost(seed, n, 0.1 * (seed % 2))
            expected = cost.by_scipy(1e-15)
            cost.costs.clear()
            cost.solved()
            enough = (1.0 + 1e-6) * min(*expected, *cost.costs)
            ours += int(np.argmax(np.array(cost.costs) <= enough)) + 1
            theirs += int(np.argmax(np.array(expected) <= enough)) + 1
    assert ours <= 1.1 * theirs


@pytest.mark.parametrize("engine", [NUMPY, "gpu"], ids=["numpy", "gpu"])
def test_steps_are_the_same_on_all_engines(engine: Any) -> None:
    other = emulated_engine() if engine == "gpu" else engine
    end, seen = Cost(3, 60, 0.1).solved(iterations=40)
    found, costs = Cost(3, 60, 0.1, engine=other).solved(iterations=40)
    assert_allclose(costs, seen, rtol=1e-9)
    assert_allclose(found, end, atol=1e-6)
    assert np.array_equal(found == 0.0, end == 0.0)


@pytest.mark.parametrize("units", [1e-9, 1e7])
def test_steps_do_not_depend_on_units(units: float) -> None:
    _, seen = Cost(4, 60, 0.1).solved(iterations=30)
    _, costs = Cost(4, 60, 0.1, units=units).solved(iterations=30)
    assert_allclose(costs, seen, rtol=1e-9)


def test_a_gain_a_number_of_steps_and_a_callback_end_it() -> None:
    cost = Cost(0, 40, 0.1)
    steps = [len(cost.solved(least=1e6 * least)[1]) for least in (1.0, 1e-6, 0.0)]
    assert steps == sorted(set(steps))
    assert len(cost.solved(iterations=7)[1]) == 7
    count = 0

    def after_step(_: Place) -> None:
        nonlocal count
        count += 1
        if count == 3:
            raise StopIteration

    cost.solved(after_step=after_step)
    assert count == 3


@pytest.mark.parametrize("engine", [CPU, NUMPY], ids=["cpu", "numpy"])
@pytest.mark.parametrize("stop", [1, 6, 30])
def test_it_goes_on_from_a_state_to_the_last_bit(stop: int, engine: Engine) -> None:
    cost = Cost(1, 60, 0.1, engine=engine)
    whole: list[np.ndarray] = []
    QuasiNewton(engine, 10).minimize(
        cost, cost.start, iterations=400, after_step=lambda here: whole.append(engine.to_numpy(here.u))
    )
    first, kept = QuasiNewton(engine, 10), {}

    def until(here: Place) -> None:
        if first.steps == stop:
            kept.update(first.state())
            assert first.size >= min(stop, 10) * here.u.size * 16
            here.u[0] = np.nan  # the state is a copy
            raise StopIteration

    first.minimize(cost, cost.start, iterations=400, after_step=until)
    rest: list[np.ndarray] = []
    again = QuasiNewton(engine, 10, kept)
    again.minimize(cost, None, iterations=400, after_step=lambda here: rest.append(engine.to_numpy(here.u)))
    assert len(rest) == len(whole) - stop + 1  # the step of the state is shown once more
    assert all(np.array_equal(a, b) for a, b in zip(rest, whole[stop - 1 :], strict=True))
    assert again.steps == len(whole)


def test_at_a_minimum_no_step_is_made() -> None:
    start = Place(np.zeros(5), 0.0, np.ones(5))
    run = QuasiNewton(CPU, 10)
    end = run.minimize(lambda _: start, start, iterations=10, after_step=lambda _: None)
    assert end is start
    assert run.steps == 0


def test_a_gradient_that_lies_ends_it() -> None:
    """No step along what it promises is lower, with or without what was remembered."""

    def evaluate(u: np.ndarray) -> Place:
        return Place(u, float(np.sum(u)), -np.ones(len(u)))

    end = QuasiNewton(CPU, 10).minimize(evaluate, evaluate(np.ones(5)), iterations=10, after_step=lambda _: None)
    assert end.cost == 5.0


def updated(count: int, most: int, n: int = 30) -> tuple[Pairs, np.ndarray]:
    """After so many steps on a quadratic: the pairs, and the inverse by dense updates with the last few of them."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((n, n))
    A = A @ A.T + np.eye(n)
    steps = rng.standard_normal((count, n))
    pairs = Pairs(CPU, np.zeros(n), most)
    for s in steps:
        pairs.learn(s, A @ s)
    return pairs, dense_inverse([(s, A @ s) for s in steps[-most:]], np.ones(n, dtype=bool))


def dense_inverse(known: list[tuple[np.ndarray, np.ndarray]], free: np.ndarray) -> np.ndarray:
    """BFGS updates of a multiple of the identity, one after the other, over some unknowns."""
    s, y = known[-1][0][free], known[-1][1][free]
    inverse = (s @ y) / (y @ y) * np.eye(int(free.sum()))
    for step, change in known:
        s, y = step[free], change[free]
        if s @ y <= 0.0:
            continue
        V = np.eye(len(s)) - np.outer(y, s) / (s @ y)
        inverse = V.T @ inverse @ V + np.outer(s, s) / (s @ y)
    return inverse


@pytest.mark.parametrize("count", [1, 3, 4, 5, 11])
def test_directions_are_those_of_dense_updates(count: int) -> None:
    pairs, inverse = updated(count, 4)
    slope = np.random.default_rng(1).standard_normal(30)
    d, is_scaled = pairs.direction(slope, np.zeros(30, dtype=bool))
    assert is_scaled
    assert_allclose(d, inverse @ slope, rtol=1e-8)


def test_held_unknowns_are_left_out_of_steps() -> None:
    """Also those that did not move in the steps that are remembered, whose products need not be subtracted."""
    rng, n = np.random.default_rng(2), 30
    held = rng.random(n) < 0.4
    pairs, known = Pairs(CPU, np.zeros(n), 4), []
    for _ in range(7):
        step = np.where(held & (rng.random(n) < 0.7), 0.0, rng.standard_normal(n))
        known.append((step, (1.0 + np.arange(n)) * step + 0.1 * held * rng.standard_normal(n)))
        pairs.learn(*known[-1])
    slope = rng.standard_normal(n)
    d, _ = pairs.direction(slope, held)
    assert not d[held].any()
    assert_allclose(d[~held], dense_inverse(known[-4:], ~held) @ slope[~held], rtol=1e-8)


def test_steps_without_curvature_are_not_remembered() -> None:
    pairs, slope = Pairs(CPU, np.zeros(3), 4), np.ones(3)
    for change in (-np.ones(3), np.zeros(3), np.array([1.0, -1.0, 1e-12])):
        pairs.learn(np.ones(3), change)
    assert pairs.count == 0
    assert not pairs.direction(slope, np.zeros(3, dtype=bool))[1]


def test_many_unknowns_take_few_small_moves_to_the_host() -> None:
    """A step moves a few short arrays, however long u is."""
    moved: list[int] = []

    class Counted(type(NUMPY)):  # type: ignore[misc]
        def to_numpy(self, x: Any) -> np.ndarray:
            found = super().to_numpy(x)
            moved.append(found.size)
            return found

    engine = Counted()
    target = engine.asarray(np.random.default_rng(0).standard_normal(5_000))

    def evaluate(u: Any) -> Place:
        return Place(u, float((u - target) @ (u - target) + (u * u * u).sum()), u - target + 1.5 * u * u)

    run: Callable[..., Any] = QuasiNewton(engine, 5).minimize
    steps: list[int] = []
    run(evaluate, evaluate(engine.xp.ones(5_000)), iterations=12, after_step=lambda _: steps.append(len(moved)))
    assert max(moved) <= 25
    assert max(np.diff(steps)) <= 8
