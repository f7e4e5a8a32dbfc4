"""Q(t) = Fᵀe^{−tL}F, the correlations of functions after diffusion, and their derivatives by every edge weight.

With b_e = δ_i − δ_j for the edge e = (i, j), ∂L/∂u_e = b_e b_eᵀ, and

    ∂Q_ab(t)/∂u_e = −∫₀ᵗ (b_eᵀe^{−(t−s)L}f_a) (b_eᵀe^{−sL}f_b) ds.

The integral is a short sum of products (:mod:`cotherm.heat.low_rank_kernel`), so a few functions of L applied to F
serve all edges and pairs, −t Σ_r ± (b_eᵀφ_r(tL)f_a)(b_eᵀφ_r(tL)f_b): O(m) work a term and pair, no n × n matrix.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cotherm.arrays import Floats
from cotherm.engines import Engine
from cotherm.engines.interface import Array
from cotherm.graphs.graph import Graph
from cotherm.heat.flow import flow
from cotherm.heat.low_rank_kernel import LowRankKernel, low_rank_kernel

# Number of terms in memory at once.
_TERMS_AT_ONCE = 40


def correlations(
    graph: Graph, F: Floats, times: Floats, *, tolerance: float = 1e-10, engine: Engine | None = None
) -> Floats:
    """Q(t) for every time, (times, q, q), symmetric to the last bit: ⟨x(t/2), x(t/2)⟩, one flow to half the time."""
    half = flow(graph, F, 0.5 * times, "auto", tolerance, engine)
    Q = np.einsum("tva,tvb->tab", half, half, optimize=True)
    return 0.5 * (Q + Q.transpose(0, 2, 1))


@dataclass(frozen=True)
class Batch:
    """The terms of some times, which are applied to F together.

    ``bound`` is at least the largest eigenvalue of the Laplacian; ``kernels`` and ``numbers`` of the times belong
    together.
    """

    bound: float
    times: Floats
    numbers: list[int]
    kernels: list[LowRankKernel]

    @property
    def terms(self) -> int:
        return sum(len(parts.signs) for parts in self.kernels)

    def series(self) -> Floats:
        """Chebyshev coefficients on [0, bound] of all terms, as columns."""
        table = np.zeros((max(len(parts.series) for parts in self.kernels), self.terms))
        start = 0
        for parts in self.kernels:
            table[: len(parts.series), start : start + len(parts.signs)] = parts.series
            start += len(parts.signs)
        return table

    def at(self, values: Floats) -> Floats:
        """All terms at eigenvalues, (eigenvalues, terms)."""
        pairs = zip(self.kernels, self.numbers, strict=True)
        with np.errstate(over="ignore"):
            return np.hstack([parts.at(float(self.times[k]) * values) for parts, k in pairs])

    def write(self, engine: Engine, x: Array, i: Array, j: Array, scale: Floats, out: Array) -> None:
        """Turn the terms applied to F, (n, terms, q), into the derivatives by the weights of the edges (i, j).

        Pairs are scaled. Columns go to their times in ``out``, (edges, times · pairs) or wider, contiguous.
        """
        pairs = x.shape[2] * (x.shape[2] + 1) // 2
        start = 0
        for parts, k in zip(self.kernels, self.numbers, strict=True):
            engine.edge_products(x, i, j, -float(self.times[k]) * parts.signs, start, scale, out, k * pairs)
            start += len(parts.signs)


def derivative_batches(times: Floats, bound: float, tolerance: float, *, grid: float) -> list[Batch]:
    """All times t > 0 in batches of not too many terms; the derivative at t = 0 is zero.

    The bound is rounded up to a power of ``grid``, so that the same few kernels can be reused.
    """
    if bound <= 0.0:  # without weight heat stays in place, and every term is a multiple of F
        bound = 1.0 / float(times.max(initial=1.0))
    bound = float(grid ** np.ceil(np.log(bound) / np.log(grid)))
    batches: list[Batch] = []
    for k in np.flatnonzero(times > 0.0).tolist():
        parts = low_rank_kernel(float(times[k]) * bound, tolerance)
        if not batches or batches[-1].terms + len(parts.signs) > _TERMS_AT_ONCE:
            batches.append(Batch(bound, times, [], []))
        batches[-1].numbers.append(k)
        batches[-1].kernels.append(parts)
    return batches
