"""Heat from single vertices at times so short that it stays local, computed only where it reaches.

With P = I − L/d, d ≥ all degrees, whose entries are ≥ 0 and whose rows sum to one (uniformization):

    e^{−sL}δ = Σ_k π_k P^kδ,   π_k = e^{−sd}(sd)^k / k!.

Entries below a threshold are dropped as they arise, so that the work does not depend on the size of the graph.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cotherm.arrays import Floats, Ints
from cotherm.engines.cpu.jit import compiled
from cotherm.engines.cpu.laplacian import ReorderedLaplacian
from cotherm.engines.cpu.thread_pool import ThreadPool

# Heat that can add no more than this to the sum, of one unit put in, is not followed further.
_DROPPED = 1e-7
# The terms left out of the series sum to less.
_TAIL = 1e-10
# Marks a place as taken; nothing beside any heat that counts.
_MARK = 1e-300
# About the work of one source, in multiply-adds.
_ONE_SOURCE = 10_000.0


def local_self_heat(matrix: ReorderedLaplacian, s: float, sources: Ints) -> tuple[Floats, float]:
    """(e^{−sL})_pp for each source row p, and the number of moves along edges that took."""
    heat = np.empty(len(sources))
    moves = _run(_self_heat, matrix, s, sources, heat)
    return heat, float(sum(moves))


def local_kernel_rows(matrix: ReorderedLaplacian, s: float, sources: Ints) -> Floats:
    """The rows of e^{−sL} at the source rows, dense."""
    rows = np.zeros((len(sources), matrix.n))
    _run(_kernel_rows, matrix, s, sources, rows)
    return rows


def local_nearest(matrix: ReorderedLaplacian, s: float, sources: Ints, heat: Floats, k: int) -> tuple[Ints, Floats]:
    """For each source row p the k rows q ≠ p with the least h_p + h_q − 2(e^{−sL})_pq, h = ``heat``, and these."""
    indices = np.empty((len(sources), k), dtype=np.int64)
    values = np.empty((len(sources), k))
    coldest = np.argsort(heat, kind="stable")
    _run(_nearest_rows, matrix, s, sources, heat, coldest, indices, values)
    return indices, values


def _run(kernel: Callable[..., Any], matrix: ReorderedLaplacian, s: float, sources: Ints, *arrays: Any) -> list[Any]:
    from scipy.stats import poisson  # takes a second to import, and most programs never come here

    top = float(matrix.degrees.max(initial=0.0)) or 1.0
    mean = s * float(matrix.degrees.max(initial=0.0))
    series = poisson.pmf(np.arange(int(poisson.isf(_TAIL, mean)) + 2), mean)
    # One bundle for all kernels: P = I − L/top by rows, and the weights π_0 … π_K of its powers.
    flow = (matrix.offsets, matrix.columns, matrix.weights / top, matrix.degrees / top, series)
    with ThreadPool(work=len(sources) * _ONE_SOURCE) as pool:
        cuts = [len(sources) * part // pool.size for part in range(pool.size + 1)]
        return pool.run(kernel, cuts, flow, sources, *arrays)


@compiled
def _workplace(n: int) -> Any:
    """What ``_spread`` needs and leaves as it was: two rows of n zeros, and two lists of their non-zero places."""
    return np.zeros(n), np.zeros(n), np.empty(n, np.int64), np.empty(n, np.int64)


@compiled
def _spread(source: int, flow: Any, work: Any, total: Any, reached: Any) -> tuple[int, int]:
    """Fill total with e^{−sL}δ_source; returns how many rows it reached (listed in ``reached``) and the moves taken."""
    offsets, columns, weights, degrees, series = flow
    now, coming, places, next_places = work
    now[source], places[0], count = 1.0, source, 1
    # What is not zero is taken: _MARK keeps a place taken where next to nothing, or nothing, stays.
    total[source], reached[0], size = series[0] + _MARK, source, 1
    moves, left = 0, 1.0 - series[0]
    for k in range(1, len(series)):
        found = 0
        for a in range(count):
            r = places[a]
            heat, now[r] = now[r], 0.0
            moves += int(offsets[r + 1] - offsets[r])
            if coming[r] == 0.0:
                next_places[found] = r
                found += 1
            coming[r] += heat * (1.0 - degrees[r]) + _MARK
            for p in range(offsets[r], offsets[r + 1]):
                s = columns[p]
                if coming[s] == 0.0:
                    next_places[found] = s
                    found += 1
                coming[s] += heat * weights[p] + _MARK
        count = 0
        for a in range(found):
            r = next_places[a]
            if coming[r] * left < _DROPPED:
                coming[r] = 0.0
                continue
            if total[r] == 0.0:
                reached[size] = r
                size += 1
            total[r] += series[k] * coming[r] + _MARK
            next_places[count] = r
            count += 1
        left -= series[k]
        now, coming = coming, now
        places, next_places = next_places, places
    for a in range(count):
        now[places[a]] = 0.0
    return size, moves


@compiled
def _self_heat(lo: int, hi: int, flow: Any, sources: Any, heat: Any) -> int:
    n = len(flow[3])
    work, total, reached = _workplace(n), np.zeros(n), np.empty(n, np.int64)
    all_moves = 0
    for a in range(lo, hi):
        size, moves = _spread(sources[a], flow, work, total, reached)
        heat[a] = total[sources[a]]
        all_moves += moves
        for b in range(size):
            total[reached[b]] = 0.0
    return all_moves


@compiled
def _kernel_rows(lo: int, hi: int, flow: Any, sources: Any, rows: Any) -> None:
    n = len(flow[3])
    work, reached = _workplace(n), np.empty(n, np.int64)
    for a in range(lo, hi):
        _spread(sources[a], flow, work, rows[a], reached)


@compiled
def _nearest_rows(
    lo: int, hi: int, flow: Any, sources: Any, heat: Any, coldest: Any, indices: Any, values: Any
) -> None:
    n, k = len(heat), indices.shape[1]
    work, total, reached = _workplace(n), np.zeros(n), np.empty(n, np.int64)
    for a in range(lo, hi):
        p = sources[a]
        size, _ = _spread(p, flow, work, total, reached)
        values[a, :] = np.inf
        for b in range(1, size):  # the first reached is p itself
            q = reached[b]
            _insert(indices[a], values[a], q, heat[p] + heat[q] - 2.0 * total[q])
        # Out of reach only the heat of q itself counts: the coldest come first.
        for b in range(n):
            q = coldest[b]
            if total[q] == 0.0:
                if heat[p] + heat[q] >= values[a, k - 1]:
                    break
                _insert(indices[a], values[a], q, heat[p] + heat[q])
        for b in range(size):
            total[reached[b]] = 0.0


@compiled
def _insert(indices: Any, values: Any, q: int, value: float) -> None:
    """Keep the smallest values in ascending order."""
    place = len(values) - 1
    if value >= values[place]:
        return
    while place > 0 and values[place - 1] > value:
        values[place], indices[place] = values[place - 1], indices[place - 1]
        place -= 1
    values[place], indices[place] = value, q
