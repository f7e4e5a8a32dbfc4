"""Spectral upsampling (ZoomOut, Melzi et al. 2019), in both directions at once.

A functional map of few modes gives a map of vertices, and that one a functional map of some more modes, until all are
used. Here C carries functions from target to source and C′ from source to target, each comes from a map of vertices of
its own, and vertices are compared in both: v and w are near where Φ_s[v] ≈ Φ_t[w]Cᵀ and Φ_s[v]C′ᵀ ≈ Φ_t[w].

A map there and back says little: spectral upsampling makes any map consistent, right or wrong. Two matches that share
no function agree only where something but chance leads both to the same place. The halves have fewer functions than the
whole, so agreement is rather too low; where both lack what tells two sides of a symmetry apart, or where graphs were
coupled by the same functions before, it is too high.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from cotherm import limits
from cotherm.arrays import Floats, Ints
from cotherm.graphs.graph import Graph
from cotherm.graphs.search.exact import nearest_rows
from cotherm.heat.spectrum import Spectrum
from cotherm.methods.matching.modes import coefficients, first
from cotherm.progress import track

# Every step has ``_GROWTH`` times as many modes as the one before, and at least ``_LEAST`` more.
_GROWTH, _LEAST = 1.12, 2
_ALL = slice(None)


@dataclass(frozen=True, eq=False)
class Space:
    """Both graphs as points of one space: rows of ``source`` and ``target`` that are near correspond."""

    source: Floats
    target: Floats
    functional_map: Floats


def schedule(first: int, last: int) -> list[int]:
    """How many modes each step has, after the first."""
    sizes = [first]
    while sizes[-1] < last:
        sizes.append(min(last, max(sizes[-1] + _LEAST, round(sizes[-1] * _GROWTH))))
    return sizes[1:]


def refined(source: Spectrum, target: Spectrum, start: Space, least: int) -> Space:
    """From a space in which vertices can be compared to one of all modes."""
    rows, columns = (_sample(len(modes.vectors)) for modes in (source, target))
    space = start
    sizes = [least, *schedule(least, len(source.values))]
    for k in track(sizes, total=len(sizes), label="upsampling", alike=False):
        there = nearest_rows(space.source[rows], space.target, 1)[0][:, 0]
        back = nearest_rows(space.target[columns], space.source, 1)[0][:, 0]
        s, t = first(source, k), first(target, k)
        C, D = from_vertices(s, t, there, rows), from_vertices(t, s, back, columns)
        space = Space(np.hstack([s.vectors, s.vectors @ D.T]), np.hstack([t.vectors @ C.T, t.vectors]), C)
    return space


def _sample(n: int) -> Ints | slice:
    """The vertices that look for their counterparts, among all, and fit the functional maps."""
    if n <= limits.MATCHED_VERTICES:
        return _ALL
    return np.sort(np.random.default_rng(0).choice(n, limits.MATCHED_VERTICES, replace=False))


# Weight of commuting with the Laplacians, relative to carrying the signatures.
_COMMUTING = 0.1
# Keeps the systems solvable where neither term determines the map.
_RIDGE = 1e-9


def from_signatures(A: Floats, B: Floats, of_source: Floats, of_target: Floats) -> Floats:
    """The C with least ‖CB − A‖² + μ‖CΛ_t − Λ_sC‖²: coefficients on the target to coefficients on the source.

    A and B are signatures on source and target, Λ_s and Λ_t the eigenvalues in one unit. Every row of C is a small
    system of its own: c_i (BBᵀ + μ Diag(λ_t − λ_i)²) = a_i Bᵀ.
    """
    k = len(A)
    unit = max(float(of_target[-1]), float(of_source[-1])) or 1.0
    gaps = (of_target[np.newaxis, :] - of_source[:, np.newaxis]) / unit
    systems = (B @ B.T)[np.newaxis] + (_COMMUTING * gaps**2 + _RIDGE)[:, :, np.newaxis] * np.eye(k)
    return np.asarray(np.linalg.solve(systems, (A @ B.T)[:, :, np.newaxis])[:, :, 0], dtype=np.float64)


def from_vertices(source: Spectrum, target: Spectrum, there: Ints, rows: Ints | slice = _ALL) -> Floats:
    """The C of a map of vertices, source → target: it carries g to g∘there, C = Φ_sᵀΦ_t[there]/n_s.

    Where only some vertices of the source have a counterpart, C is the least-squares fit over them.
    """
    if isinstance(rows, slice):
        return coefficients(source, target.vectors[there])
    C = np.linalg.lstsq(source.vectors[rows], target.vectors[there], rcond=None)[0]
    return np.asarray(C, dtype=np.float64)


# The share of the m-th nearest is e to the minus this of that of the nearest.
_FALL = 3.0


def shares(X: Floats, Y: Floats, m: int) -> tuple[Ints, sp.csr_array]:
    """For rows of X the nearest row of Y, and shares of the m nearest: a row-stochastic matrix of m entries a row.

    Shares are the softmax of −β_v d², the plan of least Σ p d² − (entropy of p)/β_v over those m. β_v is the vertex's
    own: with it the m-th nearest has e⁻³ of the share of the nearest, at any density of vertices.
    """
    near, distances = nearest_rows(X, Y, m)
    squares = distances**2
    excess = squares - squares[:, :1]
    widest = excess[:, -1:]
    p = np.exp(-_FALL * np.divide(excess, widest, out=np.zeros_like(excess), where=widest > 0.0))
    p /= p.sum(axis=1, keepdims=True)
    hard = near[:, 0].copy()  # before the rows of the matrix, which may share their memory, are sorted
    soft = sp.csr_array((p.ravel(), near.ravel(), np.arange(0, near.size + 1, m)), shape=(len(X), len(Y)))
    soft.sort_indices()
    return hard, soft


def round_trip(graph: Graph, there: Any, back: Any) -> Floats:
    """For every vertex v the chance to come back to v or a neighbor: Σ_u (PQ)_vu over u = v and u ~ v.

    P are the shares from the graph to the other and Q those from the other to it.
    """
    chance = np.asarray((sp.csr_array(there @ back) * neighborhoods(graph)).sum(axis=1)).ravel()
    return np.clip(chance, 0.0, 1.0)


_SEED = 0


def agreement(target: Graph, found: Callable[[Ints], Space], functions: int, splits: int) -> tuple[Floats, float]:
    """For every source vertex, the fraction of splits in which both halves lead to the same vertex or to neighbors.

    And of all vertices and splits the part in which they lead to the very same vertex. ``found`` matches by some of the
    functions.
    """
    near = neighborhoods(target)

    def matched(half: Ints) -> Ints:
        space = found(half)
        return nearest_rows(space.source, space.target, 1)[0][:, 0]

    pairs = [(matched(first), matched(second)) for first, second in random_halves(functions, splits)]
    alike = [np.asarray(near[a, b], dtype=np.float64).ravel() for a, b in pairs]
    return np.mean(alike, axis=0), float(np.mean([a == b for a, b in pairs]))


def random_halves(functions: int, splits: int) -> Sequence[tuple[Ints, Ints]]:
    """Disjoint halves of the numbers of functions, drawn from a fixed seed."""
    random = np.random.default_rng(_SEED)
    orders = [random.permutation(functions) for _ in range(splits)]
    return [(np.sort(order[: functions // 2]), np.sort(order[functions // 2 :])) for order in orders]


def chance(target: Graph) -> float:
    """How often two vertices drawn at random are the same or neighbors."""
    return float(neighborhoods(target).nnz) / target.n**2


def neighborhoods(graph: Graph) -> sp.csr_array:
    """1 for every vertex and itself, and for neighbors by an edge with weight."""
    live = graph.w > 0.0
    i, j, v = graph.i[live], graph.j[live], np.arange(graph.n)
    at = (np.concatenate([v, i, j]), np.concatenate([v, j, i]))
    return sp.csr_array((np.ones(len(at[0])), at), shape=(graph.n, graph.n))
