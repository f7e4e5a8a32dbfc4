"""Σ_k c_k T_k(X) F with X = (2/λ)L − I: the fused Chebyshev recurrence.

The recurrence multiplies what rounding does to a slow mode by up to the number of steps that follow, and adds it up
over all of them. Two things keep that small. Products with L are sums of differences, (Lx)_r = Σ_c w_rc (x_r − x_c):
what is even stays even to the last bit, where d_r x_r − Σ_c w_rc x_c would let heat come and go at every vertex, always
in the same direction. And sums over the many neighbors of a hub are made in parts, which are added so that nothing is
lost: one after the other a hundred thousand terms lose three digits and more.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from cotherm.arrays import Floats
from cotherm.engines.cpu.jit import compiled, prefetch
from cotherm.engines.cpu.laplacian import LOOKAHEAD, PART, ReorderedLaplacian, Slices
from cotherm.engines.cpu.simd import (
    FINGERPRINT,
    add_exactly,
    add_gap,
    add_register,
    add_row,
    panels,
    register,
    set_row,
    store_row,
)
from cotherm.progress import track

# Columns are processed in panels of at most this many, each with a kernel compiled for its width.
WIDEST = 16
# Below this width a row is a fraction of a cache line and fetching ahead costs more than it saves.
_PREFETCH_FROM = 8


def chebyshev_sums(matrix: ReorderedLaplacian, F: Floats, coefficients: Floats, bound: float) -> Floats:
    """Σ_k coefficients[k, t] T_k(X) F for every t, as an array (n, times, q); rows are in the caller's order.

    Needs, besides the result, times + 2 blocks the size of one panel of F. A single panel in order is used in place.
    """
    times, (n, q) = coefficients.shape[1], F.shape
    parts, steps = panels(q, WIDEST), len(coefficients) - 1
    result = np.empty((n, times, q)) if len(parts) > 1 else None
    with Slices(matrix, matrix.work(parts[0][1] - parts[0][0])) as slices:
        progress = iter(track(range(steps * len(parts)), total=steps * len(parts), label="heat flow"))
        for first, last in parts:
            current = np.empty((n, last - first))
            slices.run(_gather_rows, matrix.order, F[:, first:last], current)
            sums = recurrence(slices, matrix, current, coefficients, bound, progress)
            del current
            if len(parts) == 1 and matrix.in_order:
                result = sums
                break
            if result is None:
                result = np.empty((n, times, q))  # allocated only now, when the recurrence's blocks are free again
            slices.run(_scatter_rows, matrix.order, sums, first, result)
            del sums
        next(progress, None)  # lets the bar close
    assert result is not None
    return result


def recurrence(
    slices: Slices,
    matrix: ReorderedLaplacian,
    current: Floats,
    coefficients: Floats,
    bound: float,
    progress: Iterator[int],
) -> Floats:
    """The sums for one panel, (n, times, width), rows in the matrix's order, as are those of T_0 in ``current``.

    Where rows of others follow the own ones, the sums for them are made from the rows that come anyway.
    """
    n, width, last = len(matrix.degrees), current.shape[1], len(coefficients) - 1
    previous, sums = np.zeros(current.shape), np.zeros((len(current), coefficients.shape[1], width))
    if last == 0:  # degree 0: only a multiple of F
        np.multiply(coefficients[0][:, np.newaxis], current[:n, np.newaxis], out=sums[:n])
    step, rows, flat, has_others = _step_kernel(width), matrix.rows, sums.reshape(-1, width), len(current) > n
    for k in range(1, last + 1):
        next(progress, None)
        # T_1 = X T_0, then T_k = 2X T_{k−1} − T_{k−2}; previous is zero at first, so one formula serves both.
        gain = 1.0 if k == 1 else 2.0
        due = terms_due(coefficients, k)
        slices.run(step, rows, gain * 2.0 / bound, gain, current, previous, due, flat, fetched=current)
        if has_others:
            _add_term(coefficients[k - 1], current[n:], sums[n:])
        current, previous = previous, current
    slices.fetch(current)
    if has_others:
        _add_term(coefficients[last], current[n:], sums[n:])
    return sums


@compiled
def _add_term(coefficients: Any, rows: Any, sums: Any) -> None:
    """sums[r, t] += coefficients[t]·rows[r]."""
    for r in range(len(rows)):
        for t in range(len(coefficients)):
            c = coefficients[t]
            if c != 0.0:
                for k in range(rows.shape[1]):
                    sums[r, t, k] += c * rows[r, k]


def terms_due(coefficients: Floats, k: int) -> Floats:
    """The coefficients of T_{k−2}, T_{k−1} and T_k that step k adds to the sums, (3, times); none at most steps.

    A step has all three at hand, so the sums, the largest blocks where times are many, are visited every third step.
    """
    due = np.zeros((3, coefficients.shape[1]))
    last = len(coefficients) - 1
    if k % 3 == 2 or k == last:
        first = k - 2 if k % 3 == 2 else k - k % 3  # what came before was added by an earlier step
        due[2 - (k - first) :] = coefficients[first : k + 1]
    return due


@cache
def _step_kernel(width: int) -> Any:
    """One step on rows lo..hi for blocks of ``width`` columns: previous ← gain·X·current − previous, and the sums."""
    fetch_ahead = width >= _PREFETCH_FROM
    lookahead, fingerprint, part_size = LOOKAHEAD, FINGERPRINT, np.uint64(PART)

    @compiled
    def step(
        lo: int, hi: int, rows: Any, scale: float, gain: float, current: Any, previous: Any, due: Any, sums: Any
    ) -> None:
        if fingerprint < 0:  # never; but what a kernel closes over is part of its key in the disk cache
            return
        offsets, columns, weights, _ = rows
        own, total, lost, sum_ = register(width), register(width), register(width), register(width)
        last_row, times = np.uint64(len(offsets)) - np.uint64(2), np.uint64(due.shape[1])
        # Unsigned row numbers spare the test for negative indices at every access.
        for r in range(np.uint64(lo), np.uint64(hi)):
            if fetch_ahead:  # also in order, but two streams besides keep the processor from seeing it in time
                prefetch(previous, min(r + np.uint64(32), last_row))
            set_row(own, width, 1.0, current, r)
            set_row(total, width, 0.0, current, r)
            start, end = offsets[r], offsets[r + np.uint64(1)]
            if end - start <= part_size:
                for p in range(start, end):
                    if fetch_ahead:
                        prefetch(current, columns[p + np.uint64(lookahead)])
                    add_gap(total, width, scale * weights[p], own, current, columns[p])
            else:  # a hub
                set_row(lost, width, 0.0, current, r)
                while start < end:
                    set_row(sum_, width, 0.0, current, r)
                    for p in range(start, min(start + part_size, end)):
                        if fetch_ahead:
                            prefetch(current, columns[p + np.uint64(lookahead)])
                        add_gap(sum_, width, scale * weights[p], own, current, columns[p])
                    add_exactly(total, width, lost, sum_)
                    start += part_size
                add_register(total, width, 1.0, lost)
            add_row(total, width, -gain, current, r)
            add_row(total, width, -1.0, previous, r)
            for t in range(times):
                oldest, older, newest = due[0, t], due[1, t], due[2, t]
                if oldest != 0.0 or older != 0.0 or newest != 0.0:
                    place = r * times + t
                    set_row(sum_, width, 1.0, sums, place)
                    add_row(sum_, width, oldest, previous, r)
                    add_row(sum_, width, older, current, r)
                    add_register(sum_, width, newest, total)
                    store_row(sum_, width, sums, place)
            store_row(total, width, previous, r)

    return step


@compiled
def _gather_rows(lo: int, hi: int, order: Any, source: Any, target: Any) -> None:
    for r in range(lo, hi):
        prefetch(source, np.uint64(order[min(r + LOOKAHEAD, hi - 1)]))
        for c in range(target.shape[1]):
            target[r, c] = source[order[r], c]


@compiled
def _scatter_rows(lo: int, hi: int, order: Any, source: Any, first: int, target: Any) -> None:
    for r in range(lo, hi):
        for t in range(source.shape[1]):
            for c in range(source.shape[2]):
                target[order[r], t, first + c] = source[r, t, c]
