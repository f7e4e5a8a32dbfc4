"""How far Laplacians are from commuting, as a function of the weights of their edges, and its derivatives.

For graphs on the same vertices, u the weights of all their edges in one vector, the cost of a stage of the search is

    Σ_k ‖L(u_k) − L(w_k)‖² + α Σ_{k<h} ‖[L_k, L_h] + S_kh‖²,

an augmented Lagrangian: S gathers what was left of the commutators at earlier stages. With b_e = e_i − e_j for an edge
e = (i, j) and Q(X)_ef = b_eᵀ X b_f, which is four entries of X, everything comes from a few n × n matrices. For
A = [L_k, L_h] + S, e an edge of graph k and f one of graph h,

    half the gradient of ‖A‖²      2 b_eᵀ A L_h b_e                    and   −2 b_fᵀ A L_k b_f
    JᵀJ for two edges of graph k   2 (G ∘ Q(L_h²) − Q(L_h) ∘ Q(L_h)),   G_ef = b_e·b_f
    JᵀJ for e and f                2 (Q(L_k) ∘ Q(L_h) − G ∘ Q(L_h L_k))
    the rest of the curvature      2 G ∘ Q(A) for e and f, 0 within a graph,

and ‖L(u) − L(w)‖² = dᵀ(G ∘ G)d with d = u − w.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.graphs.graph import Graph
from cotherm.lazy import lazy

Indices = NDArray[np.intp]
Pairs = dict[tuple[int, int], Floats]


class Commutation:
    """The graphs, and what can be asked about any weights u of their edges."""

    def __init__(self, graphs: Sequence[Graph]) -> None:
        self.n, self.count = graphs[0].n, len(graphs)
        self.i = np.concatenate([g.i for g in graphs]).astype(np.intp)
        self.j = np.concatenate([g.j for g in graphs]).astype(np.intp)
        self.w = np.concatenate([g.w for g in graphs])
        self.cuts = np.cumsum([0, *(g.m for g in graphs)])
        self.owner = np.repeat(np.arange(self.count), np.diff(self.cuts))
        self.pairs = list(combinations(range(self.count), 2))
        norms = [float(np.linalg.norm(L)) for L in self.laplacians(self.w)]
        # α is counted in these units, so that the same path suits graphs of any scale.
        self.unit = 1.0 / max(max(norms) ** 2, np.finfo(np.float64).tiny)
        self.start = self.commutator(self.w)

    @property
    def parts(self) -> list[slice]:
        """Where each graph's weights are in u."""
        return [slice(lo, hi) for lo, hi in pairwise(self.cuts.tolist())]

    def laplacians(self, u: Floats) -> list[Floats]:
        result = []
        for part in self.parts:
            L = np.zeros((self.n, self.n))
            i, j = self.i[part], self.j[part]
            L[i, j] = L[j, i] = -u[part]
            np.fill_diagonal(L, -L.sum(axis=1))
            result.append(L)
        return result

    def commutators(self, u: Floats) -> Pairs:
        """[L_k, L_h] for all k < h."""
        L = self.laplacians(u)
        products = {(k, h): L[k] @ L[h] for k, h in self.pairs}
        return {pair: P - P.T for pair, P in products.items()}

    def commutator(self, u: Floats) -> float:
        return commutator(self.laplacians(u))

    def distance_gradient(self, d: Floats) -> Floats:
        """(G ∘ G)d graph by graph: 2d_e plus the sums of d at both ends of e."""
        result = 2.0 * d
        for part in self.parts:
            i, j = self.i[part], self.j[part]
            at = np.bincount(i, d[part], self.n) + np.bincount(j, d[part], self.n)
            result[part] += at[i] + at[j]
        return result

    def distance(self, u: Floats) -> float:
        """Σ_k ‖L(u_k) − L(w_k)‖²."""
        d = u - self.w
        return float(d @ self.distance_gradient(d))

    def across(self, X: Floats) -> Floats:
        """b_eᵀ X b_e for all edges."""
        i, j = self.i, self.j
        return np.asarray(X[i, i] - X[i, j] - X[j, i] + X[j, j])

    def no_shift(self) -> Pairs:
        return {pair: np.zeros((self.n, self.n)) for pair in self.pairs}


