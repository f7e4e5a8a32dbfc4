"""Newton's method over u ≥ 0 for a cost whose exact curvature is at hand, as a dense matrix.

The step minimizes the quadratic model over u ≥ 0 (block principal pivoting). A model that is
not convex is replaced by its convex part, and damping in a metric (Levenberg–Marquardt) is steered by the ratio of the
true decrease to the model's (Nielsen 1999).
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from cotherm.arrays import Floats
from cotherm.solve.cholesky import definite_solver
from cotherm.solve.pivoting import Mask, Pivoting

_FIRST_DAMPING, _LEAST_DAMPING, _MOST_DAMPING = 1e-3, 1e-12, 1e14
_MOST_EXCHANGES, _PATIENCE = 60, 5
_MOST_TRIALS = 40


class CurvedPoint(Protocol):
    """A cost around some u: c + 2 slopeᵀs + sᵀ(convex + concave)s."""

    @property
    def cost(self) -> float: ...

    @property
    def slope(self) -> Floats:
        """Half the gradient."""

    @property
    def optimality(self) -> float:
        """The projected gradient relative to those that balance in it."""

    @property
    def convex(self) -> Floats:
        """The part of half the Hessian that is positive semi-definite for sure."""

    @property
    def concave(self) -> Floats:
        """The rest of it."""

    @property
    def metric(self) -> Floats:
        """What the damping is multiplied by, positive definite."""


class CurvedProblem(Protocol):
    """A smooth function of u ≥ 0."""

    def at(self, u: Floats) -> CurvedPoint: ...

    def cost(self, u: Floats) -> float: ...


def descend_bounded(problem: CurvedProblem, u: Floats, *, tolerance: float, iterations: int) -> Floats:
    """From u to a local minimum, as far as the tolerance and the number of iterations go."""
    held = u <= 0.0
    damping, growth = _FIRST_DAMPING, 4.0
    for _ in range(iterations):
        here = problem.at(u)
        if here.optimality <= tolerance:
            break
        metric, convex = here.metric, here.convex
        curvature, exact = convex + here.concave, True
        for _ in range(_MOST_TRIALS):
            found = nearest_bounded(curvature + damping * metric, here.slope, u, held)
            if found is None and exact:
                curvature, exact = convex, False
                continue
            if found is not None:
                v, now_held = found
                s = v - u
                predicted = -float(2.0 * here.slope @ s + s @ (curvature @ s))
                gained = here.cost - problem.cost(v)
                if gained >= 1e-3 * predicted and gained > 0.0:
                    break
                if predicted <= 1e-14 * here.cost:
                    return u
            damping, growth = max(damping, 1e-8) * growth, 2.0 * growth
            if damping > _MOST_DAMPING:
                return u
        else:
            return u
        ratio = gained / predicted
        damping = max(damping * float(np.clip(1.0 - (2.0 * ratio - 1.0) ** 3, 0.1, 2.0)), _LEAST_DAMPING)
        growth, u, held = 4.0, v, now_held
    return u


def nearest_bounded(H: Floats, slope: Floats, u: Floats, held: Mask) -> tuple[Floats, Mask] | None:
    """The minimum of 2 slopeᵀs + sᵀHs over v = u + s ≥ 0, and what it holds at zero; None if it is not convex there.

    ``held`` is where the search starts.
    """
    pivoting = Pivoting(len(u), _PATIENCE)
    for _ in range(_MOST_EXCHANGES):
        free = np.flatnonzero(~held)
        s = np.where(held, -u, 0.0)
        leaving = np.flatnonzero(held & (u > 0.0))
        rhs = -slope[free] - H[np.ix_(free, leaving)] @ s[leaving]
        try:
            s[free] = definite_solver(H[np.ix_(free, free)])(rhs) if len(free) else rhs
        except np.linalg.LinAlgError:
            return None
        v = u + s
        exchanged = pivoting.exchanged(held, v, slope + H @ s)
        if exchanged is None:
            break
        held = exchanged
    return np.maximum(v, 0.0), held
