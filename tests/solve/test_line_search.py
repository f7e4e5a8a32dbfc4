"""The line search, on functions of one variable: both of its conditions hold."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from cotherm.solve.line_search import Sample, sufficient_step

Function = Callable[[float], tuple[float, float]]

# Values and slopes at t: a parabola, Moré & Thuente's (5.1), a steep valley, one that falls for long, waves.
FUNCTIONS: dict[str, Function] = {
    "parabola": lambda t: ((t - 1.0) ** 2, 2.0 * (t - 1.0)),
    "far": lambda t: (-t / (t**2 + 2.0), (t**2 - 2.0) / (t**2 + 2.0) ** 2),
    "steep": lambda t: (1e3 * (t - 1e-2) ** 4 - t, 4e3 * (t - 1e-2) ** 3 - 1.0),
    "falling": lambda t: (math.exp(-t), -math.exp(-t)),
    "waves": lambda t: (0.05 * math.sin(9.0 * t) - t + 0.1 * t**2, 0.45 * math.cos(9.0 * t) - 1.0 + 0.2 * t),
}


def searched(function: Function, first: float, longest: float = 1e10, most: int = 20) -> tuple[Sample | None, int]:
    calls = 0

    def at(step: float) -> Sample:
        nonlocal calls
        calls += 1
        return Sample(step, *function(step))

    return sufficient_step(at, Sample(0.0, *function(0.0)), first, longest, most), calls


@pytest.mark.parametrize("first", [1e-3, 0.1, 1.0, 10.0, 1e3])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_both_conditions_hold(name: str, first: float) -> None:
    function = FUNCTIONS[name]
    cost, slope = function(0.0)
    found, calls = searched(function, first)
    assert found is not None
    assert calls <= 20
    assert found.cost <= cost + 1e-3 * found.step * slope
    assert abs(found.slope) <= 0.9 * abs(slope)


def test_it_goes_no_farther_than_it_may() -> None:
    found, _ = searched(FUNCTIONS["falling"], 0.01, longest=0.02)
    assert found is not None
    assert found.step == 0.02


def test_it_gives_up() -> None:
    """Where the slope is said to be negative and nothing is lower."""
    rng = np.random.default_rng(0)
    found, calls = searched(lambda t: (0.0 if t == 0.0 else 1.0 + rng.random(), -1.0), 1.0, most=3)
    assert found is None
    assert calls == 3
