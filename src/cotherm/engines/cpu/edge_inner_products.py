"""One number for every edge, from many functions: the gradient of a scalar function of heat by all edge weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.engines.cpu.jit import compiled_in_any_order
from cotherm.engines.cpu.thread_pool import ThreadPool


def edge_inner_products(x: Floats, z: Floats, i: NDArray[Any], j: NDArray[Any], weights: Floats) -> Floats:
    """Σ_r weights[r] ⟨x_r[i] − x_r[j], z_r[i] − z_r[j]⟩ for every edge (i, j); x and z are contiguous (n, terms, q)."""
    n, terms, q = x.shape
    out = np.empty(len(i))
    rows, others = x.reshape(n, terms * q), z.reshape(n, terms * q)
    factors = np.repeat(weights, q)
    with ThreadPool(float(len(i) * terms * q)) as pool:
        cuts = [len(i) * piece // pool.pieces for piece in range(pool.pieces + 1)]
        pool.run(inner_products_of_slice, cuts, rows, others, i, j, factors, out)
    return out


@compiled_in_any_order
def inner_products_of_slice(lo: int, hi: int, x: Any, z: Any, i: Any, j: Any, factors: Any, out: Any) -> None:
    for e in range(lo, hi):
        # Rows first: of indices of which it knows less the compiler makes slower loops.
        xa, xb, za, zb = x[i[e]], x[j[e]], z[i[e]], z[j[e]]
        total = factors.dtype.type(0.0)
        for c in range(len(factors)):
            total += factors[c] * (xa[c] - xb[c]) * (za[c] - zb[c])
        out[e] = total
