"""Sums over all edges of quadratic forms of many functions along them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.engines.cpu.jit import compiled
from cotherm.engines.cpu.pattern import Pattern
from cotherm.engines.cpu.thread_pool import ThreadPool

Reals = NDArray[np.floating[Any]]

# So many multiply-adds of dense algebra, or along long rows, take as long as one elsewhere.
_DENSE, _ROWS = 16.0, 4.0


def laplacian_forms(pattern: Pattern, v: Floats, x: Reals, weights: Floats) -> Floats:
    """Σ_r weights[r] x_rᵀ L(v) x_r, (q, q); x is contiguous (n, terms, q), and v may be negative."""
    n, terms, q = x.shape
    factors = np.repeat(weights, q).astype(x.dtype, copy=False)
    v = v.astype(x.dtype, copy=False)
    with ThreadPool(n * terms * q**2 / _DENSE + 2 * len(v) * terms * q / _ROWS) as pool:
        parts = pool.run(forms_of_rows, _cuts(n, pool), pattern.offsets, pattern.columns, pattern.edges, v, x, factors)
    return np.sum(parts, axis=0, dtype=np.float64)


def _cuts(n: int, pool: ThreadPool) -> list[int]:
    return [n * piece // pool.pieces for piece in range(pool.pieces + 1)]


def forms_of_rows(
    lo: int, hi: int, offsets: Any, columns: Any, edges: Any, v: Reals, x: Reals, factors: Reals
) -> Reals:
    n, terms, q = x.shape
    moved = np.empty((hi - lo, terms * q), dtype=x.dtype)
    _products(lo, hi, offsets, columns, edges, v, x.reshape(n, terms * q), factors, moved)
    return np.asarray(x[lo:hi].reshape(-1, q).T @ moved.reshape(-1, q))


@compiled
def _products(lo: int, hi: int, offsets: Any, columns: Any, edges: Any, v: Any, x: Any, factors: Any, out: Any) -> None:
    """Rows lo to hi of L(v)x, by differences, which keep their digits where x is smooth."""
    # Rows first: of indices of which it knows less the compiler makes slower loops. Four neighbors at a time.
    width, four = len(factors), np.uint64(4)
    for r in range(lo, hi):
        total, row = out[r - lo], x[r]
        total[:] = 0.0
        p, end = offsets[r], offsets[r + 1]
        while p + four <= end:
            q, s, t = p + np.uint64(1), p + np.uint64(2), p + np.uint64(3)
            a, b, c, d = v[edges[p]], v[edges[q]], v[edges[s]], v[edges[t]]
            xa, xb, xc, xd = x[columns[p]], x[columns[q]], x[columns[s]], x[columns[t]]
            for k in range(width):
                own = row[k]
                total[k] += (a * (own - xa[k]) + b * (own - xb[k])) + (c * (own - xc[k]) + d * (own - xd[k]))
            p += four
        while p < end:
            a, xa = v[edges[p]], x[columns[p]]
            for k in range(width):
                total[k] += a * (row[k] - xa[k])
            p += np.uint64(1)
        for k in range(width):
            total[k] *= factors[k]
