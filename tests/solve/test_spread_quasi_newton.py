"""L-BFGS-B over vectors that may be spread beside SciPy's: the same steps, and the same minimum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import nnls

from cotherm.engines import default_engine
from cotherm.solve.quasi_newton import Resumable, minimize_bounded
from cotherm.solve.spread_quasi_newton import SpreadQuasiNewton


class Value(NamedTuple):
    cost: float
    gradient: np.ndarray


Cost = Callable[[np.ndarray], Value]


def bent(seed: int, n: int, bend: float) -> tuple[Cost, np.ndarray]:
    """1 + ‖A(x − b)‖² + bend Σx⁴ with singular values over two decades, and where to start."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    H, b = Q @ np.diag(np.geomspace(1e-2, 1e2, n)) @ Q.T, rng.standard_normal(n)

    def evaluate(x: np.ndarray) -> Value:
        d = x - b
        return Value(1.0 + float(d @ H @ d + bend * np.sum(x**4)), 2.0 * H @ d + 4.0 * bend * x**3)

    return evaluate, rng.random(n) * 10.0 ** rng.uniform(-1.0, 1.5)


def run_of(kind: str) -> Any:
    return Resumable() if kind == "scipy" else SpreadQuasiNewton(default_engine())


@pytest.mark.parametrize("n", [1, 5, 40, 300])
@pytest.mark.parametrize("bend", [0.0, 0.1])
@pytest.mark.parametrize("seed", range(4))
def test_the_steps_are_those_of_scipy(n: int, bend: float, seed: int) -> None:
    evaluate, x = bent(seed, n, bend)
    costs: dict[str, list[float]] = {"scipy": [], "spread": []}
    ends = {}
    for kind, seen in costs.items():
        ends[kind] = run_of(kind).minimize(evaluate, x, 400, 0.0, 10, lambda _x, v, seen=seen: seen.append(v.cost)).x
    common = min(map(len, costs.values()))
    assert_allclose(costs["spread"][: min(common, 40)], costs["scipy"][: min(common, 40)], rtol=1e-9)
    assert_allclose(costs["spread"][-1], costs["scipy"][-1], rtol=1e-10)
    assert_allclose(ends["spread"], ends["scipy"], atol=1e-4)
    assert np.any(ends["spread"] == 0.0) or n < 40


def test_the_minimum_is_that_of_nonnegative_least_squares() -> None:
    rng = np.random.default_rng(0)
    A, b = rng.standard_normal((40, 20)), rng.standard_normal(40)
    seen: list[float] = []

    def evaluate(x: np.ndarray) -> Value:
        r = A @ x - b
        return Value(float(r @ r), 2.0 * A.T @ r)

    def after_step(x: np.ndarray, value: Value) -> None:
        assert_allclose(value.cost, np.sum((A @ x - b) ** 2))
        seen.append(value.cost)

    run = SpreadQuasiNewton(default_engine())
    found = minimize_bounded(
        evaluate, np.ones(20), iterations=500, tolerance=0.0, memory=10, after_step=after_step, run=run
    )
    assert_allclose(found.x, nnls(A, b)[0], atol=1e-6)
    assert (found.x >= 0.0).all()
    assert seen == sorted(seen, reverse=True)


def test_a_tolerance_a_number_of_steps_and_a_callback_end_it() -> None:
    evaluate, x = bent(0, 40, 0.1)

    def steps(iterations: int = 400, tolerance: float = 0.0, most: int = 1_000) -> int:
        count = 0

        def after_step(_x: np.ndarray, _value: Value) -> None:
            nonlocal count
            count += 1
            if count == most:
                raise StopIteration

        SpreadQuasiNewton(default_engine()).minimize(evaluate, x, iterations, tolerance, 10, after_step)
        return count

    assert steps(iterations=7) == 7
    assert steps(most=3) == 3
    assert steps(tolerance=1e-3) < steps(tolerance=1e-9) < steps()


@pytest.mark.parametrize("stop", [1, 6, 30])
def test_it_goes_on_from_a_state_to_the_last_bit(stop: int) -> None:
    evaluate, x = bent(1, 60, 0.1)
    whole: list[np.ndarray] = []
    SpreadQuasiNewton(default_engine()).minimize(evaluate, x, 400, 0.0, 10, lambda x, _: whole.append(x))
    first = SpreadQuasiNewton(default_engine())
    assert first.state() is None
    kept: dict[str, Any] | None = None

    def until(_x: np.ndarray, _value: Value) -> None:
        nonlocal kept
        state = first.state()
        assert state is not None
        if state["steps"] == stop:
            kept = state
            assert first.size >= 20 * x.nbytes
            raise StopIteration

    first.minimize(evaluate, x, 400, 0.0, 10, until)
    rest: list[np.ndarray] = []
    again = SpreadQuasiNewton(default_engine(), kept)
    end = again.minimize(evaluate, np.zeros(60), 400, 0.0, 10, lambda x, _: rest.append(x))
    assert len(rest) == len(whole) - stop
    assert all(np.array_equal(a, b) for a, b in zip(rest, whole[stop:], strict=True))
    assert end.steps == len(whole)


def test_at_a_minimum_no_step_is_made() -> None:
    found = SpreadQuasiNewton(default_engine()).minimize(
        lambda x: Value(float(np.sum(x)), np.ones(len(x))), np.zeros(5), 10, 0.0, 10, lambda *_: None
    )
    assert (found.steps, found.cost) == (0, 0.0)


def test_a_gradient_that_lies_ends_it() -> None:
    """No step along what it promises is lower, with or without what was remembered."""
    found = SpreadQuasiNewton(default_engine()).minimize(
        lambda x: Value(float(np.sum(x)), -np.ones(len(x))), np.ones(5), 10, 0.0, 10, lambda *_: None
    )
    assert found.cost == 5.0
