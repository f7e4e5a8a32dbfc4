"""The system for the multipliers by conjugate gradients, for so many equations that they are only applied.

The residual ρ of the iteration tells how good the point v that belongs to η is: the objective at v is no more than
Σ ω ρ² above its minimum (the duality gap), and that is compared with what v gains over a known point. The iteration
runs in single precision; what it leads to is judged, and if need be improved, in double precision.

It is preconditioned by the factors of the system at an earlier point and active set, which has changed little since. To
factor costs as much as many iterations: it is done once the iterations, beyond as many as there were right after the
last time, have cost as much. So neither more than doubles the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from cotherm.arrays import Floats
from cotherm.engines import Engine
from cotherm.engines.interface import Array
from cotherm.solve.curved_metric import CurvedMetric
from cotherm.solve.implicit_matrix import ImplicitMatrix, Solve
from cotherm.solve.metric import Metric, Restricted
from cotherm.solve.multipliers import Known, Solved, Start

# The iteration ends when the gap is this part of the gain, or this part of the objective at the known point.
_GAP, _NEGLIGIBLE = 0.1, 1e-15
# In single precision it goes on to this part of that gap. If the gap has not fallen to this part of the one before,
# single precision has reached its end.
_MARGIN, _PROGRESS = 0.7, 0.5
_MOST_ITERATIONS = 1_000
# After so many iterations their progress is looked at: the logarithm of the gap falls by at least so much, or counts as
# if it did.
_LOOK, _SLOWEST = 8, 0.1
# Relative residual of systems with A_FF within the iteration.
_INNER = 1e-8


class IteratedSystem:
    """By conjugate gradients; all weights are the same and positive."""

    is_iterative = True

    def __init__(
        self, metric: Metric | CurvedMetric, plain: Metric, E: ImplicitMatrix, preconditioner: Preconditioner
    ) -> None:
        """The preconditioner is made with the ``plain`` metric, of which the other is a modification."""
        self._metric, self._plain, self._E, self._preconditioner = metric, plain, E, preconditioner
        self._last: tuple[Array, Restricted] | None = None

    def restricted(self, active: Array) -> Restricted:
        if self._last is None or not np.array_equal(self._last[0], active):
            self._last = active, self._metric.restricted(active)
        return self._last[1]

    def solve(self, part: Restricted, z: Array, start: Start, weights: Floats, known: Known | None) -> Solved:
        assert self._last is not None
        assert known is not None
        shift, preconditioner, matrix = 1.0 / float(weights[0]), self._preconditioner, self._E.rough
        eta, force, work, last = known.eta, known.force, 0.0, np.inf
        may_renew = True  # once: then the factors are those of this very system, or there are none
        while True:
            v = z - part.inverse(force)
            left = self._E.rmatvec(v - start.v) + start.residuals
            residual = left - shift * eta
            value = float(force @ (z - start.v)) + float(eta @ (start.residuals + residual))
            goal = _Goal(known.objective, shift)
            gap = goal.gap(residual)
            if gap <= goal.enough(gap, value) or (matrix is self._E and gap > _PROGRESS * last):
                break  # good enough, or the rest is rounding
            if gap > _PROGRESS * last:
                matrix = self._E
            change, spent, is_due = self._iterate(
                _Product(matrix, part, shift), goal, residual, value, may_renew=may_renew
            )
            eta = eta + change
            force, work = self._E.matvec(eta), work + spent
            last = np.inf if is_due else gap
            if is_due:
                preconditioner.renew(self._E, self._plain, self._last[0], shift)
                may_renew = False
                work = np.nan  # of a whole solve with the same factors nothing is known
        if not np.isnan(work):
            preconditioner.finished(work)
        return Solved(eta, force, v, left)

    def _iterate(
        self, product: _Product, goal: _Goal, residual: Floats, value: float, *, may_renew: bool
    ) -> tuple[Floats, float, bool]:
        """A change of η that makes it good enough, the work, and whether that ended early for new factors.

        ``value`` is that of the dual objective, which every iteration increases.
        """
        preconditioner, progress = self._preconditioner, _Progress()
        assert self._last is not None
        factoring = self._E.factoring_work(self._last[0]) if may_renew else np.inf
        engine = self._E.engine
        work = product.work + preconditioner.work
        left = engine.small_array(residual.copy())
        change = np.zeros_like(left)
        z = preconditioner.apply(left)
        p, size = z, float(left @ z)
        for iteration in range(_MOST_ITERATIONS):
            gap = goal.gap(left)
            enough = goal.enough(gap, value)
            if gap <= _MARGIN * enough or size <= 0.0:
                break
            expected = progress.expected(iteration, gap, enough)
            if preconditioner.is_due(expected * work, factoring):
                return engine.to_numpy(change), iteration * work, True
            moved = product(p)
            step = size / float(p @ moved)
            change += step * p
            left -= step * moved
            value += step * size
            z = preconditioner.apply(left)
            before, size = size, float(left @ z)
            p = z + (size / before) * p
        return engine.to_numpy(change), iteration * work, False


def approximate_inverse(metric: Metric, E: ImplicitMatrix, active: Array, solve: Solve) -> Callable[[Array], Array]:
    """About y ↦ (A + E Eᵀ)_FF⁻¹y_F, symmetric and, but for rounding, positive definite.

    Of what is active, F being the rest, it is a multiple. ``solve`` is what the factors of this system give.
    """
    part, matrix, engine = metric.restricted(active), E.rough, metric.engine

    def apply(y: Array) -> Array:
        x = part.inverse(y, _INNER)
        inside = part.inverse(matrix.apply(solve(matrix.apply_transposed(x))), _INNER)
        return engine.elementwise(
            lambda active, y, x, inside, s: np.where(active, 0.5 * y / s, x - inside),
            active,
            y,
            x,
            inside,
            metric.diagonal,
        )

    return apply


class _Goal:
    """When η is good enough."""

    def __init__(self, objective: float, shift: float) -> None:
        self._objective, self._shift = objective, shift

    def gap(self, residual: Array) -> float:
        """The duality gap."""
        return float(residual @ residual) / self._shift

    def enough(self, gap: float, value: float) -> float:
        """Which gap would be small enough, with such a dual objective."""
        return max(_GAP * (self._objective - value - gap), _NEGLIGIBLE * abs(self._objective))


class _Product:
    """x ↦ (shift·I + E_FᵀA_FF⁻¹E_F) x for small arrays."""

    def __init__(self, E: ImplicitMatrix, part: Restricted, shift: float) -> None:
        self._E, self._part, self._shift, self.work = E, part, shift, E.work

    def __call__(self, x: Array) -> Array:
        return self._shift * x + self._E.apply_transposed(self._part.inverse(self._E.apply(x), _INNER))


class Made(NamedTuple):
    """A point, an active set and a shift."""

    u: Array
    active: Array
    shift: float


class Preconditioner:
    """Factors of the system as it was at some earlier time, and the work that iterations have done since."""

    def __init__(self) -> None:
        self._solve: Solve | None = None
        # The work of a solve with fresh factors, once that is known, and what others have taken beyond it.
        self._fresh: float | None = 0.0
        self._excess = 0.0
        # Of applying them.
        self.work = 0.0
        # Where the next would be made, and where the last were, with active set and shift: for making them anew.
        self.place: Array = None
        self._made: Made | None = None

    @property
    def made(self) -> Made | None:
        """Where the factors were made; None where there are none."""
        return None if self._solve is None else self._made

    def apply(self, r: Array) -> Array:
        return r if self._solve is None else self._solve(r)

    def is_due(self, work: float, factoring: float) -> bool:
        """Whether to factor anew, which takes so much work, in a solve that takes so much."""
        return self._excess + work - (self._fresh or 0.0) > factoring

    def renew(self, E: ImplicitMatrix, metric: Metric, active: Array, shift: float) -> None:
        self._solve = None  # before the next are made: they are large
        self._solve = E.factored(metric, active, shift)
        self._made = Made(self.place, active, shift)
        self._excess, self._fresh = 0.0, None
        self.work = 0.0 if self._solve is None else E.solving_work(active)

    def finished(self, work: float) -> None:
        """A solve from its beginning to its end has taken so much work."""
        if self._fresh is None:
            self._fresh = work
        self._excess += max(0.0, work - self._fresh)

    def state(self, engine: Engine) -> dict[str, Any]:
        """All but the factors themselves, which are large: where they were made is enough."""
        made = None
        if self._made is not None:
            u, active, shift = self._made
            made = {"u": engine.to_numpy(u), "active": engine.to_numpy(active), "shift": shift}
        return {"fresh": self._fresh, "excess": self._excess, "work": self.work, "made": made}

    def restore(
        self, state: Mapping[str, Any], engine: Engine, factored: Callable[[Array, Array, float], Solve | None]
    ) -> None:
        """``factored`` makes the factors anew, at a point, for an active set and a shift."""
        self._fresh, self._excess, self.work = state["fresh"], state["excess"], state["work"]
        if state["made"] is not None:
            u, active = (engine.asarray(state["made"][name]) for name in ("u", "active"))
            self._made = Made(u, active, state["made"]["shift"])
            self._solve = factored(*self._made)


class _Progress:
    """How many iterations a solve will take, from how much the last few have brought."""

    def __init__(self) -> None:
        self._expected, self._gap = 0.0, np.inf

    def expected(self, iteration: int, gap: float, enough: float) -> float:
        """In all: those so far and those to come, as looked at every few."""
        if iteration % _LOOK == 0:
            self._expected = float(iteration)
            if iteration and enough > 0.0:
                rate = max(np.log(self._gap / gap), _SLOWEST) / _LOOK
                self._expected += np.log(gap / enough) / rate
            self._gap = gap
        return max(self._expected, float(iteration))
