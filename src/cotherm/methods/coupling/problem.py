"""The cost of coupling N graphs, in the solver's terms.

Over the edge weights u ≥ 0 of all graphs,

    Σ_k ρ_k ‖L(u_k) − L(w_k)‖_F² + α Σ_c Σ_t ‖Σ_k H_ck Q_ck(t)‖²,    Q_ck(t) = F_ckᵀ e^{−tL(u_k)} F_ck.

Distance: with d = u − w, ‖L(u) − L(w)‖_F² = ‖|B|d‖² + 2‖d‖², |B| the unsigned incidence matrix: no n × n matrix is
needed. Coupling: a sum of comparisons c, each of the same functions on some graphs in some contrasts H_c. The paper's
(hkc1) is one comparison of all graphs, Σ_{k<l} π_k π_l ‖Q_k − Q_l‖² in N − 1 contrasts, each graph against the weighted
mean of those before it. Coupling by pairs has a comparison for every two graphs, by functions of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from itertools import pairwise
from typing import Any, NamedTuple, Self, TypeVar

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
from cotherm.methods.coupling.memory import is_formed
from cotherm.solve.incidence import Incidence
from cotherm.solve.metric import Diagonal, Gram, Metric
from cotherm.solve.tall_matrix import TallMatrix

Edges = NDArray[np.intp]
T = TypeVar("T")

# Q comes from an eigendecomposition or a series with about this relative error.
_ROUNDING = 1e-14


class Comparison(NamedTuple):
    """Functions that correspond on some graphs, and the contrasts of their correlations: (rows, graphs)."""

    views: Sequence[int]
    functions: Sequence[Floats]
    contrasts: Floats


def of_two(a: int, b: int, F: Floats, G: Floats, weight: float = 1.0) -> Comparison:
    """Columns of F on graph a and of G on graph b."""
    return Comparison((a, b), (F, G), np.sqrt(weight) * np.array([[1.0, -1.0]]))


class Problem:
    """The cost for given times and α, over the weights of the edges that may change, of all graphs in one vector.

    ``robust`` replaces the distance by one that grows like |d| beyond that many units of weight: it prefers a few edges
    cut to many edges bent. Weights ``u`` live with the engine; of several ranks each has those of its own edges.
    """

    robust: float | None = None
    # Whether the gradient is asked for at every point.
    always_by_gradients = True

    def __init__(
        self,
        graphs: Sequence[Graph],
        comparisons: Sequence[Comparison],
        times: Floats,
        alpha: float,
        *,
        rigidity: Floats,
        free: Sequence[Edges] | None = None,
        engine: Engine | None = None,
        patterns: Sequence[Pattern] | None = None,
        first_horizon: float | None = None,
    ) -> None:
        """``patterns`` and ``first_horizon`` belong to the whole graphs, of which this rank may have only a part."""
        self.engine = engine = default_engine() if engine is None else engine
        self.graphs, self.comparisons, self.times, self.alpha = graphs, comparisons, times, alpha
        self._first_horizon = first_horizon
        self._patterns = [engine.pattern(g.n, g.i, g.j) for g in graphs] if patterns is None else patterns
        free = [np.arange(g.m) for g in graphs] if free is None else free
        layouts = list(zip(self._patterns, graphs, free, strict=True))
        self.free = [engine.edge_numbers(pattern, edges) for pattern, _, edges in layouts]
        self.cuts = np.cumsum([0, *map(len, self.free)]).tolist()
        self._given = [engine.edge_rows(pattern, g.w) for pattern, g, _ in layouts]
        self.center = self._free_part(self._given)
        self._set_times(times)
        self._measure([self._incidence(k) for k in range(len(graphs))], rigidity)

    def _set_times(self, times: Floats) -> None:
        live = times[times > 0.0]
        self._owners = [k for one in self.comparisons for k in one.views]
        columns = (F for one in self.comparisons for F in one.functions)
        self._models = [
            CorrelationModel(self.graphs[k], F, live, self.engine, pattern=self._patterns[k])
            for k, F in zip(self._owners, columns, strict=True)
        ]

    def _incidence(self, k: int) -> Incidence:
        engine, graph, pattern = self.engine, self.graphs[k], self._patterns[k]
        if engine.ranks.sum(len(self.free[k])) < engine.ranks.sum(len(pattern.i)):
            pattern = engine.restricted_pattern(pattern, self.free[k])
        return Incidence(graph.n, pattern, engine)

    def _measure(self, incidences: Sequence[Incidence], rigidity: Floats) -> None:
        self.rigidity = rigidity
        self._rho = self.engine.asarray(np.repeat(rigidity, np.diff(self.cuts)))
        self._gram = Gram(incidences, rigidity.tolist())

    def restated(self, times: Floats, alpha: float, robust: float | None) -> Self:
        """The same graphs and functions at other times, with another α or another distance."""
        problem = copy(self)
        problem.times, problem.alpha, problem.robust = times, alpha, robust
        if times is not self.times:
            problem._set_times(times)
        return problem

    def with_rigidity(self, rigidity: Floats) -> Self:
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
    def contrasts(self) -> list[Floats]:
        """Those of every comparison, times √α."""
        return [np.sqrt(self.alpha) * one.contrasts for one in self.comparisons]

    @property
    def residuals(self) -> int:
        """The number of residuals."""
        sizes = self._grouped([model.size for model in self._models])
        return sum(len(one.contrasts) * size[0] for one, size in zip(self.comparisons, sizes, strict=True))

    @property
    def is_formed(self) -> bool:
        """Whether residuals are so few that their derivative is formed."""
        return False

    def _grouped(self, items: Sequence[Any]) -> list[Sequence[Any]]:
        """What belongs to the functions of every graph, comparison by comparison."""
        cuts = np.cumsum([0, *(len(one.views) for one in self.comparisons)]).tolist()
        return [items[lo:hi] for lo, hi in pairwise(cuts)]

    def contrasted(self, values: Sequence[Floats]) -> Floats:
        """Residuals from values, or changes of values, of every graph's correlations."""
        parts = zip(self.contrasts, self._grouped(values), strict=True)
        return np.concatenate([np.zeros(0), *(np.ravel(H @ np.array(Q)) for H, Q in parts)])

    def slopes(self, residuals: Floats) -> list[Floats]:
        """The transposed map."""
        found: list[Floats] = []
        for H, group in zip(self.contrasts, self._grouped(self._models), strict=True):
            size = len(H) * group[0].size
            found += list(H.T @ residuals[:size].reshape(len(H), -1))
            residuals = residuals[size:]
        return found

    def free_part(self, weights: Sequence[Floats]) -> Array:
        """Those of all edge weights on the host, graph by graph, that may change."""
        return self._free_part([self.engine.edge_rows(*one) for one in zip(self._patterns, weights, strict=True)])

    def _free_part(self, weights: Sequence[Array]) -> Array:
        return np.concatenate([w[edges] for w, edges in zip(weights, self.free, strict=True)])

    def weights(self, u: Array) -> list[Array]:
        """All edge weights, graph by graph."""
        result = []
        for given, edges, (lo, hi) in zip(self._given, self.free, pairwise(self.cuts), strict=True):
            w = given.copy()
            w[edges] = u[lo:hi]
            result.append(w)
        return result

    def weights_on_host(self, u: Array) -> list[Floats]:
        """The same on the host; of several ranks each gets all of them."""
        return [self.engine.edges_to_numpy(*one) for one in zip(self._patterns, self.weights(u), strict=True)]

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

    def at(self, u: Array) -> Point:
        weights = self.weights(u)

        def evaluated(model: CorrelationModel, k: int) -> Correlation:
            return model.at(weights[k], gradient=self.always_by_gradients)

        return Point(self, self.for_each(evaluated, self._models, self._owners))

    def for_each(self, function: Callable[..., T], *arguments: Sequence[Any]) -> list[T]:
        """A function of each graph of each comparison; side by side where it does more than call threaded kernels."""
        if self.always_by_gradients:
            return [function(*each) for each in zip(*arguments, strict=True)]
        return self.engine.for_each(function, self.largest, *arguments)

    def errors(self, u: Array) -> Floats:
        """(Σ_c ‖Σ_k H_ck Q_ck(t)‖²)^½ for every time t > 0."""
        problem = self.restated(self.times, 1.0, None)
        squares, total = problem.at(u).residuals ** 2, np.zeros(np.count_nonzero(self.times > 0.0))
        for H, group in zip(problem.contrasts, problem._grouped(self._models), strict=True):
            size = len(H) * group[0].size
            total += squares[:size].reshape(len(H), len(total), -1).sum(axis=(0, 2))
            squares = squares[size:]
        return np.sqrt(total)


