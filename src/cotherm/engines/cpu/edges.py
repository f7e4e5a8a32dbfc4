"""Sums over a few terms for every edge: the derivative of heat by all edge weights at once."""

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
    """Σ_r weights[r] (b_eᵀx_a(r)) (b_eᵀx_b(r)) for every edge e and pair a ≤ b, into out[:, column : column + pairs].

    x is (n, all terms, q), contiguous; the terms meant are those from ``first`` on, as many as there are weights. Edges
    come sorted, so that one end of the next edge is at hand.
    """
    (n, held, q), terms = x.shape, len(weights)
    with Team(len(i) * terms * q * q / _LANES) as team:
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
        terms = len(weights)
        rows, start = np.uint64(terms * q), np.uint64(offset)
        # Row r·q + a holds b_eᵀx_a(r) for the edges of the bundle, edge by edge and turned; then weighted.
        gaps = np.zeros((lanes, terms * q))
        turned, weighted = np.zeros((terms * q, lanes)), np.zeros((terms * q, lanes))
        weight = np.repeat(weights, q)
        pairs = q * (q + 1) // 2
        bundle = np.empty((pairs, lanes))
        total = register(lanes)
        for first in range(lo, hi, lanes):
            count = min(lanes, hi - first)
            for lane in range(np.uint64(count)):
                e = np.uint64(first) + lane
                head, tail = np.uint64(i[e]), np.uint64(j[e])
                for r in range(rows):
                    gaps[lane, r] = x[head, start + r] - x[tail, start + r]
            for r in range(rows):
                for lane in range(np.uint64(lanes)):
                    turned[r, lane] = gaps[lane, r]
                set_row(total, lanes, weight[r], turned, r)
                store_row(total, lanes, weighted, r)
            pair = np.uint64(0)
            for a in range(q):
                for b in range(a, q):
                    set_row(total, lanes, 0.0, turned, np.uint64(0))
                    for s in range(terms):
                        add_product(total, lanes, weighted, np.uint64(s * q + a), turned, np.uint64(s * q + b))
                    store_row(total, lanes, bundle, pair)
                    pair += np.uint64(1)
            for lane in range(count):
                for p in range(pairs):
                    out[first + lane, column + p] = bundle[p, lane]

    return products