class Stage:
    """The cost for one α and S over the weights of the kept edges (ascending numbers), all others being zero."""

    def __init__(
        self, graphs: Commutation, alpha: float, shift: Pairs, kept: Indices, watch: Callable[[], None] | None = None
    ) -> None:
        """``watch`` is called whenever derivatives are about to be computed."""
        self.graphs, self.alpha, self.shift, self.kept, self._watch = graphs, alpha, shift, kept, watch
        ends = np.searchsorted(kept, graphs.cuts).tolist()
        self.parts = [slice(lo, hi) for lo, hi in pairwise(ends)]
        self._i, self._j = graphs.i[kept], graphs.j[kept]

    def full(self, v: Floats) -> Floats:
        u = np.zeros(len(self.graphs.w))
        u[self.kept] = v
        return u

    def cost(self, v: Floats) -> float:
        return StagePoint(self, self.full(v)).cost

    def at(self, v: Floats) -> StagePoint:
        if self._watch is not None:
            self._watch()
        return StagePoint(self, self.full(v))

    def cost_and_gradient(self, v: Floats) -> tuple[float, Floats]:
        """For optimizers that need no curvature."""
        point = self.at(v)
        return point.cost, 2.0 * point.slope

    @lazy
    def dots(self) -> Floats:
        """b_e·b_f for all kept edges."""
        every = slice(None)
        return self.between(np.eye(self.graphs.n), every, every)

    @lazy
    def metric(self) -> Floats:
        """G ∘ G within each graph."""
        result = np.zeros_like(self.dots)
        for part in self.parts:
            result[part, part] = self.dots[part, part] ** 2
        return result

    def between(self, X: Floats, rows: slice, columns: slice) -> Floats:
        """b_eᵀ X b_f for kept edges e, f."""
        Y = X[self._i[rows]] - X[self._j[rows]]
        return np.asarray(Y[:, self._i[columns]] - Y[:, self._j[columns]])


class StagePoint:
    """The cost and its derivatives at some weights; curvatures are dense, kept edges by kept edges."""

    def __init__(self, stage: Stage, u: Floats) -> None:
        self._stage, self._u = stage, u
        graphs = stage.graphs
        self._L = graphs.laplacians(u)
        self._A = {}
        for k, h in graphs.pairs:
            P = self._L[k] @ self._L[h]
            self._A[k, h] = P - P.T + stage.shift[k, h]
        self.cost = graphs.distance(u) + stage.alpha * sum(_square(A) for A in self._A.values())

    @lazy
    def _half_gradients(self) -> tuple[Floats, Floats]:
        graphs, kept = self._stage.graphs, self._stage.kept
        of_commutators = np.zeros(len(graphs.w))
        for (k, h), A in self._A.items():
            of_commutators[graphs.parts[k]] += 2.0 * graphs.across(A @ self._L[h])[graphs.parts[k]]
            of_commutators[graphs.parts[h]] -= 2.0 * graphs.across(A @ self._L[k])[graphs.parts[h]]
        return graphs.distance_gradient(self._u - graphs.w)[kept], self._stage.alpha * of_commutators[kept]

    @lazy
    def slope(self) -> Floats:
        of_distance, of_commutators = self._half_gradients
        return of_distance + of_commutators

    @property
    def slope_of_commutators(self) -> Floats:
        """The part of it that is not of the distance."""
        return self._half_gradients[1]

    @property
    def optimality(self) -> float:
        of_distance, of_commutators = self._half_gradients
        projected = np.where(self._u[self._stage.kept] > 0.0, self.slope, np.minimum(self.slope, 0.0))
        return float(np.linalg.norm(projected)) / max(
            float(np.linalg.norm(of_distance) + np.linalg.norm(of_commutators)), np.finfo(np.float64).tiny
        )

    @property
    def metric(self) -> Floats:
        return self._stage.metric

    @property
    def convex(self) -> Floats:
        """The metric and α JᵀJ."""
        return self._stage.metric + self._stage.alpha * self.gauss_newton()

    def gauss_newton(self) -> Floats:
        """JᵀJ of the commutators."""
        stage, L = self._stage, self._L
        result = np.zeros_like(stage.dots)
        for k, h in stage.graphs.pairs:
            for own, other in ((stage.parts[k], L[h]), (stage.parts[h], L[k])):
                squared = stage.between(other @ other, own, own)
                result[own, own] += 2.0 * (stage.dots[own, own] * squared - stage.between(other, own, own) ** 2)
            e, f = stage.parts[k], stage.parts[h]
            across = stage.between(L[k], e, f) * stage.between(L[h], e, f)
            result[e, f] = 2.0 * (across - stage.dots[e, f] * stage.between(L[h] @ L[k], e, f))
            result[f, e] = result[e, f].T
        return result

    @property
    def concave(self) -> Floats:
        stage = self._stage
        result = np.zeros_like(stage.dots)
        for (k, h), A in self._A.items():
            e, f = stage.parts[k], stage.parts[h]
            result[e, f] = 2.0 * stage.alpha * stage.dots[e, f] * stage.between(A, e, f)
            result[f, e] = result[e, f].T
        return result


def commutator(A: Sequence[Floats] | Floats) -> float:
    """The largest ‖[A_k, A_l]‖ / (‖A_k‖ ‖A_l‖) of symmetric matrices; 0 where one of them is zero."""
    units = [a / (float(np.abs(a).max()) or 1.0) for a in A]
    units = [a / (float(np.linalg.norm(a)) or 1.0) for a in units]
    products = (first @ second for first, second in combinations(units, 2))
    return max((float(np.linalg.norm(P - P.T)) for P in products), default=0.0)


def _square(A: Floats) -> float:
    return float(np.vdot(A, A))
