"""Sums over quadrature nodes for every edge: the derivative of heat by all edge weights at once."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.engines.cpu.compile import compiled
from cotherm.engines.cpu.rows import FINGERPRINT, add_product, register, set_row, store_row
from cotherm.engines.cpu.team import Team

# Edges are worked off in bundles of this many, side by side in vector registers.
_LANES = 8


def edge_products(
    x: Floats, i: NDArray[Any], j: NDArray[Any], weights: Floats, first: int, out: Floats, column: int
) -> None:
    """Σ_s weights[s] (b_eᵀx_a(s̄)) (b_eᵀx_b(s)) for every edge e and pair a ≤ b, into out[:, column : column + pairs].

    x is (n, all nodes, q), contiguous; the nodes meant are those from ``first`` on, as many as there are weights, and
    symmetric about their middle: s̄ is the mirror image of s. Edges come sorted, so that one end of the next edge is at
    hand.
    """
    (n, held, q), nodes = x.shape, len(weights)
    with Team(len(i) * nodes * q * q / _LANES) as team:
        cuts = [len(i) * piece // team.pieces for piece in range(team.pieces + 1)]
        team.run(_kernel(), cuts, x.reshape(n, held * q), q, first * q, i, j, weights, out, column)


@cache
def _kernel() -> Any:
    lanes, fingerprint = _LANES, FINGERPRINT

    @compiled
    def products(
        lo: int, hi: int, x: Any, q: int, offset: int, i: Any, j: Any, weights: Any, out: Any, column: int
    ) -> None:
        if fingerprint < 0:  # never; but what a kernel closes over is part of its key in the disk cache
            return
        nodes = len(weights)
        rows, start = np.uint64(nodes * q), np.uint64(offset)
        # Row s·q + a holds b_eᵀx_a(s) for the edges of the bundle; weighted, at the mirror image of s.
        gaps = np.zeros((nodes * q, lanes))
        mirrored = np.zeros((nodes * q, lanes))
        mirror = np.empty(nodes * q, np.uint64)
        weight = np.empty(nodes * q)
        for s in range(nodes):
            for a in range(q):
                mirror[s * q + a] = np.uint64((nodes - 1 - s) * q + a)
                weight[s * q + a] = weights[s]
        pairs = q * (q + 1) // 2
        bundle = np.empty((pairs, lanes))
        total = register(lanes)
        for first in range(lo, hi, lanes):
            count = min(lanes, hi - first)
            for lane in range(np.uint64(count)):
                e = np.uint64(first) + lane
                head, tail = np.uint64(i[e]), np.uint64(j[e])
                for r in range(rows):
                    gap = x[head, start + r] - x[tail, start + r]
                    gaps[r, lane] = gap
                    mirrored[mirror[r], lane] = weight[r] * gap
            pair = np.uint64(0)
            for a in range(q):
                for b in range(a, q):
                    set_row(total, lanes, 0.0, gaps, np.uint64(0))
                    for s in range(nodes):
                        add_product(total, lanes, mirrored, np.uint64(s * q + a), gaps, np.uint64(s * q + b))
                    store_row(total, lanes, bundle, pair)
                    pair += np.uint64(1)
            for lane in range(count):
                for p in range(pairs):
                    out[first + lane, column + p] = bundle[p, lane]

    return products
