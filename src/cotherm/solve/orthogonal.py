"""Minimization over orthogonal matrices: a trust-region Newton method on O(k) × … × O(k).

Around U every orthogonal matrix nearby is U·cay(X) with X skew, cay(X) = (I − X/2)⁻¹(I + X/2). A problem gives its
cost, the gradient and the curvature in X at 0, and a positive diagonal that stands for the curvature. The step
minimizes the quadratic model within ‖X‖ ≤ radius in the norm of that diagonal (conjugate gradients, Steihaug 1983;
directions of negative curvature are followed to the edge), and the ratio of the true to the predicted decrease steers
the radius.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.linalg

from cotherm.arrays import Floats
from cotherm.solve.descent import Status

_EPSILON = float(np.finfo(np.float64).eps)
_MOST_PRODUCTS = 200
_SMALLEST_RADIUS = 1e-10


class OrthogonalPoint(Protocol):
    """A cost and its derivatives at some U, shape (views, k, k); directions X are skew, of the same shape."""

    @property
    def cost(self) -> float: ...

    @property
    def gradient(self) -> Floats:
        """G, skew: the derivative in direction X is ⟨G, X⟩ = ½ Σ G∘X."""

    @property
    def scale(self) -> Floats:
        """P > 0, symmetric: curvature in direction X is about ⟨X, P∘X⟩."""

    @property
    def optimality(self) -> float:
        """The gradient relative to those that balance in it; 0 once it is rounding."""

    def curvature(self, X: Floats) -> Floats:
        """HX, skew."""


class OrthogonalProblem(Protocol):
    """A function of orthogonal matrices."""

    def at(self, U: Floats) -> OrthogonalPoint: ...


@dataclass(frozen=True)
class OrthogonalDescent:
    """Where a descent ended."""

    U: Floats
    cost: float
    optimality: float
    status: Status
    iterations: int


def descend_orthogonal(
    problem: OrthogonalProblem,
    U: Floats,
    *,
    tolerance: float,
    iterations: int,
    watch: Callable[[OrthogonalPoint], None] = lambda _: None,
) -> OrthogonalDescent:
    """From U to a local minimum: optimality within ``tolerance``, or no step that lowers the cost beyond rounding."""
    here = problem.at(U)
    radius = np.sqrt(max(here.cost, _EPSILON))
    for iteration in range(iterations):
        watch(here)
        if here.optimality <= tolerance:
            return _finished(U, here, Status.CONVERGED, iteration)
        while True:
            step = _step(here, radius)
            moved = U @ _cayley(step.X)
            there = problem.at(moved)
            decrease = here.cost - there.cost
            if decrease > 1e-4 * step.predicted:
                break
            radius = 0.25 * min(radius, step.length)
            if step.predicted <= 4.0 * _EPSILON * abs(here.cost) or radius < _SMALLEST_RADIUS * np.sqrt(abs(here.cost)):
                return _finished(U, here, Status.STALLED, iteration)
        if decrease < 0.25 * step.predicted:
            radius = 0.25 * step.length
        elif decrease > 0.75 * step.predicted and step.at_edge:
            radius *= 2.0
        U, here = moved, there
    status = Status.CONVERGED if here.optimality <= tolerance else Status.OUT_OF_BUDGET
    return _finished(U, here, status, iterations)


def _finished(U: Floats, here: OrthogonalPoint, status: Status, iterations: int) -> OrthogonalDescent:
    # Products of many orthogonal matrices drift by rounding; one step of Newton's towards the nearest mends it.
    U = 1.5 * U - 0.5 * U @ (np.swapaxes(U, 1, 2) @ U)
    return OrthogonalDescent(U, here.cost, here.optimality, status, iterations)


@dataclass(frozen=True)
class _Step:
    X: Floats
    predicted: float
    length: float
    at_edge: bool


def _step(here: OrthogonalPoint, radius: float) -> _Step:
    """The minimum of the model within the radius, by conjugate gradients."""
    G, P = here.gradient, here.scale
    X, HX = np.zeros_like(G), np.zeros_like(G)
    residual = G
    z = residual / P
    p = -z
    slope = _dot(residual, z)
    target = min(0.1, np.sqrt(here.optimality)) ** 2 * slope
    at_edge, length = False, 0.0
    for _ in range(_MOST_PRODUCTS):
        Hp, Pp = here.curvature(p), P * p
        curvature, across, along = _dot(p, Hp), _dot(X, Pp), _dot(p, Pp)
        step = slope / curvature if curvature > 0.0 else np.inf
        edge = _to_edge(length, across, along, radius)
        at_edge = step >= edge
        step = min(step, edge)
        X, HX = X + step * p, HX + step * Hp
        length += 2.0 * step * across + step * step * along
        if at_edge:
            break
        residual = residual + step * Hp
        z = residual / P
        previous, slope = slope, _dot(residual, z)
        if slope <= target:
            break
        p = (slope / previous) * p - z
    predicted = -(_dot(G, X) + 0.5 * _dot(X, HX))
    return _Step(X, predicted, float(np.sqrt(length)), at_edge)


def _to_edge(xx: float, xp: float, pp: float, radius: float) -> float:
    """How far along p the ball's edge is: ‖X + τp‖ = radius."""
    return float((-xp + np.sqrt(max(xp * xp + pp * (radius * radius - xx), 0.0))) / pp)


def _dot(X: Floats, Y: Floats) -> float:
    return 0.5 * float(np.vdot(X, Y))


def _cayley(X: Floats) -> Floats:
    eye = np.eye(X.shape[-1])
    return np.array([scipy.linalg.solve(eye - 0.5 * x, eye + 0.5 * x, check_finite=False) for x in X])
