"""The derivative of a coupling's residuals where there are many of them: applied, never formed.

The system is

    K = s I + (H ⊗ I) Diag(G_1, …, G_N) (Hᵀ ⊗ I),    G_k = J_kᵀA_k⁻¹J_k,

J_k the derivative of Q_k alone. Its factors need no matrix larger than a G_k: with HᵀH = Diag(c) − a ππᵀ, where
c_k = a σ π_k, σ = Σπ_k (see :func:`cotherm.methods.coupling.problem.CouplingProblem`), W_k = (s I + c_k G_k)⁻¹ and
B_k = (I − s W_k)/c_k,

    K⁻¹ = (I − H (B + Bπ S⁻¹ πᵀB) Hᵀ)/s,    S = (s/(aσ)) Σ_k π_k W_k.

With two graphs there is a single contrast, and K itself is as small as a G_k.

Factors pay: without them, by conjugate gradients alone, two graphs of 1,000 vertices with 24 landmarks took three times
as long, three with 30 landmarks twice as long, and two of 300 with 30 did not converge in 2,000 steps (one run each).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from cotherm.arrays import Floats
from cotherm.engines import Engine, default_engine
from cotherm.engines.interface import Array
from cotherm.heat.correlation_map import CorrelationMap
from cotherm.heat.correlation_model import Correlation
from cotherm.lazy import lazy
from cotherm.solve.implicit_matrix import ImplicitMatrix, Solve
from cotherm.solve.metric import Metric
from cotherm.solve.rough_inverse import (
    RoughInverse,
    Term,
    factoring_work,
    inverting_work,
    is_by_unknowns,
    rough_inverse,
    rough_solver,
    widened,
)
from cotherm.solve.tall_matrix import Recomputed, RowWriter

T = TypeVar("T")

# Waking threads takes as long as this many multiply-adds of dense algebra.
_WORTH_THREADS = 1e8
# The measured costs of making factors and of applying them, in multiply-adds of dense algebra.
_FACTORING, _SOLVING = 0.8, 4.0


@dataclass
class Factors:
    """Memory that factors of the systems may take, what they take for given free edges, and the factors made."""

    room: float
    needs: Callable[[list[int]], int]
    made: list[list[int]] = field(default_factory=list)

    def fit(self, free: list[int]) -> bool:
        """Whether the factors fit into memory."""
        return self.needs(free) <= self.room


class ImplicitJacobian(ImplicitMatrix):
    """The derivative of all graphs' residuals; ``free`` numbers the edges whose weights may change."""

    def __init__(
        self,
        engine: Engine,
        states: Sequence[Correlation],
        free: Sequence[Array],
        contrasts: Contrasts,
        largest: int,
        factors: Factors,
    ) -> None:
        self.engine, self._states, self._free, self._largest = engine, states, free, largest
        self._contrasts, self._factors = contrasts, factors
        self._maps = engine.for_each(lambda state, edges: state.derivative_map(edges), largest, states, free)
        self._cuts = np.cumsum([0, *map(len, free)]).tolist()
        self._size = states[0].size
        self.shape = (self._cuts[-1], len(contrasts.matrix) * self._size)

    @lazy
    def rough(self) -> ImplicitJacobian:
        """In single precision."""
        rough = copy(self)
        rough._maps = [one.single() for one in self._maps]
        return rough

    def matvec(self, x: Floats) -> Array:
        slopes = self._contrasts.matrix.T @ x.reshape(len(self._contrasts.matrix), -1)
        return np.concatenate(self._for_each(CorrelationMap.gradient, list(slopes)))

    def rmatvec(self, y: Array) -> Floats:
        parts = [y[lo:hi] for lo, hi in pairwise(self._cuts)]
        return np.ravel(self._contrasts.matrix @ np.array(self._for_each(CorrelationMap.derivative, parts)))

    def _for_each(self, task: Callable[[CorrelationMap, Any], T], arguments: Sequence[Any]) -> list[T]:
        if self.work < _WORTH_THREADS:
            return list(map(task, self._maps, arguments))
        return self.engine.for_each(task, self._largest, self._maps, arguments)

    @property
    def work(self) -> float:
        return sum(one.work for one in self._maps)

    def factoring_work(self, active: Array) -> float:
        p, free = float(self._size), self._free_counts(active)
        if not self._factors.fit(free):
            return np.inf
        if len(free) == 2:
            return _FACTORING * (factoring_work(sum(free), p) + p**3 / 6.0)  # the last in one thread
        own = sum(inverting_work(count, p) for count in free)
        meeting = sum(0.5 * p**2 * min(count, p) for count in free if is_by_unknowns(count, self._size))
        return _FACTORING * (own + meeting + p**3 / 3.0)  # the last in one thread

    def solving_work(self, active: Array) -> float:
        p, free = float(self._size), self._free_counts(active)
        if len(free) == 2:
            return _SOLVING * min(p**2, 2.0 * p * sum(free))
        return _SOLVING * (p**2 + 2.0 * sum(min(p**2, 2.0 * p * count) for count in free))

    def _free_counts(self, active: Array) -> list[int]:
        return [self.engine.ranks.sum(hi - lo) - int(active[lo:hi].sum()) for lo, hi in pairwise(self._cuts)]

    def factored(self, metric: Metric, active: Array, shift: float) -> Solve | None:
        def term(k: int, factor: float) -> Term:
            lo, hi = self._cuts[k], self._cuts[k + 1]
            E = Recomputed((hi - lo, self._size), self._row_writer(k), self.engine)
            return Term(metric.part(lo, hi), E, active[lo:hi], factor)

        def for_each(task: Callable[[Any], Any], arguments: Sequence[Any]) -> list[Any]:
            return self.engine.for_each(task, self._largest, arguments)

        free = self._free_counts(active)
        if not self._factors.fit(free):
            return None
        self._factors.made.append(free)
        try:
            return self._contrasts.factored(term, for_each, shift)
        except np.linalg.LinAlgError:
            return None

    def _row_writer(self, k: int) -> RowWriter:
        """Products with the derivative of one graph's Q."""
        return self._states[k].row_writer(self._free[k])


