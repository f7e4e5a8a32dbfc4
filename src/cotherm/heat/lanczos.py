"""e^{−tL}F for a large graph with a few vertices of huge degree: hubs, or ends of heavy edges.

The degree of a Chebyshev series is about √(tλ_max), whatever the other eigenvalues are. Lanczos iteration finds the few
that are far out in a few steps. With V its vectors, V_0 = f/‖f‖, and T = VᵀLV, which is tridiagonal,

    e^{−tL}f ≈ ‖f‖ V e^{−tT} e_0.

All columns go side by side. V is neither kept, a second pass computes it again, nor made orthogonal again, which costs
a few steps more, but no accuracy (Druskin and Knizhnerman 1991).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import numpy as np

from cotherm import deadline
from cotherm.arrays import Floats
from cotherm.graphs.graph import Graph

log = logging.getLogger("cotherm")

# Vertices that may stand out, and by how much longer the series must be for them before Lanczos pays: its steps are
# done twice, and are slower than those of the recurrence.
_OUTLIERS = 32
_PAYS = 10.0
# Columns at a time, the steps before convergence is looked at, and by how much they grow until the next look.
_COLUMNS = 64
_FIRST, _GROWTH = 24, 1.3
# Rounding in units of tλ_max; what is to be more accurate is left to the series.
_ROUNDING = 1e-15
_BREAKDOWN = 1e-15


def series_degree(longest: float, degree: float) -> float:
    """About the degree of a Chebyshev series for this time, where the largest degree of a vertex is this."""
    return float(30.0 + np.sqrt(40.0 * longest * 2.0 * degree))


def pays(graph: Graph, longest: float) -> bool:
    """Whether a few vertices make the series much longer than it would be without them."""
    if graph.n <= _OUTLIERS:
        return False
    others = float(np.partition(graph.degrees, graph.n - 1 - _OUTLIERS)[graph.n - 1 - _OUTLIERS])
    steps = series_degree(longest, others) + 2 * _OUTLIERS
    return bool(series_degree(longest, float(graph.degrees.max())) > _PAYS * steps)


def lanczos_flow(graph: Graph, F: Floats, times: Floats, tails: Floats) -> Floats | None:
    """e^{−tL}F, each column to the tail of each time, relative to ‖f‖; None where this takes too many steps."""
    top = 2.0 * float(graph.degrees.max())
    if np.any(tails < _ROUNDING * (1.0 + times * top)):
        return None
    most = int(series_degree(float(times.max()), 0.5 * top) / _PAYS)
    result = np.empty((len(times), *F.shape))
    L = graph.laplacian()
    for first in range(0, F.shape[1], _COLUMNS):
        deadline.check()
        block = slice(first, first + _COLUMNS)
        if not _into(result[:, :, block], L, F[:, block], times, tails, most, top):
            return None
    result[times == 0.0] = F
    return result


def _into(result: Floats, L: Any, F: Floats, times: Floats, tails: Floats, most: int, top: float) -> bool:
    """Write the heat of some columns; False where they did not converge."""
    sizes = np.linalg.norm(F, axis=0)
    start = F / np.where(sizes > 0.0, sizes, 1.0)
    found = _coefficients(L, start, times, tails, most, top)
    if found is None:
        return False
    log.info("heat flow: Lanczos, %d steps", found.shape[2])
    result[...] = 0.0
    for step, (q, _, _) in zip(range(found.shape[2]), _steps(L, start, top), strict=False):
        for k, c in enumerate(found[:, :, step]):
            result[k] += q * (c * sizes)
    return True


def _coefficients(L: Any, start: Floats, times: Floats, tails: Floats, most: int, top: float) -> Floats | None:
    """e^{−tT}e_0 of every time and column, (times, columns, steps)."""
    diagonal: list[Floats] = []
    beside: list[Floats] = []
    before, look = np.zeros((len(times), start.shape[1], 0)), _FIRST
    for _, alpha, beta in _steps(L, start, top):
        diagonal.append(alpha)
        beside.append(beta)
        steps = len(diagonal)
        if steps == look:
            now = _exponentials(np.array(diagonal), np.array(beside)[:-1], times)
            change = now.copy()
            change[:, :, : before.shape[2]] -= before
            if np.all(np.linalg.norm(change, axis=2).max(axis=1) <= tails):
                return now
            before, look = now, int(_GROWTH * steps)
            if look > most:
                return None
    raise AssertionError("steps do not end")


def _exponentials(alphas: Floats, betas: Floats, times: Floats) -> Floats:
    steps, columns = alphas.shape
    T = np.zeros((columns, steps, steps))
    at = np.arange(steps)
    T[:, at, at] = alphas.T
    T[:, at[1:], at[:-1]] = betas.T
    values, vectors = np.linalg.eigh(T)  # reads the lower triangle
    decay = np.exp(-times[:, np.newaxis, np.newaxis] * np.maximum(values, 0.0))
    return np.asarray(np.einsum("cij,tcj->tci", vectors, decay * vectors[:, 0, :]))


def _steps(L: Any, q: Floats, top: float) -> Iterator[tuple[Floats, Floats, Floats]]:
    """Vectors of Lanczos iteration, the diagonal of T and what stands below it; zeros once a space is exhausted."""
    before, beta = np.zeros_like(q), np.zeros(q.shape[1])
    while True:
        w = L @ q
        w -= before * beta
        alpha = np.einsum("ij,ij->j", q, w)
        w -= q * alpha
        beta = np.linalg.norm(w, axis=0)
        beta = np.where(beta > _BREAKDOWN * top, beta, 0.0)
        yield q, alpha, beta
        before, q = q, w * np.divide(1.0, beta, out=np.zeros_like(beta), where=beta > 0.0)
