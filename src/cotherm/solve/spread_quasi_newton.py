"""Limited-memory BFGS with bounds (L-BFGS-B) over vectors that no process holds: each rank has its rows of them.

The method, to every constant, is that of :mod:`cotherm.solve.quasi_newton`, which is SciPy's (Byrd, Lu, Nocedal & Zhu
1995, with the projection of Morales & Nocedal 2011), so that ranks take the steps of one process but for rounding:

1. the Cauchy point, which says what is held at zero (:mod:`cotherm.solve.cauchy_point`);
2. the minimum of the quadratic model over all else (:mod:`cotherm.solve.compact_hessian`), projected onto x ≥ 0;
3. a search along the line that leads there (:mod:`cotherm.solve.line_search`).

Between ranks go sums of products, breakpoints that are passed, and the largest step: nothing as long as the vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cotherm.arrays import Floats
from cotherm.engines import Engine
from cotherm.solve.cauchy_point import CauchyPoint, cauchy_point
from cotherm.solve.compact_hessian import CompactHessian
from cotherm.solve.line_search import Sample, sufficient_step
from cotherm.solve.quasi_newton import EVALUATIONS, V

# The longest step, in units of the way to the model's minimum, where nothing bounds it.
_LONGEST = 1e10
_EPSILON = float(np.finfo(np.float64).eps)


class Minimum(NamedTuple):
    """Where a minimization ended, the rows of this rank, and after how many steps."""

    x: Floats
    cost: float
    steps: int


@dataclass
class _Here:
    x: Floats
    g: Floats
    cost: float


class SpreadQuasiNewton:
    """A minimization whose state, on each rank that of its rows, can be stored between two steps.

    It has the methods of :class:`cotherm.solve.quasi_newton.Resumable`.
    """

    def __init__(self, engine: Engine, begun: Mapping[str, Any] | None = None) -> None:
        self._engine, self._begun = engine, begun
        self._here: _Here | None = None
        self._B: CompactHessian | None = None
        self._steps, self._evaluations, self._before = 0, 0, np.inf

    @property
    def is_possible(self) -> bool:
        """Wherever ranks are."""
        return True

    def state(self) -> dict[str, Any] | None:
        """A copy, to be taken while ``after_step`` is called."""
        if self._here is None or self._B is None:
            return None
        here = {"x": self._here.x.copy(), "g": self._here.g.copy(), "cost": self._here.cost}
        counts = {"steps": self._steps, "evaluations": self._evaluations, "before": self._before}
        return {**here, **counts, "B": self._B.state()}

    @property
    def size(self) -> int:
        """Bytes of the state."""
        return 0 if self._here is None or self._B is None else self._here.x.nbytes * 2 + self._B.size

    def minimize(
        self,
        evaluate: Callable[[Floats], V],
        x: Floats,
        iterations: int,
        tolerance: float,
        memory: int,
        after_step: Callable[[Floats, V], None],
    ) -> Minimum:
        """See :func:`cotherm.solve.quasi_newton.minimize_bounded`; all vectors are the rows of this rank."""
        B = self._B = CompactHessian(self._engine, len(x), memory)
        is_resumed = self._begun is not None
        if self._begun is not None:
            here, value = self._resumed(self._begun, evaluate)
        else:
            here, value = self._first(evaluate, np.maximum(x, 0.0))
        while is_resumed or self._steps < iterations:
            if not is_resumed:
                if self._evaluations > EVALUATIONS * iterations:
                    break
                self._before = here.cost
                found = self._stepped(evaluate, here)
                if found is None:
                    if not B.count:
                        break
                    B.forget()  # what is remembered leads nowhere
                    continue
                here, value = found
                self._here = here
            is_resumed = False
            try:
                after_step(here.x.copy(), value)
            except StopIteration:
                break
            self._steps += 1
            least = min(tolerance, 1.0) * max(abs(self._before), abs(here.cost), 1.0)
            if self._before - here.cost <= least:
                break
        return Minimum(here.x, here.cost, self._steps)

    def _first(self, evaluate: Callable[[Floats], V], x: Floats) -> tuple[_Here, V]:
        value = evaluate(x)
        self._evaluations = 1
        return _Here(x, np.asarray(value.gradient, dtype=np.float64), float(value.cost)), value

    def _resumed(self, state: Mapping[str, Any], evaluate: Callable[[Floats], V]) -> tuple[_Here, V]:
        assert self._B is not None
        self._B.restore(state["B"])
        self._steps, self._evaluations, self._before = (state[k] for k in ("steps", "evaluations", "before"))
        self._here = _Here(np.array(state["x"]), np.array(state["g"]), state["cost"])
        return self._here, evaluate(self._here.x.copy())

    def _stepped(self, evaluate: Callable[[Floats], V], here: _Here) -> tuple[_Here, V] | None:
        """The next point, of which B has learned; None where there is none, as B is."""
        engine, B = self._engine, self._B
        assert B is not None
        try:
            z = self._proposed(here, B)
        except np.linalg.LinAlgError:  # on all ranks: small systems are the same
            return None
        if z is None:
            return None
        d = z - here.x
        slope, square = engine.total(np.array([d @ here.g, d @ d])).tolist()
        if slope >= 0.0:
            return None
        is_first = self._steps == 0
        longest = 1.0 if is_first else self._longest(here.x, d)
        first = min(1.0 / float(np.sqrt(square)), longest) if is_first else 1.0
        latest: list[tuple[_Here, V]] = []

        def at(step: float) -> Sample:
            x = z if step == 1.0 else np.maximum(here.x + step * d, 0.0)
            value = evaluate(x)
            self._evaluations += 1
            there = _Here(x, np.asarray(value.gradient, dtype=np.float64), float(value.cost))
            latest[:] = [(there, value)]
            return Sample(step, there.cost, float(engine.total(np.array([there.g @ d]))[0]))

        found = sufficient_step(at, Sample(0.0, here.cost, slope), first, longest, EVALUATIONS)
        if found is None:
            return None
        there, _ = latest[0]
        along = (found.slope - slope) * found.step
        if along > -_EPSILON * slope * found.step:
            B.learn(found.step * d, there.g - here.g, along)
        return latest[0]

    def _proposed(self, here: _Here, B: CompactHessian) -> Floats | None:
        """Where the model has about its minimum; None where x is a minimum. Raises LinAlgError."""
        M = B.middle() if B.count else np.zeros((0, 0))
        cauchy = cauchy_point(self._engine, here.x, here.g, B, M)
        if cauchy is None:
            return None
        if not B.count or not self._engine.most(bool(cauchy.free.any())):
            return cauchy.x
        slope = here.g + B.theta * (cauchy.x - here.x) - B.times(M @ cauchy.along)
        return self._projected(here, cauchy, B.solve(-slope, cauchy.free))

    def _projected(self, here: _Here, cauchy: CauchyPoint, d: Floats) -> Floats:
        """The end of a step from the Cauchy point, projected onto x ≥ 0 if that leads downhill, else shortened."""
        engine = self._engine
        z = np.where(cauchy.free, np.maximum(cauchy.x + d, 0.0), cauchy.x)
        if not engine.most(bool(np.any(cauchy.free & (z == 0.0)))):
            return z
        if float(engine.total(np.array([(z - here.x) @ here.g]))[0]) <= 0.0:
            return z
        return np.maximum(cauchy.x + min(1.0, self._longest(cauchy.x, d)) * d, 0.0)

    def _longest(self, x: Floats, d: Floats) -> float:
        """How many times d leads from x ≥ 0 to where the first unknown is zero."""
        falling = d < 0.0
        with np.errstate(over="ignore"):
            mine = np.min(x[falling] / -d[falling], initial=_LONGEST)
        return -self._engine.most(-float(mine))
