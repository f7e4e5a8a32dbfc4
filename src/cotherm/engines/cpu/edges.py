"""Sums over a few terms for every edge, and over all edges: derivatives of heat by all edge weights at once."""

from __future__ import annotations

from functools import cache
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.engines.cpu.jit import compiled, compiled_in_any_order
from cotherm.engines.cpu.simd import FINGERPRINT, add_outer, clear_square, panels, square, store_square
from cotherm.engines.cpu.thread_pool import ThreadPool

# Functions are taken in panels of at most this many: the products of two panels fit the vector registers.
_WIDEST = 8
# So many multiply-adds of dense algebra, or along long rows, take as long as one elsewhere.
_DENSE, _ROWS = 16.0, 4.0


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
    """See :class:`cotherm.engines.interface.Engine`; edges come sorted, so that one end of the next is at hand."""
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
        total = square(width, height)
        for e in range(np.uint64(lo), np.uint64(hi)):
            head, tail = np.uint64(i[e]), np.uint64(j[e])
            clear_square(total, width, height)
            for s in range(len(weights)):
                here = a + s * q
                there = here if same else b + s * q  # of one panel one gap, not two
                add_outer(total, width, height, weights[s], x, head, tail, here, there)
            store_square(total, width, height, same, scale, places, out, e)

    return products


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
        total = 0.0
        for c in range(len(factors)):
            total += factors[c] * (xa[c] - xb[c]) * (za[c] - zb[c])
        out[e] = total


def laplacian_forms(pattern: Any, v: Floats, x: Floats, weights: Floats) -> Floats:
    """Σ_r weights[r] x_rᵀ L(v) x_r, (q, q); x is contiguous (n, terms, q), and v may be negative."""
    n, (_, terms, q) = pattern.n, x.shape
    factors = np.repeat(weights, q)
    with ThreadPool(n * terms * q**2 / _DENSE + 2 * len(v) * terms * q / _ROWS) as pool:
        cuts = [n * piece // pool.pieces for piece in range(pool.pieces + 1)]
        parts = pool.run(_forms_of_rows, cuts, pattern.offsets, pattern.columns, pattern.edges, v, x, factors)
    return np.sum(parts, axis=0)


def _forms_of_rows(
    lo: int, hi: int, offsets: Any, columns: Any, edges: Any, v: Floats, x: Floats, factors: Floats
) -> Floats:
    n, terms, q = x.shape
    moved = np.empty((hi - lo, terms * q))
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
