"""The cost of coupling by pairs of items, and its gradient.

Over the edge weights u ≥ 0 of all views,

    Σ_k ρ_k ‖L(u_k) − L(w_k)‖_F² + α Σ_{(k,l)} π_kl Σ_t ‖Q_kl(t) − Q_lk(t)‖_F²,   Q_kl(t) = F_klᵀ e^{−tL(u_k)} F_kl.

It is the cost of :mod:`cotherm.methods.coupling.problem` but for the sum over pairs of views, each with functions of
its own: F_kl on view k and F_lk on view l. Tens of functions make thousands of residuals, whose Jacobian is never
formed. With X_r the few filtered functions of :mod:`cotherm.heat.low_rank_kernel` and S the slope of the cost in
Q, the gradient by the weight of an edge e is −t Σ_r ± ⟨b_eᵀX_r, b_eᵀX_rS⟩: O(mq + nq²) a term.

Weights and gradients live with the engine; of several ranks each has those of its own edges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from cotherm import deadline
from cotherm.arrays import Floats
from cotherm.engines import Engine
from cotherm.engines.interface import Array
from cotherm.graphs.graph import Graph
from cotherm.heat.chebyshev import exponential_coefficients, require_bound
from cotherm.heat.low_rank_kernel import LowRankKernel, low_rank_kernel

# Relative errors of Q and of its derivative.
_EXACT, _DERIVATIVE = 1e-11, 1e-8
# Bounds on the spectrum are rounded up to a power of this, so that the same few kernels serve over and over.
_GRID = 1.2
# Power iteration ends when a step changes its result by less than this part.
_POWER_STEPS, _POWER_CHANGE = 100, 3e-3


@dataclass(frozen=True, eq=False)
class Term:
    """Functions that correspond on two views, as columns of F on view a and of G on view b, and how much they count."""

    a: int
    b: int
    F: Floats
    G: Floats
    weight: float = 1.0


@dataclass(frozen=True)
class Value:
    """The cost at some weights, its two parts, and their gradients."""

    distance: float
    coupling: float  # without α
    of_distance: Array
    of_coupling: Array


class PairProblem:
    """The cost for given times, over the weights of all edges of all views in one vector."""

    def __init__(
        self, graphs: Sequence[Graph], terms: Sequence[Term], times: Floats, rigidity: Floats, engine: Engine
    ) -> None:
        self.graphs, self.times, self.engine = graphs, times, engine
        columns: list[list[Floats]] = [[] for _ in graphs]
        # Of both sides of every term the view, and which of its blocks of functions.
        self._places = []
        self._roots = [float(np.sqrt(term.weight)) for term in terms]
        for term in terms:
            self._places.append(((term.a, len(columns[term.a])), (term.b, len(columns[term.b]))))
            columns[term.a].append(term.F)
            columns[term.b].append(term.G)
        views = zip(graphs, columns, rigidity, strict=True)
        self._views = [_View(graph, blocks, times, float(rho), engine) for graph, blocks, rho in views]
        self._cuts = np.cumsum([0, *(len(view.center) for view in self._views)]).tolist()
        self.center = np.concatenate([view.center for view in self._views])
        # In these units the distance of every view has the same curvature, and weights are about 1.
        given = np.concatenate([graph.w for graph in graphs])
        units = (float(np.mean(given)) if given.any() else 1.0) * np.sqrt(rigidity.min() / rigidity)
        full = engine.xp.full
        self.scale = np.concatenate([full(len(one.center), r) for one, r in zip(self._views, units, strict=True)])

    def weights(self, u: Array) -> list[Floats]:
        """Of each view, on the host; of several ranks each gets all of them."""
        return [one.on_host(w) for one, w in zip(self._views, self._parts(u), strict=True)]

    def on_engine(self, weights: Sequence[Floats]) -> Array:
        """The weights of all views in one vector, moved to the engine."""
        return np.concatenate([one.on_engine(w) for one, w in zip(self._views, weights, strict=True)])

    def _parts(self, u: Array) -> list[Array]:
        return [u[lo:hi] for lo, hi in pairwise(self._cuts)]

    def at(self, u: Array, alpha: float) -> Value:
        """The cost and its gradients at the weights u, that of the coupling times α."""
        parts = self._parts(u)
        Q = [view.correlations(w) for view, w in zip(self._views, parts, strict=True)]
        differences = self._differences(Q)
        coupling = float(sum(np.sum(D**2) for D in differences))
        slopes = self._slopes(differences)
        of_coupling = [view.gradient(slope) for view, slope in zip(self._views, slopes, strict=True)]
        distances = [view.distance(w) for view, w in zip(self._views, parts, strict=True)]
        return Value(
            distance=sum(value for value, _ in distances),
            coupling=coupling,
            of_distance=np.concatenate([gradient for _, gradient in distances]),
            of_coupling=2.0 * alpha * np.concatenate(of_coupling),
        )

    def errors(self, u: Array) -> Floats:
        """(Σ π_kl ‖Q_kl(t) − Q_lk(t)‖²)^½ for every time."""
        Q = [view.correlations(w) for view, w in zip(self._views, self._parts(u), strict=True)]
        total = np.zeros(len(self.times))
        for D in self._differences(Q):
            total += np.sum(D**2, axis=(1, 2))
        return np.sqrt(total)

    def stiffness(self) -> float:
        """‖J A⁻¹ Jᵀ‖₂ at the given weights: the curvature of the coupling at α = 1 in units of the distance's.

        By power iteration. J is the derivative of the differences by the weights, A the metric of the distance.
        """
        for view, w in zip(self._views, self._parts(self.center), strict=True):
            view.correlations(w)
        random = np.random.default_rng(0)
        v = self.on_engine([random.random(graph.m) for graph in self.graphs])
        v = v / float(np.linalg.norm(v))
        size = 0.0
        for _ in range(_POWER_STEPS):
            deadline.check()
            changes = [view.derivative(part) for view, part in zip(self._views, self._parts(v), strict=True)]
            slopes = self._slopes(self._differences(changes))
            views = zip(self._views, slopes, strict=True)
            v = np.concatenate([view.inverse_metric(view.gradient(slope)) for view, slope in views])
            before, size = size, float(np.linalg.norm(v))
            if size == 0.0 or abs(size - before) < _POWER_CHANGE * size:
                break
            v = v / size
        return size

    def _differences(self, Q: list[list[Floats]]) -> list[Floats]:
        places = zip(self._roots, self._places, strict=True)
        return [root * (Q[a][block] - Q[b][other]) for root, ((a, block), (b, other)) in places]

    def _slopes(self, differences: list[Floats]) -> list[list[Floats]]:
        """Half the derivative of Σ‖D‖² by each Q of each view."""
        slopes: list[list[Floats]] = [[np.empty(0)] * view.blocks for view in self._views]
        for root, ((a, block), (b, other)), D in zip(self._roots, self._places, differences, strict=True):
            slopes[a][block], slopes[b][other] = root * D, -root * D
        return slopes


class _View:
    """One graph with the functions of all its terms side by side."""

    def __init__(self, graph: Graph, blocks: list[Floats], times: Floats, rigidity: float, engine: Engine) -> None:
        self._times, self._rigidity, self._engine = times, rigidity, engine
        self.blocks = len(blocks)
        self._slices = [slice(lo, hi) for lo, hi in pairwise(np.cumsum([0, *(F.shape[1] for F in blocks)]).tolist())]
        self._pattern = engine.pattern(graph.n, graph.i, graph.j)
        self._F = engine.vertex_rows(self._pattern, np.hstack(blocks) if blocks else np.zeros((graph.n, 0)))
        self.center = self.on_engine(graph.w)

    def on_engine(self, w: Floats) -> Array:
        """A number for every edge, moved to the engine."""
        return self._engine.edge_rows(self._pattern, w)

    def on_host(self, w: Array) -> Floats:
        """The same moved back."""
        return self._engine.edges_to_numpy(self._pattern, w)

    def correlations(self, u: Array) -> list[Floats]:
        """Q(t), (times, q, q), of every block; what the gradient needs is kept."""
        if not self.blocks:
            return []
        matrix = require_bound(self._engine.laplacian(self._pattern, u))
        bound = _rounded_up(matrix.bound, self._times)
        self._kernels = [low_rank_kernel(float(t) * bound, _DERIVATIVE) for t in self._times]
        table = _series(self._times, bound, self._kernels)
        applied = self._engine.chebyshev_sums(matrix, self._F, table, bound)
        self._filtered: list[Array] = []
        halves = []
        start = 0
        for kernel in self._kernels:
            halves.append(applied[:, start])
            self._filtered.append(applied[:, start + 1 : start + 1 + len(kernel.signs)])
            start += 1 + len(kernel.signs)
        to_numpy = self._engine.to_numpy
        return [np.array([to_numpy(half[:, s].T @ half[:, s]) for half in halves]) for s in self._slices]

    def gradient(self, slopes: list[Floats]) -> Array:
        """Σ_t Σ_ab slopes_ab(t) ∂Q_ab(t)/∂u for every edge, at the weights of the latest ``correlations``."""
        engine, pattern = self._engine, self._pattern
        total = np.zeros_like(self.center)
        if not self.blocks:
            return total
        for number, (t, kernel, x) in enumerate(zip(self._times, self._kernels, self._filtered, strict=True)):
            x = engine.xp.ascontiguousarray(x)  # noqa: PLW2901
            z = engine.xp.empty(x.shape)
            for s, slope in zip(self._slices, slopes, strict=True):
                z[:, :, s] = x[:, :, s] @ engine.small_array(slope[number])
            total = total - float(t) * engine.edge_inner_products(x, z, pattern.i, pattern.j, kernel.signs)
        return total

    def derivative(self, v: Array) -> list[Floats]:
        """Of Q(t) in the direction v, at the weights of the latest ``correlations``: −t Σ_r ± X_rᵀL(v)X_r."""
        engine, forms = self._engine, []
        for s in self._slices:
            parts = []
            for t, kernel, x in zip(self._times, self._kernels, self._filtered, strict=True):
                block = engine.xp.ascontiguousarray(x[:, :, s])
                parts.append(-float(t) * engine.to_numpy(engine.laplacian_forms(self._pattern, v, block, kernel.signs)))
            forms.append(np.array(parts))
        return forms

    def distance(self, u: Array) -> tuple[float, Array]:
        """ρ‖L(u) − L(w)‖² and its gradient."""
        d = u - self.center
        around = self._around(d)
        return self._rigidity * float(d @ around), 2.0 * self._rigidity * around

    def inverse_metric(self, y: Array) -> Array:
        """A⁻¹y with A = ρ(2I + CᵀC), by (2I + CᵀC)⁻¹ = ½(I − Cᵀ(2I + CCᵀ)⁻¹C)."""
        engine, pattern = self._engine, self._pattern
        solve = engine.signless_solver(pattern, engine.xp.ones(len(self.center), dtype=bool))
        inside = solve(engine.sums_at_vertices(pattern, y)[:, np.newaxis], _EXACT, None)[:, 0]
        return (y - engine.sums_at_edges(pattern, inside)) * (0.5 / self._rigidity)

    def _around(self, d: Array) -> Array:
        """(2I + CᵀC)d."""
        engine, pattern = self._engine, self._pattern
        return 2.0 * d + engine.sums_at_edges(pattern, engine.sums_at_vertices(pattern, d))


def _rounded_up(bound: float, times: Floats) -> float:
    if bound <= 0.0:  # no weight: heat stays where it is
        return 1.0 / float(times.max())
    return float(_GRID ** np.ceil(np.log(bound) / np.log(_GRID)))


def _series(times: Floats, bound: float, kernels: list[LowRankKernel]) -> Floats:
    """Chebyshev coefficients as columns: for every time that of e^{−tL/2}, then those of the filters."""
    parts = []
    for t, kernel in zip(times, kernels, strict=True):
        parts += [exponential_coefficients(np.array([0.5 * t]), bound, np.array([_EXACT])), kernel.series]
    table = np.zeros((max(map(len, parts)), sum(part.shape[1] for part in parts)))
    column = 0
    for part in parts:
        table[: len(part), column : column + part.shape[1]] = part
        column += part.shape[1]
    return table
