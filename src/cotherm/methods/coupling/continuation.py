"""Continuation: sequences of easier problems that lead past the many poor minima of the coupling cost.

A *route* is a list of stages, each an easier problem than the next and started at the solution of the one before. All
routes end with the problem itself. None is tuned to any data:

- *direct*: the problem itself at once.
- *times*: short times first, when heat has only crossed a few edges and only edges near the functions matter; each
  horizon is √10 times the one before, from one over the median degree (about one move along an edge) up to the longest
  time given.
- *alpha*: all times, α by decades from where coupling begins to weigh against distance.
- *held*: one graph changes first, the one that changed most on the route by times, while the others are held. If all
  may change, they share a small mismatch: each goes halfway, a cut begins near the functions, where they feel it first,
  and the other graphs bend to excuse it. Moving the cut to where it belongs would then take mending and cutting at the
  same time, and no descent does that. One graph alone has to explain all of the mismatch, and only the right cut does.

The stages of the last three measure distance robustly, like |d| for changes beyond 0.3 of the mean weight. The paper's
distance is a sum of squares, which prefers many edges bent a little to one edge cut; starting from the sparse solution
leads to far better minima: of sixty hard rings (benchmark routes) *times* found 52, with the paper's distance 41.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import LinearOperator, eigsh

from cotherm import deadline
from cotherm.arrays import Floats
from cotherm.methods.coupling.problem import Problem

ROUTES = ("direct", "times", "alpha")
HELD = "held"

_HORIZON_STEP = np.sqrt(10.0)
_ALPHA_STEP = 10.0
_ROBUST_FRACTION = 0.3
# The most stages of a route: over more decades its steps are longer.
_MOST_STAGES = 40
# Relative error of an eigenvalue by iterations.
_EIGENVALUE = 1e-9
# Power iteration ends when a step changes its result by less than this part.
_POWER_STEPS, _POWER_CHANGE = 100, 3e-3


@dataclass(frozen=True)
class Stage:
    """Times and α of an easier problem; ``robust`` is whether distance is measured robustly."""

    times: tuple[float, ...]
    alpha: float
    robust: bool = True


def default_route(name: str, problem: Problem) -> list[Stage]:
    """The stages of a named route before the problem itself."""
    if name == "direct":
        return []
    times = tuple(problem.times.tolist())
    if name == "times":
        return [Stage(reached, problem.alpha) for reached in _horizons(times, problem.first_horizon)]
    return [Stage(times, alpha) for alpha in _decades(problem)]


def robust_scale(problem: Problem) -> float:
    """The change of weight beyond which the robust distance grows like |d|."""
    weights = problem.center[problem.center > 0.0]
    return _ROBUST_FRACTION * float(weights.mean()) if problem.engine.ranks.sum(len(weights)) else 1.0


def _horizons(times: tuple[float, ...], first: float) -> list[tuple[float, ...]]:
    """The given times up to each horizon, and the horizon itself if none of them is near it."""
    stages = []
    for horizon in _ladder(first, max(times), _HORIZON_STEP):
        reached = tuple(t for t in times if 0.0 < t <= horizon)
        near = reached and max(reached) * _HORIZON_STEP > horizon
        stages.append(reached if near else (*reached, horizon))
    return [*stages, times]


def _ladder(first: float, last: float, step: float) -> list[float]:
    """Values from ``first`` on, each ``step`` times the one before, all below ``last``."""
    if not 0.0 < first < 0.99 * last:
        return []
    factor = max(float(step), math.exp((math.log(last) - math.log(first)) / _MOST_STAGES))
    rungs = [first]
    while rungs[-1] * factor < 0.99 * last:
        rungs.append(rungs[-1] * factor)
    return rungs


def stiffness(problem: Problem) -> float:
    """‖J A⁻¹ Jᵀ‖₂ at the given weights: the coupling's part of the Hessian at α = 1 in units of the distance's."""
    unit = problem.restated(problem.times, 1.0, None)
    unit.restore_warm_starts([None] * len(problem.graphs))  # the answer must not depend on earlier solves
    if not unit.is_formed:
        return _applied_stiffness(unit)
    E = unit.at(problem.center).jacobian
    if not E.shape[1] or not problem.engine.ranks.sum(E.shape[0]):
        return 0.0
    none_active = problem.engine.xp.zeros(E.shape[0], dtype=bool)
    gram = problem.engine.to_numpy(unit.metric(problem.center).prepared(E)(none_active).gram)
    last = len(gram) - 1
    # The transposed matrix is the same and in LAPACK's order, so that it is not copied.
    largest = scipy.linalg.eigvalsh(gram.T, subset_by_index=(last, last), overwrite_a=True, check_finite=False)
    return max(float(largest[0]), 0.0)


def _applied_stiffness(problem: Problem) -> float:
    """By Lanczos iterations: the derivative is applied, not formed."""
    here = problem.at(problem.center)
    part = problem.metric(problem.center).restricted(problem.engine.xp.zeros(len(problem.center), dtype=bool))

    def product(x: Floats) -> Floats:
        deadline.check()
        return here.derivative(part.inverse(here.gradient(x)))

    size = problem.residuals
    products = LinearOperator((size, size), matvec=product, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(size)
    if not products.matvec(start).any():
        return 0.0
    values = eigsh(products, k=1, which="LA", v0=start, tol=_EIGENVALUE, return_eigenvectors=False)
    return max(float(values[0]), 0.0)


def rough_stiffness(problem: Problem) -> float:
    """The same within a percent or so, by power iteration."""
    here = problem.restated(problem.times, 1.0, None).at(problem.center)
    part = problem.metric(problem.center).restricted(problem.engine.xp.zeros(len(problem.center), dtype=bool))
    random = np.random.default_rng(0)
    v = problem.free_part([random.random(graph.m) for graph in problem.graphs])
    v, size = v / float(np.linalg.norm(v)), 0.0
    for _ in range(_POWER_STEPS):
        deadline.check()
        v = part.inverse(here.gradient(here.derivative(v)))
        before, size = size, float(np.linalg.norm(v))
        if size == 0.0 or abs(size - before) < _POWER_CHANGE * size:
            break
        v = v / size
    return size


def _decades(problem: Problem) -> list[float]:
    """α by decades, from where the coupling's part of the Hessian equals the distance's to the α asked for."""
    size = stiffness(problem)
    if size == 0.0:
        return [problem.alpha]
    return [*_ladder(1.0 / size, problem.alpha, _ALPHA_STEP), problem.alpha]