# Number of rows of the matrix where the graphs meet that are added up at a time.
_ROWS = 1_024

# Calls a function with each of some arguments, side by side.
ForEach = Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]
# Makes J_kᵀA_k⁻¹J_k times a factor.
MakeTerm = Callable[[int, float], Term]


@dataclass(frozen=True)
class Contrasts:
    """H, with √α in it, and the α and π that it is made of."""

    matrix: Floats
    alpha: float
    shares: Floats
    engine: Engine = field(default_factory=default_engine)

    def factored(self, term: MakeTerm, for_each: ForEach, shift: float) -> Solve:
        """r ↦ K⁻¹r for small arrays, to single precision; ``term`` may be called in several threads."""
        total = self.shares.sum()
        if len(self.matrix) == 1:
            return rough_solver([term(k, float(self.matrix[0, k] ** 2)) for k in (0, 1)], shift, for_each)
        amounts = self.alpha * total * self.shares
        graphs = range(len(self.shares))
        inverses = for_each(lambda k: rough_inverse([term(k, float(amounts[k]))], shift), graphs)
        meeting = _meeting(self.engine, inverses, shift / (self.alpha * total) * self.shares, for_each)
        small = self.engine.small_array
        H, shares, factors = small(self.matrix), small(self.shares), small(amounts[:, np.newaxis])

        def smoothed(y: Array) -> Array:
            """B y, graph by graph."""
            products = np.stack(for_each(lambda k: inverses[k].apply(y[k]), graphs))
            return (y - shift * products) / factors

        def solve(r: Array) -> Array:
            r = r.reshape(len(H), -1)
            y = smoothed(H.T @ r)
            x = meeting((shares @ y).astype(np.float32)).astype(np.float64)
            y += smoothed(shares[:, np.newaxis] * x)
            return ((r - H @ y) / shift).reshape(-1)

        return solve


def _meeting(
    engine: Engine, inverses: Sequence[RoughInverse], weights: Floats, for_each: ForEach
) -> Callable[[Array], Array]:
    """y ↦ S⁻¹y for S = Σ_k weights_k W_k."""
    p = inverses[0].size
    S = engine.small_array(np.zeros((p, p), dtype=np.float32))

    def add(first: int) -> None:
        for inverse, weight in zip(inverses, weights.tolist(), strict=True):
            inverse.add_rows(first, min(first + _ROWS, p), weight, S)

    for_each(add, range(0, p, _ROWS))
    return engine.cholesky_solver(widened(S))
