"""The paper's problem (hkc1) in the solver's terms, for N graphs.

Over the edge weights u ≥ 0 of all graphs,

    Σ_k ρ_k ‖L(u_k) − L(w_k)‖_F² + α Σ_t Σ_{k<l} π_k π_l ‖Q_k(t) − Q_l(t)‖_F²,    Q_k(t) = F_kᵀ e^{−tL(u_k)} F_k.

Distance: with d = u − w, ‖L(u) − L(w)‖_F² = ‖|B|d‖² + 2‖d‖², |B| the unsigned incidence matrix: no n × n matrix is
needed. Coupling: the sum over pairs is that over N − 1 contrasts, each graph against the weighted mean of those before
it.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.engines.cpu.elementwise import mapped, summed
from cotherm.graphs.graph import Graph
from cotherm.heat.correlation_model import State, View
from cotherm.lazy import lazy
from cotherm.methods.coupling.jacobian import Jacobian
from cotherm.solve.incidence import Incidence
from cotherm.solve.metric import Diagonal, Gram, Metric
from cotherm.solve.tall_matrix import Tall

Edges = NDArray[np.intp]

# Q comes from an eigendecomposition or a series with about this relative error.
_ROUNDING = 1e-14
# Below this many vertices a graph's work is too short for a thread of its own.
_WORTH_A_THREAD = 120
# Above, every graph's work has threads enough, and heat of one graph at a time is enough to hold.
ROOM_FOR_ALL = 30_000


@dataclass(frozen=True)
class Storage:
    """How the Jacobian is kept: one of ``jacobian.WAYS``, and in which precision."""

    way: str = "stored"
    precision: str = "float64"

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(self.precision)


class CouplingProblem:
    """The cost for given times and α, over the weights of the edges that may change, of all graphs in one vector.

    ``robust`` replaces the distance by one that grows like |d| beyond that many units of weight: it prefers a few edges
    cut to many edges bent.
    """

    def __init__(
        self,
        graphs: Sequence[Graph],
        functions: Sequence[Floats],
        times: Floats,
        alpha: float,
        *,
        free: Sequence[Edges],
        rigidity: Floats,
        importance: Floats,
        robust: float | None = None,
        storage: Storage = Storage(),  # noqa: B008, it is frozen
    ) -> None:
        self.graphs, self.functions, self.times, self.alpha = graphs, functions, times, alpha
        self.free, self.rigidity, self.importance, self.robust = free, rigidity, importance, robust
        self.storage = storage
        # At t = 0 heat has not met the weights yet: a constant, which would only drown the rest.
        self._views = [View(g, F, times[times > 0.0]) for g, F in zip(graphs, functions, strict=True)]
        self.cuts = np.cumsum([0, *(len(edges) for edges in free)])
        self.contrasts = np.sqrt(alpha) * _contrasts(importance)
        self._rho = np.repeat(rigidity, np.diff(self.cuts))
        self.center = self.free_part([g.w for g in graphs])
        pairs = zip(self._views, free, strict=True)
        self._gram = Gram([_incidence(view, edges) for view, edges in pairs], rigidity.tolist())

    def restated(self, times: Floats, alpha: float, robust: float | None) -> CouplingProblem:
        """The same graphs and functions at other times, with another α or another distance."""
        problem = copy(self)
        problem.times, problem.alpha, problem.robust = times, alpha, robust
        problem.contrasts = np.sqrt(alpha) * _contrasts(self.importance)
        problem._views = [view.at_times(times[times > 0.0]) for view in self._views]
        return problem

    @property
    def constant(self) -> float:
        """The part of the cost that no weights change: that of t = 0."""
        Q = np.array([np.ravel(F.T @ F) for F in self.functions])
        return int(np.sum(self.times == 0.0)) * float(np.sum((self.contrasts @ Q) ** 2))

    def free_part(self, weights: Sequence[Floats]) -> Floats:
        """Of all edge weights, graph by graph, those that may change."""
        return np.concatenate([w[edges] for w, edges in zip(weights, self.free, strict=True)])

    def weights(self, u: Floats) -> list[Floats]:
        """All edge weights, graph by graph."""
        result = []
        for graph, edges, lo, hi in zip(self.graphs, self.free, self.cuts[:-1], self.cuts[1:], strict=True):
            w = graph.w.copy()
            w[edges] = u[lo:hi]
            result.append(w)
        return result

    def distance(self, u: Floats) -> float:
        if self.robust is None:
            d = u - self.center
            return float(d @ self._gram.apply(d))
        kappa = self.robust

        def robust(rho: Floats, u: Floats, center: Floats) -> float:
            # 4κ(√(d² + κ²) − κ) without the subtraction: 2d² for d ≪ κ, 4κ|d| for d ≫ κ.
            d = u - center
            return float(4.0 * np.sum(rho * d**2 / (np.hypot(1.0, d / kappa) + 1.0)))

        return summed(robust, self._rho, u, self.center)

    def metric(self, u: Floats) -> Metric:
        if self.robust is None:
            return self._gram
        kappa = self.robust
        form = mapped(lambda rho, u, c: 2.0 * rho / np.hypot(1.0, (u - c) / kappa), self._rho, u, self.center)
        return Diagonal(form)

    def at(self, u: Floats) -> CouplingPoint:
        return CouplingPoint(self, _by_graph(self.graphs, lambda v, w: v.at(w), self._views, self.weights(u)))

    def cost_and_gradient(self, u: Floats) -> tuple[float, Floats]:
        """The cost and its gradient by every free weight, for general-purpose optimizers."""
        point = self.at(u)
        d = u - self.center
        cost = self.distance(u) + float(point.residuals @ point.residuals) + self.constant
        return cost, 2.0 * (self.metric(u).apply(d) + point.push())


class CouplingPoint:
    """The residuals √α · contrasts of Q at some weights."""

    def __init__(self, problem: CouplingProblem, states: list[State]) -> None:
        self._problem, self._states = problem, states
        Q = np.array([state.correlations() for state in states])
        self.residuals = np.ravel(problem.contrasts @ Q)
        self.noise = _ROUNDING * float(np.linalg.norm(problem.contrasts)) * float(np.linalg.norm(Q))

    def push(self) -> Floats:
        """Jᵀr, half the gradient of ‖r‖², without the Jacobian."""
        problem = self._problem
        slopes = problem.contrasts.T @ self.residuals.reshape(len(problem.contrasts), -1)
        parts = _by_graph(
            problem.graphs, lambda state, s, edges: state.gradient(s, edges), self._states, slopes, problem.free
        )
        return np.concatenate(parts)

    @lazy
    def jacobian(self) -> Tall:
        """Of the residuals by every free weight, kept as the problem's ``storage`` says."""
        problem = self._problem
        whole = Jacobian(self._states, problem.free, problem.contrasts, self.residuals.size)
        storage = problem.storage
        if storage.way == "streamed":
            return whole.streamed(storage.dtype)
        if storage.way == "recomputed":
            return whole.recomputed()
        return whole.stored(storage.dtype, partial(_by_graph, problem.graphs))


