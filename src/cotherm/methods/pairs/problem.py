"""The cost of coupling by pairs of items, and its gradient.

Over the edge weights u ≥ 0 of all views,

    Σ_k ρ_k ‖L(u_k) − L(w_k)‖_F² + α Σ_{(k,l)} π_kl Σ_t ‖Q_kl(t) − Q_lk(t)‖_F²,   Q_kl(t) = F_klᵀ e^{−tL(u_k)} F_kl.

It is the cost of :mod:`cotherm.methods.coupling.problem` but for the sum over pairs of views, each with functions of
its own: F_kl on view k and F_lk on view l. Tens of functions make thousands of residuals, whose Jacobian is never
formed. With X_r the few filtered functions of :mod:`cotherm.heat.low_rank_kernel` and S the slope of the cost in
Q, the gradient by the weight of an edge e is −t Σ_r ± ⟨b_eᵀX_r, b_eᵀX_rS⟩: O(mq + nq²) a term.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

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
    of_distance: Floats
    of_coupling: Floats


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
        self._cuts = np.cumsum([0, *(graph.m for graph in graphs)]).tolist()
        self.center = np.concatenate([graph.w for graph in graphs])
        # In these units the distance of every view has the same curvature, and weights are about 1: the first step of a
        # search is short or long by its units.
        typical = float(np.mean(self.center)) if self.center.any() else 1.0
        self.scale = np.repeat(typical * np.sqrt(rigidity.min() / rigidity), [graph.m for graph in graphs])

    def weights(self, u: Floats) -> list[Floats]:
        """Of each view."""
        return [u[lo:hi] for lo, hi in pairwise(self._cuts)]

    def at(self, u: Floats, alpha: float) -> Value:
        """The cost and its gradients at the weights u, that of the coupling times α."""
        parts = self.weights(u)
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

    def errors(self, u: Floats) -> Floats:
        """(Σ π_kl ‖Q_kl(t) − Q_lk(t)‖²)^½ for every time."""
        Q = [view.correlations(w) for view, w in zip(self._views, self.weights(u), strict=True)]
        total = np.zeros(len(self.times))
        for D in self._differences(Q):
            total += np.sum(D**2, axis=(1, 2))
        return np.sqrt(total)

    def stiffness(self) -> float:
        """‖J A⁻¹ Jᵀ‖₂ at the given weights: the curvature of the coupling at α = 1 in units of the distance's.

        By power iteration. J is the derivative of the differences by the weights, A the metric of the distance.
        """
        for view, w in zip(self._views, self.weights(self.center), strict=True):
            view.correlations(w)
        v = np.random.default_rng(0).random(len(self.center))
        v /= np.linalg.norm(v)
        size = 0.0
        for _ in range(_POWER_STEPS):
            deadline.check()
            changes = [view.derivative(part) for view, part in zip(self._views, self.weights(v), strict=True)]
            slopes = self._slopes(self._differences(changes))
            views = zip(self._views, slopes, strict=True)
            v = np.concatenate([view.inverse_metric(view.gradient(slope)) for view, slope in views])
            before, size = size, float(np.linalg.norm(v))
            if size == 0.0 or abs(size - before) < _POWER_CHANGE * size:
                break
            v /= size
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
        self._graph, self._times, self._rigidity, self._engine = graph, times, rigidity, engine
        self.blocks = len(blocks)
        self._slices = [slice(lo, hi) for lo, hi in pairwise(np.cumsum([0, *(F.shape[1] for F in blocks)]).tolist())]
        self._pattern = engine.pattern(graph.n, graph.i, graph.j)
        self._F = engine.vertex_rows(self._pattern, np.hstack(blocks) if blocks else np.zeros((graph.n, 0)))

    def correlations(self, u: Floats) -> list[Floats]:
        """Q(t), (times, q, q), of every block; what the gradient needs is kept."""
        if not self.blocks:
            return []
        matrix = require_bound(self._engine.laplacian(self._pattern, self._engine.edge_rows(self._pattern, u)))
        bound = _rounded_up(matrix.bound, self._times)
        self._kernels = [low_rank_kernel(float(t) * bound, _DERIVATIVE) for t in self._times]
        table = _series(self._times, bound, self._kernels)
        applied = self._engine.chebyshev_sums_by_vertex(matrix, self._F, table, bound)
        self._filtered: list[Array] = []
        halves = []
        start = 0
        for kernel in self._kernels:
            halves.append(applied[:, start])
            self._filtered.append(applied[:, start + 1 : start + 1 + len(kernel.signs)])
            start += 1 + len(kernel.signs)
        to_numpy = self._engine.to_numpy
        return [np.array([to_numpy(half[:, s].T @ half[:, s]) for half in halves]) for s in self._slices]

    def gradient(self, slopes: list[Floats]) -> Floats:
        """Σ_t Σ_ab slopes_ab(t) ∂Q_ab(t)/∂u for every edge, at the weights of the latest ``correlations``."""
        total = np.zeros(self._graph.m)
        if not self.blocks:
            return total
        engine, pattern = self._engine, self._pattern
        for number, (t, kernel, x) in enumerate(zip(self._times, self._kernels, self._filtered, strict=True)):
            x = engine.xp.ascontiguousarray(x)  # noqa: PLW2901
            z = engine.xp.empty(x.shape)
            for s, slope in zip(self._slices, slopes, strict=True):
                z[:, :, s] = x[:, :, s] @ engine.asarray(slope[number])
            sums = engine.edge_inner_products(x, z, pattern.i, pattern.j, kernel.signs)
            total -= float(t) * engine.edges_to_numpy(pattern, sums)
        return total

    def derivative(self, v: Floats) -> list[Floats]:
        """Of Q(t) in the direction v, at the weights of the latest ``correlations``: −t Σ_r ± X_rᵀL(v)X_r."""
        graph, n = self._graph, self._graph.n
        upper = sp.coo_array((v, (graph.i, graph.j)), shape=(n, n))
        W = sp.csr_array(upper + upper.T)
        L = sp.csr_array(sp.diags_array(np.asarray(W.sum(axis=1)).ravel()) - W)
        found = [np.empty((len(self._times), s.stop - s.start, s.stop - s.start)) for s in self._slices]
        if not self.blocks:
            return found
        for number, (t, kernel, x) in enumerate(zip(self._times, self._kernels, self._filtered, strict=True)):
            terms = self._engine.vertices_to_numpy(self._pattern, x)
            moved = np.reshape(L @ terms.reshape(n, -1), terms.shape)
            for Q, s in zip(found, self._slices, strict=True):
                Q[number] = -float(t) * np.einsum(
                    "r,nra,nrb->ab", kernel.signs, terms[:, :, s], moved[:, :, s], optimize=True
                )
        return found

    def distance(self, u: Floats) -> tuple[float, Floats]:
        """ρ‖L(u) − L(w)‖² and its gradient."""
        d = u - self._graph.w
        around = self._around(d)
        return self._rigidity * float(d @ around), 2.0 * self._rigidity * around

    def inverse_metric(self, y: Floats) -> Floats:
        """A⁻¹y with A = ρ(2I + CᵀC), by (2I + CᵀC)⁻¹ = ½(I − Cᵀ(2I + CCᵀ)⁻¹C)."""
        engine, pattern = self._engine, self._pattern
        solve = engine.signless_solver(pattern, engine.xp.ones(len(pattern.i), dtype=bool))
        at_vertices = engine.sums_at_vertices(pattern, engine.edge_rows(pattern, y))
        inside = solve(at_vertices[:, np.newaxis], _EXACT, None)[:, 0]
        return 0.5 * (y - engine.edges_to_numpy(pattern, engine.sums_at_edges(pattern, inside))) / self._rigidity

    def _around(self, d: Floats) -> Floats:
        """(2I + CᵀC)d."""
        engine, pattern = self._engine, self._pattern
        at_vertices = engine.sums_at_vertices(pattern, engine.edge_rows(pattern, d))
        return 2.0 * d + engine.edges_to_numpy(pattern, engine.sums_at_edges(pattern, at_vertices))


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
