"""The generalized Cauchy point: the first minimum of a quadratic model along the gradient, bent at the bounds.

Along P(x − τg), P the projection onto x ≥ 0, the model gᵀs + ½ sᵀBs is a parabola between any two breakpoints, where
unknowns reach zero (Byrd, Lu, Nocedal & Zhu 1995). They are passed in their order, the smallest first, until the
parabola has its minimum before the next one. Of the unknowns of other ranks that takes the breakpoints and their rows
of W, of which some thousand are told to all at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.engines import Engine
from cotherm.solve.compact_hessian import CompactHessian, Mask

# Breakpoints of all ranks that are told at a time.
_AT_ONCE = 4_096
_EPSILON = float(np.finfo(np.float64).eps)


class CauchyPoint(NamedTuple):
    """The rows of this rank, those that are not held at zero there, and Wᵀ(point − x)."""

    x: Floats
    free: Mask
    along: Floats


def cauchy_point(engine: Engine, x: Floats, g: Floats, B: CompactHessian, M: Floats) -> CauchyPoint | None:
    """From x ≥ 0 with the gradient g; M is the middle of B. None where the projected gradient is zero."""
    free = (x > 0.0) | (g < 0.0)
    d = np.where(free, -g, 0.0)
    square, grows = engine.total(np.array([d @ d, np.count_nonzero(d > 0.0)])).tolist()
    if square == 0.0:
        return None
    path = _Path.begun(square, B.theta, M, B.transposed(d), is_bounded=grows == 0.0)
    passed = _passed(engine, path, x, d, B)
    d[passed], free[passed] = 0.0, False
    point = x + path.end() * d
    point[passed] = 0.0
    return CauchyPoint(point, free, path.along)


@dataclass
class _Path:
    """Where the search is, the same on all ranks.

    ``slope`` and ``curvature`` are those of the model by τ from the last breakpoint on, ``direction`` is Wᵀd there and
    ``along`` Wᵀ(P(x − τg) − x).
    """

    theta: float
    M: Floats
    slope: float
    curvature: float
    least_curvature: float
    direction: Floats
    along: Floats
    is_bounded: bool  # every unknown that moves reaches zero
    tau: float = 0.0
    to_minimum: float = 0.0  # from the last breakpoint

    @classmethod
    def begun(cls, square: float, theta: float, M: Floats, direction: Floats, *, is_bounded: bool) -> _Path:
        least = _EPSILON * theta * square
        curvature = max(theta * square - float(direction @ M @ direction), least)
        path = cls(theta, M, -square, curvature, least, direction, np.zeros(len(direction)), is_bounded)
        path.to_minimum = square / curvature
        return path

    def passes(self, t: Floats, d: Floats, x: Floats, rows: Floats) -> int:
        """Pass breakpoints, given in their order with rows of W, until the minimum; how many were passed."""
        if not len(t) or self.to_minimum < t[0] - self.tau:
            return 0
        with np.errstate(all="ignore"):  # what overflows is far beyond the minimum
            steps = np.diff(t, prepend=self.tau)
            moved = np.cumsum(d[:, np.newaxis] * rows, axis=0)
            before = self.direction - moved + d[:, np.newaxis] * rows
            along = self.along + np.cumsum(steps[:, np.newaxis] * before, axis=0)
            products = rows @ self.M
            slopes = d**2 + self.theta * d * x + d * np.einsum("kr,kr->k", products, along)
            curvatures = (
                2.0 * d * np.einsum("kr,kr->k", products, before)
                - self.theta * d**2
                - d**2 * np.einsum("kr,kr->k", products, rows)
            )
        count = self._counted(steps.tolist(), slopes.tolist(), curvatures.tolist())
        if count:
            self.tau, self.along = float(t[count - 1]), along[count - 1]
            self.direction = self.direction - moved[count - 1]
        return count

    def _counted(self, steps: list[float], slopes: list[float], curvatures: list[float]) -> int:
        for count, (step, slope, curvature) in enumerate(zip(steps, slopes, curvatures, strict=True)):
            if self.to_minimum < step:
                return count
            self.slope += step * self.curvature + slope
            self.curvature = max(self.curvature + curvature, self.least_curvature)
            self.to_minimum = -self.slope / self.curvature
        return len(steps)

    def end(self) -> float:
        """τ at the minimum."""
        rest = max(self.to_minimum, 0.0)
        self.along = self.along + rest * self.direction
        return self.tau + rest


def _passed(engine: Engine, path: _Path, x: Floats, d: Floats, B: CompactHessian) -> NDArray[np.intp]:
    """The numbers of the unknowns here whose breakpoints are passed."""
    numbers = np.flatnonzero(d < 0.0)
    with np.errstate(over="ignore"):
        t = x[numbers] / -d[numbers]
    order = np.argsort(t, kind="stable")
    numbers, t = numbers[order], t[order]
    at, at_once = 0, engine.share(_AT_ONCE)
    while True:
        some = slice(at, at + at_once)
        mine = np.column_stack([t[some], d[numbers[some]], x[numbers[some]], B.rows(numbers[some])])
        told = engine.all_rows(engine.asarray(mine))
        # Beyond the first that some rank has not told, others may come before.
        horizon = -engine.most(-t[at + at_once] if at + at_once < len(t) else -np.inf)
        places = np.argsort(told[:, 0], kind="stable")
        places = places[told[places, 0] <= horizon]
        found = told[places]
        count = path.passes(found[:, 0], found[:, 1], found[:, 2], found[:, 3:])
        is_passed = np.zeros(len(told))
        is_passed[places[:count]] = 1.0
        at += int(engine.to_numpy(engine.own_rows(is_passed, len(mine))).sum())
        if count < len(found):
            break
        if horizon == np.inf:
            if path.is_bounded:  # nothing moves any more
                path.to_minimum = 0.0
            break
    return numbers[:at]
