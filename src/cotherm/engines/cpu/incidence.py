"""|B|, the unsigned incidence matrix of a graph (vertices, edges): a 1 at both ends of each edge; never formed.

Its products, and systems with 2I + |B_F||B_F|ᵀ = 2I + D_F + W_F, the signless Laplacian of some edges F with weight 1,
by conjugate gradients: every block is passed through as few times as the method allows, in threads.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.engines.cpu.jit import compiled, compiled_in_any_order
from cotherm.engines.cpu.laplacian import Pattern, ReorderedLaplacian, Slices
from cotherm.engines.cpu.simd import FINGERPRINT, add_product, add_register, add_row, register, set_row, store_row
from cotherm.engines.cpu.thread_pool import ThreadPool
from cotherm.engines.interface import SystemSolver

SHIFT = 2.0
_ROUNDS = 500
# Columns are worked off in panels of at most this many, each with kernels compiled for its width.
_WIDEST = 16
# Below this many multiply-adds a product one column is solved by one call, in one thread.
_ONE_CALL = 1_000_000


def sums_at_vertices(pattern: Pattern, d: Floats) -> Floats:
    """|B|d."""
    out = np.empty(pattern.n)
    with ThreadPool(work=2.0 * len(pattern.edges)) as pool:
        cuts = [pattern.n * k // pool.pieces for k in range(pool.pieces + 1)]
        pool.run(sum_rows, cuts, pattern.offsets, pattern.edges, d, out)
    return out


def sums_at_edges(pattern: Pattern, y: Floats) -> Floats:
    """|B|ᵀy."""
    i, j = pattern.i, pattern.j
    out = np.empty(len(i))
    with ThreadPool(work=2.0 * len(i)) as pool:
        cuts = [len(i) * k // pool.pieces for k in range(pool.pieces + 1)]
        pool.run(sum_ends, cuts, i, j, y, out)
    return out


def add_at_vertices(rows: Floats, i: NDArray[Any], j: NDArray[Any], out: Floats) -> None:
    """out += |B|·rows, for a block of rows that belong to the edges (i, j)."""
    n = len(out)
    with ThreadPool(work=2.0 * rows.size) as pool:
        cuts = [n * k // pool.size for k in range(pool.size + 1)]
        pool.run(_add_rows, cuts, rows, i, j, out)


def signless_solver(pattern: Pattern, free: NDArray[np.bool_]) -> SystemSolver:
    """Y ↦ (2I + D_F + W_F)⁻¹Y for the edges F where ``free`` is true, each column to a relative residual.

    The diagonal is the preconditioner. The matrix is diagonally dominant: some tens of iterations suffice at any size.
    """
    matrix = pattern.laplacian(np.where(free, 1.0, 0.0), bounded=False)

    def solve(Y: Floats, tolerance: float, start: Floats | None) -> Floats:
        if Y.shape[1] == 1 and start is None and matrix.work(1) < _ONE_CALL:
            x = Y[:, 0] / (matrix.degrees + SHIFT)
            _solve_column(matrix.rows, Y[:, 0], x, tolerance)
            return x[:, np.newaxis]
        return by_panels(partial(_panel, matrix), Y, tolerance, start)

    return solve


def by_panels(
    solve: Callable[[Floats, float, Floats | None], Floats], Y: Floats, tolerance: float, start: Floats | None
) -> Floats:
    """As few panels as the widest allows, about equally wide; more than two columns come in fours, some of them zeros.

    Every width has to be compiled.
    """
    columns = Y.shape[1]
    width = -(-columns // max(1, -(-columns // _WIDEST)))
    width = width if width <= 2 else -(-width // 4) * 4
    X = np.empty_like(Y)
    for first in range(0, columns, width):
        at = slice(first, first + width)
        begin = None if start is None else _widened(start[:, at], width)
        X[:, at] = solve(_widened(Y[:, at], width), tolerance, begin)[:, : columns - first]
    return X


def _widened(block: Floats, width: int) -> Floats:
    out = np.zeros((len(block), width))
    out[:, : block.shape[1]] = block
    return out


def _panel(matrix: ReorderedLaplacian, Y: Floats, tolerance: float, start: Floats | None) -> Floats:
    x = Y / (matrix.degrees[:, np.newaxis] + SHIFT) if start is None else start
    with Slices(matrix, matrix.work(Y.shape[1])) as slices:
        conjugate_gradients(slices, matrix, Y, x, tolerance)
    return x


def conjugate_gradients(slices: Slices, matrix: ReorderedLaplacian, Y: Floats, x: Floats, tolerance: float) -> None:
    """From x, which becomes the solution and may have rows of others after its own; all blocks are contiguous.

    Kernels leave the sums over their rows that the next one needs in ``sums``, at the place of their slice. They are
    compiled for a width; what they close over, the fingerprint too, is part of their key in the disk cache.
    """
    width = Y.shape[1]
    begin, product, move, turn = (kernel(width) for kernel in (_begin, _product, _move, _turn))
    residual, Ap, p = np.empty_like(Y), np.empty_like(Y), np.empty_like(x)
    places = slices.places
    sums = np.zeros((len(places) - 1, 3, width))

    def run(kernel: Any, *arguments: Any, fetched: Floats | None = None) -> Floats:
        slices.run(kernel, places, sums, *arguments, fetched=fetched)
        return slices.total(sums)

    gain, left, size = run(begin, matrix.rows, Y, x, residual, p, fetched=x)
    target = tolerance**2 * size
    for _ in range(_ROUNDS):
        if np.all(left <= target):
            break
        curvature = run(product, matrix.rows, p, Ap, fetched=p)[0]
        step = np.divide(gain, curvature, out=np.zeros_like(gain), where=curvature > 0.0)
        previous = gain
        gain, left = run(move, matrix.degrees, np.array([step, -step]), p, Ap, x, residual)[:2]
        ratio = np.divide(gain, previous, out=np.zeros_like(gain), where=previous > 0.0)
        slices.run(turn, matrix.degrees, ratio[np.newaxis], residual, p)


@cache
def _begin(width: int) -> Any:
    """residual = b − Sx and p = residual/diagonal."""
    fingerprint, shift = FINGERPRINT, SHIFT

    @compiled
    def begin(lo: int, hi: int, places: Any, sums: Any, rows: Any, b: Any, x: Any, residual: Any, p: Any) -> None:
        if fingerprint < 0 or lo == hi:  # see edges.py
            return
        offsets, columns, weights, degrees = rows
        mine = sums[np.searchsorted(places, hi) - 1]
        mine[:] = 0.0
        total, line = register(width), register(width)
        for r in range(np.uint64(lo), np.uint64(hi)):
            set_row(total, width, 1.0, b, r)
            add_row(total, width, -(degrees[r] + shift), x, r)
            for k in range(offsets[r], offsets[r + np.uint64(1)]):
                add_row(total, width, -weights[k], x, columns[k])
            store_row(total, width, residual, r)
            set_row(line, width, 1.0 / (degrees[r] + shift), residual, r)
            store_row(line, width, p, r)
            for c in range(width):
                mine[0, c] += residual[r, c] * p[r, c]
                mine[1, c] += residual[r, c] ** 2
                mine[2, c] += b[r, c] ** 2

    return begin


@cache
def _product(width: int) -> Any:
    """Ap = Sp."""
    fingerprint, shift = FINGERPRINT, SHIFT

    @compiled
    def product(lo: int, hi: int, places: Any, sums: Any, rows: Any, p: Any, Ap: Any) -> None:
        if fingerprint < 0 or lo == hi:
            return
        offsets, columns, weights, degrees = rows
        mine = sums[np.searchsorted(places, hi) - 1]
        total, dots = register(width), register(width)
        set_row(dots, width, 0.0, p, np.uint64(lo))
        for r in range(np.uint64(lo), np.uint64(hi)):
            set_row(total, width, degrees[r] + shift, p, r)
            for k in range(offsets[r], offsets[r + np.uint64(1)]):
                add_row(total, width, weights[k], p, columns[k])
            store_row(total, width, Ap, r)
            add_product(dots, width, p, r, Ap, r)
        store_row(dots, width, mine, np.uint64(0))

    return product


@cache
def _move(width: int) -> Any:
    """x += step·p and residual −= step·Ap."""
    fingerprint, shift = FINGERPRINT, SHIFT

    @compiled
    def move(
        lo: int, hi: int, places: Any, sums: Any, degrees: Any, steps: Any, p: Any, Ap: Any, x: Any, residual: Any
    ) -> None:
        if fingerprint < 0 or lo == hi:
            return
        mine = sums[np.searchsorted(places, hi) - 1]
        total, square, gain, left = register(width), register(width), register(width), register(width)
        zero, one = np.uint64(0), np.uint64(1)
        set_row(gain, width, 0.0, p, np.uint64(lo))
        set_row(left, width, 0.0, p, np.uint64(lo))
        for r in range(np.uint64(lo), np.uint64(hi)):
            set_row(total, width, 1.0, x, r)
            add_product(total, width, steps, zero, p, r)
            store_row(total, width, x, r)
            set_row(total, width, 1.0, residual, r)
            add_product(total, width, steps, one, Ap, r)
            store_row(total, width, residual, r)
            set_row(square, width, 0.0, residual, r)
            add_product(square, width, residual, r, residual, r)
            add_register(gain, width, 1.0 / (degrees[r] + shift), square)
            add_register(left, width, 1.0, square)
        store_row(gain, width, mine, zero)
        store_row(left, width, mine, one)

    return move


@cache
def _turn(width: int) -> Any:
    """p = residual/diagonal + ratio·p."""
    fingerprint, shift = FINGERPRINT, SHIFT

    @compiled
    def turn(lo: int, hi: int, degrees: Any, ratio: Any, residual: Any, p: Any) -> None:
        if fingerprint < 0:
            return
        total = register(width)
        for r in range(np.uint64(lo), np.uint64(hi)):
            set_row(total, width, 1.0 / (degrees[r] + shift), residual, r)
            add_product(total, width, ratio, np.uint64(0), p, r)
            store_row(total, width, p, r)

    return turn


@compiled
def sum_rows(lo: int, hi: int, offsets: Any, edges: Any, d: Any, out: Any) -> None:
    for r in range(lo, hi):
        total = 0.0
        for p in range(offsets[r], offsets[r + 1]):
            total += d[edges[p]]
        out[r] = total


@compiled
def sum_ends(lo: int, hi: int, i: Any, j: Any, y: Any, out: Any) -> None:
    for e in range(lo, hi):
        out[e] = y[i[e]] + y[j[e]]


@compiled
def _add_rows(lo: int, hi: int, rows: Any, i: Any, j: Any, out: Any) -> None:
    # Each thread has its own vertices, so that no two write to one.
    for e in range(len(i)):
        a, b = i[e], j[e]
        if lo <= a < hi:
            for c in range(rows.shape[1]):
                out[a, c] += rows[e, c]
        if lo <= b < hi:
            for c in range(rows.shape[1]):
                out[b, c] += rows[e, c]


@compiled_in_any_order
def _solve_column(rows: Any, y: Any, x: Any, tolerance: float) -> None:
    """From x, which becomes the solution, in one call: what small systems need most is few calls."""
    n, shift = len(y), SHIFT
    offsets, columns, weights, degrees = rows
    residual, p, moved = np.empty(n), np.empty(n), np.empty(n)
    gain = left = size = 0.0
    for r in range(n):
        total = y[r] - (degrees[r] + shift) * x[r]
        for k in range(offsets[r], offsets[r + 1]):
            total -= weights[k] * x[columns[k]]
        residual[r], p[r] = total, total / (degrees[r] + shift)
        gain += total * p[r]
        left += total * total
        size += y[r] * y[r]
    target = tolerance**2 * size
    for _ in range(_ROUNDS):
        if left <= target:
            break
        curvature = 0.0
        for r in range(n):
            total = (degrees[r] + shift) * p[r]
            for k in range(offsets[r], offsets[r + 1]):
                total += weights[k] * p[columns[k]]
            moved[r] = total
            curvature += total * p[r]
        if curvature <= 0.0:
            break
        step, previous = gain / curvature, gain
        gain = left = 0.0
        for r in range(n):
            x[r] += step * p[r]
            residual[r] -= step * moved[r]
            square = residual[r] * residual[r]
            left += square
            gain += square / (degrees[r] + shift)
        ratio = gain / previous
        for r in range(n):
            p[r] = residual[r] / (degrees[r] + shift) + ratio * p[r]
