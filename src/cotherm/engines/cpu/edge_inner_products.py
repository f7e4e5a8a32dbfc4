"""One number for every edge, from many functions: the gradient of a scalar function of heat by all edge weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.engines.cpu.jit import compiled
from cotherm.engines.cpu.thread_pool import ThreadPool

# Columns are summed in so many separate sums, which the processor adds at the same time.
_LANES = 8


def edge_inner_products(x: Floats, z: Floats, i: NDArray[Any], j: NDArray[Any], weights: Floats) -> Floats:
    """Σ_r weights[r] ⟨x_r[i] − x_r[j], z_r[i] − z_r[j]⟩ for every edge (i, j); x and z are contiguous (n, terms, q)."""
    n, terms, q = x.shape
    out = np.empty(len(i))
    rows, others = x.reshape(n, terms * q), z.reshape(n, terms * q)
    factors = np.repeat(weights, q)
    with ThreadPool(float(len(i) * terms * q)) as pool:
        cuts = [len(i) * piece // pool.pieces for piece in range(pool.pieces + 1)]
        pool.run(_inner_products, cuts, rows, others, i, j, factors, out)
    return out


@compiled
def _inner_products(lo: int, hi: int, x: Any, z: Any, i: Any, j: Any, factors: Any, out: Any) -> None:
    width = len(factors)
    whole = width - width % _LANES
    sums = np.empty(_LANES)
    for e in range(lo, hi):
        a, b = i[e], j[e]
        sums[:] = 0.0
        for start in range(0, whole, _LANES):
            for lane in range(_LANES):
                c = start + lane
                sums[lane] += factors[c] * (x[a, c] - x[b, c]) * (z[a, c] - z[b, c])
        total = 0.0
        for c in range(whole, width):
            total += factors[c] * (x[a, c] - x[b, c]) * (z[a, c] - z[b, c])
        for lane in range(_LANES):
            total += sums[lane]
        out[e] = total
