"""Limited-memory BFGS from a given inverse, on bounded quadratic and curved costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from cotherm.engines import default_engine
from cotherm.solve.limited_memory import Inverse, minimize_from_inverse

ENGINE = default_engine()


@dataclass(frozen=True)
class Place:
    u: np.ndarray
    cost: float
    half: np.ndarray

    @property
    def optimality(self) -> float:
        free = np.where(self.u > 0.0, self.half, np.minimum(self.half, 0.0))
        return float(np.linalg.norm(free))


class Cost:
    """xᵀHx − 2bᵀx + Σ bend·x⁴, with H of a wide spectrum: some unknowns end at zero."""

    def __init__(self, seed: int, n: int = 30, bend: float = 0.0) -> None:
        rng = np.random.default_rng(seed)
        Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
        self.H, self.b, self.bend = Q @ np.diag(np.geomspace(1e-2, 1e2, n)) @ Q.T, rng.standard_normal(n), bend
        # Near the minimum, but with some other unknowns at zero.
        self.minimum = self._minimum(n)
        self.start = np.maximum(self.minimum + 3e-4 * rng.standard_normal(n), 0.0)

    def __call__(self, u: np.ndarray) -> Place:
        half = self.H @ u - self.b + 2.0 * self.bend * u**3
        return Place(u, float(u @ self.H @ u - 2.0 * self.b @ u + self.bend * np.sum(u**4)), half)

    def _minimum(self, n: int) -> np.ndarray:
        found = minimize(  # type: ignore[call-overload]
            lambda u: (self(u).cost, 2.0 * self(u).half),
            np.ones(n),
            jac=True,
            method="L-BFGS-B",
            bounds=[(0, None)] * n,
            tol=1e-15,
        )
        return np.asarray(found.x)

    def solved(self, form: np.ndarray, steps: int = 20, iterations: int = 300) -> tuple[Place, int]:
        """From the inverse of a form over the unknowns that are not held, and how many such there were."""
        made = 0

        def inverse_at(_: Place, held: np.ndarray) -> Inverse:
            nonlocal made
            made += 1
            inverse = np.diag(1.0 / np.diag(form))
            inverse[np.ix_(~held, ~held)] = np.linalg.inv(form[np.ix_(~held, ~held)])
            return Inverse(lambda y: inverse @ y, steps)

        end = minimize_from_inverse(
            ENGINE,
            self(self.start),
            self,
            inverse_at,
            tolerance=1e-6,
            iterations=iterations,
            after_step=lambda _: None,
        )
        return end, made


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("bend", [0.0, 0.1])
def test_it_ends_in_the_minimum(seed: int, bend: float) -> None:
    cost = Cost(seed, bend=bend)
    end, _ = cost.solved(cost.H + 0.3 * np.eye(len(cost.b)))
    assert end.optimality <= 1e-6
    assert (end.u >= 0.0).all()
    assert 0 < np.sum(end.u == 0.0) < len(end.u)
    assert_allclose(end.u, cost.minimum, atol=1e-3)
    assert_allclose(end.cost, cost(cost.minimum).cost, atol=1e-9)
    assert np.any((cost.start > 0.0) != (end.u > 0.0))


def test_a_good_inverse_saves_steps() -> None:
    cost, counts = Cost(0, bend=0.1), []
    for form in (cost.H, 100.0 * np.eye(len(cost.b))):
        for iterations in range(1, 300):
            if cost.solved(form, steps=1_000, iterations=iterations)[0].optimality <= 1e-6:
                counts.append(iterations)
                break
    assert 2 * counts[0] < counts[1]


def test_it_gives_up_where_an_inverse_brings_little() -> None:
    cost = Cost(1)
    end, made = cost.solved(1e4 * np.eye(len(cost.b)), steps=3)
    assert made <= 3
    assert end.optimality > 1e-3
    assert end.cost < cost(cost.start).cost


def test_no_inverse_no_steps() -> None:
    cost = Cost(2)
    here = cost(cost.start)
    end = minimize_from_inverse(
        ENGINE, here, cost, lambda *_: None, tolerance=1e-6, iterations=9, after_step=lambda _: None
    )
    assert end is here


def test_an_inverse_that_leads_uphill_ends_it() -> None:
    cost = Cost(3)
    end, _ = cost.solved(-np.eye(len(cost.b)))
    assert end.cost == cost(cost.start).cost
