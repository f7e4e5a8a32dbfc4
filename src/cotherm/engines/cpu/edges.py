"""Sums over quadrature nodes for every edge: the derivative of heat by all edge weights at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.engines.cpu.compile import compiled
from cotherm.engines.cpu.team import Team

Ints = NDArray[np.int64]


def edge_products(x: Floats, i: Ints, j: Ints, weights: Floats) -> Floats:
    """Σ_s weights[s] (b_eᵀx_a(s̄)) (b_eᵀx_b(s)) for every edge e and pair a ≤ b, as an array (m, pairs).

    x is (n, nodes, q), flows at nodes that are symmetric about their middle: s̄ is the mirror image of s. Edges come
    sorted, so that one end of the next edge is at hand.
    """
    nodes, q = x.shape[1:]
    sums = np.empty((len(i), q * (q + 1) // 2))
    with Team(len(i) * nodes * q * q) as team:
        cuts = np.linspace(0, len(i), team.pieces + 1).astype(np.int64).tolist()
        team.run(_products, cuts, x, i, j, weights, sums)
    return sums


@compiled
def _products(lo: int, hi: int, x: Floats, i: Ints, j: Ints, weights: Floats, sums: Floats) -> None:
    nodes, q = x.shape[1], x.shape[2]
    gaps = np.empty((nodes, q))
    total = np.empty(sums.shape[1])
    for e in range(lo, hi):
        gaps[:, :] = x[i[e]] - x[j[e]]
        total[:] = 0.0
        for s in range(nodes):
            pair = 0
            for a in range(q):
                mirrored = weights[s] * gaps[nodes - 1 - s, a]
                for b in range(a, q):
                    total[pair] += mirrored * gaps[s, b]
                    pair += 1
        sums[e] = total