def _incidence(view: View, edges: Edges) -> Incidence:
    graph = view.graph
    if len(edges) == graph.m:
        return Incidence(graph.n, graph.i, graph.j, view.pattern)
    return Incidence(graph.n, graph.i[edges], graph.j[edges])


def _by_graph(graphs: Sequence[Graph], task: Any, *arguments: Sequence[Any]) -> list[Any]:
    """task(…) for each graph, in threads: dense algebra and compiled kernels leave the interpreter lock."""
    if not _WORTH_A_THREAD <= max(g.n for g in graphs) <= ROOM_FOR_ALL:
        return list(map(task, *arguments))
    # Threads do not inherit what is said about overflow.
    contexts = [copy_context() for _ in arguments[0]]
    with ThreadPoolExecutor(len(arguments[0])) as pool:
        return list(pool.map(lambda context, *given: context.run(task, *given), contexts, *arguments))


def _contrasts(importance: Floats) -> Floats:
    """H with Σ_{k<l} π_k π_l |x_k − x_l|² = |Hx|²: (N − 1, N), each graph against the mean of those before."""
    H = np.zeros((len(importance) - 1, len(importance)))
    total = importance.sum()
    for row, j in zip(H, range(1, len(importance)), strict=True):
        before = importance[:j].sum()
        size = np.sqrt(total * importance[j] * before / (before + importance[j]))
        row[:j] = -size * importance[:j] / before
        row[j] = size
    return H
