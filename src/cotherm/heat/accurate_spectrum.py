"""Eigenpairs of Laplacians whose weights differ by more than double precision resolves, a factor of 1e16.

A dense decomposition finds eigenvalues to about 1e-16 of the largest. Here small ones are accurate relative to
themselves. *Parts*: where a few weak edges E join strongly connected parts, heat is constant within each part before
any crosses, and the smallest eigenpairs are those of the graph of the parts, to within ‖E‖ over the smallest eigenvalue
of the strong edges. *Differences* along edges, of vectors with an error e, give eigenvalues with an error of e².
*Elimination*, for everything else, takes many times as long as a decomposition: L = X D Xᵀ is found without
subtractions, and the singular values of X√D, whose columns differ in scale only, come from Jacobi rotations, which are
accurate then (Demmel and others, 1999).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.linalg.lapack import dgejsv
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from cotherm.arrays import Floats
from cotherm.engines import processor
from cotherm.graphs.graph import Graph

Parts = NDArray[np.int32]

# Parts are strongly connected if what joins them is this much weaker than what connects each.
_WEAK = 1e-10


def refined(graph: Graph, values: Floats, vectors: Floats, doubtful: int, small: int) -> tuple[Floats, Floats]:
    """The eigenpairs of a dense decomposition, with the inaccurate first ones computed again.

    The first ``doubtful`` ones, at least one per component, may be rounding altogether. Of the others up to ``small``
    the vectors, or their span, are accurate, and give better eigenvalues than the decomposition did.
    """
    parts = _weakest_cut(graph, doubtful)
    across = np.where(parts[graph.i] != parts[graph.j], graph.w, 0.0)
    strongest = 2.0 * graph.with_weights(across).degrees.max()
    if doubtful == graph.n or strongest > _WEAK * values[doubtful]:
        W = graph.adjacency().toarray()
        return weighted_pairs(W, np.ones(graph.n))
    P = part_vectors(parts, np.ones(graph.n))
    lowest, mixtures = part_pairs(graph, parts)
    rest = vectors[:, doubtful:]
    rest = rest - P @ (P.T @ rest)
    count = small - doubtful
    exact, smooth = pairs_by_differences(graph, rest[:, :count], P, count)
    return np.concatenate([lowest, exact, values[small:]]), np.hstack([P @ mixtures, smooth, rest[:, count:]])


def pairs_by_differences(graph: Graph, block: Floats, P: Any, k: int) -> tuple[Floats, Floats]:
    """Ritz pairs from differences along edges: φᵀLφ = Σ w_ij (φ_i − φ_j)², and λ = σ² of the √w_ij (φ_i − φ_j).

    The k smallest, ascending, in the span of the block, orthogonal to the parts P. Singular values good to 1e-16 of the
    largest are eigenvalues good to 1e-32.
    """
    block = np.linalg.qr(block - P @ (P.T @ block))[0]
    R = np.empty((0, block.shape[1]))
    for first in range(0, graph.m, graph.n):
        e = slice(first, first + graph.n)
        steps = np.sqrt(graph.w[e, np.newaxis]) * (block[graph.i[e]] - block[graph.j[e]])
        R = np.asarray(np.linalg.qr(np.vstack([R, steps]), mode="r"))
    _, sigma, rotation = np.linalg.svd(R)
    return sigma[::-1][:k] ** 2, block @ rotation[::-1][:k].T


def part_pairs(graph: Graph, parts: Parts) -> tuple[Floats, Floats]:
    """Eigenpairs, ascending, of the graph of the parts, their sizes as masses, to be multiplied by ``part_vectors``."""
    a, b = parts[graph.i], parts[graph.j]
    sizes = np.bincount(parts).astype(np.float64)
    across = a != b
    W = coo_array((graph.w[across], (a[across], b[across])), shape=(len(sizes), len(sizes))).toarray()
    return weighted_pairs(W + W.T, sizes)


def part_vectors(parts: Parts, masses: Floats) -> csr_array:
    """√mass on each part and nothing elsewhere, of norm 1, as the columns of a sparse array."""
    totals = np.bincount(parts, masses)
    shares = np.sqrt(masses / totals[parts])
    return csr_array((shares, (np.arange(len(parts)), parts)), shape=(len(parts), len(totals)))


def weighted_pairs(W: Floats, masses: Floats) -> tuple[Floats, Floats]:
    """Eigenpairs, ascending, of M^{−1/2} L M^{−1/2}, M = Diag(masses), relatively accurate; zeros are exact."""
    components = connected_components(csr_array(W), directed=False)[1]
    unit = float(W.max(initial=0.0)) or 1.0
    X, d = processor().eliminate(W / unit)
    values, vectors = _from_factors(X * np.sqrt(d) / np.sqrt(masses)[:, np.newaxis])
    null = part_vectors(components, masses).toarray()
    return np.concatenate([np.zeros(null.shape[1]), unit * values]), np.hstack([null, vectors])


def _from_factors(G: Floats) -> tuple[Floats, Floats]:
    """Squared singular values ascending and left singular vectors of G, whose columns may differ in scale."""
    if not G.shape[1]:
        return np.empty(0), np.empty((len(G), 0))
    # joba 'C': columns of very different sizes; jobu 'U', jobv 'N': left vectors only; jobr 'N': tiny columns count.
    sizes, U, _, work, _, info = dgejsv(np.asfortranarray(G), joba=0, jobu=0, jobv=3, jobr=0, jobt=0, jobp=0)
    if info:  # never observed
        raise scipy.linalg.LinAlgError(f"dgejsv stopped with info = {info}")
    return (sizes[::-1] * (work[0] / work[1])) ** 2, U[:, ::-1]


def widest_gap(graph: Graph, low: float, high: float) -> float:
    """The lower end of the widest gap, in ratio, between weights within (low, high) of a strongest spanning tree."""
    weights = np.sort(_strongest_tree(graph).data)
    marks = np.concatenate([[low], weights[(weights > low) & (weights < high)], [high]])
    return float(marks[np.argmax(np.diff(np.log(marks)))])


def _weakest_cut(graph: Graph, count: int) -> Parts:
    """The ``count`` parts that remain when the weakest edges of a strongest spanning tree are cut."""
    tree = _strongest_tree(graph)
    kept = np.argsort(-tree.data)[: graph.n - count]
    strong = csr_array((tree.data[kept], (tree.row[kept], tree.col[kept])), shape=(graph.n, graph.n))
    return np.asarray(connected_components(strong, directed=False)[1], dtype=np.int32)


def _strongest_tree(graph: Graph) -> coo_array:
    """A maximum spanning tree of every component."""
    live = np.flatnonzero(graph.w > 0)
    order = live[np.argsort(-graph.w[live], kind="stable")]
    # The tree depends only on the order of the weights; ranks, unlike tiny weights, are never taken for zero.
    rank = csr_array((np.arange(1.0, len(order) + 1), (graph.i[order], graph.j[order])), shape=(graph.n, graph.n))
    tree = minimum_spanning_tree(rank).tocoo()
    weights = graph.w[order[tree.data.astype(np.int64) - 1]]
    return coo_array((weights, (tree.row, tree.col)), shape=(graph.n, graph.n))
