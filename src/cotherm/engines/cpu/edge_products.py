"""Sums over a few terms for every edge: the derivative of heat by all edge weights at once."""

from __future__ import annotations

from functools import cache
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.engines.cpu.jit import compiled
from cotherm.engines.cpu.simd import FINGERPRINT, add_outer, clear_square, panels, square, store_square
from cotherm.engines.cpu.thread_pool import ThreadPool

# Functions are taken in panels of at most this many: the products of two panels fit the vector registers.
_WIDEST = 8


def edge_products(
    x: Floats,
    i: NDArray[Any],
    j: NDArray[Any],
    weights: Floats,
    first: int,
    scale: Floats,
    out: NDArray[Any],
    column: int,
) -> None:
    """Σ_r weights[r] (b_eᵀx_a(r)) (b_eᵀx_b(r)) for every edge e and pair a ≤ b, times the scale of the pair.

    It goes to out[:, column : column + pairs]. x is (n, all terms, q), contiguous; the terms used begin at
    ``first``, one for each weight. Edges come sorted, so that one end of the next edge is at hand.
    """
    (n, stored, q), terms = x.shape, len(weights)
    rows = x.reshape(n, stored * q)
    with ThreadPool(len(i) * terms * q * q / _WIDEST) as pool:
        cuts = [len(i) * piece // pool.pieces for piece in range(pool.pieces + 1)]
        for (a, a_end), (b, b_end) in combinations_with_replacement(panels(q, _WIDEST), 2):
            kernel = _kernel(a_end - a, b_end - b, int(a == b))
            tall = np.arange(a, a_end)
            # Pair (r, c) is in column r·q − r(r − 1)/2 + c − r.
            places = tall * q - tall * (tall - 1) // 2 + np.maximum(b, tall) - tall
            columns = first * q + a, first * q + b
            pool.run(kernel, cuts, rows, q, *columns, i, j, weights, scale, places, out[:, column:])


@cache
def _kernel(height: int, width: int, same: int) -> Any:
    """The kernel for pairs of two panels of ``height`` and ``width`` functions; within one panel, only a ≤ b."""
    fingerprint = FINGERPRINT

    @compiled
    def products(
        lo: int,
        hi: int,
        x: Any,
        q: int,
        a: int,
        b: int,
        i: Any,
        j: Any,
        weights: Any,
        scale: Any,
        places: Any,
        out: Any,
    ) -> None:
        if fingerprint < 0:  # never; but what a kernel closes over is part of its key in the disk cache
            return
        total = square(height, width)
        for e in range(np.uint64(lo), np.uint64(hi)):
            head, tail = np.uint64(i[e]), np.uint64(j[e])
            clear_square(total, height, width)
            for s in range(len(weights)):
                here = a + s * q
                there = here if same else b + s * q  # of one panel one gap, not two
                add_outer(total, height, width, weights[s], x, head, tail, here, there)
            store_square(total, height, width, same, scale, places, out, e)

    return products
