"""The paper's problem (hkc1) in the solver's terms, for N graphs.

Over the edge weights u ≥ 0 of all graphs,

    Σ_k ρ_k ‖L(u_k) − L(w_k)‖_F² + α Σ_t Σ_{k<l} π_k π_l ‖Q_k(t) − Q_l(t)‖_F²,    Q_k(t) = F_kᵀ e^{−tL(u_k)} F_k.

Distance: with d = u − w, ‖L(u) − L(w)‖_F² = ‖|B|d‖² + 2‖d‖², |B| the unsigned incidence matrix: no n × n matrix is
needed. Coupling: the sum over pairs is that over N − 1 contrasts, each graph against the weighted mean of those before
it.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.engines import Engine, default_engine
from cotherm.engines.interface import Array, Pattern
from cotherm.graphs.graph import Graph
from cotherm.heat.correlation_map import CorrelationMap
from cotherm.heat.correlation_model import Correlation, CorrelationModel
from cotherm.heat.coupling import relative_mismatch
from cotherm.heat.times import diffusion_time
from cotherm.lazy import lazy
from cotherm.methods.coupling.jacobian import Jacobian
from cotherm.methods.coupling.memory import MemoryPlan, is_formed
from cotherm.solve.incidence import Incidence
from cotherm.solve.metric import Diagonal, Gram, Metric
from cotherm.solve.tall_matrix import TallMatrix

Edges = NDArray[np.intp]

# Q comes from an eigendecomposition or a series with about this relative error.
_ROUNDING = 1e-14


class CouplingProblem:
    """The cost for given times and α, over the weights of the edges that may change, of all graphs in one vector.

    ``robust`` replaces the distance by one that grows like |d| beyond that many units of weight: it prefers a few edges
    cut to many edges bent. Weights ``u`` live with the engine.
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
        graph_weights: Floats,
        robust: float | None = None,
        plan: MemoryPlan = MemoryPlan(),  # noqa: B008, it is frozen
        engine: Engine | None = None,
        patterns: Sequence[Pattern] | None = None,
        first_horizon: float | None = None,
    ) -> None:
        """``patterns`` and ``first_horizon`` belong to the whole graphs, of which this rank may have only a part."""
        self.engine = default_engine() if engine is None else engine
        self.graphs, self.functions, self.times, self.alpha = graphs, functions, times, alpha
        self.graph_weights, self.robust, self.plan = graph_weights, robust, plan
        live = times[times > 0.0]
        layouts = [None] * len(graphs) if patterns is None else patterns
        self._models = [
            CorrelationModel(g, F, live, self.engine, pattern=pattern)
            for g, F, pattern in zip(graphs, functions, layouts, strict=True)
        ]
        self._first_horizon = first_horizon
        numbers, rows = self.engine.edge_numbers, self.engine.edge_rows
        self.free = [numbers(model.pattern, edges) for model, edges in zip(self._models, free, strict=True)]
        self.cuts = np.cumsum([0, *map(len, self.free)]).tolist()
        self.contrasts = np.sqrt(alpha) * _contrasts(graph_weights)
        self._given = [rows(model.pattern, g.w) for model, g in zip(self._models, graphs, strict=True)]
        self.center = self._free_part(self._given)
        incidences = [_incidence(model, edges) for model, edges in zip(self._models, self.free, strict=True)]
        self._measure(incidences, rigidity)

    def _measure(self, incidences: Sequence[Incidence], rigidity: Floats) -> None:
        self.rigidity = rigidity
        self._rho = self.engine.asarray(np.repeat(rigidity, np.diff(self.cuts)))
        self._gram = Gram(incidences, rigidity.tolist())

    def restated(self, times: Floats, alpha: float, robust: float | None) -> CouplingProblem:
        """The same graphs and functions at other times, with another α or another distance."""
        problem = copy(self)
        problem.times, problem.alpha, problem.robust = times, alpha, robust
        problem.contrasts = np.sqrt(alpha) * _contrasts(self.graph_weights)
        problem._models = [model.at_times(times[times > 0.0]) for model in self._models]
        return problem

    def with_rigidity(self, rigidity: Floats) -> CouplingProblem:
        """The same problem with other rigidities of the graphs."""
        problem = copy(self)
        problem._measure([block.C for block in self._gram.blocks], rigidity)
        return problem

    def warm_starts(self) -> list[Array | None]:
        """Starting points of the iterations for the distance's systems, graph by graph."""
        return self._gram.warm_starts()

    def restore_warm_starts(self, solutions: Sequence[Array | None]) -> None:
        self._gram.restore_warm_starts(solutions)

    @property
    def largest(self) -> int:
        """The number of vertices of the largest graph."""
        return max(g.n for g in self.graphs)

    @property
    def first_horizon(self) -> float:
        """One over the median degree: about one move along an edge. Infinite without weight."""
        if self._first_horizon is None:
            return diffusion_time(1.0, *self.graphs, without_edges=np.inf)
        return self._first_horizon

    @property
    def residuals(self) -> int:
        """The number of residuals: entries of all graphs' Q but one's."""
        return len(self.contrasts) * self._models[0].size

    @property
    def is_formed(self) -> bool:
        """Whether residuals are so few that their derivative is formed."""
        return is_formed(self.residuals, len(self.center), self.engine)

    @property
    def constant(self) -> float:
        """The part of the cost that weights cannot change: that of t = 0."""
        count = int(np.sum(self.times == 0.0))
        if not count:
            return 0.0
        return count * float(np.sum((self.contrasts @ self._at_the_start()) ** 2))

    @property
    def mismatch(self) -> float:
        """How much the functions differ at t = 0, relative to their size."""
        return relative_mismatch(self._at_the_start())

    def _at_the_start(self) -> Floats:
        """Q(0) = FᵀF, a row for each graph."""
        functions = [model.engine_functions for model in self._models]
        return np.array([np.ravel(self.engine.to_numpy(F.T @ F)) for F in functions])

    def free_part(self, weights: Sequence[Floats]) -> Array:
        """Those of all edge weights on the host, graph by graph, that may change."""
        models = zip(self._models, weights, strict=True)
        return self._free_part([self.engine.edge_rows(model.pattern, w) for model, w in models])

    def _free_part(self, weights: Sequence[Array]) -> Array:
        return np.concatenate([w[edges] for w, edges in zip(weights, self.free, strict=True)])

    def weights(self, u: Array) -> list[Array]:
        """All edge weights, graph by graph."""
        result = []
        for given, edges, lo, hi in zip(self._given, self.free, self.cuts[:-1], self.cuts[1:], strict=True):
            w = given.copy()
            w[edges] = u[lo:hi]
            result.append(w)
        return result

    def weights_on_host(self, u: Array) -> list[Floats]:
        """The same on the host."""
        models = zip(self._models, self.weights(u), strict=True)
        return [self.engine.edges_to_numpy(model.pattern, w) for model, w in models]

    def distance(self, u: Array) -> float:
        if self.robust is None:
            d = u - self.center
            return float(d @ self._gram.apply(d))
        return self._robust_distance(slice(None), u)

    def distances(self, u: Array) -> Floats:
        """The distance graph by graph."""
        if self.robust is not None:
            return np.array([self._robust_distance(part, u) for part in self._gram.slices])
        d = u - self.center
        Ad = self._gram.apply(d)
        return np.array([float(d[part] @ Ad[part]) for part in self._gram.slices])

    def _robust_distance(self, part: slice, u: Array) -> float:
        kappa = self.robust

        def robust(rho: Array, u: Array, center: Array) -> Array:
            # 4κ(√(d² + κ²) − κ) without the subtraction: 2d² for d ≪ κ, 4κ|d| for d ≫ κ.
            d = u - center
            return 4.0 * rho * d**2 / (np.hypot(1.0, d / kappa) + 1.0)

        return float(self.engine.elementwise(robust, self._rho[part], u[part], self.center[part]).sum())

    def metric(self, u: Array) -> Metric:
        if self.robust is None:
            return self._gram
        kappa = self.robust

        def form(rho: Array, u: Array, center: Array) -> Array:
            return 2.0 * rho / np.hypot(1.0, (u - center) / kappa)

        return Diagonal(self.engine.elementwise(form, self._rho, u, self.center), self.engine)

    def at(self, u: Array) -> CouplingPoint:
        def evaluated(model: CorrelationModel, w: Array) -> Correlation:
            return model.at(w)

        return CouplingPoint(self, self.engine.for_each(evaluated, self.largest, self._models, self.weights(u)))

    def cost_and_gradient(self, u: Array) -> tuple[float, Array]:
        """The cost and its gradient by every free weight, for general-purpose optimizers."""
        point = self.at(u)
        d = u - self.center
        cost = self.distance(u) + float(point.residuals @ point.residuals) + self.constant
        return cost, 2.0 * (self.metric(u).apply(d) + point.coupling_gradient())