class CouplingProblem(Problem):
    """The paper's: the same functions on all graphs, which count by ``graph_weights``."""

    always_by_gradients = False

    def __init__(
        self,
        graphs: Sequence[Graph],
        functions: Sequence[Floats],
        times: Floats,
        alpha: float,
        *,
        graph_weights: Floats,
        **others: Any,
    ) -> None:
        self.functions = functions
        whole = Comparison(range(len(graphs)), functions, _contrasts(graph_weights))
        super().__init__(graphs, [whole], times, alpha, **others)

    @property
    def is_formed(self) -> bool:
        return is_formed(self.residuals, len(self.center), self.engine)

    @property
    def constant(self) -> float:
        """The part of the cost that weights cannot change: that of t = 0."""
        count = int(np.sum(self.times == 0.0))
        return count * float(np.sum((self.contrasts[0] @ self._at_the_start()) ** 2)) if count else 0.0

    @property
    def mismatch(self) -> float:
        """How much the functions differ at t = 0, relative to their size."""
        return relative_mismatch(self._at_the_start())

    def _at_the_start(self) -> Floats:
        """Q(0) = FᵀF, a row for each graph."""
        functions = [model.engine_functions for model in self._models]
        return np.array([np.ravel(self.engine.to_numpy(F.T @ F)) for F in functions])

    def cost_and_gradient(self, u: Array) -> tuple[float, Array]:
        """The cost and its gradient by every free weight, for general-purpose optimizers."""
        point = self.at(u)
        d = u - self.center
        cost = self.distance(u) + float(point.residuals @ point.residuals) + self.constant
        return cost, 2.0 * (self.metric(u).apply(d) + point.coupling_gradient())


