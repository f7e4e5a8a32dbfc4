"""Quasi-Newton steps with bounds, on a quadratic whose minimum is known otherwise."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.testing import assert_allclose
from scipy.optimize import nnls

from cotherm.solve.quasi_newton import Resumable, minimize_bounded


class Value(NamedTuple):
    cost: float
    gradient: np.ndarray


def problem() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.standard_normal((40, 20)), rng.standard_normal(40)


def test_the_minimum_is_that_of_nonnegative_least_squares() -> None:
    A, b = problem()
    seen: list[float] = []
    calls = 0

    def evaluate(x: np.ndarray) -> Value:
        nonlocal calls
        calls += 1
        r = A @ x - b
        return Value(float(r @ r), 2.0 * A.T @ r)

    def after_step(x: np.ndarray, value: Value) -> None:
        assert_allclose(value.cost, np.sum((A @ x - b) ** 2))
        seen.append(value.cost)

    found = minimize_bounded(evaluate, np.ones(20), iterations=500, tolerance=0.0, memory=10, after_step=after_step)
    assert_allclose(found.x, nnls(A, b)[0], atol=1e-6)
    assert (found.x >= 0.0).all()
    assert seen == sorted(seen, reverse=True)
    assert calls <= found.nfev  # no point is evaluated again for after_step


def test_it_ends_when_it_is_told_to() -> None:
    A, b = problem()
    steps = 0

    def after_step(_x: np.ndarray, _value: Value) -> None:
        nonlocal steps
        steps += 1
        if steps == 3:
            raise StopIteration

    def evaluate(x: np.ndarray) -> Value:
        r = A @ x - b
        return Value(float(r @ r), 2.0 * A.T @ r)

    minimize_bounded(evaluate, np.ones(20), iterations=500, tolerance=0.0, memory=10, after_step=after_step)
    assert steps == 3


def test_a_run_whose_state_can_be_stored_makes_the_steps_of_scipy() -> None:
    """To the last bit; and every SciPy that is allowed lets its state be stored, or runs would not get on."""
    A, b = problem()

    def evaluate(x: np.ndarray) -> Value:
        r = A @ x - b
        return Value(float(r @ r), 2.0 * A.T @ r)

    def costs(run: Resumable | None) -> list[float]:
        seen: list[float] = []
        options = {"iterations": 500, "tolerance": 0.0, "memory": 10, "run": run}
        minimize_bounded(evaluate, np.ones(20), after_step=lambda _, value: seen.append(value.cost), **options)  # type: ignore[arg-type]
        return seen

    run = Resumable()
    assert run.is_possible
    assert costs(run) == costs(None)
    assert run.state() is not None