class CouplingPoint:
    """The residuals √α · contrasts of Q at some weights."""

    def __init__(self, problem: CouplingProblem, states: list[Correlation]) -> None:
        self._problem = problem
        self._states = states
        Q = np.array([one.values() for one in states])
        self.residuals = np.ravel(problem.contrasts @ Q)
        self.noise = _ROUNDING * float(np.linalg.norm(problem.contrasts)) * float(np.linalg.norm(Q))

    @property
    def pull(self) -> Array:
        return self.jacobian.matvec(self.residuals) if self._problem.is_formed else self.coupling_gradient()

    def coupling_gradient(self) -> Array:
        """Jᵀr, half the gradient of ‖r‖², without the Jacobian."""
        problem = self._problem
        slopes = problem.contrasts.T @ self.residuals.reshape(len(problem.contrasts), -1)

        def gradient(state: Correlation, slope: Floats, edges: Array) -> Array:
            return state.derivative_map(edges).gradient(slope)

        arguments = (self._states, list(slopes), problem.free)
        return np.concatenate(problem.engine.for_each(gradient, problem.largest, *arguments))

    def derivative_maps(self) -> list[CorrelationMap]:
        """The derivatives of every graph's Q, applied."""
        problem = self._problem

        def applied(state: Correlation, edges: Array) -> CorrelationMap:
            return state.derivative_map(edges)

        return problem.engine.for_each(applied, problem.largest, self._states, problem.free)

    @lazy
    def jacobian(self) -> TallMatrix:
        """Of the residuals by every free weight, kept as the memory plan says."""
        problem = self._problem
        jacobian = Jacobian(problem.engine, self._states, problem.free, problem.contrasts, self.residuals.size)
        return jacobian.kept(problem.plan, problem.largest)


def _incidence(model: CorrelationModel, free: Array) -> Incidence:
    engine, graph, pattern = model.engine, model.graph, model.pattern
    if engine.ranks.sum(len(free)) < engine.ranks.sum(len(pattern.i)):
        pattern = engine.restricted_pattern(pattern, free)
    return Incidence(graph.n, pattern, engine)


def _contrasts(graph_weights: Floats) -> Floats:
    """H with Σ_{k<l} π_k π_l |x_k − x_l|² = |Hx|²: (N − 1, N), each graph against the mean of those before."""
    H = np.zeros((len(graph_weights) - 1, len(graph_weights)))
    total = graph_weights.sum()
    for row, j in zip(H, range(1, len(graph_weights)), strict=True):
        before = graph_weights[:j].sum()
        size = np.sqrt(total * graph_weights[j] * before / (before + graph_weights[j]))
        row[:j] = -size * graph_weights[:j] / before
        row[j] = size
    return H