class Point:
    """The residuals √α · contrasts of Q at some weights."""

    def __init__(self, problem: Problem, states: list[Correlation]) -> None:
        self._problem = problem
        self._states = states
        Q = [one.values() for one in states]
        self.residuals = problem.contrasted(Q)
        parts = zip(problem.contrasts, problem._grouped(Q), strict=True)
        norm = np.linalg.norm
        self.noise = sum(_ROUNDING * float(norm(H)) * float(norm(np.array(group))) for H, group in parts)

    @property
    def pull(self) -> Array:
        return self.jacobian.matvec(self.residuals) if self._problem.is_formed else self.coupling_gradient()

    def coupling_gradient(self) -> Array:
        """Jᵀr, half the gradient of ‖r‖², without the Jacobian."""
        problem = self._problem

        def gradient(state: Correlation, slope: Floats, k: int) -> Array:
            return state.derivative_map(problem.free[k]).gradient(slope)

        arguments = (self._states, problem.slopes(self.residuals), problem._owners)
        return self._summed(problem.for_each(gradient, *arguments))

    def _summed(self, gradients: Sequence[Array]) -> Array:
        """The gradients by the weights of every graph, added up over comparisons."""
        problem = self._problem
        parts: list[Array | None] = [None] * len(problem.graphs)
        for k, one in zip(problem._owners, gradients, strict=True):
            parts[k] = one if parts[k] is None else parts[k] + one
        zeros = problem.engine.xp.zeros
        return np.concatenate(
            [zeros(len(free)) if one is None else one for one, free in zip(parts, problem.free, strict=True)]
        )

    @lazy
    def _maps(self) -> list[CorrelationMap]:
        problem = self._problem

        def applied(state: Correlation, k: int) -> CorrelationMap:
            return state.derivative_map(problem.free[k])

        return problem.for_each(applied, self._states, problem._owners)

    def derivative(self, v: Array) -> Floats:
        """Jv, by derivatives that are kept for the next one."""
        cuts, owners = self._problem.cuts, self._problem._owners
        changes = [one.derivative(v[cuts[k] : cuts[k + 1]]) for one, k in zip(self._maps, owners, strict=True)]
        return self._problem.contrasted(changes)

    def gradient(self, x: Floats) -> Array:
        """Jᵀx, by the same."""
        slopes = self._problem.slopes(x)
        return self._summed([one.gradient(slope) for one, slope in zip(self._maps, slopes, strict=True)])

    @lazy
    def jacobian(self) -> TallMatrix:
        """Jᵀ of one comparison of all graphs: a row for every free weight, a column for every residual."""
        problem, engine = self._problem, self._problem.engine
        J = engine.xp.empty((problem.cuts[-1], len(self.residuals)))
        parts = [J[lo:hi] for lo, hi in pairwise(problem.cuts)]

        def write(state: Correlation, edges: Array, part: Array, factors: Floats) -> None:
            state.write_derivative(edges, part)
            _expand(part, factors)

        (H,) = problem.contrasts
        problem.for_each(write, self._states, problem.free, parts, list(H.T))
        return TallMatrix(J, engine)


def _expand(part: Array, factors: Floats) -> None:
    """Turn the derivatives of Q in the first columns into those of every contrast, in columns of its own."""
    size = part.shape[1] // len(factors)
    for c in range(1, len(factors)):
        np.multiply(part[:, :size], factors[c], out=part[:, c * size : (c + 1) * size])
    part[:, :size] *= factors[0]


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
