"""The problem D(u) + ‖r(u)‖² over u ≥ 0, and what is known of it at a point: see :mod:`cotherm.solve.gauss_newton`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from cotherm.arrays import Floats
from cotherm.engines.interface import Array
from cotherm.lazy import lazy
from cotherm.solve.metric import Metric
from cotherm.solve.tall_matrix import TallMatrix

_EPSILON = float(np.finfo(np.float64).eps)


class Point(Protocol):
    """The residuals at some u."""

    @property
    def residuals(self) -> Floats: ...

    @property
    def jacobian(self) -> TallMatrix:
        """Jᵀ, where it is formed: a row for each unknown, a column for each residual."""

    @property
    def pull(self) -> Array:
        """Jᵀr, half the gradient of ‖r‖²."""

    @property
    def noise(self) -> float:
        """How much of ‖r‖ may be rounding."""


class Problem(Protocol):
    """D(u) + ‖r(u)‖²."""

    @property
    def center(self) -> Array:
        """w, where D is zero."""

    @property
    def is_formed(self) -> bool:
        """Whether residuals are so few that the Jacobian is formed."""

    def distance(self, u: Array) -> float:
        """D(u)."""

    def metric(self, u: Array) -> Metric:
        """A, with D(v) ≤ D(u) + (v − w)ᵀA(v − w) − (u − w)ᵀA(u − w) for all v."""

    def at(self, u: Array) -> Point: ...


@dataclass(frozen=True)
class Iterate:
    """A descent after a step. ``state``, called before the next one, is all that the descent needs to go on from here:
    numbers, and arrays on the host; None where it can only begin anew. To take it copies so many bytes."""

    u: Array
    cost: float
    residual: float  # ‖r‖²
    optimality: float
    iteration: int
    state: Callable[[], dict[str, Any] | None] = field(default=lambda: None, repr=False)
    copied: int = 0


@dataclass(frozen=True)
class Trial:
    """A point with its cost, and the active set of the step that led there."""

    u: Array
    point: Point
    cost: float
    active: Array

    @lazy
    def pull(self) -> Array:
        """Jᵀr, half the gradient of ‖r‖²."""
        return self.point.pull

    @property
    def rounding(self) -> float:
        return 4.0 * _EPSILON * self.cost + 2.0 * float(np.linalg.norm(self.point.residuals)) * self.point.noise


def trial_at(problem: Problem, u: Array, active: Array) -> Trial:
    point = problem.at(u)
    return Trial(u, point, problem.distance(u) + square(point.residuals), active)


def square(x: Floats) -> float:
    return float(x @ x)


def iterate_of(here: Trial, optimality: float, number: int) -> Iterate:
    return Iterate(here.u, here.cost, square(here.point.residuals), optimality, number)


class Slope:
    """Half the gradient of the cost at a point, with the parts that balance in it: of the distance and of ‖r‖²."""

    def __init__(self, problem: Problem, metric: Metric, here: Trial) -> None:
        self.here, self._engine = here, metric.engine
        of_distance = metric.apply(here.u - problem.center)
        self.half = self._engine.elementwise(np.add, of_distance, here.pull)
        self._balancing = float(np.linalg.norm(of_distance) + np.linalg.norm(here.pull))

    @property
    def u(self) -> Array:
        return self.here.u

    @property
    def cost(self) -> float:
        return self.here.cost

    @lazy
    def size(self) -> float:
        """Of what is left where u is bounded by zero."""
        return math.sqrt(float(self._engine.elementwise(_projected, self.here.u, self.half).sum()))

    @property
    def optimality(self) -> float:
        return self.size / self._balancing if self._balancing > 0.0 else 0.0


def _projected(u: Array, slope: Array) -> Array:
    """The squares of the slope along which u may move, being bounded by zero."""
    free: Array = np.where(u > 0.0, slope, np.minimum(slope, 0.0))
    return free * free
