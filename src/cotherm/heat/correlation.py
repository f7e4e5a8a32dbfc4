"""Q(t) = Fᵀe^{−tL}F, how functions see each other through heat, and its derivative by every edge weight.

With b_e = δ_i − δ_j for the edge e = (i, j), ∂L/∂u_e = b_e b_eᵀ, and x_a(s) = e^{−sL}f_a,

    ∂Q_ab(t)/∂u_e = −∫₀ᵗ (b_eᵀx_a(t − s)) (b_eᵀx_b(s)) ds.

Two ways to it. *Flows*: Gauss–Legendre nodes are symmetric under s ↔ t − s, so one set of flows serves both factors:
O(m) work a node and pair, no n × n matrix. *Spectral*, for small graphs and as a check: with L = ΦΛΦᵀ the derivative of
e^{−tL} in the direction E is Φ(K_t ∘ ΦᵀEΦ)Φᵀ, K_t(λ, μ) = (e^{−tλ} − e^{−tμ})/(λ − μ).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.engines.cpu.edges import edge_products
from cotherm.graphs.graph import Graph
from cotherm.heat.flow import flow
from cotherm.heat.quadrature import quadrature
from cotherm.heat.spectrum import full_spectrum

# Heat at this many nodes is held at once, unless one time alone needs more.
_NODES_AT_ONCE = 120


def correlations(graph: Graph, F: Floats, times: Floats, *, tolerance: float = 1e-10) -> Floats:
    """Q(t) for every time, (times, q, q), symmetric to the last bit: ⟨x(t/2), x(t/2)⟩, one flow to half the time."""
    half = flow(graph, F, 0.5 * times, "auto", tolerance)
    Q = np.einsum("tva,tvb->tab", half, half, optimize=True)
    return 0.5 * (Q + Q.transpose(0, 2, 1))


def pairs(q: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The q(q + 1)/2 pairs a ≤ b of functions, in the order in which derivatives come."""
    return np.triu_indices(q)


def jacobian_by_flows(graph: Graph, F: Floats, times: Floats, *, tolerance: float = 1e-10) -> Floats:
    """∂Q_ab(t)/∂u_e as an array (times, pairs, m), from heat flows at quadrature nodes."""

    def flows(nodes: Floats) -> Floats:
        return np.ascontiguousarray(flow(graph, F, nodes, "auto", tolerance).transpose(1, 0, 2))

    d = graph.degrees
    bound = float(np.max(d[graph.i] + d[graph.j], initial=0.0))
    q = F.shape[1]
    J = np.empty((graph.m, len(times) * q * (q + 1) // 2))
    edge_derivatives(flows, graph.i, graph.j, times, bound, tolerance, q, J)
    return np.ascontiguousarray(J.T).reshape(len(times), q * (q + 1) // 2, graph.m)


def edge_derivatives(
    flows: Callable[[Floats], Floats],
    i: NDArray[Any],
    j: NDArray[Any],
    times: Floats,
    bound: float,
    tolerance: float,
    q: int,
    out: Floats,
) -> None:
    """∂Q_ab(t)/∂u_e for the edges (i, j) into the first columns of ``out``, (m, times · pairs) or wider, contiguous.

    ``flows`` gives the heat at any nodes, (n, nodes, q); ``bound`` is at least the largest eigenvalue of the Laplacian.
    """
    pairs = q * (q + 1) // 2
    for nothing in np.flatnonzero(times <= 0.0) * pairs:
        out[:, nothing : nothing + pairs] = 0.0
    moments = [k for k, t in enumerate(times) if t > 0.0 and len(i)]
    rules = [quadrature(float(times[k]), bound, tolerance) for k in moments]
    for first, last in _batches([len(nodes) for nodes, _ in rules]):
        x = flows(np.concatenate([nodes for nodes, _ in rules[first:last]]))
        start = 0
        for k, (nodes, weights) in zip(moments[first:last], rules[first:last], strict=True):
            edge_products(x, i, j, -weights, start, out, k * pairs)
            start += len(nodes)


def _batches(sizes: list[int]) -> list[tuple[int, int]]:
    """Split rules into runs of about _NODES_AT_ONCE nodes: one recurrence serves a run, and holds heat at its nodes."""
    batches: list[tuple[int, int]] = []
    total = _NODES_AT_ONCE
    for k, size in enumerate(sizes):
        if total + size > _NODES_AT_ONCE:
            batches.append((k, k))
            total = 0
        batches[-1] = (batches[-1][0], k + 1)
        total += size
    return batches


def jacobian_by_spectrum(graph: Graph, F: Floats, times: Floats) -> Floats:
    """∂Q_ab(t)/∂u_e as an array (times, pairs, m), exactly, from all eigenpairs; O(n³) a time and pair."""
    spectrum = full_spectrum(graph)
    values, vectors = spectrum.values, spectrum.vectors
    amounts = vectors.T @ F
    a, b = pairs(F.shape[1])
    J = np.empty((len(times), len(a), graph.m))
    for derivative, t in zip(J, times, strict=True):
        K = _divided_differences(values, float(t))
        for row, (p, q) in enumerate(zip(a, b, strict=True)):
            M = vectors @ (K * np.outer(amounts[:, p], amounts[:, q])) @ vectors.T
            diagonal = M.diagonal()
            derivative[row] = diagonal[graph.i] + diagonal[graph.j] - M[graph.i, graph.j] - M[graph.j, graph.i]
    return J


def gradient_by_spectrum(
    values: Floats, vectors: Floats, amounts: Floats, slopes: Floats, times: Floats, i: NDArray[Any], j: NDArray[Any]
) -> Floats:
    """Σ_t Σ_ab slopes_ab(t) ∂Q_ab(t)/∂u_e for the edges (i, j), exactly: O(n³), whatever the times and functions.

    L = ΦΛΦᵀ and ΦᵀF are given; slopes (times, q, q) are symmetric. This is how a scalar function of all Q(t) answers to
    every edge weight at once: all times and pairs are summed before going back to the vertices.
    """
    inner = np.zeros((len(values), len(values)))
    for slope, t in zip(slopes, times, strict=True):
        inner += _divided_differences(values, float(t)) * (amounts @ slope @ amounts.T)
    M = vectors @ inner @ vectors.T
    diagonal = M.diagonal()
    return np.asarray(diagonal[i] + diagonal[j] - M[i, j] - M[j, i])


def _divided_differences(values: Floats, t: float) -> Floats:
    """K_t(λ, μ) = (e^{−tλ} − e^{−tμ})/(λ − μ), −te^{−tλ} where they meet.

    With the smaller one factored out, −te^{−t·min}·(1 − e^{−z})/z, z = t|λ − μ|, nothing overflows and close values
    keep their digits.
    """
    z = t * np.abs(values[:, np.newaxis] - values)
    ratio = np.ones_like(z)
    np.divide(-np.expm1(-z), z, out=ratio, where=z > 0)
    return -t * np.exp(-t * np.minimum(values[:, np.newaxis], values)) * ratio
