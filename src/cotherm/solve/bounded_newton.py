"""Newton's method over u ≥ 0 for a cost whose exact curvature is at hand, as a dense matrix.

The step minimizes the quadratic model over u ≥ 0 (block principal pivoting). A model that is not convex is replaced by
its convex part. The loop is that of :mod:`cotherm.solve.descent`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.engines import default_engine
from cotherm.engines.interface import Array
from cotherm.solve.descent import Damping, Proposal, descend

_DAMPING = Damping(first=1e-3, least=1e-12, most=1e14)
_MOST_EXCHANGES, _PATIENCE = 60, 5
_ROUNDING = 1e-14
# Signs below this fraction of the largest entry are rounding.
_SIGN = 1e-13

Mask = NDArray[np.bool_]


class CurvedProblem(Protocol):
    """A smooth function of u ≥ 0.

    Around a point it is c + 2 slopeᵀs + sᵀ(convex + concave)s, ``convex`` being certainly positive semi-definite;
    ``metric``, positive definite, is what the damping is multiplied by, and ``optimality`` the projected gradient
    relative to those that balance in it.
    """

    def at(self, u: Floats) -> Any: ...

    def cost(self, u: Floats) -> float: ...


@dataclass(frozen=True)
class _Trial:
    u: Floats
    cost: float
    active: Mask

    @property
    def rounding(self) -> float:
        return _ROUNDING * self.cost


class _Model:
    def __init__(self, problem: CurvedProblem, here: _Trial) -> None:
        self._problem, self._here = problem, here
        self._point = problem.at(here.u)
        self._curvature: Floats | None = None
        self._is_convex = False

    @property
    def optimality(self) -> float:
        return self._point.optimality

    def step(self, damping: float) -> Proposal[_Trial] | None:
        """With the exact curvature while that is convex, from then on with its convex part."""
        point, u = self._point, self._here.u
        if self._curvature is None:
            self._convex = point.convex
            self._curvature = self._convex + point.concave
        H = self._curvature + damping * point.metric
        found = nearest_bounded(H, point.slope, u, self._here.active)
        if found is None and not self._is_convex:
            self._curvature, self._is_convex = self._convex, True
            return self.step(damping)
        if found is None:
            return None
        v, active = found
        s = v - u
        predicted = -float(2.0 * point.slope @ s + s @ (self._curvature @ s))
        return Proposal(_Trial(v, self._problem.cost(v), active), predicted, damping)

    def accepted(self, there: _Trial) -> None:
        """Nothing is learned: the curvature is exact."""


def descend_bounded(problem: CurvedProblem, u: Floats, *, tolerance: float, iterations: int) -> Floats:
    """From u to a local minimum, as far as the tolerance and the number of iterations go."""
    end = descend(
        _Trial(u, problem.cost(u), u <= 0.0),
        lambda here: _Model(problem, here),
        damping=_DAMPING,
        tolerance=tolerance,
        iterations=iterations,
    )
    return np.asarray(end.u)


def nearest_bounded(H: Floats, slope: Floats, u: Floats, active: Mask) -> tuple[Floats, Mask] | None:
    """The minimum of 2 slopeᵀs + sᵀHs over v = u + s ≥ 0, searched from ``active``, and its active set.

    None if it is not convex there. By block principal pivoting (Portugal, Júdice & Vicente 1994): all unknowns on the
    wrong side are exchanged; should that stop helping, one at a time, which always terminates.
    """
    cholesky_solver = default_engine().cholesky_solver
    fewest, left = len(u) + 1, _PATIENCE
    for _ in range(_MOST_EXCHANGES):
        free = np.flatnonzero(~active)
        s = np.where(active, -u, 0.0)
        leaving = np.flatnonzero(active & (u > 0.0))
        rhs = -slope[free] - H[np.ix_(free, leaving)] @ s[leaving]
        try:
            s[free] = cholesky_solver(H[np.ix_(free, free)])(rhs) if len(free) else rhs
        except np.linalg.LinAlgError:
            return None
        v = u + s
        wrong = misplaced(active, v, slope + H @ s) if len(v) else active
        count = int(wrong.sum())
        if not count:
            break
        if count < fewest:
            fewest, left = count, _PATIENCE
        elif left:
            left -= 1
        else:
            wrong[: np.flatnonzero(wrong)[-1]] = False
        active = active ^ wrong
    return np.maximum(v, 0.0), active


def misplaced(active: Array, v: Array, slope: Array) -> Array:
    """The active unknowns with a negative slope, which should grow, and the free ones that are negative."""
    limits = [-_SIGN * max(-float(x.min()), float(x.max()), 0.0) for x in (slope, v)]
    return np.where(active, slope < limits[0], v < limits[1])
