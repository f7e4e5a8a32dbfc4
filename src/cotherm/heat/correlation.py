"""Q(t) = Fᵀe^{−tL}F, how functions see each other through heat, and its derivative by every edge weight.

With b_e = δ_i − δ_j for the edge e = (i, j), ∂L/∂u_e = b_e b_eᵀ, and x_a(s) = e^{−sL}f_a,

    ∂Q_ab(t)/∂u_e = −∫₀ᵗ (b_eᵀx_a(t − s)) (b_eᵀx_b(s)) ds.

Two ways to it. *Flows*: Gauss–Legendre nodes are symmetric under s ↔ t − s, so one set of flows serves both factors:
O(m) work a node and pair, no n × n matrix. *Spectral*, for small graphs and as a check: with L = ΦΛΦᵀ the derivative of
e^{−tL} in the direction E is Φ(K_t ∘ ΦᵀEΦ)Φᵀ, K_t(λ, μ) = (e^{−tλ} − e^{−tμ})/(λ − μ).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import roots_legendre

from cotherm.arrays import Floats
from cotherm.graphs.graph import Graph
from cotherm.heat.chebyshev import exponential_coefficients
from cotherm.heat.flow import flow
from cotherm.heat.spectrum import full_spectrum


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
    a, b = pairs(F.shape[1])
    J = np.zeros((len(times), len(a), graph.m))
    for row, t in enumerate(times):
        if t > 0.0 and graph.m:
            nodes, weights = _quadrature(graph, float(t), tolerance)
            x = flow(graph, F, nodes, "auto", tolerance)
            gaps = x[:, graph.i] - x[:, graph.j]  # b_eᵀx_a(s) at node s: (nodes, m, q)
            # Node k of s is node −1 − k of t − s.
            for k, weight in enumerate(weights):
                J[row] -= weight * (gaps[-1 - k][:, a] * gaps[k][:, b]).T
    return J


def _quadrature(graph: Graph, t: float, tolerance: float) -> tuple[Floats, Floats]:
    """Gauss–Legendre nodes and weights on [0, t], enough for products e^{−(t−s)λ}e^{−sμ} with λ, μ in the spectrum."""
    d = graph.degrees
    bound = float(np.max(d[graph.i] + d[graph.j], initial=0.0))
    # K nodes integrate polynomials of degree 2K − 1; the integrand is one exponential of rate at most the bound.
    degree = len(exponential_coefficients(np.array([t]), bound, np.array([tolerance]))) - 1
    points, weights = roots_legendre(degree // 2 + 2)
    return 0.5 * t * (points + 1.0), 0.5 * t * weights


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


def _divided_differences(values: Floats, t: float) -> Floats:
    """K_t(λ, μ) = (e^{−tλ} − e^{−tμ})/(λ − μ), −te^{−tλ} where they meet.

    With the smaller one factored out, −te^{−t·min}·(1 − e^{−z})/z, z = t|λ − μ|, nothing overflows and close values
    keep their digits.
    """
    z = t * np.abs(values[:, np.newaxis] - values)
    ratio = np.ones_like(z)
    np.divide(-np.expm1(-z), z, out=ratio, where=z > 0)
    return -t * np.exp(-t * np.minimum(values[:, np.newaxis], values)) * ratio
